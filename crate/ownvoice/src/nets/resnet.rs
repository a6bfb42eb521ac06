//! ResNet-18 (He et al. 2016, "Deep Residual Learning for Image Recognition"), as torchvision's `resnet18`.

use burn::{module::Module, prelude::*, tensor::activation::relu};

use super::{
    config::NetConfig,
    layers::{BatchNorm, Convolution, Linear, max_pool_of_three},
    stage::Stage,
};
use burn_fused::{Compute, Mode, Scope, conv::Activation};

/// Two convolutions with a residual connection.
#[derive(Module, Debug)]
pub struct BasicBlock {
    pub conv1: Convolution,
    pub bn1: BatchNorm,
    pub conv2: Convolution,
    pub bn2: BatchNorm,
    /// The convolution of a residual connection that changes its size, and its normalisation.
    pub downsample: Option<(Convolution, BatchNorm)>,
}

impl BasicBlock {
    fn new([inputs, outputs]: [usize; 2], stride: usize, device: &Device) -> Self {
        let downsample = (stride > 1 || inputs != outputs).then(|| {
            (Convolution::new([inputs, outputs], 1, stride, device), BatchNorm::new(outputs, device))
        });
        Self {
            conv1: Convolution::new([inputs, outputs], 3, stride, device),
            bn1: BatchNorm::new(outputs, device),
            conv2: Convolution::new([outputs, outputs], 3, 1, device),
            bn2: BatchNorm::new(outputs, device),
            downsample,
        }
    }

    fn computing(self, scope: &Scope) -> Self {
        let of = scope.at("downsample");
        Self {
            conv1: self.conv1.computing(&scope.at("conv1")),
            bn1: self.bn1.computing(&scope.at("bn1")),
            conv2: self.conv2.computing(&scope.at("conv2")),
            bn2: self.bn2.computing(&scope.at("bn2")),
            downsample: self
                .downsample
                .map(|(convolution, norm)| (convolution.computing(&of.at(0)), norm.computing(&of.at(1)))),
        }
    }

    fn forward(&self, input: Tensor<4>, mode: Mode) -> Tensor<4> {
        let hidden = self.bn1.forward(self.conv1.forward(input.clone()), Activation::Relu, mode);
        let hidden = self.bn2.forward(self.conv2.forward(hidden), Activation::None, mode);
        let residual = match &self.downsample {
            Some((convolution, norm)) => norm.forward(convolution.forward(input), Activation::None, mode),
            None => input,
        };
        relu(hidden + residual)
    }
}

/// A convolution, four layers of two blocks, and a classifier.
#[derive(Module, Debug)]
pub struct ResNet18 {
    pub conv1: Convolution,
    pub bn1: BatchNorm,
    pub layer1: Vec<BasicBlock>,
    pub layer2: Vec<BasicBlock>,
    pub layer3: Vec<BasicBlock>,
    pub layer4: Vec<BasicBlock>,
    pub fc: Linear,
    #[module(skip)]
    compute: Compute,
}

impl ResNet18 {
    pub fn new(config: &NetConfig, device: &Device) -> Self {
        let widths = [64, 128, 256, 512].map(|channels| config.widened(channels));
        let layer = |number: usize| {
            let (inputs, outputs) = (widths[number.saturating_sub(1)], widths[number]);
            let stride = if number == 0 { 1 } else { 2 };
            vec![
                BasicBlock::new([inputs, outputs], stride, device),
                BasicBlock::new([outputs, outputs], 1, device),
            ]
        };
        Self {
            conv1: Convolution::new([config.channels, widths[0]], 7, 2, device),
            bn1: BatchNorm::new(widths[0], device),
            layer1: layer(0),
            layer2: layer(1),
            layer3: layer(2),
            layer4: layer(3),
            fc: Linear::new(widths[3], config.classes, device),
            compute: Compute::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        let layer = |blocks: Vec<BasicBlock>, name: &str| {
            let scope = scope.at(name);
            let blocks = blocks.into_iter().enumerate();
            blocks.map(|(number, block)| block.computing(&scope.at(number))).collect()
        };
        Self {
            conv1: self.conv1.computing(&scope.at("conv1")),
            bn1: self.bn1.computing(&scope.at("bn1")),
            layer1: layer(self.layer1, "layer1"),
            layer2: layer(self.layer2, "layer2"),
            layer3: layer(self.layer3, "layer3"),
            layer4: layer(self.layer4, "layer4"),
            fc: self.fc.computing(&scope.at("fc")),
            compute: scope.at("maxpool").compute(),
        }
    }

    /// Returns the trunk, from pictures `[B, D, W, C]` to maps of features.
    pub fn stages<'a>(&'a self, mode: Mode) -> Vec<Stage<'a>> {
        let layer = |name, blocks: &'a [BasicBlock]| {
            Stage::new(name, move |maps| blocks.iter().fold(maps, |maps, block| block.forward(maps, mode)))
        };
        vec![
            Stage::new("conv1", move |pictures| {
                let maps = self.bn1.forward(self.conv1.forward(pictures), Activation::Relu, mode);
                max_pool_of_three(maps, &self.compute)
            }),
            layer("layer1", &self.layer1),
            layer("layer2", &self.layer2),
            layer("layer3", &self.layer3),
            layer("layer4", &self.layer4),
        ]
    }

    /// Maps `[B, 1, F]` to `[B, 1, classes]`.
    pub fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        self.fc.forward(features)
    }
}
