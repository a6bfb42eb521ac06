//! Measures of a net on examples.

use serde::{Deserialize, Serialize};

/// The measures of the held-out examples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    pub loss: f32,
    /// The share of examples whose class has the largest logit, 0 to 1. `None` if the targets are not classes.
    pub accuracy: Option<f32>,
}

/// The number of examples that are computed at a time where no gradients are needed.
pub(super) const AT_A_TIME: usize = 16;

/// Returns the index of the largest value.
pub(super) fn largest(values: &[f32]) -> usize {
    let largest = values.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    largest.expect("there are values").0
}
