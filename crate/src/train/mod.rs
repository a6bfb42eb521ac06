//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod adam;
pub mod batch;
pub mod features;
pub mod finetune;
pub mod clip;
pub mod loss;
pub mod optimizer_state;
pub mod options;
pub mod picture;
pub mod profile;
#[cfg(feature = "cli")]
pub mod pretrain;
#[cfg(feature = "cli")]
pub mod recogniser;
#[cfg(feature = "cli")]
pub mod augment;
#[cfg(feature = "cli")]
pub mod run;
pub mod self_test;
#[cfg(feature = "cli")]
pub mod speaker_encoder;
#[cfg(feature = "cli")]
pub mod vocoder;

pub use clip::Clip;
pub use finetune::{FlatBuffer, FineTuner, Helper, Shard, Step, TuneStop};
pub use options::{Adapts, CloneOptions, ValidationMetrics, Start, StopRule};
pub use picture::Picture;
