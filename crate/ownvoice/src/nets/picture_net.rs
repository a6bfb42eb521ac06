//! A net for pictures of any kind.

use burn::{module::Module, prelude::*};

use super::{
    Net,
    config::{NetConfig, NetKind},
    layers::mean_pool,
    lenet::LeNet,
    mobilenet::MobileNetV1,
    resnet::ResNet18,
    stage::Stage,
};
use burn_fused::{Mode, Scope};

/// A net for pictures. The path of a parameter begins with the name of the variant, and then is PyTorch's.
#[derive(Module, Debug)]
pub enum PictureNet {
    LeNet(LeNet),
    ResNet18(ResNet18),
    MobileNetV1(MobileNetV1),
}

impl PictureNet {
    /// Creates a net with random weights. Its configuration was checked.
    pub(super) fn random(config: &NetConfig, device: &Device) -> Self {
        match config.kind {
            NetKind::LeNet => Self::LeNet(LeNet::new(config, device)),
            NetKind::ResNet18 => Self::ResNet18(ResNet18::new(config, device)),
            NetKind::MobileNetV1 => Self::MobileNetV1(MobileNetV1::new(config, device)),
        }
    }

    /// Returns the stages of the trunk, from pictures `[B, D, W, C]` to maps of features, whose means over all pixels are the features.
    pub(super) fn stages(&self, mode: Mode) -> Vec<Stage<'_>> {
        match self {
            Self::LeNet(net) => net.stages(),
            Self::ResNet18(net) => net.stages(mode),
            Self::MobileNetV1(net) => net.stages(mode),
        }
    }
}

impl Net for PictureNet {
    type Input = Tensor<4>;

    fn features(&self, input: Tensor<4>, mode: Mode) -> Tensor<3> {
        mean_pool(self.stages(mode).iter().fold(input, |maps, stage| stage.forward(maps)))
    }

    fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        match self {
            Self::LeNet(net) => net.classify(features),
            Self::ResNet18(net) => net.classify(features),
            Self::MobileNetV1(net) => net.classify(features),
        }
    }

    fn computing(self, scope: &Scope) -> Self {
        match self {
            Self::LeNet(net) => Self::LeNet(net.computing(&scope.at("LeNet"))),
            Self::ResNet18(net) => Self::ResNet18(net.computing(&scope.at("ResNet18"))),
            Self::MobileNetV1(net) => Self::MobileNetV1(net.computing(&scope.at("MobileNetV1"))),
        }
    }

    fn public_name(path: &str) -> &str {
        path.split_once('.').map_or(path, |(_, name)| name)
    }

    fn classifier(&self) -> &'static str {
        match self {
            Self::LeNet(_) => NetKind::LeNet,
            Self::ResNet18(_) => NetKind::ResNet18,
            Self::MobileNetV1(_) => NetKind::MobileNetV1,
        }
        .classifier()
    }
}
