//! A small convolutional phone recogniser. Its posteriors align clips and count the phoneme errors of a voice.

use burn::{module::Module, nn::Linear, prelude::*, tensor::activation::log_softmax};

use crate::text::symbols::{self, EXCLAMATION, Symbol};
use burn_fused::{
    Compute, Mode,
    conv::{Activation, ConvNorm},
    dropout::dropout,
    init,
};

/// The number of classes: silence, 24 consonants and 15 vowels.
pub const CLASSES: usize = 40;
/// The class of all pauses, including punctuation.
pub const PAUSE: usize = 0;

const CONSONANTS: usize = 24;
/// The number of channels of the hidden layers.
pub const WIDTH: usize = 160;
/// The kernel width in frames.
const TAPS: usize = 5;
/// The number of convolutions. Each adds two frames of context on either side, which gives a receptive field of 21 frames, a quarter of a second.
const LAYERS: usize = 5;
pub const DROPOUT: f64 = 0.1;

/// Returns the class of a symbol: stress is ignored, and all pauses are one class.
pub fn class(symbol: Symbol) -> usize {
    let first_consonant = EXCLAMATION.index() + 1;
    let first_vowel = first_consonant + CONSONANTS;
    match symbol.index() {
        _ if !symbols::is_phone(symbol) => PAUSE,
        index if index < first_vowel => 1 + index - first_consonant,
        index => 1 + CONSONANTS + (index - first_vowel) / 3,
    }
}

/// Convolutions with residual connections over normalised log mels.
#[derive(Module, Debug)]
pub struct Recogniser {
    pub convolutions: Vec<ConvNorm>,
    pub projection: Linear,
}

impl Recogniser {
    /// Creates an untrained recogniser for `mels` bands.
    pub fn new(mels: usize, device: &Device) -> Self {
        let convolution = |layer| ConvNorm::new(if layer == 0 { mels } else { WIDTH }, WIDTH, TAPS, device);
        Self {
            convolutions: (0..LAYERS).map(convolution).collect(),
            projection: init::linear(WIDTH, CLASSES, device),
        }
    }

    /// Computes log posteriors `[B, T, CLASSES]` from log mels `[B, T, M]`, see [`normalise`].
    pub fn forward(&self, mels: Tensor<3>, mode: Mode) -> Tensor<3> {
        let hidden = self.hidden(mels, mode);
        self.classify(if mode == Mode::Train { dropout(hidden, DROPOUT) } else { hidden })
    }

    /// Computes hidden states `[B, T, WIDTH]` from log mels `[B, T, M]`, without dropout in any mode.
    pub fn hidden(&self, mels: Tensor<3>, mode: Mode) -> Tensor<3> {
        let mut hidden = mels;
        for (layer, convolution) in self.convolutions.iter().enumerate() {
            let output = convolution.forward(hidden.clone(), Activation::Relu, mode);
            hidden = if layer == 0 { output } else { hidden + output };
        }
        hidden
    }

    /// Computes log posteriors `[B, T, CLASSES]` from hidden states `[B, T, WIDTH]`.
    pub fn classify(&self, hidden: Tensor<3>) -> Tensor<3> {
        log_softmax(Compute::default().linear(&self.projection, hidden), 2)
    }
}

/// Normalises each channel to zero mean and unit variance over the utterance, which removes the level and the frequency response of the microphone.
///
/// * `frames`: `[T, M]`
pub fn normalise(frames: &mut [f32], mels: usize) {
    let count = (frames.len() / mels).max(1) as f32;
    let (mut mean, mut square) = (vec![0.0f32; mels], vec![0.0f32; mels]);
    for frame in frames.chunks_exact(mels) {
        mean.iter_mut().zip(frame).for_each(|(sum, x)| *sum += x / count);
    }
    for frame in frames.chunks_exact(mels) {
        square
            .iter_mut()
            .zip(frame)
            .zip(&mean)
            .for_each(|((sum, x), mean)| *sum += (x - mean).powi(2) / count);
    }
    // A constant channel must not be scaled to unit variance.
    const MIN_VARIANCE: f32 = 0.01;
    let scale: Vec<f32> = square.iter().map(|variance| (variance + MIN_VARIANCE).sqrt().recip()).collect();
    for frame in frames.chunks_exact_mut(mels) {
        frame.iter_mut().zip(&mean).zip(&scale).for_each(|((x, mean), scale)| *x = (*x - mean) * scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_fold_stress_and_punctuation() {
        let classes = |names: &str| symbols::parse(names).unwrap().into_iter().map(class).collect::<Vec<_>>();
        assert_eq!(classes("_ , . ? ! B ZH AA0 AA1 AA2 AE0 UW2"), [0, 0, 0, 0, 0, 1, 24, 25, 25, 25, 26, 39]);
    }

    #[test]
    fn the_response_of_a_microphone_is_removed() {
        let frames: Vec<f32> = (0..40).map(|index| ((index * 7) % 11) as f32).collect();
        let mut plain = frames.clone();
        let mut coloured: Vec<f32> =
            frames.iter().enumerate().map(|(index, x)| x + [3.0, -1.0][index % 2]).collect();
        normalise(&mut plain, 2);
        normalise(&mut coloured, 2);
        assert!(plain.iter().zip(&coloured).all(|(a, b)| (a - b).abs() < 1e-4));
        assert!(plain.iter().sum::<f32>().abs() < 1e-4);
    }

    #[test]
    fn posteriors_sum_to_one_and_keep_the_length() {
        let device = Device::flex();
        device.seed(1);
        let output = Recogniser::new(8, &device).forward(Tensor::zeros([2, 7, 8], &device), Mode::Eval);
        assert_eq!(output.dims(), [2, 7, CLASSES]);
        let sums = output.exp().sum_dim(2).into_data().try_to_vec::<f32>().unwrap();
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-4), "{sums:?}");
    }
}
