//! Training: features, batches, losses, the optimizer, pretraining of the base and fine-tuning of a voice.

pub mod all_reduce;
pub mod early_stopping;
pub mod optimizer_state;
pub mod sampler;
