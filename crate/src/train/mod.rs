//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod adam;
pub mod batch;
pub mod features;
pub mod finetune;
pub mod judge;
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
pub mod room;
#[cfg(feature = "cli")]
pub mod run;
pub mod self_test;
#[cfg(feature = "cli")]
pub mod speaker_encoder;
#[cfg(feature = "cli")]
pub mod vocoder;

pub use finetune::{Clip, Exchange, FineTuner, Helper, Share, Step, TuneStop};
pub use options::{Adapts, CloneOptions, Look, Start, StopRule};
pub use picture::Picture;
