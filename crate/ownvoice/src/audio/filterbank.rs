//! The mel filterbank of librosa 0.11 (`filters.mel`).

use super::mel_config::MelConfig;

/// A triangular filter, without the zeros around it.
pub(super) struct Filter {
    first_bin: usize,
    weights: Vec<f32>,
}

impl Filter {
    /// Returns the inner product with a spectrum.
    pub(super) fn dot(&self, spectrum: &[f32]) -> f32 {
        self.weights.iter().zip(&spectrum[self.first_bin..]).map(|(w, x)| w * x).sum()
    }

    /// Returns the sum of the weights.
    pub(super) fn area(&self) -> f32 {
        self.weights.iter().sum::<f32>().max(1e-12)
    }

    /// Returns the centre of gravity, in bins.
    pub(super) fn centre(&self) -> f32 {
        let moment: f32 =
            self.weights.iter().enumerate().map(|(bin, weight)| weight * (self.first_bin + bin) as f32).sum();
        moment / self.area()
    }

    /// Computes `spectrum += scale * weights`.
    pub(super) fn add_to(&self, spectrum: &mut [f32], scale: f32) {
        self.weights.iter().zip(&mut spectrum[self.first_bin..]).for_each(|(w, x)| *x += w * scale);
    }
}

/// Creates triangles that are evenly spaced on Slaney's mel scale, each of unit area over frequency.
pub(super) fn filterbank(config: &MelConfig) -> Vec<Filter> {
    let bin_hz = f64::from(config.sample_rate_hz) / config.fft_length as f64;
    let (low, high) = (hz_to_mel(f64::from(config.f_min_hz)), hz_to_mel(f64::from(config.f_max_hz)));
    let edge_hz = |k: usize| mel_to_hz(low + (high - low) * k as f64 / (config.mels + 1) as f64);
    (0..config.mels)
        .map(|m| {
            let (left, centre, right) = (edge_hz(m), edge_hz(m + 1), edge_hz(m + 2));
            let weight = |bin: usize| {
                let hz = bin as f64 * bin_hz;
                ((hz - left) / (centre - left)).min((right - hz) / (right - centre)).max(0.0) * 2.0
                    / (right - left)
            };
            let first_bin = ((left / bin_hz) as usize).min(config.fft_length / 2);
            let last_bin = ((right / bin_hz).ceil() as usize).min(config.fft_length / 2);
            Filter { first_bin, weights: (first_bin..=last_bin).map(|bin| weight(bin) as f32).collect() }
        })
        .collect()
}

/// Converts to Slaney's mel scale, linear below 1 kHz (15 mels), logarithmic above.
fn hz_to_mel(hz: f64) -> f64 {
    if hz < 1000.0 { hz * 3.0 / 200.0 } else { 15.0 + (hz / 1000.0).ln() * 27.0 / 6.4f64.ln() }
}

fn mel_to_hz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4f64.ln() / 27.0).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filterbank_matches_librosa() {
        let filters = filterbank(&MelConfig::speech_16k());
        let weight = |m: usize, bin: usize| filters[m].weights[bin - filters[m].first_bin];
        assert!((weight(0, 4) - 0.005804388).abs() < 1e-7);
        assert!((weight(40, 110) - 0.014031908).abs() < 1e-7);
        assert!((weight(79, 480) - 0.0013315041).abs() < 1e-7);
        assert!(
            filters.iter().all(|filter| filter.weights.iter().sum::<f32>() > 0.06),
            "no channel is empty"
        );
    }
}
