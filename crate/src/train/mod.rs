//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod adam;
pub mod adapt;
#[cfg(feature = "pretraining")]
pub mod augment;
pub mod batch;
pub mod clip;
pub mod features;
pub mod finetune;
pub mod loss;
pub mod optimizer_state;
pub mod options;
pub mod picture;
#[cfg(feature = "pretraining")]
pub mod pretrain;
pub mod profile;
#[cfg(feature = "pretraining")]
pub mod recogniser;
#[cfg(feature = "pretraining")]
pub mod run;
mod segment;
pub mod self_test;
#[cfg(feature = "pretraining")]
pub mod speaker_encoder;
#[cfg(feature = "pretraining")]
pub mod vocoder;
#[cfg(feature = "pretraining")]
pub mod warm_start;

pub use clip::Clip;
pub use finetune::{FineTuner, FlatBuffer, Helper, Shard, Step, TuneStop};
pub use options::{Adapts, CloneOptions, Start, StopRule, ValidationMetrics};
pub use picture::Picture;
