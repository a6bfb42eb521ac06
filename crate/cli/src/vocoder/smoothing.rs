//! Smoothing of spectrograms, which teaches the vocoder to restore what regression blurs (Liu and Song 2024, "Training Universal Vocoders with Feature
//! Smoothing-Based Augmentation Methods", section 3).

use ownvoice::audio::mel::Mel;

/// Smooths a log-mel spectrogram along time and frequency by Gaussian kernels. The edges are repeated.
///
/// * `deviations`: the standard deviations of the kernels along time and frequency, in frames and channels
pub(super) fn smoothed(mel: &Mel, deviations: [f32; 2]) -> Mel {
    let (frames, mels) = (mel.frames(), mel.mels);
    let [over_time, over_channels] = deviations.map(kernel);
    let weighted = |kernel: &[f32], at: usize, length: usize, value: &dyn Fn(usize) -> f32| {
        let near = |k: usize| (at + k).saturating_sub(kernel.len() / 2).min(length - 1);
        kernel.iter().enumerate().map(|(k, weight)| weight * value(near(k))).sum::<f32>()
    };
    let each = |of: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
        (0..frames * mels).map(|index| of(index / mels, index % mels)).collect()
    };
    let data = each(&|t, m| weighted(&over_time, t, frames, &|t| mel.data[t * mels + m]));
    Mel { mels, data: each(&|t, m| weighted(&over_channels, m, mels, &|m| data[t * mels + m])) }
}

/// Returns a Gaussian kernel of odd length whose weights sum to one.
fn kernel(deviation: f32) -> Vec<f32> {
    let reach = (3.0 * deviation).ceil() as isize;
    let weight = |at: isize| (-0.5 * (at as f32 / deviation.max(1e-3)).powi(2)).exp();
    let sum: f32 = (-reach..=reach).map(weight).sum();
    (-reach..=reach).map(|at| weight(at) / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_spread_and_the_sum_is_kept() {
        let mut data = vec![0.0; 40 * 30];
        data[20 * 30 + 15] = 1.0;
        let mel = Mel { mels: 30, data };
        assert_eq!(smoothed(&mel, [0.0, 0.0]), mel);
        let wide = smoothed(&mel, [2.0, 1.0]);
        assert!((wide.data.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let spread = |along: usize| {
            let place = |index: usize| [index / 30, index % 30][along] as f32 - [20.0, 15.0][along];
            wide.data
                .iter()
                .enumerate()
                .map(|(index, value)| value * place(index).powi(2))
                .sum::<f32>()
                .sqrt()
        };
        assert!(
            (spread(0) - 2.0).abs() < 0.1 && (spread(1) - 1.0).abs() < 0.1,
            "{} {}",
            spread(0),
            spread(1)
        );
        let flat = Mel { mels: 2, data: vec![-3.0; 10] };
        assert!(smoothed(&flat, [1.0, 1.0]).data.iter().all(|value| (value + 3.0).abs() < 1e-5));
    }
}
