//! Compensation of over-smoothing by the global variance of a spectrogram, the variance about its mean in each band (Toda and Tokuda 2007).
//!
//! A model that minimises a spectral error predicts the mean of all plausible spectra, whose variance is too low, most of all for unseen texts. That sounds
//! muffled, and lowers the similarity that a speaker encoder measures.

use super::{dct::Dct, mel::Mel, pauses::speech};

/// The groups of cepstral coefficients (DCT-II over the bands) that share a factor: level, tilt, formants, and finer structure such as harmonics.
const GROUPS: [std::ops::Range<usize>; 4] = [0..1, 1..4, 4..12, 12..usize::MAX];
/// The range of the factors: lower values are noise of the estimate, higher ones sound harsh.
pub const VARIANCE_SCALES: std::ops::RangeInclusive<f32> = 1.0..=1.5;

/// Factors on the deviation of a spectrum from its mean over time, by groups of cepstral coefficients: level, tilt, formants, and finer structure.
pub type GlobalVarianceScale = [f32; GROUPS.len()];
/// The scale that changes nothing.
pub const FLAT: GlobalVarianceScale = [1.0; GROUPS.len()];

/// Returns the group of a cepstral coefficient.
fn group(k: usize) -> usize {
    GROUPS.iter().position(|group| group.contains(&k)).expect("the last has no end")
}

/// Computes the mean of each band, weighted by frame.
fn means(mel: &Mel, weights: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0; mel.mels];
    for (t, weight) in weights.iter().enumerate() {
        sums.iter_mut().zip(mel.frame(t)).for_each(|(sum, x)| *sum += weight * x);
    }
    let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    sums.into_iter().map(|sum| sum / total).collect()
}

/// Returns a frame minus the mean of each band.
fn deviation(frame: &[f32], means: &[f32]) -> Vec<f32> {
    frame.iter().zip(means).map(|(x, mean)| x - mean).collect()
}

/// Computes the factors that give synthesised mels the variance of the recordings.
///
/// * `pairs`: a synthesised and a recorded mel of the same text, aligned frame by frame
pub fn global_variance_scale<'a>(pairs: impl IntoIterator<Item = (&'a Mel, &'a Mel)>) -> GlobalVarianceScale {
    let mut squares = [[0.0f64; 2]; GROUPS.len()];
    for (said, recorded) in pairs {
        let (weights, dct) = (speech(recorded), Dct::new(recorded.mels));
        for (side, mel) in [said, recorded].into_iter().enumerate() {
            let means = means(mel, &weights);
            for (t, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                for (k, coefficient) in dct.cepstrum(&deviation(mel.frame(t), &means)).enumerate() {
                    squares[group(k)][side] += f64::from(weight * coefficient.powi(2));
                }
            }
        }
    }
    squares.map(|[said, recorded]| match said > 0.0 {
        true => ((recorded / said).sqrt() as f32).clamp(*VARIANCE_SCALES.start(), *VARIANCE_SCALES.end()),
        false => 1.0,
    })
}

/// Scales the variance of a sentence; its pauses are unchanged.
pub fn scale_variance(mut mel: Mel, scale: GlobalVarianceScale) -> Mel {
    let (weights, dct) = (speech(&mel), Dct::new(mel.mels));
    let means = means(&mel, &weights);
    for (frame, weight) in
        mel.data.chunks_exact_mut(mel.mels).zip(weights).filter(|(_, weight)| *weight > 0.0)
    {
        for (k, coefficient) in dct.cepstrum(&deviation(frame, &means)).enumerate() {
            dct.raise(frame, k, weight * (scale[group(k)] - 1.0) * coefficient);
        }
    }
    mel
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bands that oscillate by `swing` about their own means, between pauses.
    fn sentence(swing: f32) -> Mel {
        let speech =
            |t: usize, band: usize| -3.0 - 0.05 * band as f32 + swing * (0.37 * t as f32 + band as f32).sin();
        let value = |t: usize, band: usize| if (20..180).contains(&t) { speech(t, band) } else { -11.5 };
        Mel { mels: 8, data: (0..200).flat_map(|t| (0..8).map(move |band| value(t, band))).collect() }
    }

    #[test]
    fn lost_variance_is_restored_and_pauses_are_unchanged() {
        let (recorded, said) = (sentence(1.0), sentence(0.8));
        let found = global_variance_scale([(&said, &recorded)]);
        assert!(found.iter().take(3).all(|scale| (scale - 1.25).abs() < 0.01), "{found:?}");
        let restored = scale_variance(said, found);
        let worst = restored.data.iter().zip(&recorded.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 0.02, "{worst}");
        assert_eq!(restored.frame(0), recorded.frame(0));
    }

    #[test]
    fn groups_are_scaled_independently() {
        // An oscillating level, and a ripple over the bands.
        let mel = |level: f32, ripple: f32| {
            let value = |t: usize, band: usize| {
                let ripple = ripple * (0.37 * t as f32).sin() * [1.0, -1.0][band % 2];
                -3.0 + level * (0.21 * t as f32).sin() + ripple
            };
            Mel { mels: 32, data: (0..200).flat_map(|t| (0..32).map(move |band| value(t, band))).collect() }
        };
        let found = global_variance_scale([(&mel(0.5, 0.4), &mel(0.5, 0.5))]);
        assert!((found[0] - 1.0).abs() < 0.02 && (found[3] - 1.25).abs() < 0.02, "{found:?}");
        let restored = scale_variance(mel(0.5, 0.4), found);
        let worst =
            restored.data.iter().zip(&mel(0.5, 0.5).data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 0.03, "{worst}");
    }

    #[test]
    fn sufficient_variance_and_silence_are_unchanged() {
        let recorded = sentence(1.0);
        assert_eq!(global_variance_scale([(&recorded, &recorded)]), FLAT);
        assert_eq!(
            global_variance_scale([(&sentence(1.2), &recorded)]),
            FLAT,
            "the variance is never reduced"
        );
        assert_eq!(
            global_variance_scale([(&sentence(0.1), &recorded)])[0],
            *VARIANCE_SCALES.end(),
            "the factor is bounded"
        );
        assert_eq!(global_variance_scale([]), FLAT);
        let nothing = Mel { mels: 8, data: Vec::new() };
        assert_eq!(scale_variance(nothing.clone(), [1.2; 4]), nothing);
        let silence = Mel { mels: 8, data: vec![-11.5; 80] };
        assert_eq!(scale_variance(silence.clone(), [1.2; 4]), silence);
        assert_eq!(global_variance_scale([(&silence, &silence)]), FLAT);
    }
}
