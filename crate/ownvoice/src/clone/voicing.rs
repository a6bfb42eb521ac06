//! The voicing of a speaker: a correction of the voicing output of the pitch predictor, by logistic regression.
//!
//! The 3,000 frames of a minute determine some 100 weights by a few steps of Newton's method, without iterations on the device.

use burn::prelude::*;
use nalgebra::{Cholesky, DMatrix, DVector};

use super::{
    clip::AlignedClip,
    regression::{features, head_delta, penalties},
};
use crate::{
    Result,
    model::{head_delta::HeadDelta, pitch::PitchPredictor},
};
use burn_fused::readback::read;

/// The ridge penalty, in frames.
const PENALTY: f64 = 100.0;
/// The most steps of Newton's method, which usually takes ten.
const MAX_STEPS: usize = 30;
/// The most halvings of a step.
const MAX_HALVINGS: usize = 12;
/// The relative decrease of the cost below which the method has converged.
const TOLERANCE: f64 = 1e-6;

/// Fits the voicing of clips. Returns `None` if no frame is voiced, as in a whisper.
///
/// * `predictor`: the predictor of the base
/// * `states`:    its states for each clip, `[1, N, 2 W]`
pub async fn voicing_head_delta(
    predictor: &PitchPredictor,
    states: &[Tensor<3>],
    clips: &[AlignedClip],
) -> Result<Option<HeadDelta>> {
    let (mut rows, mut frames) = (Vec::new(), Vec::new());
    let width = predictor.head_delta_width();
    for (states, clip) in states.iter().zip(clips) {
        let [_, steps, states_width] = states.dims();
        let predicted = predictor.read_out(states.clone());
        let [_, count, _] = predicted.dims();
        let logits = predicted.narrow(2, 1, 1).reshape([count]);
        let (first, reduction) = (rows.len() / width, count / steps);
        for (frame, (logit, hz)) in read(logits).await?.into_iter().zip(&clip.f0_hz).enumerate() {
            frames.push(Frame {
                step: first + frame / reduction,
                logit: f64::from(logit),
                label: f64::from(u8::from(*hz > 0.0)),
            });
        }
        for state in read(states.clone().reshape([steps * states_width])).await?.chunks_exact(states_width) {
            rows.extend(features(state));
        }
    }
    if !frames.iter().any(|frame| frame.label == 1.0) {
        return Ok(None);
    }
    let rows = DMatrix::from_row_slice(rows.len() / width, width, &rows);
    Ok(logistic(&rows, &frames, &penalties(width, PENALTY)).and_then(|weights| head_delta(&weights)))
}

/// A frame of a recording.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The row of its features, which the frames of a step share.
    step: usize,
    /// The logit that the base predicts.
    logit: f64,
    /// 1 if the frame is voiced, otherwise 0.
    label: f64,
}

/// Fits a logistic regression with a ridge penalty by Newton's method; the predicted logits are its offset. Returns the weights, or `None` if values are not
/// finite.
///
/// * `features`: one row per step
/// * `penalty`:  the penalty of each weight
fn logistic(features: &DMatrix<f64>, frames: &[Frame], penalty: &DVector<f64>) -> Option<DVector<f64>> {
    // The negative log-likelihood and the penalty.
    let cost = |weights: &DVector<f64>| {
        let added = features * weights;
        let negative_log_likelihood = |&Frame { step, logit, label }: &Frame| {
            let logit = logit + added[step];
            softplus(logit) - label * logit
        };
        frames.iter().map(negative_log_likelihood).sum::<f64>()
            + 0.5 * penalty.dot(&weights.component_mul(weights))
    };
    let mut weights = DVector::zeros(features.ncols());
    let mut least = cost(&weights);
    for _ in 0..MAX_STEPS {
        let added = features * &weights;
        // The sums over the frames of each step of the residuals, and of the variances of the labels.
        let (mut residuals, mut variances) =
            (DVector::zeros(added.len()), DVector::<f64>::zeros(added.len()));
        for &Frame { step, logit, label } in frames {
            let probability = (1.0 + (-logit - added[step]).exp()).recip();
            residuals[step] += label - probability;
            variances[step] += probability * (1.0 - probability);
        }
        let gradient = features.tr_mul(&residuals) - penalty.component_mul(&weights);
        let mut scaled = features.clone();
        for (mut row, variance) in scaled.row_iter_mut().zip(&variances) {
            row *= variance.sqrt();
        }
        let hessian = scaled.tr_mul(&scaled) + DMatrix::from_diagonal(penalty);
        let step = Cholesky::new(hessian)?.solve(&gradient);
        // Saturated logits of the wrong sign have a small curvature, so that a whole step overshoots: backtrack.
        let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(MAX_HALVINGS);
        let nearer = lengths.map(|length| &weights + length * &step).find_map(|next| {
            let cost = cost(&next);
            (cost < least).then_some((next, cost))
        });
        let Some((next, cost)) = nearer else { break };
        let gain = least - cost;
        (weights, least) = (next, cost);
        if gain < TOLERANCE * least {
            break;
        }
    }
    least.is_finite().then_some(weights)
}

/// Returns the logarithm of `1 + exp(x)`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: usize = 1000;
    /// The frames of a step.
    const FRAMES: usize = 2;

    /// Returns two features and a constant.
    fn features() -> DMatrix<f64> {
        DMatrix::from_fn(STEPS, 3, |t, k| [(0.37 * t as f64).sin(), (0.61 * t as f64 + 1.0).sin(), 1.0][k])
    }

    /// Returns frames where the logit of the second frame of a step is higher by `apart` than that of the first.
    fn frames(known: &DVector<f64>, apart: f64, voiced: impl Fn(usize) -> bool) -> Vec<Frame> {
        let frame = |at: usize| Frame {
            step: at / FRAMES,
            logit: known[at / FRAMES] + (at % FRAMES) as f64 * apart,
            label: f64::from(u8::from(voiced(at / FRAMES))),
        };
        (0..STEPS * FRAMES).map(frame).collect()
    }

    /// Returns the share of frames whose logit has the sign of the label.
    fn right(frames: &[Frame], added: &DVector<f64>) -> f64 {
        let same =
            frames.iter().filter(|frame| (frame.logit + added[frame.step] > 0.0) == (frame.label > 0.5));
        same.count() as f64 / frames.len() as f64
    }

    #[test]
    fn saturated_logits_of_the_wrong_sign_are_corrected() {
        let features = features();
        let truth = &features * DVector::from_vec(vec![3.0, -2.0, 0.5]);
        for known in [DVector::zeros(STEPS), -12.0 * &truth, DVector::from_element(STEPS, 30.0)] {
            let frames = frames(&known, 0.1, |step| truth[step] > 0.0);
            let found = logistic(&features, &frames, &DVector::from_element(3, 0.1)).unwrap();
            let right = right(&frames, &(&features * &found));
            assert!(right > 0.98, "{right} of {found}");
        }
    }

    #[test]
    fn a_large_penalty_keeps_the_offset_and_non_finite_values_have_no_fit() {
        let features = features();
        let known = &features * DVector::from_vec(vec![3.0, -2.0, 0.5]);
        let wrong = frames(&known, 0.0, |step| known[step] < 0.0);
        let found = logistic(&features, &wrong, &DVector::from_element(3, 1e9)).unwrap();
        assert!(found.amax() < 1e-3, "{found}");
        let non_finite = frames(&DVector::from_element(STEPS, f64::NAN), 0.0, |step| known[step] < 0.0);
        assert_eq!(logistic(&features, &non_finite, &DVector::from_element(3, 1.0)), None);
    }
}
