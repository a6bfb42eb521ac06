//! The x-vector network (Snyder et al. 2018): time-delay layers over log-mels, statistics pooling over all frames, and one embedding per clip.

use burn::{module::Module, prelude::*};

use burn_fused::{
    Mode,
    conv::{Activation, ConvNorm},
};

/// The width of an embedding.
pub const EMBEDDING: usize = 128;
/// The width of the time-delay layers.
const WIDTH: usize = 192;
/// The width of the last time-delay layer, whose statistics are pooled.
pub const POOLED: usize = 384;
/// The kernel size of each layer. The receptive field is 13 frames or 160 ms.
const TAPS: [usize; 5] = [5, 5, 5, 1, 1];
/// The mean by which log-mels are normalised, `(mel - MEAN) / SCALE`, as for the acoustic model.
const MEAN: f32 = -5.0;
/// The scale by which log-mels are normalised.
const SCALE: f32 = 2.5;
/// Added to variances, whose square root would otherwise have an infinite gradient at 0.
const MIN_VARIANCE: f32 = 1e-4;

/// The network of the speaker encoder.
#[derive(Module, Debug)]
pub struct SpeakerEncoder {
    pub layers: Vec<ConvNorm>,
    /// The projection, which is normalised: statistics of rectified layers have similar directions, so that all speakers would be similar at the start.
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

    /// Returns embeddings `[B, EMBEDDING]`, which are not of unit length.
    ///
    /// * `mels`:  `[B, T, M]`, log amplitudes, normalised in level
    /// * `noise`: `[B, T, POOLED]`, added before the pooling in training
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
    fn the_embedding_does_not_depend_on_the_length() {
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
        // Far from the padded edges, the repeated frames have the same statistics.
        let (once, twice) = (embed(ramp(220)), embed(ramp(440)));
        let difference = (once.clone() - twice).powi_scalar(2).sum().into_scalar::<f32>()
            / once.powi_scalar(2).sum().into_scalar::<f32>();
        assert!(difference < 1e-2, "{difference}");
    }
}
