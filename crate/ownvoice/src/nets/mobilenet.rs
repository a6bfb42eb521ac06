//! MobileNetV1 (Howard et al. 2017, "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications"), as timm's `mobilenetv1_100`.

use burn::{module::Module, prelude::*};

use super::{
    config::NetConfig,
    layers::{BatchNorm, Convolution, DepthwiseConvolution, Linear},
    stage::Stage,
};
use burn_fused::{Mode, Scope, conv::Activation};

/// A convolution of each channel alone, and one of each pixel alone.
#[derive(Module, Debug)]
pub struct SeparableBlock {
    pub conv_dw: DepthwiseConvolution,
    pub bn1: BatchNorm,
    pub conv_pw: Convolution,
    pub bn2: BatchNorm,
}

impl SeparableBlock {
    fn new([inputs, outputs]: [usize; 2], stride: usize, device: &Device) -> Self {
        Self {
            conv_dw: DepthwiseConvolution::new(inputs, 3, stride, device),
            bn1: BatchNorm::new(inputs, device),
            conv_pw: Convolution::new([inputs, outputs], 1, 1, device),
            bn2: BatchNorm::new(outputs, device),
        }
    }

    fn computing(self, scope: &Scope) -> Self {
        Self {
            conv_dw: self.conv_dw.computing(&scope.at("conv_dw")),
            bn1: self.bn1.computing(&scope.at("bn1")),
            conv_pw: self.conv_pw.computing(&scope.at("conv_pw")),
            bn2: self.bn2.computing(&scope.at("bn2")),
        }
    }

    fn forward(&self, input: Tensor<4>, mode: Mode) -> Tensor<4> {
        let hidden = self.bn1.forward(self.conv_dw.forward(input), Activation::Relu6, mode);
        self.bn2.forward(self.conv_pw.forward(hidden), Activation::Relu6, mode)
    }
}

/// The number of blocks, the stride of the first and the channels of each stage.
const STAGES: [(usize, usize, usize); 5] = [(1, 1, 64), (2, 2, 128), (2, 2, 256), (6, 2, 512), (2, 2, 1024)];

/// A convolution, thirteen separable blocks in five stages, and a classifier.
#[derive(Module, Debug)]
pub struct MobileNetV1 {
    pub conv_stem: Convolution,
    pub bn1: BatchNorm,
    pub blocks: Vec<Vec<SeparableBlock>>,
    pub classifier: Linear,
}

impl MobileNetV1 {
    pub fn new(config: &NetConfig, device: &Device) -> Self {
        let stem = config.widened(32);
        let mut inputs = stem;
        let stage = |(count, stride, channels): (usize, usize, usize)| {
            let block = |number: usize| {
                let outputs = config.widened(channels);
                let made =
                    SeparableBlock::new([inputs, outputs], if number == 0 { stride } else { 1 }, device);
                inputs = outputs;
                made
            };
            (0..count).map(block).collect()
        };
        let blocks = STAGES.into_iter().map(stage).collect();
        Self {
            conv_stem: Convolution::new([config.channels, stem], 3, 2, device),
            bn1: BatchNorm::new(stem, device),
            blocks,
            classifier: Linear::new(inputs, config.classes, device),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        let stages = self.blocks.into_iter().enumerate().map(|(number, blocks)| {
            let scope = scope.at("blocks").at(number);
            let blocks = blocks.into_iter().enumerate();
            blocks.map(|(number, block)| block.computing(&scope.at(number))).collect()
        });
        Self {
            conv_stem: self.conv_stem.computing(&scope.at("conv_stem")),
            bn1: self.bn1.computing(&scope.at("bn1")),
            blocks: stages.collect(),
            classifier: self.classifier.computing(&scope.at("classifier")),
        }
    }

    /// Returns the trunk, from pictures `[B, D, W, C]` to maps of features.
    pub fn stages(&self, mode: Mode) -> Vec<Stage<'_>> {
        const NAMES: [&str; STAGES.len()] = ["blocks.0", "blocks.1", "blocks.2", "blocks.3", "blocks.4"];
        let stem = Stage::new("conv_stem", move |pictures| {
            self.bn1.forward(self.conv_stem.forward(pictures), Activation::Relu6, mode)
        });
        let blocks = NAMES.into_iter().zip(&self.blocks).map(|(name, blocks)| {
            Stage::new(name, move |maps| blocks.iter().fold(maps, |maps, block| block.forward(maps, mode)))
        });
        std::iter::once(stem).chain(blocks).collect()
    }

    /// Maps `[B, 1, F]` to `[B, 1, classes]`.
    pub fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        self.classifier.forward(features)
    }
}
