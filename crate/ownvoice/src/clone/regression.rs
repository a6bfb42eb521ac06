//! What the regressions of readouts share: a predictor's states and a one are their features, and every weight but that of the one is penalised.

use nalgebra::DVector;

use crate::model::head_delta::HeadDelta;

/// The bias is free.
const PENALTY_OF_BIAS: f64 = 1e-3;

/// A row of features.
///
/// * `states`: `[S]`
pub fn features(states: &[f32]) -> impl Iterator<Item = f64> {
    states.iter().map(|x| f64::from(*x)).chain([1.0])
}

/// Of each weight, `[S + 1]`.
///
/// * `penalty`: of those of states
pub fn penalties(width: usize, penalty: f64) -> DVector<f64> {
    DVector::from_fn(width, |at, _| if at + 1 == width { PENALTY_OF_BIAS } else { penalty })
}

/// * `weights`: `[S + 1]`
pub fn readout(weights: &DVector<f64>) -> Option<HeadDelta> {
    HeadDelta::new(weights.iter().map(|weight| *weight as f32).collect())
}
