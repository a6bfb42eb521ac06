//! The trait of models that a run can train.

use burn::{module::Module, prelude::*};

use burn_fused::{Mode, Scope};
use ownvoice::model::batch::Data;

/// A model with the losses that train it.
pub trait TrainableModel: Module {
    type Batch: Data;

    /// The names of the losses that [`Self::losses`] returns.
    const LOSSES: &'static [&'static str];
    /// The index of the loss that is reported for held-out batches.
    const CRITERION: usize;

    /// Computes the losses, each `[1]`. A training minimises their sum.
    fn losses(&self, batch: &Self::Batch, mode: Mode) -> Vec<Tensor<1>>;

    /// Sets how the operations are computed.
    #[must_use]
    fn computing(self, _scope: &Scope) -> Self {
        self
    }
}
