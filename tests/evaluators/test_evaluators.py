"""Shows each evaluator's weakness that is known, and that it is met.

    cd tests/evaluators && "$(python3 install.py)" -m unittest
"""

import pathlib
import unittest

import numpy as np
import soundfile

import audio
import blur
import dnsmos
import speaker
import words

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "held-out.wav"


def recording(seconds=3.0, begin=0.0):
    """Some seconds of a recorded voice at 16 kHz, as they lie in the repository, neither trimmed nor levelled."""
    samples, rate = soundfile.read(FIXTURE, dtype="float32")
    return audio.resample(samples, rate)[int(begin * audio.RATE) : int((begin + seconds) * audio.RATE)]


def tone(hz, seconds=2.0):
    """Harmonics up to 4 kHz, a vowel that never changes, with a melody of a semitone."""
    time = np.arange(int(seconds * audio.RATE)) / audio.RATE
    phase = np.cumsum(2 * np.pi * hz * 2 ** (np.sin(2 * np.pi * 3 * time) / 24) / audio.RATE)
    return (0.02 * sum(np.sin(number * phase) / number for number in range(1, int(4000 / hz)))).astype(np.float32)


class Levels(unittest.TestCase):
    def test_the_active_level_follows_a_gain_exactly_and_pauses_hardly(self):
        clip = recording()
        level = audio.active_level_db(clip)
        self.assertAlmostEqual(audio.active_level_db(clip * 0.1), level - 20, places=2)
        paused = np.concatenate([clip, np.zeros(3 * audio.RATE, np.float32)])
        self.assertLess(abs(audio.active_level_db(paused) - level), 0.5)
        self.assertAlmostEqual(audio.active_level_db(audio.level(clip)), audio.ACTIVE_DBFS, places=2)

    def test_silence_around_speech_is_trimmed_and_a_click_in_it_is_not_speech(self):
        clip = audio.trim(recording())
        silence = np.zeros(audio.RATE, np.float32)
        clicking = silence.copy()
        clicking[8000] = 0.5
        self.assertLess(abs(len(audio.trim(np.concatenate([silence, clip, clicking]))) - len(clip)), audio.RATE // 10)

    def test_resampling_keeps_a_tone(self):
        time = np.arange(24000) / 24000
        found = audio.resample(np.sin(2 * np.pi * 440 * time).astype(np.float32), 24000)
        self.assertEqual(len(found), 16000)
        wanted = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
        self.assertLess(np.abs(found - wanted)[200:-200].max(), 0.01)


class Opinions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.evaluator = dnsmos.Dnsmos()

    def test_overall_hears_a_gain_until_clips_are_levelled(self):
        clip = recording()
        gains = (1.0, 0.5, 0.2, 0.1, 0.03)
        found = np.array([self.evaluator.listen(np.resize(clip * gain, dnsmos.SAMPLES)) for gain in gains])
        self.assertGreater(np.ptp(found[:, 2]), 0.2)
        self.assertLess(np.ptp(found[:, 3]), 0.02)
        found = np.array([self.evaluator.listen(np.resize(audio.level(clip * gain), dnsmos.SAMPLES)) for gain in gains])
        self.assertLess(np.ptp(found, axis=0).max(), 0.005)

    def test_a_mean_over_starts_moves_less_with_a_shift_than_one_start(self):
        clip = audio.level(audio.trim(recording()))
        shifted = [np.roll(clip, -shift) for shift in (0, 23, 61, 97)]
        one, several = (np.array([self.evaluator.opinions(other, shifts).mean(0)[2:] for other in shifted]).std(0) for shifts in (1, 8))
        self.assertTrue((several < one).all(), f"{several} after {one}")

    def test_starts_are_spread_over_clip_and_hop(self):
        found = dnsmos.starts(32000, 4)
        self.assertEqual(found, [0, 8037, 16074, 24111])
        self.assertEqual(len({start % 160 for start in found}), 4)


class Sharpness(unittest.TestCase):
    def test_a_click_does_not_raise_harmonicity(self):
        clip = recording() / 4  # Peaks at .18 of full scale, as a quiet microphone's do.
        clicking = clip.copy()
        clicking[len(clip) // 2] = 1.0

        def by_praat_alone(samples):
            values = blur.parselmouth.Sound(samples.astype(np.float64), audio.RATE).to_harmonicity_cc(time_step=0.01, minimum_pitch=blur.FLOOR_HZ).values
            return values[values > -199]

        plain, clicked = by_praat_alone(clip), by_praat_alone(clicking)
        self.assertLess(len(clicked), len(plain) / 2)
        self.assertGreater(clicked.mean() - plain.mean(), 0.5)
        self.assertLess(abs(blur.harmonicity(clicking) - blur.harmonicity(clip)), 0.05)


class Speakers(unittest.TestCase):
    def test_seven_semitones_show_in_the_pitch_error(self):
        class Deaf:
            def listen(self, _):
                return np.ones(256)

        low, high = (speaker.Speaker(Deaf(), [tone(hz)]) for hz in (110, 110 * 2 ** (7 / 12)))
        errors = high.against(low)
        self.assertAlmostEqual(errors["similarity"], 1.0, places=5)
        self.assertAlmostEqual(errors["pitch_error"], 7.0, delta=0.2)
        self.assertAlmostEqual(errors["spread_error"], 0.0, delta=0.1)

    def test_the_encoder_tells_a_recording_from_another_voice(self):
        encoder = speaker.SpeakerEncoder()
        one, other = (encoder.listen(audio.level(recording(4.0, begin))) for begin in (0.0, 5.0))
        self.assertGreater(float(one @ other), 0.75)
        self.assertLess(float(one @ encoder.listen(tone(220, 4.0))), 0.7)


class Durations(unittest.TestCase):
    def clip(self, *timed):
        return [words.Word(text, 0.0, 0.0) for text, _ in timed], [seconds for _, seconds in timed]

    def test_a_word_that_was_said_twice_and_written_once_is_stretched(self):
        plain = self.clip((" the", 0.2), (" ferry", 0.4), (" leaves", 0.45), (" at", 0.15), (" nine", 0.3))
        twice = self.clip((" the", 0.2), (" ferry", 0.95), (" leaves", 0.45), (" at", 0.15), (" nine", 0.3))
        self.assertEqual(words.durations([plain, twice])[0], [0, 1])

    def test_a_word_without_sound_is_made_up(self):
        self.assertEqual(words.durations([self.clip((" good", 0.3), (" Thank", 0.0))])[1], [[False, True]])

    def test_sound_is_counted_during_each_word(self):
        samples = np.concatenate([tone(120, 1.0), np.zeros(audio.RATE, np.float32), tone(120, 0.5)])
        found = words.sound_seconds(samples, [words.Word(" a", 0.0, 0.9), words.Word(" b", 1.2, 1.6), words.Word(" c", 2.0, 2.4)])
        np.testing.assert_allclose(found, [1.0, 0.0, 0.5], atol=0.05)


if __name__ == "__main__":
    unittest.main()
