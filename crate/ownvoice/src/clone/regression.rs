//! Hidden states and an unpenalised intercept: what the regressions of `timing` and `voicing` share.

use nalgebra::DVector;

use crate::model::head_delta::HeadDelta;

/// The penalty of the intercept, which only keeps the system regular.
const PENALTY_OF_BIAS: f64 = 1e-3;

/// Returns a row of features: the states and a 1, `[S + 1]`.
///
/// * `states`: `[S]`
pub fn features(states: &[f32]) -> impl Iterator<Item = f64> {
    states.iter().map(|x| f64::from(*x)).chain([1.0])
}

/// Returns the penalty of each weight, `[S + 1]`.
///
/// * `penalty`: the penalty of the weights of states
pub fn penalties(width: usize, penalty: f64) -> DVector<f64> {
    DVector::from_fn(width, |at, _| if at + 1 == width { PENALTY_OF_BIAS } else { penalty })
}

/// Converts weights to a correction of a linear layer. Returns `None` if they are out of range.
///
/// * `weights`: `[S + 1]`
pub fn head_delta(weights: &DVector<f64>) -> Option<HeadDelta> {
    HeadDelta::new(weights.iter().map(|weight| *weight as f32).collect())
}
