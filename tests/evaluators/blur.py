"""How sharp speech is, by an external evaluator: Praat (Boersma 2001), as PyPI's `praat-parselmouth` carries it.

A development tool: nothing of the product needs it. `install.py` beside it says how to install it.

    python tests/evaluators/blur.py FOLDER [FOLDER ..]      # WAV files; a line a folder

Prints the means over clips of harmonicity (HNR, dB, the median of the frames that have a pitch) and of the smoothed cepstral peak's prominence (CPPS, dB), and the pitch's mean (Hz)
and spread (standard deviation over all voiced frames, semitones). A mean of several renditions is less harmonic than each: what is blurred falls below its recordings.

Praat takes a frame for silent that is far below the clip's highest sample. One click is enough to make most frames silent, and the few loud vowels that remain are the most harmonic.
Its thresholds are therefore set from a maximum that clicks do not reach, and outliers among the frames move a median less than a mean.
"""

import sys

import numpy as np
import parselmouth
from parselmouth.praat import call

import audio

FLOOR_HZ, CEILING_HZ = 60, 500


def silence_threshold(samples, share):
    """The threshold that Praat takes as a share of the highest sample, for a share of what the highest twentieth of the clip's 10 ms reaches."""
    peaks = np.abs(samples[: len(samples) // 160 * 160]).reshape(-1, 160).max(1)
    return float(share * np.quantile(peaks, 0.95) / np.abs(samples - samples.mean()).max())


def harmonicity(samples):
    sound = parselmouth.Sound(samples.astype(np.float64), audio.RATE)
    values = sound.to_harmonicity_cc(time_step=0.01, minimum_pitch=FLOOR_HZ, silence_threshold=silence_threshold(samples, 0.1)).values
    voiced = values[values > -199]
    return float(np.median(voiced)) if len(voiced) else np.nan


def prominence(samples):
    sound = parselmouth.Sound(samples.astype(np.float64), audio.RATE)
    cepstrogram = call(sound, "To PowerCepstrogram", FLOOR_HZ, 0.002, 5000, 50)
    return call(cepstrogram, "Get CPPS", "no", 0.02, 0.0005, FLOOR_HZ, 330, 0.05, "Parabolic", 0.001, 0.05, "Straight", "Robust")


def pitch(samples, floor_hz, ceiling_hz):
    """Of the voiced frames, in semitones above 1 Hz."""
    sound = parselmouth.Sound(samples.astype(np.float64), audio.RATE)
    found = sound.to_pitch_ac(
        time_step=0.01, pitch_floor=floor_hz, pitch_ceiling=ceiling_hz, silence_threshold=silence_threshold(samples, 0.03)
    ).selected_array["frequency"]
    return 12 * np.log2(found[found > 0])


def semitones(clips):
    """The pitch of one voice in semitones above 1 Hz, all voiced frames of its clips together.

    Floor and ceiling are the voice's own, three quarters of the first quartile and twice the third of what the widest limits find (after De Looze and Hirst 2008), so that few frames
    are taken for an octave above or below.
    """
    first = np.concatenate([pitch(clip, FLOOR_HZ, CEILING_HZ) for clip in clips])
    if not len(first):
        return np.array([np.nan])
    low, high = 2 ** (np.quantile(first, [0.25, 0.75]) / 12)
    return np.concatenate([pitch(clip, max(40, 0.75 * low), min(800, 2 * high)) for clip in clips])


def sharpness(clips):
    """Harmonicity and prominence, the means over clips."""
    return float(np.nanmean([harmonicity(clip) for clip in clips])), float(np.mean([prominence(clip) for clip in clips]))


def main(folders):
    for folder in folders:
        clips = [audio.read(path) for path in audio.files(folder)]
        (hnr, cpps), pitches = sharpness(clips), semitones(clips)
        print(f"{folder}: {len(clips)} clips, HNR {hnr:.1f} dB, CPPS {cpps:.1f} dB, pitch {2 ** (pitches.mean() / 12):.0f} Hz, spread {pitches.std():.2f} semitones")


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
