//! Power spectra of a recording and of its two sources, and the divergence that the vocoder is trained to minimise.

use burn::prelude::*;

/// The longer window under which spectra are compared. 50 ms resolve harmonics, and so distinguish pulses from noise.
pub(super) const LONG_WINDOW_SECONDS: f32 = 0.05;
/// The shorter window. 20 ms resolve time. At low pitch, this window contains two pulses, whose interference depends on their position. Therefore only the sum of
/// the powers is compared; otherwise the loss would prefer noise.
pub(super) const SHORT_WINDOW_SECONDS: f32 = 0.02;

/// Amplitudes below this are silence, as in the spectrograms.
const MIN_MAGNITUDE: f32 = 1e-5;

/// The typical power of a bin of noise with unit power. The power of a bin is exponentially distributed, and this constant minimises [`divergence`].
pub(super) const TYPICAL_NOISE: f32 = 0.61;

/// The spectra of a batch under one window length.
pub(super) struct Spectra {
    /// Power of the recording, `[B, T, F]`
    pub target: Tensor<3>,
    /// Power of the pulses, `[B, T, F]`, or `[B, T, 1]` if it is the same for all frequencies
    pub pulses: Tensor<3>,
    /// Power of noise in each bin.
    pub noise: f32,
}

impl Spectra {
    pub fn on_device(self, device: &Device) -> Self {
        let Self { target, pulses, noise } = self;
        Self { target: target.to_device(device), pulses: pulses.to_device(device), noise }
    }
}

/// Computes how much the power of the recording differs from that of the filtered sources: the negative log-likelihood of their ratio under a log-logistic
/// distribution, which is 0 for equal powers.
///
/// It treats factors and their reciprocals alike. The divergence of Itakura and Saito, the likelihood of noise, does not: it would fill the gaps between the
/// harmonics of the pulses, which have other frequencies in the recording, with noise.
///
/// * `harmonic`, `noise`: `[B, T, F]`, the filters as power gains
/// * `known`:             `[B, 1, F]`, 1 for the frequencies that are compared and 0 for those that the recording lacks
pub(super) fn divergence(
    spectra: &Spectra,
    harmonic: Tensor<3>,
    noise: Tensor<3>,
    known: Tensor<3>,
) -> Tensor<1> {
    let floor = MIN_MAGNITUDE * MIN_MAGNITUDE * spectra.noise;
    let power = harmonic * spectra.pulses.clone() + noise.mul_scalar(TYPICAL_NOISE * spectra.noise) + floor;
    let ratio = (spectra.target.clone() + floor) / power;
    let each =
        ratio.clone().add_scalar(1.0).log().mul_scalar(2.0) - ratio.log() - 2.0 * std::f32::consts::LN_2;
    (each * known).mean()
}

/// Returns the power of each bin for noise of unit power. The squares of a Hann window sum to 3/8 of its length.
///
/// * `window`: in samples
pub(super) fn noise_power(window: usize) -> f32 {
    0.375 * window as f32
}
