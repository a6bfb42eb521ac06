//! When a speaker's voice sounds: the predictor's readout of voicing, learned anew from a minute by logistic regression.
//!
//! Three thousand frames of speech say much about a hundred weights, and nothing has to be iterated on the device.

use burn::prelude::*;
use nalgebra::{Cholesky, DMatrix, DVector};

use super::{
    clip::AlignedClip,
    regression::{features, penalties, readout},
};
use crate::{
    Result,
    model::{head_delta::HeadDelta, pitch::PitchPredictor},
};
use burn_fused::readback::read;

/// How much the weights are drawn towards the base's, as so many frames' worth.
const PENALTY: f64 = 100.0;
/// Of Newton's method, which takes about ten.
const MAX_STEPS: usize = 30;
const MAX_HALVINGS: usize = 12;
/// Of the cost, below which a step changes nothing.
const TOLERANCE: f64 = 1e-6;

/// * `predictor`: of the base
/// * `states`:    its states for each clip, `[1, N, 2 W]`
///
/// `None` where nothing is voiced: a whisper says nothing about a voice.
pub async fn voicing_readout(
    predictor: &PitchPredictor,
    states: &[Tensor<3>],
    clips: &[AlignedClip],
) -> Result<Option<HeadDelta>> {
    let (mut rows, mut frames) = (Vec::new(), Vec::new());
    let width = predictor.readout_width();
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
    Ok(logistic(&rows, &frames, &penalties(width, PENALTY)).and_then(|weights| readout(&weights)))
}

/// A frame of a recording.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The row of its features: the frames of a step share them.
    step: usize,
    /// What the base predicts.
    logit: f64,
    /// 1 where it is voiced, else 0.
    label: f64,
}

/// Weights that are added to the frames' logits: those of the greatest likelihood with a quadratic penalty, by Newton's method.
///
/// * `features`: a row each step
/// * `penalty`:  of each weight
///
/// `None` where the numbers are not finite.
fn logistic(features: &DMatrix<f64>, frames: &[Frame], penalty: &DVector<f64>) -> Option<DVector<f64>> {
    // Minus the logarithm of the likelihood, and the penalty.
    let cost = |weights: &DVector<f64>| {
        let added = features * weights;
        let surprise = |&Frame { step, logit, label }: &Frame| {
            let logit = logit + added[step];
            softplus(logit) - label * logit
        };
        frames.iter().map(surprise).sum::<f64>() + 0.5 * penalty.dot(&weights.component_mul(weights))
    };
    let mut weights = DVector::zeros(features.ncols());
    let mut least = cost(&weights);
    for _ in 0..MAX_STEPS {
        let added = features * &weights;
        // Over the frames of each step: how far they are from their labels, and how unsure.
        let (mut missing, mut unsure) = (DVector::zeros(added.len()), DVector::<f64>::zeros(added.len()));
        for &Frame { step, logit, label } in frames {
            let share = (1.0 + (-logit - added[step]).exp()).recip();
            missing[step] += label - share;
            unsure[step] += share * (1.0 - share);
        }
        let gradient = features.tr_mul(&missing) - penalty.component_mul(&weights);
        let mut scaled = features.clone();
        for (mut row, unsure) in scaled.row_iter_mut().zip(&unsure) {
            row *= unsure.sqrt();
        }
        let curvature = scaled.tr_mul(&scaled) + DMatrix::from_diagonal(penalty);
        let step = Cholesky::new(curvature)?.solve(&gradient);
        // Where known logits are sure and wrong the curvature is small, and a whole step goes too far.
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

/// The logarithm of `1 + exp(x)`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: usize = 1000;
    /// Of a step.
    const FRAMES: usize = 2;

    /// Two features and a constant.
    fn features() -> DMatrix<f64> {
        DMatrix::from_fn(STEPS, 3, |t, k| [(0.37 * t as f64).sin(), (0.61 * t as f64 + 1.0).sin(), 1.0][k])
    }

    /// The second frame of a step is as the first, but for its logit, which is `apart` higher.
    fn frames(known: &DVector<f64>, apart: f64, voiced: impl Fn(usize) -> bool) -> Vec<Frame> {
        let frame = |at: usize| Frame {
            step: at / FRAMES,
            logit: known[at / FRAMES] + (at % FRAMES) as f64 * apart,
            label: f64::from(u8::from(voiced(at / FRAMES))),
        };
        (0..STEPS * FRAMES).map(frame).collect()
    }

    /// How many are on the side of their label.
    fn right(frames: &[Frame], added: &DVector<f64>) -> f64 {
        let same =
            frames.iter().filter(|frame| (frame.logit + added[frame.step] > 0.0) == (frame.label > 0.5));
        same.count() as f64 / frames.len() as f64
    }

    #[test]
    fn a_readout_is_found_where_the_known_one_is_sure_and_wrong() {
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
    fn a_penalty_holds_what_is_known_and_nonsense_finds_nothing() {
        let features = features();
        let known = &features * DVector::from_vec(vec![3.0, -2.0, 0.5]);
        let wrong = frames(&known, 0.0, |step| known[step] < 0.0);
        let found = logistic(&features, &wrong, &DVector::from_element(3, 1e9)).unwrap();
        assert!(found.amax() < 1e-3, "{found}");
        let nonsense = frames(&DVector::from_element(STEPS, f64::NAN), 0.0, |step| known[step] < 0.0);
        assert_eq!(logistic(&features, &nonsense, &DVector::from_element(3, 1.0)), None);
    }
}
