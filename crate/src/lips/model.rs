//! Faces to mels: a stack of 3-D convolutions with residuals, a bidirectional LSTM, and the decoder of the attention path.
//!
//! Prajwal et al. 2020, section 4: the encoder's pictures take the place of Tacotron 2's characters; attention, decoder and postnet are Tacotron 2's own.
//! Space shrinks from layer to layer, time does not. Axes: `D` height, `W` width, `N` pictures of an item (its length in time), `C` channels.
//!
//! One long file: layer, encoder and model lead to each other, and a quarter of it are tests.

use burn::{
    module::{Module, Param},
    prelude::*,
    tensor::activation::relu,
};
use serde::{Deserialize, Serialize};

use super::{
    augmentation::Augmentation,
    face::{FACE_BYTES, SIDE},
};
use crate::{
    model::{
        TacotronConfig,
        attention::AttentionDecoder,
        postnet::Postnet,
        tacotron::Symbols,
        teacher_forcing::{Decoded, Spoken, TeacherForcing},
    },
    nn::{
        Compute, Mode, Scope,
        conv::{Activation, ConvNorm},
        init::Fill,
        lstm::BiLstm,
        patches::Patch,
    },
    ranks::Ranks,
};

/// Sizes of a model of lips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipConfig {
    /// Height and width of the window around the mouth that is seen of a face, in pixels; 96 is the whole face.
    pub side: usize,
    /// Of each block; each halves height and width, but for the first one.
    pub channels: Vec<usize>,
    /// By which the first block divides height and width.
    pub first_stride: usize,
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
            first_stride: 2,
            residuals: 2,
            first_kernel: 5,
            last_stride: 3,
            // Mels as this crate normalises them.
            tacotron: TacotronConfig { mel_mean: -5.0, mel_scale: 2.5, autoregressive: false, ..tacotron },
        }
    }

    /// For two CPU cores: the mouth alone, and a step that lasts longer than a picture.
    pub fn lips_small(speakers: usize) -> Self {
        Self {
            side: 48,
            channels: vec![8, 16, 32],
            first_stride: 3,
            residuals: 1,
            last_stride: 2,
            tacotron: TacotronConfig {
                symbols: 1,
                speaker_width: 16,
                encoder_width: 160,
                pitch: false,
                decoder_width: 256,
                reduction: 4,
                postnet_width: 96,
                attention_width: 64,
                location_filters: 16,
                location_kernel: 15,
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
            first_stride: 2,
            last_stride: 2,
            first_kernel: 3,
            tacotron: TacotronConfig { symbols: 1, ..TacotronConfig::tiny(speakers) },
            ..Self::lips_small(speakers)
        }
    }

    /// Height and width after the last convolution.
    fn last_side(&self) -> usize {
        let first = self.side.div_ceil(self.first_stride);
        let halved = self.channels.iter().skip(1).fold(first, |side, _| side.div_ceil(2));
        halved.div_ceil(self.last_stride)
    }

    /// Whether a model of these sizes can be made at all, and without exhausting memory: they may come from a hostile file. The error names what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let sound = (8..=SIDE).contains(&self.side)
            && (1..=8).contains(&self.channels.len())
            && self.channels.iter().all(|channels| (1..=1024).contains(channels))
            && self.residuals <= 8
            && [1, 3, 5, 7].contains(&self.first_kernel)
            && [self.first_stride, self.last_stride].iter().all(|stride| (1..=8).contains(stride))
            && self.tacotron.encoder_width.is_multiple_of(2);
        if sound { self.tacotron.check() } else { Err("the model's sizes make no sense".into()) }
    }
}

/// A convolution over time and space with batch normalisation and ReLU; a residual one adds its input before the ReLU.
#[derive(Module, Debug)]
pub struct ConvNorm3d {
    /// Over time, of patches: `[K K K Cin, Cout]`, time slowest, then height and width.
    pub convolution: ConvNorm,
    #[module(skip)]
    patch: Patch,
    #[module(skip)]
    residual: bool,
    /// Of the patches.
    #[module(skip)]
    compute: Compute,
}

impl ConvNorm3d {
    fn new(
        inputs: usize,
        outputs: usize,
        side: usize,
        stride: usize,
        residual: bool,
        device: &Device,
    ) -> Self {
        assert!(!residual || (inputs == outputs && stride == 1), "a residual has the shape of its input");
        let inputs = inputs * side.pow(2);
        let mut convolution = ConvNorm::new(inputs, outputs, side, device);
        // He et al. 2015, for layers that a ReLU follows.
        let bound = (6.0 / (inputs * side) as f64).sqrt();
        convolution.weight = Fill::Uniform(bound).init([side * inputs, outputs], device);
        Self { convolution, patch: Patch { side, stride }, residual, compute: Compute::default() }
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { convolution: self.convolution.computing(scope), compute: scope.compute(), ..self }
    }

    fn with_ranks(self, ranks: &Ranks) -> Self {
        Self { convolution: self.convolution.with_ranks(ranks.clone()), ..self }
    }

    /// `[B, D, W, N, Cin]` to `[B, D / stride, W / stride, N, Cout]`, rounded up.
    fn forward(&self, input: Tensor<5>, mode: Mode) -> Tensor<5> {
        let patches = self.compute.unfold_patches(input.clone(), self.patch);
        let [batch, height, width, length, channels] = patches.dims();
        let places = patches.reshape([batch * height * width, length, channels]);
        let activation = if self.residual { Activation::None } else { Activation::Relu };
        let output = self.convolution.forward(places, activation, mode);
        let output = output.reshape([batch as i64, height as i64, width as i64, length as i64, -1]);
        if self.residual { relu(output + input) } else { output }
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
            let (side, stride) = if block == 0 { (config.first_kernel, config.first_stride) } else { (3, 2) };
            convolutions.push(ConvNorm3d::new(inputs, channels, side, stride, false, device));
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
        let list = scope.at("convolutions");
        let layers = self.convolutions.into_iter().enumerate();
        Self {
            convolutions: layers
                .map(|(number, layer)| layer.computing(&list.at(number).at("convolution")))
                .collect(),
            lstm: self.lstm.computing(&scope.at("lstm")),
        }
    }

    fn with_ranks(self, ranks: &Ranks) -> Self {
        let layers = self.convolutions.into_iter();
        Self { convolutions: layers.map(|layer| layer.with_ranks(ranks)).collect(), ..self }
    }

    /// * `faces`:    `[B, D, W, N, 3]`, see [`normalised`]; padded with anything
    /// * `pictures`: N of each item
    ///
    /// Returns `[B, N, E]`. Padding does not reach into an item: its neighbours see zeros there.
    pub fn forward(&self, faces: Tensor<5>, pictures: &Symbols, mode: Mode) -> Tensor<3> {
        let [batch, _, _, length, _] = faces.dims();
        let mask = pictures.mask.clone().reshape([batch, 1, 1, length, 1]);
        let mut hidden = faces * mask.clone();
        for convolution in &self.convolutions {
            hidden = convolution.forward(hidden, mode) * mask.clone();
        }
        let [_, height, width, _, channels] = hidden.dims();
        let hidden = hidden.permute([0, 3, 1, 2, 4]).reshape([batch, length, height * width * channels]);
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

    /// In training its batch statistics are those of all ranks together.
    pub fn with_ranks(self, ranks: &Ranks) -> Self {
        Self { encoder: self.encoder.with_ranks(ranks), postnet: self.postnet.with_ranks(ranks), ..self }
    }

    /// Decodes what faces say, without the postnet; in training as in synthesis no frame is fed back.
    ///
    /// * `faces`:   `[B, D, W, N, 3]`
    /// * `speaker`: `[B, V]`
    pub fn decode(
        &self,
        faces: Tensor<5>,
        pictures: &Symbols,
        speaker: Tensor<2>,
        steps: usize,
        mode: Mode,
    ) -> Decoded {
        let encoded = self.encoder.forward(faces, pictures, mode);
        self.decoder.teacher_force(Spoken::without_feedback(pictures, encoded, speaker, steps), ())
    }
}

/// The pictures of each item, for what attends to them as to symbols.
///
/// * `length`: to which they are padded; without, the longest
pub fn pictures(lengths: &[usize], length: Option<usize>, device: &Device) -> Symbols {
    let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![0; length]).collect();
    Symbols::new(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), length, device)
}

/// Faces of one item as the model takes them, `[1, side, side, N, 3]`.
///
/// * `bytes`: `[N, 96, 96, 3]`
pub fn normalised(bytes: &[u8], side: usize, device: &Device) -> Tensor<5> {
    let mut values = Vec::new();
    bytes.chunks_exact(FACE_BYTES).for_each(|picture| Augmentation::NONE.see(picture, side, &mut values));
    let shape = [bytes.len() / FACE_BYTES, side, side, 3];
    Tensor::<4>::from_data(TensorData::new(values, shape), device).permute([1, 2, 0, 3]).unsqueeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{ComputePlan, Precision};
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
            LipConfig { first_stride: 0, ..small() },
            LipConfig { last_stride: 0, ..small() },
            LipConfig { tacotron: TacotronConfig { encoder_width: 5, ..small().tacotron }, ..small() },
            LipConfig { tacotron: TacotronConfig { speakers: 0, ..small().tacotron }, ..small() },
        ] {
            assert!(hostile.check().is_err(), "{hostile:?}");
        }
    }

    fn faces(batch: usize, length: usize, device: &Device) -> Tensor<5> {
        Tensor::random([batch, 16, 16, length, 3], Distribution::Uniform(-1.0, 1.0), device)
    }

    #[test]
    fn padding_does_not_reach_into_an_item() {
        let device = Device::flex();
        device.seed(3);
        let encoder = FaceEncoder::new(&LipConfig::tiny(1), &device);
        let pair = faces(2, 6, &device);
        let together = encoder.forward(pair.clone(), &pictures(&[6, 4], None, &device), Mode::Eval);
        let alone = pair.narrow(0, 1, 1).narrow(3, 0, 4);
        let alone = encoder.forward(alone, &pictures(&[4], None, &device), Mode::Eval);
        let short = together.narrow(0, 1, 1).narrow(1, 0, 4);
        short.into_data().assert_approx_eq::<f32>(&alone.into_data(), Tolerance::absolute(1e-5));
    }

    #[test]
    fn bytes_become_channels_of_pictures() {
        let mut bytes = vec![0; 2 * FACE_BYTES];
        // The second picture's last pixel is blue.
        bytes[2 * FACE_BYTES - 1] = 255;
        let tensor = normalised(&bytes, SIDE, &Device::flex());
        assert_eq!(tensor.dims(), [1, SIDE, SIDE, 2, 3]);
        let at = |index: [usize; 5]| tensor.clone().slice(index.map(|i| i..i + 1)).into_scalar::<f32>();
        let last = SIDE - 1;
        let found = (at([0, last, last, 1, 2]), at([0, last, last, 0, 2]), at([0, last, last, 1, 0]));
        assert_eq!(found, (1.0, -1.0, -1.0));
    }

    #[test]
    fn frames_of_all_steps_attend_to_pictures() {
        let device = Device::flex();
        let config = LipConfig::tiny(2);
        let model = LipTacotron::new(&config, &device);
        let decoded = model.decode(
            faces(2, 5, &device),
            &pictures(&[5, 5], None, &device),
            model.speakers.val(),
            8,
            Mode::Eval,
        );
        assert_eq!((decoded.frames.dims(), decoded.alignment.dims()), ([2, 16, 80], [2, 8, 5]));
    }

    #[test]
    fn half_precision_is_near_and_its_gradients_are_numbers() {
        let device = Device::flex().autodiff();
        device.seed(5);
        let config = LipConfig::tiny(2);
        let model = LipTacotron::new(&config, &device);
        let faces = faces(2, 5, &device);
        let pictures = pictures(&[5, 4], None, &device);
        let run = |plan: ComputePlan| {
            let model = model.clone().computing(&Scope::new(plan));
            let decoded = model.decode(faces.clone(), &pictures, model.speakers.val(), 8, Mode::Train);
            let frames = decoded.frames.clone() + model.postnet.forward(decoded.frames, Mode::Train);
            let gradients = frames.clone().powi_scalar(2).mean().backward();
            let first = model.encoder.convolutions[0].convolution.weight.val();
            (frames.into_data(), first.grad(&gradients).expect("the first layer learns").into_data())
        };
        let (single, of_single) = run(ComputePlan::default());
        let (half, of_half) = run(ComputePlan::of(Precision::Mixed));
        half.assert_approx_eq::<f32>(&single, Tolerance::absolute(0.1));
        assert_ne!(half, single, "half precision rounds");
        let size =
            |gradient: &TensorData| gradient.iter::<f32>().map(|value| value * value).sum::<f32>().sqrt();
        let (single, half) = (size(&of_single), size(&of_half));
        assert!(single > 0.0 && (half / single - 1.0).abs() < 0.2, "{single} {half}");
    }
}
