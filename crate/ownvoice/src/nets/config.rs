//! The configuration of a net for pictures.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A kind of net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetKind {
    LeNet,
    ResNet18,
    MobileNetV1,
}

impl NetKind {
    pub const ALL: [Self; 3] = [Self::LeNet, Self::ResNet18, Self::MobileNetV1];

    /// Returns `lenet`, `resnet18` or `mobilenetv1`.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeNet => "lenet",
            Self::ResNet18 => "resnet18",
            Self::MobileNetV1 => "mobilenetv1",
        }
    }

    /// Returns the kind of a [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the path of the classifier in PyTorch's names.
    pub fn classifier(self) -> &'static str {
        match self {
            Self::LeNet => "fc3",
            Self::ResNet18 => "fc",
            Self::MobileNetV1 => "classifier",
        }
    }
}

/// The sizes of a net, and how pictures become its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetConfig {
    pub kind: NetKind,
    pub classes: usize,
    /// The height and width of the input in pixels.
    pub side: usize,
    /// 1 for grey pictures, 3 for colours.
    pub channels: usize,
    /// The factor of the number of channels of each layer.
    pub width: f64,
    /// What is subtracted from each channel, whose values lie between 0 and 1.
    pub mean: [f32; 3],
    /// What each channel is divided by afterwards.
    pub deviation: [f32; 3],
}

const MAX_CLASSES: usize = 10_000;
/// The most pixels of a side of the input.
pub(super) const MAX_SIDE: usize = 512;
const MAX_WIDTH: f64 = 4.0;

impl NetConfig {
    /// Returns the published sizes: LeNet-5 for grey pictures of 32 x 32, the others for colours of 224 x 224, normalised as their public weights expect.
    pub fn of(kind: NetKind, classes: usize) -> Self {
        let (side, channels, mean, deviation) = match kind {
            NetKind::LeNet => (32, 1, [0.5; 3], [0.5; 3]),
            NetKind::ResNet18 => (224, 3, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
            NetKind::MobileNetV1 => (224, 3, [0.5; 3], [0.5; 3]),
        };
        Self { kind, classes, side, channels, width: 1.0, mean, deviation }
    }

    /// Checks the sizes, which may come from a file. Fails with `option-invalid`.
    pub fn check(&self) -> Result<()> {
        let Self { kind, classes, side, channels, width, mean, deviation } = self;
        // LeNet halves its maps twice, after convolutions without padding; the others halve them five times.
        let side_fits = match kind {
            NetKind::LeNet => *side >= 16 && side % 4 == 0,
            NetKind::ResNet18 | NetKind::MobileNetV1 => *side >= 16,
        };
        if !(1..=MAX_CLASSES).contains(classes) {
            return Err(Error::option_invalid(format!("a net has 1 to {MAX_CLASSES} classes")));
        }
        if !side_fits || *side > MAX_SIDE {
            return Err(Error::option_invalid(format!(
                "the side of a net's input lies between 16 and {MAX_SIDE} pixels, and is a multiple of 4 for lenet"
            )));
        }
        if !matches!(channels, 1 | 3) {
            return Err(Error::option_invalid("pictures have 1 channel or 3"));
        }
        if !(*width > 0.0 && *width <= MAX_WIDTH) {
            return Err(Error::option_invalid(format!("the width of a net lies between 0 and {MAX_WIDTH}")));
        }
        if !mean.iter().chain(deviation).all(|value| value.is_finite())
            || deviation.iter().any(|&value| value <= 0.0)
        {
            return Err(Error::option_invalid("means are finite, and deviations positive"));
        }
        Ok(())
    }

    /// Returns a published number of channels, scaled.
    pub(super) fn widened(&self, channels: usize) -> usize {
        ((channels as f64 * self.width).round() as usize).max(1)
    }
}
