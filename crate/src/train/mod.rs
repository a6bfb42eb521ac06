//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod adam;
#[cfg(feature = "cli")]
pub mod augment;
pub mod batch;
pub mod clip;
pub mod features;
pub mod finetune;
pub mod loss;
pub mod optimizer_state;
pub mod options;
pub mod picture;
#[cfg(feature = "cli")]
pub mod pretrain;
pub mod profile;
#[cfg(feature = "cli")]
pub mod recogniser;
#[cfg(feature = "cli")]
pub mod run;
mod segment;
pub mod self_test;
#[cfg(feature = "cli")]
pub mod speaker_encoder;
#[cfg(feature = "cli")]
pub mod vocoder;
#[cfg(feature = "cli")]
pub mod warm_start;

pub use clip::Clip;
pub use finetune::{FineTuner, FlatBuffer, Helper, Shard, Step, TuneStop};
pub use options::{Adapts, CloneOptions, Start, StopRule, ValidationMetrics};
pub use picture::Picture;
