//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod adam;
pub mod adapt;
#[cfg(feature = "pretraining")]
pub mod augment;
pub mod batch;
pub mod clip;
pub mod exchange;
pub mod features;
#[cfg(feature = "pretraining")]
pub mod feeder;
pub mod finetune;
#[cfg(feature = "pretraining")]
mod learner;
pub mod loss;
pub mod optimizer_state;
pub mod options;
pub mod order;
#[cfg(feature = "pretraining")]
pub mod people_mark;
pub mod picture;
pub mod precision_check;
#[cfg(feature = "pretraining")]
pub mod pretrain;
pub mod profile;
#[cfg(feature = "pretraining")]
mod recipe;
#[cfg(feature = "pretraining")]
pub mod recogniser;
#[cfg(feature = "pretraining")]
pub mod run;
mod segment;
pub mod self_test;
#[cfg(feature = "pretraining")]
pub mod speaker_encoder;
pub mod step_dump;
#[cfg(feature = "pretraining")]
pub mod takes;
#[cfg(feature = "pretraining")]
pub mod vocoder;
#[cfg(feature = "pretraining")]
pub mod warm_start;
#[cfg(feature = "pretraining")]
pub mod watch;

pub use clip::Clip;
pub use finetune::{FineTuner, FlatBuffer, Helper, Step, TuneStop};
pub use options::{CloneOptions, StopRule, ValidationMetrics};
pub use picture::Picture;

pub use crate::ranks::Shard;
