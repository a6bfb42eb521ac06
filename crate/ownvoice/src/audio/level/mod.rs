//! The level, background and length of a clip's speech; trimming, normalisation, and the check of recordings.
//!
//! All measures use the levels of frames of 20 ms. The *loud* level is the one that 0.2 s of the clip reach, so that a single click does not determine it;
//! frames within 30 dB of it, and clear of the background, are speech. The background is the level that a tenth of the frames stay below.

mod check;

use std::ops::Range;

pub use check::{
    ClipReport, Edge, MAX_CLIP_SECONDS, MAX_CLIPPED_PERCENT, MIN_LEVEL_DB, MIN_SNR_DB, MIN_SPEECH_SECONDS,
    check_clip,
};

/// The margin that trimming leaves before and after the speech.
pub const TRIM_MARGIN_SECONDS: f32 = 0.05;
/// The level of digital silence, so that no level is infinite.
pub const SILENCE_DB: f32 = -120.0;

/// The largest distance of speech below the loud level.
const SPEECH_RANGE_DB: f32 = 30.0;
/// The least distance of speech above the background, if the loud level allows it.
const ABOVE_NOISE_DB: f32 = 6.0;
/// The number of frames that reach the loud level: 0.2 s.
const LOUD_FRAMES: usize = 10;
/// The longest pause that [`shorten_pauses`] keeps as it is.
const MAX_PAUSE_SECONDS: f32 = 0.8;
/// The amplitude from which the limiter compresses peaks.
const KNEE: f32 = 0.8;
/// The amplitude that limited peaks never exceed.
const MAX_AMPLITUDE: f32 = 0.95;

/// Returns the largest amplitude, in dBFS.
pub fn peak_db(samples: &[f32]) -> f32 {
    to_db(samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs())).powi(2))
}

/// Returns the mean level, in dBFS.
pub fn rms_db(samples: &[f32]) -> f32 {
    to_db(mean_power(samples))
}

/// Returns the mean level of the speech alone, in dBFS.
pub fn speech_level_db(samples: &[f32], sample_rate_hz: u32) -> f32 {
    Levels::of(samples, frame_length(sample_rate_hz)).speech_db()
}

/// Scales samples to a speech level in dBFS. Peaks are limited smoothly below 0.95; silence is unchanged.
///
/// Levels are taken over 320 samples: 20 ms at 16 kHz, and a similar time at every rate of a model.
pub fn normalize(samples: &[f32], target_db: f32) -> Vec<f32> {
    let level_db = Levels::of(samples, 320).speech_db();
    let gain = if level_db > SILENCE_DB { 10f32.powf((target_db - level_db) / 20.0) } else { 1.0 };
    samples.iter().map(|x| limit(x * gain)).collect()
}

/// Limits an amplitude: values up to 0.8 are unchanged, larger ones are compressed below 0.95.
pub fn limit(x: f32) -> f32 {
    let over = x.abs() - KNEE;
    if over <= 0.0 {
        x
    } else {
        (KNEE + (MAX_AMPLITUDE - KNEE) * (over / (MAX_AMPLITUDE - KNEE)).tanh()).copysign(x)
    }
}

/// Returns the part of a clip that holds its speech, with a margin of 50 ms, or `0..0` without speech. Clicks shorter than 60 ms are not speech.
pub fn trim_silence(samples: &[f32], sample_rate_hz: u32) -> Range<usize> {
    let length = frame_length(sample_rate_hz);
    let is_speech = Levels::of(samples, length).is_speech;
    let position = |from: Option<usize>| from.map(|frame| frame * length);
    let first = position(is_speech.iter().position(|speech| *speech));
    let last = position(is_speech.iter().rposition(|speech| *speech));
    let (Some(first), Some(last)) = (first, last) else { return 0..0 };
    let margin = (sample_rate_hz as f32 * TRIM_MARGIN_SECONDS) as usize;
    first.saturating_sub(margin)..(last + length + margin).min(samples.len())
}

/// Shortens each pause to at most 0.8 s, and fades over the cut. The recogniser normalises its input over the whole clip, so that long silences
/// would change what it hears in the speech.
pub fn shorten_pauses(samples: Vec<f32>, sample_rate_hz: u32) -> Vec<f32> {
    let length = frame_length(sample_rate_hz);
    let kept = (MAX_PAUSE_SECONDS * sample_rate_hz as f32) as usize;
    let is_speech = Levels::of(&samples, length).is_speech;
    let (mut shortened, mut copied, mut at) = (Vec::with_capacity(samples.len()), 0, 0);
    for run in is_speech.chunk_by(|one, next| one == next) {
        let (begin, end) = (at * length, ((at + run.len()) * length).min(samples.len()));
        at += run.len();
        if run[0] || end - begin <= kept {
            continue;
        }
        // The fade mixes the samples after the first half with those before the second.
        let (left, right) = (begin + kept / 2, end - kept / 2 - length);
        shortened.extend(&samples[copied..left]);
        let share = |n: usize| n as f32 / length as f32;
        shortened.extend(
            (0..length).map(|n| samples[left + n] * (1.0 - share(n)) + samples[right + n] * share(n)),
        );
        copied = right + length;
    }
    if copied == 0 {
        return samples;
    }
    shortened.extend(&samples[copied..]);
    shortened
}

/// The frame levels of a clip, and their classification.
struct Levels {
    frames_db: Vec<f32>,
    is_speech: Vec<bool>,
    loud_db: f32,
    noise_db: f32,
}

impl Levels {
    fn of(samples: &[f32], frame_length: usize) -> Self {
        let frames_db: Vec<f32> = samples.chunks(frame_length).map(|frame| to_db(variance(frame))).collect();
        let mut sorted = frames_db.clone();
        sorted.sort_by(f32::total_cmp);
        let loud_db =
            sorted.iter().rev().nth(LOUD_FRAMES.min(sorted.len().max(1)) - 1).copied().unwrap_or(SILENCE_DB);
        let noise_db = sorted.get(sorted.len() / 10).copied().unwrap_or(SILENCE_DB);
        let clear_of_noise_db = (noise_db + ABOVE_NOISE_DB).min(loud_db - ABOVE_NOISE_DB);
        let threshold_db = (loud_db - SPEECH_RANGE_DB).max(clear_of_noise_db).max(SILENCE_DB);
        let loud: Vec<bool> = frames_db.iter().map(|db| *db > threshold_db).collect();
        let around = |t: usize| &loud[t.saturating_sub(2)..loud.len().min(t + 3)];
        // A frame is speech if three of the five around it are loud; otherwise it is a click.
        let is_speech =
            (0..loud.len()).map(|t| loud[t] && around(t).iter().filter(|loud| **loud).count() >= 3).collect();
        Self { frames_db, is_speech, loud_db, noise_db }
    }

    fn speech_frames(&self) -> usize {
        self.is_speech.iter().filter(|speech| **speech).count()
    }

    fn speech_db(&self) -> f32 {
        let speech = self.frames_db.iter().zip(&self.is_speech).filter(|(_, speech)| **speech);
        let power: f32 = speech.map(|(db, _)| 10f32.powf(db / 10.0)).sum();
        to_db(power / self.speech_frames().max(1) as f32)
    }
}

/// Returns 20 ms in samples.
fn frame_length(sample_rate_hz: u32) -> usize {
    (sample_rate_hz as usize / 50).max(1)
}

/// Returns the power of a frame without its mean, which removes a constant offset and most rumble below 50 Hz.
fn variance(frame: &[f32]) -> f32 {
    let mean = frame.iter().sum::<f32>() / frame.len() as f32;
    frame.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / frame.len() as f32
}

fn mean_power(samples: &[f32]) -> f32 {
    samples.iter().map(|x| x * x).sum::<f32>() / samples.len().max(1) as f32
}

fn to_db(power: f32) -> f32 {
    (10.0 * power.log10()).max(SILENCE_DB)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const RATE: u32 = 16_000;

    /// Syllables of 180 ms with pauses of 120 ms between them, as loud as a sine of `amplitude`.
    pub(super) fn speech(seconds: f32, amplitude: f32) -> Vec<f32> {
        let at = |n: usize| {
            let t = n as f32 / RATE as f32;
            let envelope = (t % 0.3 / 0.18 * std::f32::consts::PI).sin().max(0.0) * f32::from(t % 0.3 < 0.18);
            amplitude * envelope * (std::f32::consts::TAU * 180.0 * t).sin()
        };
        (0..(seconds * RATE as f32) as usize).map(at).collect()
    }

    pub(super) fn noise(samples: usize, amplitude: f32) -> Vec<f32> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..samples).map(|_| amplitude * next()).collect()
    }

    #[test]
    fn levels_of_a_sine() {
        let sine: Vec<f32> =
            (0..16_000).map(|n| 0.5 * (std::f32::consts::TAU * 100.0 * n as f32 / 16_000.0).sin()).collect();
        assert!((peak_db(&sine) - -6.02).abs() < 0.01);
        assert!((rms_db(&sine) - -9.03).abs() < 0.01);
        assert!((speech_level_db(&sine, RATE) - -9.03).abs() < 0.01);
        for empty in [peak_db(&[]), rms_db(&[]), rms_db(&[0.0; 9]), speech_level_db(&[], RATE)] {
            assert_eq!(empty, SILENCE_DB);
        }
    }

    #[test]
    fn silence_around_speech_does_not_change_its_level() {
        let alone = speech_level_db(&speech(3.0, 0.5), RATE);
        let mut padded = vec![0.0; 80_000];
        padded.extend(speech(3.0, 0.5));
        padded.extend(vec![0.0; 160_000]);
        assert!((speech_level_db(&padded, RATE) - alone).abs() < 0.5);
    }

    #[test]
    fn trimming_keeps_the_speech_and_a_margin() {
        let mut clip = vec![0.0; 16_000];
        clip.extend(speech(1.38, 0.5));
        clip.extend(vec![0.0; 16_000]);
        // A click before the speech.
        clip[3_200..3_520].fill(0.9);
        let kept = trim_silence(&clip, RATE);
        let (start, end) = (16_000, 16_000 + (1.38 * 16_000.0) as usize);
        assert!((start - 800..start).contains(&kept.start), "{kept:?}");
        assert!((end - 400..=end + 800).contains(&kept.end), "{kept:?}");
        assert_eq!(trim_silence(&[0.0; 16_000], RATE), 0..0);
        assert_eq!(trim_silence(&[], RATE), 0..0);
        let whole = speech(0.18, 0.5);
        assert_eq!(trim_silence(&whole, RATE), 0..whole.len(), "the margin stays inside the clip");
    }

    #[test]
    fn only_long_pauses_are_shortened() {
        let phrase = speech(1.38, 0.5);
        let apart = |seconds: f32| {
            [phrase.clone(), vec![0.0; (seconds * RATE as f32) as usize], phrase.clone()].concat()
        };
        let short = apart(0.5);
        assert_eq!(shorten_pauses(short.clone(), RATE), short);
        for seconds in [1.0, 3.0, 30.0] {
            let shortened = shorten_pauses(apart(seconds), RATE);
            let pause = (shortened.len() - 2 * phrase.len()) as f32 / RATE as f32;
            assert!((pause - MAX_PAUSE_SECONDS).abs() < 0.1, "{seconds}: {pause}");
            assert_eq!(shortened[..phrase.len()], phrase);
            assert_eq!(shortened[shortened.len() - phrase.len()..], phrase);
        }
        let mut noisy = apart(3.0);
        noisy.iter_mut().zip(noise(1 << 20, 0.002)).for_each(|(x, n)| *x += n);
        let shortened = shorten_pauses(noisy, RATE);
        assert!(shortened.len() < 2 * phrase.len() + RATE as usize, "{}", shortened.len());
        assert_eq!(shorten_pauses(Vec::new(), RATE), [0.0f32; 0]);
    }

    #[test]
    fn normalisation_reaches_its_target() {
        for amplitude in [0.003, 0.05, 0.9] {
            let out = normalize(&speech(2.0, amplitude), -23.0);
            assert!((speech_level_db(&out, RATE) - -23.0).abs() < 0.1);
        }
        let loud = normalize(&speech(2.0, 0.5), 6.0);
        assert!(loud.iter().all(|x| x.abs() <= 0.95) && loud.iter().any(|x| x.abs() > 0.9));
        assert_eq!(normalize(&[0.0; 1000], -23.0), [0.0; 1000]);
        assert_eq!(normalize(&[], -23.0), [0.0f32; 0]);
    }
}
