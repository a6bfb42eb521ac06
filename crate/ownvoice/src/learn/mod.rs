//! Parts of training that do not depend on the model: sampling of batches, sums over ranks, early stopping, the optimizer's state, and the fine-tuning loop.

pub mod all_reduce;
pub mod early_stopping;
pub mod optimizer_state;
pub mod sampler;
pub mod tuner;
