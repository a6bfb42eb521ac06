//! What a run trains.

use burn::{module::Module, prelude::*};

use burn_fused::{Mode, Scope};
use ownvoice::model::batch::Data;

/// A model with the losses that train it.
pub trait TrainableModel: Module {
    type Batch: Data;

    /// Names of what [`Self::losses`] returns.
    const LOSSES: &'static [&'static str];
    /// Index of the loss that is reported on held-out batches.
    const CRITERION: usize;

    /// Each `[1]`; training minimises their sum.
    fn losses(&self, batch: &Self::Batch, mode: Mode) -> Vec<Tensor<1>>;

    /// How its operations are computed, where they can be computed in more than one way.
    #[must_use]
    fn computing(self, _scope: &Scope) -> Self {
        self
    }
}
