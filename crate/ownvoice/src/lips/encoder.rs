//! The encoder of faces: a stack of 3-D convolutions with residuals, and a bidirectional LSTM (Prajwal et al. 2020, section 4).
//!
//! The convolutions reduce height and width but not time. Axes: `D` height, `W` width, `N` pictures of an item (its length in time), `C` channels.

use burn::{module::Module, prelude::*, tensor::activation::relu};

use super::{augmentation::Augmentation, config::LipConfig, face::FACE_BYTES};
use crate::model::{AttendedEncoder, TacotronConfig, tacotron::Symbols};
use burn_fused::{
    Compute, Mode, Scope,
    conv::{Activation, ConvNorm},
    init::Fill,
    lstm::BiLstm,
    patches::Patch,
    ranks::Ranks,
};

/// A convolution over time and space with batch normalisation and ReLU. A residual layer adds its input before the ReLU.
#[derive(Module, Debug)]
pub struct ConvNorm3d {
    /// The convolution over time of unfolded patches: `[K K K Cin, Cout]`, with time as the slowest axis, then height and width.
    pub convolution: ConvNorm,
    #[module(skip)]
    patch: Patch,
    #[module(skip)]
    residual: bool,
    /// The compute settings of the patches.
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
        assert!(
            !residual || (inputs == outputs && stride == 1),
            "a residual layer keeps the shape of its input"
        );
        let inputs = inputs * side.pow(2);
        let mut convolution = ConvNorm::new(inputs, outputs, side, device);
        // The initialisation of He et al. 2015 for layers before a ReLU.
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

    /// Maps `[B, D, W, N, Cin]` to `[B, D / stride, W / stride, N, Cout]`, rounded up.
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

/// The encoder of faces, with one vector for each picture.
#[derive(Module, Debug)]
pub struct FaceEncoder {
    pub convolutions: Vec<ConvNorm3d>,
    /// The LSTM, with width E/2 in each direction.
    pub lstm: BiLstm,
}

impl AttendedEncoder for FaceEncoder {
    type Config = LipConfig;
    type Input = Tensor<5>;

    fn new(config: &LipConfig, device: &Device) -> Self {
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

    fn tacotron(config: &LipConfig) -> &TacotronConfig {
        &config.tacotron
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

    /// Encodes faces. Padding does not influence an item: the convolutions see zeros there.
    ///
    /// * `faces`:    `[B, D, W, N, 3]`, see [`normalised`]; the values of padding do not matter
    /// * `pictures`: the mask and lengths of the pictures
    ///
    /// Returns `[B, N, E]`.
    fn encode(&self, faces: Tensor<5>, pictures: &Symbols, mode: Mode) -> Tensor<3> {
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

/// Returns the mask and lengths of a batch of pictures.
///
/// * `length`: the padded length; by default that of the longest item
pub fn pictures(lengths: &[usize], length: Option<usize>, device: &Device) -> Symbols {
    let rows: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![0; length]).collect();
    Symbols::new(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), length, device)
}

/// Converts the faces of one item to model input, `[1, side, side, N, 3]`.
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
    use crate::lips::face::SIDE;
    use burn::tensor::{Distribution, Tolerance};

    #[test]
    fn padding_does_not_influence_an_item() {
        let device = Device::flex();
        device.seed(3);
        let encoder = FaceEncoder::new(&LipConfig::tiny(1), &device);
        let pair = Tensor::random([2, 16, 16, 6, 3], Distribution::Uniform(-1.0, 1.0), &device);
        let together = encoder.encode(pair.clone(), &pictures(&[6, 4], None, &device), Mode::Eval);
        let alone = pair.narrow(0, 1, 1).narrow(3, 0, 4);
        let alone = encoder.encode(alone, &pictures(&[4], None, &device), Mode::Eval);
        let short = together.narrow(0, 1, 1).narrow(1, 0, 4);
        short.into_data().assert_approx_eq::<f32>(&alone.into_data(), Tolerance::absolute(1e-5));
    }

    #[test]
    fn bytes_become_channels() {
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
}
