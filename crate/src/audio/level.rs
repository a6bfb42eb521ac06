//! How loud, how clean and how long a clip's speech is; trimming, levelling, and the check that every recording passes first.
//!
//! Everything rests on the levels of frames of 20 ms. The *loud* level is the one that 0.2 s of the clip reach, so that no single click sets it; frames within
//! 30 dB of it, and clear of the background, are speech. The background is the level that a tenth of the frames stay below.
//!
//! One long file: all of it rests on one measurement of levels.

use std::ops::Range;

use serde::Serialize;

use super::{Audio, resample::RATES_HZ, rumble::remove_rumble};
use crate::{Error, Result};

/// Speech that one clip must hold.
pub const MIN_SPEECH_SECONDS: f32 = 0.6;
/// The longest clip: aligning takes memory by the square of its length.
pub const MAX_CLIP_SECONDS: f32 = 120.0;
/// Speech level that a clip must have, in dBFS.
pub const MIN_LEVEL_DB: f32 = -45.0;
/// Clipped samples that a clip may have, in percent of its speech.
pub const MAX_CLIPPED_PERCENT: f32 = 0.5;
/// Distance that speech must keep from the background.
pub const MIN_SNR_DB: f32 = 10.0;
/// What trimming leaves before and after the speech.
pub const TRIM_MARGIN_SECONDS: f32 = 0.05;
/// Digital silence has this level, so that no level is infinite.
pub const SILENCE_DB: f32 = -120.0;

/// Speech is at most this far below the loud level.
const SPEECH_RANGE_DB: f32 = 30.0;
/// Speech is at least this far above the background, where there is room for it.
const ABOVE_NOISE_DB: f32 = 6.0;
/// The loud level is the one that this many frames reach: 0.2 s.
const LOUD_FRAMES: usize = 10;
/// Samples are clipped in runs of at least [`CLIPPED_RUN`] from here on.
const CLIPPED_AMPLITUDE: f32 = 0.99;
const CLIPPED_RUN: usize = 3;
/// A clip that is cut off is loud for this long at its end; a click of the mouse is shorter.
const EDGE_SECONDS: f32 = 0.06;
/// So far below the speech's level that no room reaches it, and that a voice about to end does not.
const EDGE_RANGE_DB: f32 = 12.0;
/// Where levelling starts to bend peaks, and what they never reach.
const KNEE: f32 = 0.8;
const MAX_AMPLITUDE: f32 = 0.95;

/// What the check of a clip measured.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClipReport {
    /// Length of the clip.
    pub seconds: f32,
    /// Length of the speech in it.
    pub speech_seconds: f32,
    /// Mean level of the speech, in dBFS.
    pub level_db: f32,
    /// Level of the background, in dBFS; -120 if digital silence.
    pub noise_db: f32,
    /// How far the speech is above the background.
    pub snr_db: f32,
    /// Clipped samples, of those of the speech.
    pub clipped_percent: f32,
    /// Where someone is speaking when the clip begins or ends: a recording that was started late or stopped early. Files may be trimmed that tightly.
    pub cut_off: Option<Edge>,
}

/// An end of a clip.
#[warn(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Edge {
    /// Its first samples.
    Start,
    /// Its last samples.
    End,
}

#[warn(missing_docs)]
impl Edge {
    /// `start` or `end`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// Whether a clip can be learned from, and if not, the first thing to change about it.
pub fn check_clip(clip: &Audio) -> Result<ClipReport> {
    let Audio { samples, sample_rate_hz: rate } = clip;
    if !RATES_HZ.contains(rate) {
        return Err(Error::rate_unsupported(*rate));
    }
    if samples.is_empty() {
        return Err(Error::clip_empty());
    }
    if clip.seconds() > MAX_CLIP_SECONDS {
        return Err(Error::clip_too_long(clip.seconds(), MAX_CLIP_SECONDS));
    }
    if !samples.iter().all(|x| x.is_finite()) {
        return Err(Error::audio_unreadable("a sample is not a finite number"));
    }
    let audible = remove_rumble(samples, *rate);
    let levels = Levels::of(&audible, frame_length(*rate));
    let (level_db, noise_db) = (levels.speech_db(), levels.noise_db);
    let speech_seconds = levels.speech_frames() as f32 * frame_length(*rate) as f32 / *rate as f32;
    if level_db < MIN_LEVEL_DB {
        return Err(Error::clip_too_quiet(level_db, MIN_LEVEL_DB));
    }
    if speech_seconds < MIN_SPEECH_SECONDS {
        return Err(Error::clip_too_short(speech_seconds, MIN_SPEECH_SECONDS));
    }
    let clipped_percent = 100.0 * clipped_samples(samples) as f32 / (speech_seconds * *rate as f32);
    if clipped_percent > MAX_CLIPPED_PERCENT {
        return Err(Error::clip_clipped(clipped_percent));
    }
    let snr_db = level_db - noise_db;
    if snr_db < MIN_SNR_DB {
        return Err(Error::clip_noisy(snr_db, MIN_SNR_DB));
    }
    let cut_off = cut_off(&audible, *rate, level_db);
    Ok(ClipReport {
        seconds: clip.seconds(),
        speech_seconds,
        level_db,
        noise_db,
        snr_db,
        clipped_percent,
        cut_off,
    })
}

/// Whether the first or the last [`EDGE_SECONDS`] are about as loud as the speech between.
fn cut_off(samples: &[f32], sample_rate_hz: u32, level_db: f32) -> Option<Edge> {
    let length = ((EDGE_SECONDS * sample_rate_hz as f32) as usize).min(samples.len());
    let is_speech = |part: &[f32]| rms_db(part) > level_db - EDGE_RANGE_DB;
    if is_speech(&samples[..length]) {
        Some(Edge::Start)
    } else if is_speech(&samples[samples.len() - length..]) {
        Some(Edge::End)
    } else {
        None
    }
}

/// The largest amplitude, in dBFS.
pub fn peak_db(samples: &[f32]) -> f32 {
    to_db(samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs())).powi(2))
}

/// The mean level, in dBFS.
pub fn rms_db(samples: &[f32]) -> f32 {
    to_db(mean_power(samples))
}

/// The mean level of the speech alone, in dBFS.
pub fn speech_level_db(samples: &[f32], sample_rate_hz: u32) -> f32 {
    Levels::of(samples, frame_length(sample_rate_hz)).speech_db()
}

/// The level of the background, in dBFS: pauses, if there are any.
pub fn noise_floor_db(samples: &[f32], sample_rate_hz: u32) -> f32 {
    Levels::of(samples, frame_length(sample_rate_hz)).noise_db
}

/// Samples scaled to a speech level in dBFS. Peaks bend smoothly and stay below 0.95; silence stays silence.
///
/// Levels are taken over 320 samples: 20 ms at 16 kHz, and near enough at every rate that a model speaks at.
pub fn normalize(samples: &[f32], target_db: f32) -> Vec<f32> {
    let level_db = Levels::of(samples, 320).speech_db();
    let gain = if level_db > SILENCE_DB { 10f32.powf((target_db - level_db) / 20.0) } else { 1.0 };
    samples.iter().map(|x| limit(x * gain)).collect()
}

/// `x` where it is below 0.8, bent towards 0.95 above.
pub fn limit(x: f32) -> f32 {
    let over = x.abs() - KNEE;
    if over <= 0.0 {
        x
    } else {
        (KNEE + (MAX_AMPLITUDE - KNEE) * (over / (MAX_AMPLITUDE - KNEE)).tanh()).copysign(x)
    }
}

/// The part of a clip that holds its speech, with 50 ms around it; `0..0` if it holds none. Clicks shorter than 60 ms are not speech.
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

/// Frame levels of a clip and the thresholds between them.
struct Levels {
    frames_db: Vec<f32>,
    is_speech: Vec<bool>,
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
        // Three of five frames in a row, or it was a click.
        let is_speech =
            (0..loud.len()).map(|t| loud[t] && around(t).iter().filter(|loud| **loud).count() >= 3).collect();
        Self { frames_db, is_speech, noise_db }
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

/// 20 ms in samples.
fn frame_length(sample_rate_hz: u32) -> usize {
    (sample_rate_hz as usize / 50).max(1)
}

/// Samples at full scale that stand in a row: a peak that merely touches it is not clipped.
fn clipped_samples(samples: &[f32]) -> usize {
    let runs = samples.split(|x| x.abs() < CLIPPED_AMPLITUDE).map(<[f32]>::len);
    runs.filter(|run| *run >= CLIPPED_RUN).sum()
}

/// Power without the part that a constant offset or a rumble below 50 Hz has in one frame.
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

    const RATE: u32 = 16_000;

    /// Syllables of 180 ms with pauses of 120 ms between them, as loud as a sine of `amplitude`.
    fn speech(seconds: f32, amplitude: f32) -> Vec<f32> {
        let at = |n: usize| {
            let t = n as f32 / RATE as f32;
            let envelope = (t % 0.3 / 0.18 * std::f32::consts::PI).sin().max(0.0) * f32::from(t % 0.3 < 0.18);
            amplitude * envelope * (std::f32::consts::TAU * 180.0 * t).sin()
        };
        (0..(seconds * RATE as f32) as usize).map(at).collect()
    }

    fn noise(samples: usize, amplitude: f32) -> Vec<f32> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..samples).map(|_| amplitude * next()).collect()
    }

    fn check(samples: Vec<f32>) -> Result<ClipReport> {
        check_clip(&Audio { samples, sample_rate_hz: RATE })
    }

    fn code(samples: Vec<f32>) -> &'static str {
        check(samples).expect_err("must be refused").code()
    }

    #[test]
    fn levels_of_a_sine() {
        let sine: Vec<f32> =
            (0..16_000).map(|n| 0.5 * (std::f32::consts::TAU * 100.0 * n as f32 / 16_000.0).sin()).collect();
        assert!((peak_db(&sine) - -6.02).abs() < 0.01);
        assert!((rms_db(&sine) - -9.03).abs() < 0.01);
        assert!((speech_level_db(&sine, RATE) - -9.03).abs() < 0.01);
        for empty in [
            peak_db(&[]),
            rms_db(&[]),
            rms_db(&[0.0; 9]),
            speech_level_db(&[], RATE),
            noise_floor_db(&[], RATE),
        ] {
            assert_eq!(empty, SILENCE_DB);
        }
    }

    #[test]
    fn a_recording_started_late_or_stopped_early_says_so() {
        // The pause after each syllable is 120 ms long.
        let whole = [vec![0.0; 4000], speech(3.0, 0.5)].concat();
        assert_eq!(check(whole.clone()).unwrap().cut_off, None);
        let in_a_syllable = 4000 + RATE as usize * 6 / 100;
        assert_eq!(check(whole[in_a_syllable..].to_vec()).unwrap().cut_off, Some(Edge::Start));
        let end = 4000 + RATE as usize * 27 / 10 + RATE as usize * 12 / 100;
        assert_eq!(check(whole[..end].to_vec()).unwrap().cut_off, Some(Edge::End));
    }

    #[test]
    fn a_good_clip_is_reported() {
        let report = check(speech(3.0, 0.5)).unwrap();
        assert_eq!(report.seconds, 3.0);
        assert!((1.5..2.0).contains(&report.speech_seconds), "{report:?}");
        assert!((-13.5..-10.5).contains(&report.level_db), "{report:?}");
        assert_eq!(
            (report.noise_db, report.clipped_percent),
            (SILENCE_DB, 0.0),
            "engines speak over digital silence"
        );
    }

    #[test]
    fn silence_around_the_speech_does_not_change_its_level() {
        let alone = speech_level_db(&speech(3.0, 0.5), RATE);
        let mut padded = vec![0.0; 80_000];
        padded.extend(speech(3.0, 0.5));
        padded.extend(vec![0.0; 160_000]);
        assert!((speech_level_db(&padded, RATE) - alone).abs() < 0.5);
    }

    #[test]
    fn noise_is_measured() {
        let mut clip = speech(3.0, 0.5);
        clip.iter_mut().zip(noise(48_000, 0.01)).for_each(|(x, n)| *x += n);
        let report = check(clip).unwrap();
        // Even noise of amplitude a has the power a^2 / 3.
        assert!((report.noise_db - -44.8).abs() < 0.5, "{report:?}");
        assert!((report.snr_db - (report.level_db + 44.8)).abs() < 0.5, "{report:?}");
    }

    #[test]
    fn every_fault_has_its_code() {
        assert_eq!(code(vec![]), "clip-empty");
        assert_eq!(code(vec![0.0; 48_000]), "clip-too-quiet");
        assert_eq!(code(vec![0.3; 48_000]), "clip-too-quiet", "a constant is no sound");
        assert_eq!(code(speech(3.0, 0.005)), "clip-too-quiet");
        assert_eq!(code(speech(0.7, 0.5)), "clip-too-short");
        let long = check_clip(&Audio {
            samples: speech(0.7, 0.5).repeat(1 + (MAX_CLIP_SECONDS / 0.7) as usize * 2),
            sample_rate_hz: RATE,
        })
        .unwrap_err();
        assert_eq!(
            (long.code(), long.is_clip(), long.to_string().contains("at most 120 s")),
            ("clip-too-long", true, true)
        );
        let clicks = (0..64_000)
            .map(|n| if n % 1600 < 320 { noise(1, 0.5)[0] * (n % 3) as f32 } else { 0.0 })
            .collect();
        assert_eq!(code(clicks), "clip-too-quiet", "clicks are no speech");
        assert_eq!(code(vec![0.5; 1]), "clip-too-quiet");
        assert_eq!(code(speech(3.0, 2.0).iter().map(|x| x.clamp(-1.0, 1.0)).collect()), "clip-clipped");
        let noisy = speech(3.0, 0.5).iter().zip(noise(48_000, 0.3)).map(|(x, n)| x + n).collect();
        assert_eq!(code(noisy), "clip-noisy");
        assert_eq!(code(noise(48_000, 0.5)), "clip-noisy");
        assert_eq!(code(vec![f32::NAN; 48_000]), "audio-unreadable");
        let odd = Audio { samples: speech(3.0, 0.5), sample_rate_hz: 7_000 };
        assert_eq!(check_clip(&odd).unwrap_err().code(), "rate-unsupported");
    }

    #[test]
    fn a_peak_that_touches_full_scale_is_not_clipped() {
        assert_eq!(clipped_samples(&[0.2, 1.0, 0.2, -1.0, -1.0, 0.1]), 0);
        assert_eq!(clipped_samples(&[0.2, 1.0, 1.0, 1.0, 0.1, -1.0, -0.995, -1.0, -1.0]), 7);
    }

    #[test]
    fn trimming_keeps_the_speech_and_a_margin() {
        let mut clip = vec![0.0; 16_000];
        clip.extend(speech(1.38, 0.5));
        clip.extend(vec![0.0; 16_000]);
        // A click long before.
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
    fn levelling_reaches_its_target_and_no_more() {
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
