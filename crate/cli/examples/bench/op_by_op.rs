//! The fine-tuning iteration with burn's own layers and optimizer, as the baseline for the fused operations.

use burn::{
    grad_clipping::GradientClippingConfig,
    module::{Module, Param},
    nn::{
        Linear, LinearConfig, PaddingConfig1d,
        conv::{Conv1d, Conv1dConfig},
        lstm::{Lstm, LstmConfig},
    },
    optim::{AdamWConfig, GradientsParams, ModuleOptimizer},
    prelude::*,
    tensor::Distribution,
};

use ownvoice::model::TacotronConfig;

/// Decoder and postnet with the sizes of a base and random weights, which do not change the time.
#[derive(Module, Debug)]
struct Layers {
    first: Lstm,
    second: Lstm,
    projection: Linear,
    convolutions: Vec<Conv1d>,
    /// The scales of the batch norms, which are affine maps with running statistics, `[1, C, 1]` each.
    scales: Vec<Param<Tensor<3>>>,
    shifts: Vec<Param<Tensor<3>>>,
}

impl Layers {
    fn new(config: &TacotronConfig, width: usize, device: &Device) -> Self {
        let hidden = config.decoder_width;
        let edge = |layer: usize| {
            if layer == 0 || layer == config.postnet_layers { config.mels } else { config.postnet_width }
        };
        let convolution = |layer: usize| {
            let padding = PaddingConfig1d::Explicit(config.postnet_kernel / 2, config.postnet_kernel / 2);
            Conv1dConfig::new(edge(layer), edge(layer + 1), config.postnet_kernel)
                .with_padding(padding)
                .with_bias(false)
                .init(device)
        };
        let per_channel = |value: f32| {
            move |layer: usize| Param::from_tensor(Tensor::full([1, edge(layer + 1), 1], value, device))
        };
        let layers = 0..config.postnet_layers;
        Self {
            first: LstmConfig::new(width, hidden, true).init(device),
            second: LstmConfig::new(hidden, hidden, true).init(device),
            projection: LinearConfig::new(hidden + width, config.reduction * config.mels).init(device),
            convolutions: layers.clone().map(convolution).collect(),
            scales: layers.clone().map(per_channel(1.0)).collect(),
            shifts: layers.map(per_channel(0.0)).collect(),
        }
    }

    /// Computes the loss of both spectrograms.
    ///
    /// * `context`: `[B, N, C]`
    /// * `targets`: `[B, N R, M]`
    fn loss(&self, context: Tensor<3>, targets: Tensor<3>) -> Tensor<1> {
        let (hidden, _) = self.first.forward(context.clone(), None);
        let (hidden, _) = self.second.forward(hidden, None);
        let frames = self.projection.forward(Tensor::cat(vec![hidden, context], 2)).reshape(targets.dims());
        let mut residual = frames.clone().swap_dims(1, 2);
        for (layer, convolution) in self.convolutions.iter().enumerate() {
            residual = convolution.forward(residual) * self.scales[layer].val() + self.shifts[layer].val();
            if layer + 1 < self.convolutions.len() {
                residual = residual.tanh();
            }
        }
        let error = |mel: Tensor<3>| {
            let difference = mel - targets.clone();
            difference.clone().abs().mean() + difference.powi_scalar(2).mean()
        };
        error(frames.clone()) + error(frames + residual.swap_dims(1, 2))
    }
}

/// A training and its state.
pub struct OpByOp {
    layers: Layers,
    optimizer: ModuleOptimizer,
    /// `[B, N, C]`
    context: Tensor<3>,
    /// `[B, N R, M]`
    targets: Tensor<3>,
}

impl OpByOp {
    pub fn new(config: &TacotronConfig, batch: usize, window: usize, device: &Device) -> Self {
        let device = &device.clone().autodiff();
        let width = config.reduction * config.context_width() + config.speaker_width;
        let random = |shape: [usize; 3]| Tensor::random(shape, Distribution::Normal(0.0, 1.0), device);
        Self {
            layers: Layers::new(config, width, device),
            optimizer: AdamWConfig::new().with_grad_clipping(Some(GradientClippingConfig::Norm(1.0))).init(),
            context: random([batch, window / config.reduction, width]),
            targets: random([batch, window, config.mels]),
        }
    }

    /// Runs one iteration.
    pub fn step(&mut self) {
        let gradients = self.layers.loss(self.context.clone(), self.targets.clone()).backward();
        let gradients = GradientsParams::from_grads(gradients, &self.layers);
        self.layers = self.optimizer.step(5e-4, self.layers.clone(), gradients);
    }
}
