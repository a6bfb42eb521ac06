//! Who speaks: an x-vector (Snyder et al. 2018), time-delay layers over log-mels, statistics over all frames, one vector a clip.

use burn::{module::Module, prelude::*};

use burn_fused::{
    Mode,
    conv::{Activation, ConvNorm},
};

/// Width of a speaker's vector.
pub const EMBEDDING: usize = 128;
/// Width of the time-delay layers, and of the last of them, whose statistics are taken.
const WIDTH: usize = 192;
pub const POOLED: usize = 384;
/// Kernel of each layer: a receptive field of 13 frames, 160 ms.
const TAPS: [usize; 5] = [5, 5, 5, 1, 1];
/// Log-mels meet the network as `(mel - MEAN) / SCALE`, as they do the acoustic model.
const MEAN: f32 = -5.0;
const SCALE: f32 = 2.5;
/// Variances are no smaller, or their roots would have no gradient.
const MIN_VARIANCE: f32 = 1e-4;

#[derive(Module, Debug)]
pub struct SpeakerEncoder {
    pub layers: Vec<ConvNorm>,
    /// Normalised: statistics of rectified layers all point the same way, and no two speakers would differ at the start.
    pub projection: ConvNorm,
}

impl SpeakerEncoder {
    pub fn new(mels: usize, device: &Device) -> Self {
        let width = |layer: usize| match layer {
            0 => mels,
            layer if layer == TAPS.len() => POOLED,
            _ => WIDTH,
        };
        let layer = |index: usize| ConvNorm::new(width(index), width(index + 1), TAPS[index], device);
        Self {
            layers: (0..TAPS.len()).map(layer).collect(),
            projection: ConvNorm::new(2 * POOLED, EMBEDDING, 1, device),
        }
    }

    /// * `mels`:  `[B, T, M]`, log amplitudes at the speech level that every clip meets the models at
    /// * `noise`: `[B, T, POOLED]`, added before the statistics are taken; training only
    ///
    /// Returns `[B, EMBEDDING]`, not of unit length.
    pub fn forward(&self, mels: Tensor<3>, noise: Option<Tensor<3>>, mode: Mode) -> Tensor<2> {
        let mut hidden = mels.sub_scalar(MEAN).div_scalar(SCALE);
        for layer in &self.layers {
            hidden = layer.forward(hidden, Activation::Relu, mode);
        }
        if let Some(noise) = noise {
            hidden = hidden + noise;
        }
        let mean = hidden.clone().mean_dim(1); // (B, 1, POOLED)
        let variance = (hidden - mean.clone()).powi_scalar(2).mean_dim(1);
        let statistics = Tensor::cat(vec![mean, (variance + MIN_VARIANCE).sqrt()], 2); // (B, 1, 2 POOLED)
        self.projection.forward(statistics, Activation::None, mode).squeeze_dim::<2>(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_of_any_length_is_one_vector_and_order_does_not_count() {
        let device = Device::flex();
        device.seed(1);
        let encoder = SpeakerEncoder::new(8, &device);
        let ramp =
            |frames: usize| -> Vec<f32> { (0..frames * 8).map(|at| ((at * 37) % 11) as f32 - 5.0).collect() };
        let embed = |data: Vec<f32>| {
            let frames = data.len() / 8;
            encoder.forward(
                Tensor::from_data(TensorData::new(data, [1, frames, 8]), &device),
                None,
                Mode::Eval,
            )
        };
        assert_eq!(embed(ramp(20)).dims(), [1, EMBEDDING]);
        // Far from the edges, where the layers see padding, twice the same frames have the same statistics.
        let (once, twice) = (embed(ramp(220)), embed(ramp(440)));
        let apart = (once.clone() - twice).powi_scalar(2).sum().into_scalar::<f32>()
            / once.powi_scalar(2).sum().into_scalar::<f32>();
        assert!(apart < 1e-2, "{apart}");
    }
}
