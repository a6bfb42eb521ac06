//! LeNet-5 (LeCun et al. 1998, "Gradient-Based Learning Applied to Document Recognition") with ReLU and maxima, as PyTorch's tutorials write it.

use burn::{module::Module, prelude::*, tensor::activation::relu};

use super::{
    config::NetConfig,
    layers::{Convolution, Linear, max_pool_of_two},
    stage::Stage,
};
use burn_fused::Scope;

/// Two convolutions and three fully connected layers.
#[derive(Module, Debug)]
pub struct LeNet {
    pub conv1: Convolution,
    pub conv2: Convolution,
    pub fc1: Linear,
    pub fc2: Linear,
    pub fc3: Linear,
}

/// The side of a kernel.
const SIDE: usize = 5;

impl LeNet {
    pub fn new(config: &NetConfig, device: &Device) -> Self {
        let [first, second, third, fourth] = [6, 16, 120, 84].map(|channels| config.widened(channels));
        let places = last_side(config.side).pow(2);
        Self {
            conv1: Convolution::biased([config.channels, first], SIDE, device),
            conv2: Convolution::biased([first, second], SIDE, device),
            fc1: Linear::new(second * places, third, device),
            fc2: Linear::new(third, fourth, device),
            fc3: Linear::new(fourth, config.classes, device),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            conv1: self.conv1.computing(&scope.at("conv1")),
            conv2: self.conv2.computing(&scope.at("conv2")),
            fc1: self.fc1.computing(&scope.at("fc1")),
            fc2: self.fc2.computing(&scope.at("fc2")),
            fc3: self.fc3.computing(&scope.at("fc3")),
        }
    }

    /// Returns the trunk, from pictures `[B, D, W, C]` to `[B, 1, 1, F]`.
    pub fn stages(&self) -> Vec<Stage<'_>> {
        let convolve = |layer: &Convolution, maps| max_pool_of_two(relu(inner(layer.forward(maps))));
        vec![
            Stage::new("conv1", move |pictures| convolve(&self.conv1, pictures)),
            Stage::new("conv2", move |maps| convolve(&self.conv2, maps)),
            Stage::new("fc1, fc2", |maps| {
                // PyTorch's channels vary slowest.
                let hidden = maps.permute([0, 3, 1, 2]).flatten::<2>(1, 3).unsqueeze_dim(1);
                relu(self.fc2.forward(relu(self.fc1.forward(hidden)))).unsqueeze_dim(1)
            }),
        ]
    }

    /// Maps `[B, 1, F]` to `[B, 1, classes]`.
    pub fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        self.fc3.forward(features)
    }
}

/// Returns the outputs of a convolution whose patches lie inside the picture.
fn inner(output: Tensor<4>) -> Tensor<4> {
    let [batch, height, width, channels] = output.dims();
    let edge = SIDE / 2;
    output.slice([0..batch, edge..height - edge, edge..width - edge, 0..channels])
}

/// Returns the side of the maps that the fully connected layers read.
fn last_side(side: usize) -> usize {
    ((side - SIDE).div_ceil(2) - SIDE).div_ceil(2)
}
