//! The check that every recording must pass before it is used.

use serde::Serialize;

use super::{Levels, frame_length, rms_db};
use crate::{
    Error, Result,
    audio::{
        Audio, Note,
        resample::{RATES_HZ, resample},
        rumble::remove_rumble,
    },
};

/// The least speech of a clip.
pub const MIN_SPEECH_SECONDS: f32 = 0.6;
/// The longest clip: the memory of alignment grows with the square of its length.
pub const MAX_CLIP_SECONDS: f32 = 120.0;
/// The least speech level of a clip, in dBFS.
pub const MIN_LEVEL_DB: f32 = -45.0;
/// The most clipped samples of a clip, in percent of its speech.
pub const MAX_CLIPPED_PERCENT: f32 = 0.5;
/// The least distance of the speech from the background.
pub const MIN_SNR_DB: f32 = 10.0;

/// The amplitude from which samples may be clipped.
const CLIPPED_AMPLITUDE: f32 = 0.99;
/// The least run of clipped samples: a peak that touches full scale is shorter.
const CLIPPED_RUN: usize = 3;
/// The length of the part at each end that shows whether a clip is cut off; the click of a mouse is shorter.
const EDGE_SECONDS: f32 = 0.06;
/// The range below the speech level in which an end counts as speech: background noise and fading voices lie below it.
const EDGE_RANGE_DB: f32 = 12.0;

/// The rate whose band, up to 5.5 kHz, holds all of a recording over a telephone.
const NARROW_RATE_HZ: u32 = 11_025;
/// The level of the loudest frames above that band, relative to the speech, below which it is empty. Speech has -30 dB or more there, the rounding of 16-bit
/// samples less than -60.
const NARROW_BAND_DB: f32 = -48.0;

/// The measurements of a clip's check.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClipReport {
    /// The length of the clip.
    pub seconds: f32,
    /// The length of the speech in it.
    pub speech_seconds: f32,
    /// The mean level of the speech, in dBFS.
    pub level_db: f32,
    /// The level of the background, in dBFS; -120 for digital silence.
    pub noise_db: f32,
    /// The level of the speech above the background.
    pub snr_db: f32,
    /// The clipped samples, in percent of the speech.
    pub clipped_percent: f32,
    /// The end at which speech is cut off, if any: the recording was started late or stopped early, or the file was trimmed tightly.
    pub cut_off: Option<Edge>,
    /// What the voice will sound like, where that is unusual.
    pub notes: Vec<Note>,
}

/// An end of a clip.
#[warn(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Edge {
    /// The first samples.
    Start,
    /// The last samples.
    End,
}

#[warn(missing_docs)]
impl Edge {
    /// Returns `start` or `end`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// Checks that a clip can be used for training. The error names the first fault.
///
/// # Errors
/// Fails with `rate-unsupported`, `clip-empty`, `clip-too-long`, `audio-unreadable`, `clip-too-quiet`, `clip-too-short`, `clip-clipped` or `clip-noisy`.
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
    let notes = if is_narrow(&audible, *rate, level_db)? { vec![Note::NarrowBand] } else { Vec::new() };
    Ok(ClipReport {
        seconds: clip.seconds(),
        speech_seconds,
        level_db,
        noise_db,
        snr_db,
        clipped_percent,
        cut_off,
        notes,
    })
}

/// Returns whether there is nothing above the band of [`NARROW_RATE_HZ`].
fn is_narrow(samples: &[f32], sample_rate_hz: u32, level_db: f32) -> Result<bool> {
    if sample_rate_hz <= NARROW_RATE_HZ {
        return Ok(true);
    }
    let below =
        resample(&resample(samples, sample_rate_hz, NARROW_RATE_HZ)?, NARROW_RATE_HZ, sample_rate_hz)?;
    let above: Vec<f32> = samples.iter().zip(&below).map(|(x, below)| x - below).collect();
    Ok(Levels::of(&above, frame_length(sample_rate_hz)).loud_db < level_db + NARROW_BAND_DB)
}

/// Returns the first end whose [`EDGE_SECONDS`] are about as loud as the speech.
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

/// Counts the samples at full scale in runs of at least [`CLIPPED_RUN`].
fn clipped_samples(samples: &[f32]) -> usize {
    let runs = samples.split(|x| x.abs() < CLIPPED_AMPLITUDE).map(<[f32]>::len);
    runs.filter(|run| *run >= CLIPPED_RUN).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::level::{
        SILENCE_DB,
        tests::{RATE, noise, speech},
    };

    fn check(samples: Vec<f32>) -> Result<ClipReport> {
        check_clip(&Audio { samples, sample_rate_hz: RATE })
    }

    fn code(samples: Vec<f32>) -> &'static str {
        check(samples).expect_err("must be refused").code()
    }

    #[test]
    fn recordings_that_are_cut_off_are_reported() {
        // The pause after each syllable is 120 ms long.
        let whole = [vec![0.0; 4000], speech(3.0, 0.5)].concat();
        assert_eq!(check(whole.clone()).unwrap().cut_off, None);
        let in_a_syllable = 4000 + RATE as usize * 6 / 100;
        assert_eq!(check(whole[in_a_syllable..].to_vec()).unwrap().cut_off, Some(Edge::Start));
        let end = 4000 + RATE as usize * 27 / 10 + RATE as usize * 12 / 100;
        assert_eq!(check(whole[..end].to_vec()).unwrap().cut_off, Some(Edge::End));
    }

    #[test]
    fn good_clips_are_reported() {
        let report = check(speech(3.0, 0.5)).unwrap();
        assert_eq!(report.seconds, 3.0);
        assert!((1.5..2.0).contains(&report.speech_seconds), "{report:?}");
        assert!((-13.5..-10.5).contains(&report.level_db), "{report:?}");
        assert_eq!(
            (report.noise_db, report.clipped_percent),
            (SILENCE_DB, 0.0),
            "the pauses are digital silence"
        );
    }

    #[test]
    fn noise_is_measured() {
        let mut clip = speech(3.0, 0.5);
        clip.iter_mut().zip(noise(48_000, 0.01)).for_each(|(x, n)| *x += n);
        let report = check(clip).unwrap();
        // Uniform noise of amplitude a has the power a^2 / 3.
        assert!((report.noise_db - -44.8).abs() < 0.5, "{report:?}");
        assert!((report.snr_db - (report.level_db + 44.8)).abs() < 0.5, "{report:?}");
    }

    #[test]
    fn every_fault_has_its_code() {
        assert_eq!(code(vec![]), "clip-empty");
        assert_eq!(code(vec![0.0; 48_000]), "clip-too-quiet");
        assert_eq!(code(vec![0.3; 48_000]), "clip-too-quiet", "a constant is silent");
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
        assert_eq!(code(clicks), "clip-too-quiet", "clicks are not speech");
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
}
