//! Small nets that learn on the device: LeNet-5, ResNet-18 and MobileNetV1 for pictures, and any other module that implements [`Net`].
//!
//! They are tuned by the loop that tunes voices of lips, [`crate::learn::tuner`]: a [`NetTuner`] takes a net, its weights, examples and options, and returns a
//! [`TunedNet`]. Weights go in and out under PyTorch's names, in PyTorch's layout.

pub mod config;
pub mod examples;
mod layers;
mod lenet;
pub mod loss;
mod metrics;
mod mobilenet;
pub mod options;
pub mod picture;
mod picture_net;
pub mod precision;
pub mod profile;
mod resnet;
mod stage;
#[cfg(test)]
mod tests;
pub mod tuned;
pub mod tuner;
pub mod weights;

pub use config::{NetConfig, NetKind};
pub use examples::{Examples, Pictures};
pub use loss::{LossKind, Targets};
pub use metrics::Metrics;
pub use options::NetTuneOptions;
pub use picture::Picture;
pub use picture_net::PictureNet;
pub use tuned::{Named, NetFigures, TunedNet};
pub use tuner::{NetStep, NetTuner};
pub use weights::NetWeights;

use burn::{module::Module, prelude::*};
use burn_fused::{Mode, Scope};

/// A module that maps a batch of inputs to logits, in two parts: a trunk, and a classifier of its features.
pub trait Net: Module {
    type Input: Clone;

    /// Maps inputs to features, `[B, T, F]`. T is 1 for nets that give one output for each item.
    fn features(&self, input: Self::Input, mode: Mode) -> Tensor<3>;

    /// Maps features to logits, `[B, T, classes]`.
    fn classify(&self, features: Tensor<3>) -> Tensor<3>;

    /// Maps inputs to logits, `[B, T, classes]`.
    fn forward(&self, input: Self::Input, mode: Mode) -> Tensor<3> {
        self.classify(self.features(input, mode))
    }

    /// Sets how its operations are computed and where they are recorded.
    #[must_use]
    fn computing(self, scope: &Scope) -> Self;

    /// Returns the name of a parameter in files, given its path.
    fn public_name(path: &str) -> &str {
        path
    }

    /// Returns the public name of the classifier, with which the names of its parameters begin.
    fn classifier(&self) -> &'static str;
}
