//! Regressions in closed form, or nearly: what a minute of frames says about a linear layer, drawn towards the base's.

use nalgebra::{Cholesky, DMatrix, DVector};

/// Of Newton's method, which takes about ten.
const MOST_STEPS: usize = 30;
const MOST_HALVINGS: usize = 12;
/// Of the cost, below which a step changes nothing.
const TOLERANCE: f64 = 1e-6;

/// Weights of the least squared error, with a quadratic penalty (Hoerl and Kennard 1970).
///
/// * `features`:  a row each observation
/// * `residuals`: what is to be explained
/// * `penalty`:   of each weight
///
/// `None` where the numbers are not finite.
pub fn ridge(features: &DMatrix<f64>, residuals: &DVector<f64>, penalty: &DVector<f64>) -> Option<DVector<f64>> {
    let normal = features.tr_mul(features) + DMatrix::from_diagonal(penalty);
    finite(Cholesky::new(normal)?.solve(&features.tr_mul(residuals)))
}

/// Weights that are added to known logits, of the greatest likelihood with a quadratic penalty, by Newton's method.
///
/// * `features`: a row each observation
/// * `known`:    logits without the weights
/// * `labels`:   0 or 1
/// * `penalty`:  of each weight
///
/// `None` where the numbers are not finite.
pub fn logistic(
    features: &DMatrix<f64>,
    known: &DVector<f64>,
    labels: &DVector<f64>,
    penalty: &DVector<f64>,
) -> Option<DVector<f64>> {
    // Minus the logarithm of the likelihood, and the penalty.
    let cost = |weights: &DVector<f64>| {
        let logits = known + features * weights;
        let surprise = |(logit, label): (&f64, &f64)| softplus(*logit) - label * logit;
        logits.iter().zip(labels).map(surprise).sum::<f64>()
            + 0.5 * penalty.dot(&weights.component_mul(weights))
    };
    let mut weights = DVector::zeros(features.ncols());
    let mut least = cost(&weights);
    for _ in 0..MOST_STEPS {
        let share = (known + features * &weights).map(|logit| (1.0 + (-logit).exp()).recip());
        let gradient = features.tr_mul(&(labels - &share)) - penalty.component_mul(&weights);
        let mut scaled = features.clone();
        for (mut row, share) in scaled.row_iter_mut().zip(&share) {
            row *= (share * (1.0 - share)).sqrt();
        }
        let curvature = scaled.tr_mul(&scaled) + DMatrix::from_diagonal(penalty);
        let step = finite(Cholesky::new(curvature)?.solve(&gradient))?;
        // Where the known logits are sure and wrong, the curvature is small and a whole step goes too far.
        let halves = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(MOST_HALVINGS);
        let shorter = halves.map(|length| &weights + length * &step).find_map(|next| {
            let cost = cost(&next);
            (cost < least).then_some((next, cost))
        });
        let Some((next, cost)) = shorter else { break };
        let gain = least - cost;
        (weights, least) = (next, cost);
        if gain < TOLERANCE * least {
            break;
        }
    }
    finite(weights)
}

/// The logarithm of `1 + exp(x)`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn finite(weights: DVector<f64>) -> Option<DVector<f64>> {
    weights.iter().all(|weight| weight.is_finite()).then_some(weights)
}
