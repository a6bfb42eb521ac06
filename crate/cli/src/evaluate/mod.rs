//! Measures of voices: similarity, intelligibility and faults, by signal statistics and by the project's own recogniser and speaker encoder.

pub(crate) mod artefacts;
pub mod faults;
pub(crate) mod intelligibility;
pub(crate) mod mcd;
pub(crate) mod measure;
pub mod measured;
pub mod report;
pub(crate) mod sentences;
mod speaking_rate;
pub(crate) mod wavs;

use ownvoice::{
    Result,
    audio::{
        Audio,
        mel::{MelConfig, MelExtractor},
        pitch, resample,
    },
};

/// The difference of two utterances of the same text along their alignment.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// The mel-cepstral distortion.
    pub mcd_db: f32,
    /// The root mean square difference of log F0 where both are voiced, in nepers (0.058 is a semitone); 0 if they never are.
    pub logf0_rmse: f32,
    /// The share of the path where one is voiced and the other is not, 0 to 1.
    pub voicing_error: f32,
}

/// Compares two utterances of the same text, of any length and rate, at 16 kHz.
pub fn difference(reference: &Audio, other: &Audio) -> Result<Difference> {
    let config = MelConfig::speech_16k();
    let extractor = MelExtractor::new(config.clone());
    let measure = |audio: &Audio| -> Result<_> {
        let samples = resample::resample(&audio.samples, audio.sample_rate_hz, config.sample_rate_hz)?;
        Ok((extractor.extract(&samples), pitch::track(&samples, config.sample_rate_hz, config.hop_length)))
    };
    let ((mel_a, pitch_a), (mel_b, pitch_b)) = (measure(reference)?, measure(other)?);
    let alignment = mcd::warp(&mel_a, &mel_b);
    let mcd::PitchDifference { logf0_rmse, voicing_error } =
        mcd::pitch_difference(&alignment, &pitch_a, &pitch_b);
    Ok(Difference { mcd_db: alignment.mcd_db, logf0_rmse, voicing_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_equals_itself_and_differs_when_shifted_in_pitch() {
        let tone_at = |hz: f32, sample_rate_hz: u32| {
            let rate = sample_rate_hz as f32;
            let at = |n: usize, k: f32| (std::f32::consts::TAU * hz * k * n as f32 / rate).sin() / k;
            let value = |n: usize| 0.2 * (1..12).map(|k| at(n, k as f32)).sum::<f32>();
            Audio { samples: (0..sample_rate_hz as usize * 3 / 4).map(value).collect(), sample_rate_hz }
        };
        let tone = |hz| tone_at(hz, 16_000);
        let same = difference(&tone(120.0), &tone(120.0)).unwrap();
        assert_eq!(same, Difference { mcd_db: 0.0, logf0_rmse: 0.0, voicing_error: 0.0 });
        let finer = difference(&tone(120.0), &tone_at(120.0, 24_000)).unwrap();
        assert!(finer.mcd_db < 0.3 && finer.logf0_rmse < 0.01 && finer.voicing_error < 0.05, "{finer:?}");
        let octave = difference(&tone(120.0), &tone(240.0)).unwrap();
        assert!((octave.logf0_rmse - 2f32.ln()).abs() < 0.01 && octave.mcd_db > 1.0, "{octave:?}");
        let zeros = |count, sample_rate_hz| Audio { samples: vec![0.0; count], sample_rate_hz };
        let silent = difference(&tone(120.0), &zeros(12_000, 16_000)).unwrap();
        assert!(silent.voicing_error > 0.9 && silent.logf0_rmse == 0.0, "{silent:?}");
        assert_eq!(difference(&zeros(0, 16_000), &zeros(0, 16_000)).unwrap().mcd_db, 0.0);
        assert_eq!(difference(&zeros(1, 1), &zeros(1, 1)).unwrap_err().code(), "rate-unsupported");
    }
}
