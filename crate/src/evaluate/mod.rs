//! How near one voice is to another, by signal statistics alone: nothing here is trained, and nothing here listens.

pub mod anchors;
pub mod encoder;
pub mod mcd;
pub mod speaker;

pub use anchors::{Anchors, anchors};
pub use mcd::mcd;

use crate::Result;
use crate::audio::{
    mel::{Mel, MelConfig, MelExtractor},
    pitch, resample,
};

/// How two utterances of the same text differ, along their alignment.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    pub mcd_db: f32,
    /// Root mean square difference of log F0 where both are voiced, in nepers (0.058 is a semitone); 0 if they never are.
    pub logf0_rmse: f32,
    /// Share of the path where one is voiced and the other is not, 0 to 1.
    pub voicing_error: f32,
}

/// Two utterances of the same text, of any length, compared at 16 kHz.
pub fn difference(reference: &[f32], other: &[f32], sample_rate_hz: u32) -> Result<Difference> {
    let config = MelConfig::speech_16k();
    let extractor = MelExtractor::new(config.clone());
    let measure = |samples: &[f32]| -> Result<_> {
        let samples = resample::resample(samples, sample_rate_hz, config.sample_rate_hz)?;
        Ok((extractor.extract(&samples), pitch::track(&samples, config.sample_rate_hz, config.hop_length)))
    };
    let ((mel_a, pitch_a), (mel_b, pitch_b)) = (measure(reference)?, measure(other)?);
    let alignment = mcd::align(&mel_a, &mel_b);
    let (logf0_rmse, voicing_error) = mcd::pitch_difference(&alignment, &pitch_a, &pitch_b);
    Ok(Difference { mcd_db: alignment.mcd_db, logf0_rmse, voicing_error })
}

/// What lies further than this below a clip's loudest channel is background, whatever its level: 60 dB, in nepers.
const RANGE_NEPERS: f32 = 6.9;

/// Mel-cepstra `[T, orders]` of `c1, c2, ..`, where `log mel = c0 / 2 + sum c_n cos(pi n (m + 0.5) / M)`. c0, the level, is left out.
fn cepstra(mel: &Mel, orders: usize) -> Vec<f32> {
    let m = mel.mels as f32;
    let basis: Vec<f32> = (1..=orders)
        .flat_map(|n| (0..mel.mels).map(move |k| (std::f32::consts::PI * n as f32 * (k as f32 + 0.5) / m).cos() * 2.0 / m))
        .collect();
    let floor = mel.data.iter().copied().fold(f32::MIN, f32::max) - RANGE_NEPERS;
    let mut out = Vec::with_capacity(mel.frames() * orders);
    for t in 0..mel.frames() {
        let frame: Vec<f32> = mel.frame(t).iter().map(|x| x.max(floor)).collect();
        out.extend(basis.chunks_exact(mel.mels).map(|wave| wave.iter().zip(&frame).map(|(w, x)| w * x).sum::<f32>()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cepstra_undo_their_cosines() {
        let at = |n: f32, k: usize| (std::f32::consts::PI * n * (k as f32 + 0.5) / 80.0).cos();
        let mel = Mel { mels: 80, data: (0..80).map(|k| 0.7 + 1.5 * at(1.0, k) - 0.25 * at(4.0, k)).collect() };
        let expected = [1.5, 0.0, 0.0, -0.25, 0.0];
        assert!(cepstra(&mel, 5).iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-5));
    }

    #[test]
    fn a_clip_equals_itself_and_differs_when_shifted_in_pitch() {
        let tone = |hz: f32| -> Vec<f32> {
            let at = |n: usize, k: f32| (std::f32::consts::TAU * hz * k * n as f32 / 16_000.0).sin() / k;
            (0..12_000).map(|n| 0.2 * (1..12).map(|k| at(n, k as f32)).sum::<f32>()).collect()
        };
        let same = difference(&tone(120.0), &tone(120.0), 16_000).unwrap();
        assert_eq!(same, Difference { mcd_db: 0.0, logf0_rmse: 0.0, voicing_error: 0.0 });
        let octave = difference(&tone(120.0), &tone(240.0), 16_000).unwrap();
        assert!((octave.logf0_rmse - 2f32.ln()).abs() < 0.01 && octave.mcd_db > 1.0, "{octave:?}");
        let silent = difference(&tone(120.0), &[0.0; 12_000], 16_000).unwrap();
        assert!(silent.voicing_error > 0.9 && silent.logf0_rmse == 0.0, "{silent:?}");
        assert_eq!(difference(&[], &[], 16_000).unwrap().mcd_db, 0.0);
        assert_eq!(difference(&[0.0], &[0.0], 1).unwrap_err().code(), "rate-unsupported");
    }
}
