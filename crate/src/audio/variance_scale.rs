//! Compensation of over-smoothing by the global variance of a spectrogram, the variance about its mean in each band (Toda and Tokuda 2007).
//!
//! A model that minimises a spectral error predicts the mean of all plausible spectra, whose variance is too low, most of all for unseen texts. That sounds
//! muffled, and lowers the similarity that a speaker encoder measures.

use super::mel::Mel;

/// A frame this far below the loudest one is pause, one above that by [`RAMP_NEPERS`] is speech, with a linear ramp between them.
const RANGE_NEPERS: f32 = 5.0;
const RAMP_NEPERS: f32 = 2.0;
/// Values below are noise of the measure; values above sound harsh.
pub const VARIANCE_SCALES: std::ops::RangeInclusive<f32> = 1.0..=1.3;

/// The proportion of speech in each frame, 0 to 1, by its level.
fn speech(mel: &Mel) -> Vec<f32> {
    let level = |t: usize| mel.frame(t).iter().sum::<f32>() / mel.mels as f32;
    let levels: Vec<f32> = (0..mel.frames()).map(level).collect();
    let loudest = levels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    levels.iter().map(|level| ((level - loudest + RANGE_NEPERS) / RAMP_NEPERS).clamp(0.0, 1.0)).collect()
}

/// The mean of each band, weighted by frame.
fn means(mel: &Mel, weights: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0; mel.mels];
    for (t, weight) in weights.iter().enumerate() {
        sums.iter_mut().zip(mel.frame(t)).for_each(|(sum, x)| *sum += weight * x);
    }
    let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    sums.into_iter().map(|sum| sum / total).collect()
}

/// The factor on deviations from the mean at which synthesised mels have the variance of the recordings, over all bands.
///
/// * `pairs`: a synthesised and a recorded mel of the same text, aligned frame by frame
pub fn variance_scale<'a>(pairs: impl IntoIterator<Item = (&'a Mel, &'a Mel)>) -> f32 {
    let mut squares: Vec<[f32; 2]> = Vec::new();
    for (said, recorded) in pairs {
        let weights = speech(recorded);
        squares.resize(recorded.mels, [0.0; 2]);
        for (side, mel) in [said, recorded].into_iter().enumerate() {
            let means = means(mel, &weights);
            for (t, weight) in weights.iter().enumerate() {
                let bands = mel.frame(t).iter().zip(&means);
                squares
                    .iter_mut()
                    .zip(bands)
                    .for_each(|(squares, (x, mean))| squares[side] += weight * (x - mean).powi(2));
            }
        }
    }
    let ratios =
        squares.iter().filter(|[said, _]| *said > 0.0).map(|[said, recorded]| (recorded / said).sqrt());
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio, count + 1));
    if count == 0 {
        1.0
    } else {
        (sum / count as f32).clamp(*VARIANCE_SCALES.start(), *VARIANCE_SCALES.end())
    }
}

/// A sentence with its variance scaled; its pauses stay.
pub fn scale_variance(mut mel: Mel, variance_scale: f32) -> Mel {
    let weights = speech(&mel);
    let means = means(&mel, &weights);
    for (frame, weight) in mel.data.chunks_exact_mut(mel.mels).zip(weights) {
        frame
            .iter_mut()
            .zip(&means)
            .for_each(|(x, mean)| *x += weight * (variance_scale - 1.0) * (*x - mean));
    }
    mel
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bands that swing by `swing` about means of their own, between pauses.
    fn sentence(swing: f32) -> Mel {
        let speech =
            |t: usize, band: usize| -3.0 - 0.05 * band as f32 + swing * (0.37 * t as f32 + band as f32).sin();
        let value = |t: usize, band: usize| if (20..180).contains(&t) { speech(t, band) } else { -11.5 };
        Mel { mels: 8, data: (0..200).flat_map(|t| (0..8).map(move |band| value(t, band))).collect() }
    }

    #[test]
    fn what_was_flattened_is_restored_and_pauses_stay() {
        let (recorded, said) = (sentence(1.0), sentence(0.8));
        let found = variance_scale([(&said, &recorded)]);
        assert!((found - 1.25).abs() < 0.01, "{found}");
        let restored = scale_variance(said, found);
        let worst = restored.data.iter().zip(&recorded.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 0.02, "{worst}");
        assert_eq!(restored.frame(0), recorded.frame(0));
    }

    #[test]
    fn what_is_as_lively_as_it_should_be_and_what_says_nothing_is_left_alone() {
        let recorded = sentence(1.0);
        assert_eq!(variance_scale([(&recorded, &recorded)]), 1.0);
        assert_eq!(variance_scale([(&sentence(1.2), &recorded)]), 1.0, "never flatter");
        assert_eq!(variance_scale([(&sentence(0.1), &recorded)]), 1.3, "never harsh");
        assert_eq!(variance_scale([]), 1.0);
        let nothing = Mel { mels: 8, data: Vec::new() };
        assert_eq!(scale_variance(nothing.clone(), 1.2), nothing);
        let silence = Mel { mels: 8, data: vec![-11.5; 80] };
        assert_eq!(scale_variance(silence.clone(), 1.2), silence);
        assert_eq!(variance_scale([(&silence, &silence)]), 1.0);
    }
}
