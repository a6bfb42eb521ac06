//! The voicing of a speaker: a correction of the voicing output of the pitch predictor, by logistic regression.
//!
//! The 3,000 frames of a minute determine some 100 weights by a few steps of Newton's method, without iterations on the device.

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
/// * `states`:    its states for each clip, `[N, 2 W]`
pub async fn voicing_head_delta(
    predictor: &PitchPredictor,
    states: &[Vec<f32>],
    clips: &[AlignedClip],
) -> Result<Option<HeadDelta>> {
    let mut voicings = Vec::with_capacity(clips.len());
    let width = predictor.head_delta_width();
    for (states, clip) in states.iter().zip(clips) {
        let predicted = predictor.read_out_values(states);
        let [_, count, _] = predicted.dims();
        let logits = read(predicted.narrow(2, 1, 1).reshape([count])).await?;
        let steps = states.len() / (width - 1);
        let reduction = count / steps;
        let frame = |(frame, (logit, hz)): (usize, (&f32, &f32))| Frame {
            step: frame / reduction,
            logit: f64::from(*logit),
            label: f64::from(u8::from(*hz > 0.0)),
        };
        let frames = logits.iter().zip(&clip.f0_hz).enumerate().map(frame).collect();
        voicings.push(Voicing { states, frames });
    }
    if !voicings.iter().flat_map(|clip| &clip.frames).any(|frame| frame.label == 1.0) {
        return Ok(None);
    }
    Ok(logistic(&voicings, &penalties(width, PENALTY)).and_then(|weights| head_delta(&weights)))
}

/// The voicing of a clip.
struct Voicing<'a> {
    /// `[N, S]`
    states: &'a [f32],
    frames: Vec<Frame>,
}

impl Voicing<'_> {
    /// Returns the features as one row per step. Those of all clips, as `f64`, would not fit into memory beside them.
    fn features(&self, width: usize) -> DMatrix<f64> {
        let steps = self.states.len() / (width - 1);
        DMatrix::from_row_iterator(steps, width, self.states.chunks_exact(width - 1).flat_map(features))
    }
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
/// * `penalty`: the penalty of each weight
fn logistic(clips: &[Voicing], penalty: &DVector<f64>) -> Option<DVector<f64>> {
    let width = penalty.len();
    // The negative log-likelihood and the penalty.
    let cost = |weights: &DVector<f64>| {
        let negative_log_likelihood = |clip: &Voicing| {
            let added = clip.features(width) * weights;
            let of_frame = |&Frame { step, logit, label }: &Frame| {
                let logit = logit + added[step];
                softplus(logit) - label * logit
            };
            clip.frames.iter().map(of_frame).sum::<f64>()
        };
        clips.iter().map(negative_log_likelihood).sum::<f64>()
            + 0.5 * penalty.dot(&weights.component_mul(weights))
    };
    let mut weights = DVector::zeros(width);
    let mut least = cost(&weights);
    for _ in 0..MAX_STEPS {
        let mut gradient = -penalty.component_mul(&weights);
        let mut hessian = DMatrix::from_diagonal(penalty);
        for clip in clips {
            let mut features = clip.features(width);
            let added = &features * &weights;
            // The sums over the frames of each step of the residuals, and of the variances of the labels.
            let (mut residuals, mut variances) =
                (DVector::zeros(added.len()), DVector::<f64>::zeros(added.len()));
            for &Frame { step, logit, label } in &clip.frames {
                let probability = (1.0 + (-logit - added[step]).exp()).recip();
                residuals[step] += label - probability;
                variances[step] += probability * (1.0 - probability);
            }
            gradient += features.tr_mul(&residuals);
            for (mut row, variance) in features.row_iter_mut().zip(&variances) {
                row *= variance.sqrt();
            }
            hessian += features.tr_mul(&features);
        }
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

    /// Returns two states of each step, in two clips.
    fn states() -> [Vec<f32>; 2] {
        let states = |t: usize| [(0.37 * t as f32).sin(), (0.61 * t as f32 + 1.0).sin()];
        [0..STEPS / 4, STEPS / 4..STEPS].map(|steps| steps.flat_map(states).collect())
    }

    /// Returns the products of the features and weights.
    fn added(states: &[Vec<f32>; 2], weights: &DVector<f64>) -> DVector<f64> {
        let states = states.concat();
        Voicing { states: &states, frames: Vec::new() }.features(3) * weights
    }

    fn fit(states: &[Vec<f32>; 2], frames: &[Frame], penalty: f64) -> Option<DVector<f64>> {
        let (first, second) = frames.split_at(frames.len() / 4);
        let moved = second.iter().map(|frame| Frame { step: frame.step - STEPS / 4, ..*frame });
        let clips = [first.to_vec(), moved.collect()];
        let clips: Vec<_> =
            states.iter().zip(clips).map(|(states, frames)| Voicing { states, frames }).collect();
        logistic(&clips, &DVector::from_element(3, penalty))
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
        let states = states();
        let truth = added(&states, &DVector::from_vec(vec![3.0, -2.0, 0.5]));
        for known in [DVector::zeros(STEPS), -12.0 * &truth, DVector::from_element(STEPS, 30.0)] {
            let frames = frames(&known, 0.1, |step| truth[step] > 0.0);
            let found = fit(&states, &frames, 0.1).unwrap();
            let right = right(&frames, &added(&states, &found));
            assert!(right > 0.98, "{right} of {found}");
        }
    }

    #[test]
    fn a_large_penalty_keeps_the_offset_and_non_finite_values_have_no_fit() {
        let states = states();
        let known = added(&states, &DVector::from_vec(vec![3.0, -2.0, 0.5]));
        let wrong = frames(&known, 0.0, |step| known[step] < 0.0);
        let found = fit(&states, &wrong, 1e9).unwrap();
        assert!(found.amax() < 1e-3, "{found}");
        let non_finite = frames(&DVector::from_element(STEPS, f64::NAN), 0.0, |step| known[step] < 0.0);
        assert_eq!(fit(&states, &non_finite, 1.0), None);
    }
}
