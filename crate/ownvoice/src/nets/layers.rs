//! The layers of nets for pictures. Pictures are `[B, D, W, C]`: height D, width W, channels C, so that the values of a pixel are contiguous.
//!
//! Parameters are named as PyTorch names them. A convolution is a matmul of patches, see [`burn_fused::patches`].

use burn::{
    module::{Module, Param, RunningState},
    nn,
    prelude::*,
};

use burn_fused::{
    Compute, Mode, Scope,
    conv::Activation,
    init::{self, Fill},
    patches::Patch,
};

/// A convolution over space, zero-padded so that the first pixel is the centre of the first patch.
#[derive(Module, Debug)]
pub struct Convolution {
    /// `[K, K, Cin, Cout]`.
    pub weight: Param<Tensor<4>>,
    /// `[Cout]`.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    stride: usize,
    #[module(skip)]
    compute: Compute,
}

impl Convolution {
    /// Initialises a convolution without bias as torchvision's ResNet: normal, with the deviation of He et al. 2015 by the outputs.
    pub fn new([inputs, outputs]: [usize; 2], side: usize, stride: usize, device: &Device) -> Self {
        let deviation = (2.0 / (outputs * side * side) as f64).sqrt();
        Self {
            weight: Fill::Normal(deviation).init([side, side, inputs, outputs], device),
            bias: None,
            stride,
            compute: Compute::default(),
        }
    }

    /// Initialises a convolution with bias as PyTorch does: uniform within the root of the inverse number of inputs.
    pub fn biased([inputs, outputs]: [usize; 2], side: usize, device: &Device) -> Self {
        let fill = Fill::Uniform(1.0 / ((inputs * side * side) as f64).sqrt());
        Self {
            weight: fill.init([side, side, inputs, outputs], device),
            bias: Some(fill.init([outputs], device)),
            stride: 1,
            compute: Compute::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: scope.compute(), ..self }
    }

    /// Maps `[B, D, W, Cin]` to `[B, D / stride, W / stride, Cout]`, rounded up.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [side, _, inputs, outputs] = self.weight.dims();
        let patch = Patch { side, stride: self.stride };
        let patches =
            if (side, self.stride) == (1, 1) { input } else { patches(&self.compute, input, patch) };
        let [batch, height, width, _] = patches.dims();
        let rows = patches.reshape([batch * height * width, side * side * inputs]);
        let weight = self.weight.val().reshape([side * side * inputs, outputs]);
        let output = self.compute.matmul(rows, weight, "weight");
        let output = match &self.bias {
            Some(bias) => output + bias.val().unsqueeze(),
            None => output,
        };
        output.reshape([batch, height, width, outputs])
    }
}

/// Maps `[B, D, W, C]` to the patches `[B, D / stride, W / stride, K K C]`, rounded up.
fn patches(compute: &Compute, input: Tensor<4>, patch: Patch) -> Tensor<4> {
    compute.unfold_patches(input.unsqueeze_dim(3), patch).squeeze_dim(3)
}

/// A convolution over space of each channel alone.
#[derive(Module, Debug)]
pub struct DepthwiseConvolution {
    /// `[K, K, 1, C]`.
    pub weight: Param<Tensor<4>>,
    #[module(skip)]
    stride: usize,
    #[module(skip)]
    compute: Compute,
}

impl DepthwiseConvolution {
    /// Initialises the weight as timm's MobileNetV1.
    pub fn new(channels: usize, side: usize, stride: usize, device: &Device) -> Self {
        let deviation = (2.0 / (side * side) as f64).sqrt();
        Self {
            weight: Fill::Normal(deviation).init([side, side, 1, channels], device),
            stride,
            compute: Compute::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: scope.compute(), ..self }
    }

    /// Maps `[B, D, W, C]` to `[B, D / stride, W / stride, C]`, rounded up.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [side, _, _, channels] = self.weight.dims();
        let weight = self.weight.val().reshape([side * side, channels]);
        self.compute.convolve_depthwise(input, weight, Patch { side, stride: self.stride })
    }
}

/// Batch normalisation (Ioffe & Szegedy 2015) with an activation, with PyTorch's running statistics.
#[derive(Module, Debug)]
pub struct BatchNorm {
    pub weight: Param<Tensor<1>>,
    pub bias: Param<Tensor<1>>,
    pub running_mean: RunningState<Tensor<1>>,
    pub running_var: RunningState<Tensor<1>>,
    #[module(skip)]
    compute: Compute,
}

const EPSILON: f64 = 1e-5;
const MOMENTUM: f64 = 0.1;

impl BatchNorm {
    pub fn new(channels: usize, device: &Device) -> Self {
        let nn::BatchNorm { gamma, beta, running_mean, running_var, .. } = init::batch_norm(channels, device);
        Self { weight: gamma, bias: beta, running_mean, running_var, compute: Compute::default() }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: scope.compute(), ..self }
    }

    /// Normalises the channels of `[B, D, W, C]` and activates. Frozen layers keep their statistics.
    pub fn forward(&self, input: Tensor<4>, activation: Activation, mode: Mode) -> Tensor<4> {
        let shape @ [batch, height, width, channels] = input.dims();
        let rows = input.reshape([batch * height * width, channels]);
        let output = if mode == Mode::Train && self.weight.is_require_grad() {
            self.compute.activate(self.by_batch_statistics(rows), activation)
        } else {
            let device = rows.device();
            let statistics =
                [&self.running_mean, &self.running_var].map(|running| running.value().to_device(&device));
            let scale_and_shift = [self.weight.val(), self.bias.val()];
            self.compute.normalise(rows, scale_and_shift, statistics, EPSILON as f32, activation)
        };
        output.reshape(shape)
    }

    /// Normalises `[N, C]` by the statistics of the batch, and moves the running statistics.
    fn by_batch_statistics(&self, rows: Tensor<2>) -> Tensor<2> {
        let ([count, _], device) = (rows.dims(), rows.device());
        let found = burn::tensor::module::batch_norm_train(rows, self.weight.val(), self.bias.val(), EPSILON);
        // PyTorch's running variance is that of a sample.
        let sample = count as f64 / (count as f64 - 1.0).max(1.0);
        for (running, found) in
            [(&self.running_mean, found.mean), (&self.running_var, found.variance.mul_scalar(sample))]
        {
            let kept = running.value_sync().to_device(&device).mul_scalar(1.0 - MOMENTUM);
            running.update((kept + found.detach().mul_scalar(MOMENTUM)).detach());
            // burn applies an update at the next read; without this, a file would lose the last one.
            running.value_sync();
        }
        found.output
    }
}

/// A fully connected layer.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[Cin, Cout]`.
    pub weight: Param<Tensor<2>>,
    /// `[Cout]`.
    pub bias: Param<Tensor<1>>,
    #[module(skip)]
    compute: Compute,
}

impl Linear {
    /// Initialises the layer as PyTorch does: uniform within the root of the inverse number of inputs.
    pub fn new(inputs: usize, outputs: usize, device: &Device) -> Self {
        let fill = Fill::Uniform(1.0 / (inputs as f64).sqrt());
        Self {
            weight: fill.init([inputs, outputs], device),
            bias: fill.init([outputs], device),
            compute: Compute::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: scope.compute(), ..self }
    }

    /// Maps `[B, T, Cin]` to `[B, T, Cout]`.
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let [batch, steps, inputs] = input.dims();
        let rows = input.reshape([batch * steps, inputs]);
        let output = self.compute.matmul(rows, self.weight.val(), "weight");
        (output + self.bias.val().unsqueeze()).reshape([batch as i64, steps as i64, -1])
    }
}

/// Returns the maxima of patches of three by three pixels, two apart: maps `[B, D, W, C]` to `[B, D / 2, W / 2, C]`, rounded up. Values are not negative, so that
/// the zeros outside the picture never exceed them.
pub fn max_pool_of_three(input: Tensor<4>, compute: &Compute) -> Tensor<4> {
    let channels = input.dims()[3];
    let patches = patches(compute, input, Patch { side: 3, stride: 2 });
    let [batch, height, width, _] = patches.dims();
    patches
        .reshape([batch * height * width, 9, channels])
        .max_dim(1)
        .reshape([batch, height, width, channels])
}

/// Returns the maxima of squares of two by two pixels: maps `[B, D, W, C]` to `[B, D / 2, W / 2, C]`, for an even height and width.
pub fn max_pool_of_two(input: Tensor<4>) -> Tensor<4> {
    let [batch, height, width, channels] = input.dims();
    input.reshape([batch, height / 2, 2, width / 2, 2, channels]).max_dim(2).max_dim(4).reshape([
        batch,
        height / 2,
        width / 2,
        channels,
    ])
}

/// Returns the mean over all pixels: maps `[B, D, W, C]` to `[B, 1, C]`.
pub fn mean_pool(input: Tensor<4>) -> Tensor<3> {
    let [batch, height, width, channels] = input.dims();
    input.reshape([batch, height * width, channels]).mean_dim(1)
}
