//! Faces to mels: a stack of 3-D convolutions with residuals, a bidirectional LSTM, and the decoder of the attention path.
//!
//! Prajwal et al. 2020, section 4: the encoder's pictures take the place of Tacotron 2's characters; attention, decoder and postnet are Tacotron 2's own.
//! Space shrinks from layer to layer, time does not. Axes: `N` pictures of an item (its length in time), `D` height, `W` width, `C` channels.

use burn::{
    module::{Module, Param},
    nn::BatchNorm,
    prelude::*,
    tensor::{activation::relu, module::conv3d, ops::ConvOptions},
};
use serde::{Deserialize, Serialize};

use crate::{
    model::{
        TacotronConfig,
        attention::AttentionDecoder,
        postnet::Postnet,
        tacotron::Symbols,
        teacher_forcing::{Decoded, Spoken, TeacherForcing},
    },
    nn::{
        Mode, Scope,
        init::{Fill, batch_norm},
        lstm::BiLstm,
    },
};

/// Sizes of a model of lips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipConfig {
    /// Height and width of a face in pixels.
    pub side: usize,
    /// Of each block; each halves height and width.
    pub channels: Vec<usize>,
    /// Residual layers of a block, after the one that halves.
    pub residuals: usize,
    /// Taps of the first layer in time and space; all others have three.
    pub first_kernel: usize,
    /// By which the last layer divides height and width.
    pub last_stride: usize,
    /// The rest: `encoder_width` is that of the LSTM, both directions together.
    pub tacotron: TacotronConfig,
}

impl LipConfig {
    /// The paper's, as its public code has them.
    pub fn lips(speakers: usize) -> Self {
        let tacotron = TacotronConfig { symbols: 1, reduction: 2, ..TacotronConfig::tacotron2(speakers) };
        Self {
            side: 96,
            channels: vec![32, 64, 128, 256],
            residuals: 2,
            first_kernel: 5,
            last_stride: 3,
            // Mels as this crate normalises them.
            tacotron: TacotronConfig { mel_mean: -5.0, mel_scale: 2.5, ..tacotron },
        }
    }

    /// For two CPU cores.
    pub fn lips_small(speakers: usize) -> Self {
        Self {
            channels: vec![8, 16, 32, 64],
            residuals: 1,
            tacotron: TacotronConfig {
                symbols: 1,
                pitch: false,
                autoregressive: true,
                ..TacotronConfig::small(speakers)
            },
            ..Self::lips(speakers)
        }
    }

    /// For tests: every part, nearly no width.
    pub fn tiny(speakers: usize) -> Self {
        Self {
            side: 16,
            channels: vec![3, 4],
            last_stride: 2,
            first_kernel: 3,
            tacotron: TacotronConfig { symbols: 1, autoregressive: true, ..TacotronConfig::tiny(speakers) },
            ..Self::lips_small(speakers)
        }
    }

    /// Height and width after the last convolution.
    fn last_side(&self) -> usize {
        let halved = self.channels.iter().fold(self.side, |side, _| side.div_ceil(2));
        halved.div_ceil(self.last_stride.max(1))
    }

    /// Whether a model of these sizes can be made at all, and without exhausting memory: they may come from a hostile file. The error names what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let sound = (8..=512).contains(&self.side)
            && (1..=8).contains(&self.channels.len())
            && self.channels.iter().all(|channels| (1..=1024).contains(channels))
            && self.residuals <= 8
            && [1, 3, 5, 7].contains(&self.first_kernel)
            && (1..=8).contains(&self.last_stride)
            && self.tacotron.encoder_width.is_multiple_of(2);
        if sound { self.tacotron.check() } else { Err("the model's sizes make no sense".into()) }
    }
}

/// A convolution over time and space with batch normalisation and ReLU; a residual one adds its input before the ReLU.
#[derive(Module, Debug)]
pub struct ConvNorm3d {
    /// `[Cout, Cin, K, K, K]`: time, height, width. No bias: the normalisation has one.
    pub weight: Param<Tensor<5>>,
    pub norm: BatchNorm,
    stride: usize,
    residual: bool,
}

impl ConvNorm3d {
    fn new(
        inputs: usize,
        outputs: usize,
        kernel: usize,
        stride: usize,
        residual: bool,
        device: &Device,
    ) -> Self {
        assert!(kernel % 2 == 1, "a convolution that keeps its length has an odd number of taps");
        assert!(!residual || (inputs == outputs && stride == 1), "a residual has the shape of its input");
        // He et al. 2015, for layers that a ReLU follows.
        let bound = (6.0 / (inputs * kernel.pow(3)) as f64).sqrt();
        Self {
            weight: Fill::Uniform(bound).init([outputs, inputs, kernel, kernel, kernel], device),
            norm: batch_norm(outputs, device),
            stride,
            residual,
        }
    }

    /// `[B, Cin, N, D, W]` to `[B, Cout, N, D / stride, W / stride]`, rounded up.
    fn forward(&self, input: Tensor<5>, mode: Mode) -> Tensor<5> {
        let padding = self.weight.dims()[2] / 2;
        let options = ConvOptions::new([1, self.stride, self.stride], [padding; 3], [1; 3], 1);
        let output = conv3d(input.clone(), self.weight.val(), None, options);
        let normed = match mode {
            Mode::Train => {
                let normed = self.norm.forward(output);
                // Otherwise the statistics lag one update behind, and a checkpoint would lose it.
                self.norm.running_mean.value_sync();
                self.norm.running_var.value_sync();
                normed
            }
            Mode::Eval => self.normalise(output),
        };
        relu(if self.residual { normed + input } else { normed })
    }

    /// By the running statistics.
    fn normalise(&self, input: Tensor<5>) -> Tensor<5> {
        let device = input.device();
        let mean = self.norm.running_mean.value().to_device(&device);
        let variance = self.norm.running_var.value().to_device(&device);
        let scale = self.norm.gamma.val() / variance.add_scalar(self.norm.epsilon).sqrt();
        let shift = self.norm.beta.val() - mean * scale.clone();
        let by_channel = |values: Tensor<1>| {
            let channels = values.dims()[0];
            values.reshape([1, channels, 1, 1, 1])
        };
        input * by_channel(scale) + by_channel(shift)
    }
}

/// Faces to one vector a picture.
#[derive(Module, Debug)]
pub struct FaceEncoder {
    pub convolutions: Vec<ConvNorm3d>,
    /// E/2 a direction.
    pub lstm: BiLstm,
}

impl FaceEncoder {
    pub fn new(config: &LipConfig, device: &Device) -> Self {
        let (mut convolutions, mut inputs) = (Vec::new(), 3);
        for (block, &channels) in config.channels.iter().enumerate() {
            let kernel = if block == 0 { config.first_kernel } else { 3 };
            convolutions.push(ConvNorm3d::new(inputs, channels, kernel, 2, false, device));
            convolutions.extend(
                (0..config.residuals).map(|_| ConvNorm3d::new(channels, channels, 3, 1, true, device)),
            );
            inputs = channels;
        }
        convolutions.push(ConvNorm3d::new(inputs, inputs, 3, config.last_stride, false, device));
        let width = config.tacotron.encoder_width;
        Self { convolutions, lstm: BiLstm::new(inputs * config.last_side().pow(2), width / 2, device) }
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { lstm: self.lstm.computing(&scope.at("lstm")), ..self }
    }

    /// * `faces`:    `[B, 3, N, D, W]`, see [`normalised`]; padded with anything
    /// * `pictures`: N of each item
    ///
    /// Returns `[B, N, E]`. Padding does not reach into an item: its neighbours see zeros there.
    pub fn forward(&self, faces: Tensor<5>, pictures: &Symbols, mode: Mode) -> Tensor<3> {
        let [batch, _, length, ..] = faces.dims();
        let mask = pictures.mask.clone().reshape([batch, 1, length, 1, 1]);
        let mut hidden = faces * mask.clone();
        for convolution in &self.convolutions {
            hidden = convolution.forward(hidden, mode) * mask.clone();
        }
        let [_, channels, _, height, width] = hidden.dims();
        let hidden = hidden.swap_dims(1, 2).reshape([batch, length, channels * height * width]);
        self.lstm.forward(hidden, &pictures.lengths)
    }
}

/// The whole model.
#[derive(Module, Debug)]
pub struct LipTacotron {
    pub encoder: FaceEncoder,
    /// `[speakers, V]`
    pub speakers: Param<Tensor<2>>,
    pub decoder: AttentionDecoder,
    pub postnet: Postnet,
    /// How it computes, and with it its loss.
    #[module(skip)]
    pub scope: Scope,
}

impl LipTacotron {
    pub fn new(config: &LipConfig, device: &Device) -> Self {
        let tacotron = &config.tacotron;
        Self {
            encoder: FaceEncoder::new(config, device),
            speakers: Fill::Normal(0.3).init([tacotron.speakers, tacotron.speaker_width], device),
            decoder: AttentionDecoder::new(tacotron, device),
            postnet: Postnet::new(tacotron, device),
            scope: Scope::default(),
        }
    }

    /// How its operations are computed; `scope` is that of the whole model.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            encoder: self.encoder.computing(&scope.at("encoder")),
            speakers: self.speakers,
            decoder: self.decoder.computing(&scope.at("decoder").in_single()),
            postnet: self.postnet.computing(&scope.at("postnet")),
            scope: scope.clone(),
        }
    }

    /// Decodes while it is given the true frames.
    ///
    /// * `faces`:    `[B, 3, N, D, W]`
    /// * `speaker`:  `[B, V]`
    /// * `previous`: `[B, steps, M]`, the frame before each step's first
    pub fn teacher_force(
        &self,
        faces: Tensor<5>,
        pictures: &Symbols,
        speaker: Tensor<2>,
        previous: Tensor<3>,
        mode: Mode,
    ) -> Decoded {
        let encoded = self.encoder.forward(faces, pictures, mode);
        self.decoder
            .teacher_force(Spoken { symbols: pictures, encoded, speaker, previous: Some(previous) }, ())
    }
}

/// The pictures of each item, for what attends to them as to symbols.
///
/// * `length`: to which they are padded; without, the longest
pub fn pictures(lengths: &[usize], length: Option<usize>, device: &Device) -> Symbols {
    let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![0; length]).collect();
    Symbols::new(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), length, device)
}

/// Faces of one item as the model takes them: -1 to 1, `[1, 3, N, side, side]`.
///
/// * `bytes`: `[N, side, side, 3]`
pub fn normalised(bytes: &[u8], side: usize, device: &Device) -> Tensor<5> {
    let count = bytes.len() / (side * side * 3);
    assert_eq!(bytes.len(), count * side * side * 3, "whole pictures");
    let values: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) / 127.5 - 1.0).collect();
    Tensor::<4>::from_data(TensorData::new(values, [count, side, side, 3]), device)
        .permute([3, 0, 1, 2])
        .unsqueeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Distribution, Tolerance};

    #[test]
    fn presets_are_sound_and_hostile_sizes_are_not() {
        for (preset, side) in
            [(LipConfig::lips(5), 2), (LipConfig::lips_small(5), 2), (LipConfig::tiny(2), 2)]
        {
            assert_eq!((preset.check(), preset.last_side()), (Ok(()), side));
        }
        let small = || LipConfig::lips_small(1);
        for hostile in [
            LipConfig { side: 1 << 40, ..small() },
            LipConfig { channels: Vec::new(), ..small() },
            LipConfig { channels: vec![1 << 40], ..small() },
            LipConfig { first_kernel: 4, ..small() },
            LipConfig { last_stride: 0, ..small() },
            LipConfig { tacotron: TacotronConfig { encoder_width: 5, ..small().tacotron }, ..small() },
            LipConfig { tacotron: TacotronConfig { speakers: 0, ..small().tacotron }, ..small() },
        ] {
            assert!(hostile.check().is_err(), "{hostile:?}");
        }
    }

    fn faces(batch: usize, length: usize, device: &Device) -> Tensor<5> {
        Tensor::random([batch, 3, length, 16, 16], Distribution::Uniform(-1.0, 1.0), device)
    }

    #[test]
    fn padding_does_not_reach_into_an_item() {
        let device = Device::flex();
        device.seed(3);
        let encoder = FaceEncoder::new(&LipConfig::tiny(1), &device);
        let pair = faces(2, 6, &device);
        let together = encoder.forward(pair.clone(), &pictures(&[6, 4], None, &device), Mode::Eval);
        let alone = pair.narrow(0, 1, 1).narrow(2, 0, 4);
        let alone = encoder.forward(alone, &pictures(&[4], None, &device), Mode::Eval);
        let short = together.narrow(0, 1, 1).narrow(1, 0, 4);
        short.into_data().assert_approx_eq::<f32>(&alone.into_data(), Tolerance::absolute(1e-5));
    }

    #[test]
    fn bytes_become_channels_of_pictures() {
        let (side, mut bytes) = (2, vec![0; 2 * 2 * 2 * 3]);
        // The second picture's last pixel is blue.
        bytes[2 * 2 * 2 * 3 - 1] = 255;
        let tensor = normalised(&bytes, side, &Device::flex());
        assert_eq!(tensor.dims(), [1, 3, 2, 2, 2]);
        let at = |index: [usize; 5]| tensor.clone().slice(index.map(|i| i..i + 1)).into_scalar::<f32>();
        assert_eq!((at([0, 2, 1, 1, 1]), at([0, 2, 0, 1, 1]), at([0, 0, 1, 1, 1])), (1.0, -1.0, -1.0));
    }

    #[test]
    fn frames_of_all_steps_attend_to_pictures() {
        let device = Device::flex();
        let config = LipConfig::tiny(2);
        let model = LipTacotron::new(&config, &device);
        let decoded = model.teacher_force(
            faces(2, 5, &device),
            &pictures(&[5, 5], None, &device),
            model.speakers.val(),
            Tensor::zeros([2, 8, 80], &device),
            Mode::Eval,
        );
        assert_eq!((decoded.frames.dims(), decoded.alignment.dims()), ([2, 16, 80], [2, 8, 5]));
    }

    /// `cargo test --release -p ownvoice --lib -- --ignored --nocapture seconds_of_an_update`
    #[test]
    #[ignore = "takes long, and measures"]
    fn seconds_of_an_update() {
        let device = Device::flex().autodiff();
        for (name, config, batch) in
            [("lips-small", LipConfig::lips_small(4), 2), ("lips", LipConfig::lips(4), 1)]
        {
            let model = LipTacotron::new(&config, &device);
            let faces = Tensor::random([batch, 3, 75, 96, 96], Distribution::Uniform(-1.0, 1.0), &device);
            let pictures = pictures(&vec![75; batch], None, &device);
            let timed = |work: &dyn Fn() -> Tensor<3>| {
                let begun = std::time::Instant::now();
                let output = work();
                let forward = begun.elapsed().as_secs_f32();
                let _ = output.sum().backward();
                (forward, begun.elapsed().as_secs_f32() - forward)
            };
            let (forward, backward) = timed(&|| model.encoder.forward(faces.clone(), &pictures, Mode::Train));
            println!("{name}, encoder, {batch} x 3 s: forward {forward:.2} s, backward {backward:.2} s");
            let speaker = model.speakers.val().narrow(0, 0, batch);
            let (forward, backward) = timed(&|| {
                let previous = Tensor::zeros([batch, 120, 80], &device);
                model.teacher_force(faces.clone(), &pictures, speaker.clone(), previous, Mode::Train).frames
            });
            println!("{name}, whole: forward {forward:.2} s, backward {backward:.2} s");
        }
    }
}
