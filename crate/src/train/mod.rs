//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod adam;
pub mod batch;
pub mod features;
pub mod loss;
#[cfg(feature = "cli")]
pub mod pretrain;
