//! When a speaker's voice sounds: the predictor's readout of voicing, learned anew from a minute by logistic regression.
//!
//! Three thousand frames of speech say much about a hundred weights, and nothing has to be iterated on the device.

use half::f16;
use nalgebra::{Cholesky, DMatrix, DVector};

use super::super::clip::AlignedClip;
use crate::{Result, model::pitch::VoicingReadout, nn::readback::read, voice::Base};

/// How much the weights are drawn towards the base's, as so many frames' worth.
const PENALTY: f64 = 10.0;
/// The bias is free.
const PENALTY_OF_BIAS: f64 = 1e-3;
/// Of Newton's method, which takes about ten.
const MOST_STEPS: usize = 30;
const MOST_HALVINGS: usize = 12;
/// Of the cost, below which a step changes nothing.
const TOLERANCE: f64 = 1e-6;

/// * `speaker`: the speaker of the base whose melody is followed
///
/// `None` on a base without pitch, and where nothing is voiced: a whisper says nothing about a voice.
pub async fn voicing_readout(
    base: &Base,
    clips: &[AlignedClip],
    speaker: usize,
) -> Result<Option<VoicingReadout>> {
    let Some(predictor) = &base.model.pitch else { return Ok(None) };
    let reduction = base.config().reduction;
    let (mut features, mut known, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for clip in clips {
        let frames = clip.frames();
        let hidden =
            predictor.hidden(clip.contexts(base), base.speaker(speaker), &[frames.div_ceil(reduction)]);
        let [_, steps, width] = hidden.dims();
        let logits = predictor.read_out(hidden.clone()).narrow(2, 1, 1).reshape([steps * reduction]);
        known.extend(read(logits).await?[..frames].iter().map(|logit| f64::from(*logit)));
        labels.extend(clip.f0_hz.iter().map(|hz| f64::from(u8::from(*hz > 0.0))));
        let hidden = read(hidden.reshape([steps * width])).await?;
        for state in (0..frames).map(|frame| &hidden[frame / reduction * width..][..width]) {
            features.extend(state.iter().map(|x| f64::from(*x)).chain([1.0]));
        }
    }
    if !labels.contains(&1.0) {
        return Ok(None);
    }
    let width = features.len() / labels.len();
    let features = DMatrix::from_row_slice(labels.len(), width, &features);
    let penalty = DVector::from_fn(width, |at, _| if at + 1 == width { PENALTY_OF_BIAS } else { PENALTY });
    let weights = logistic(&features, &DVector::from_vec(known), &DVector::from_vec(labels), &penalty);
    // Rounded as in a voice file, so that a saved voice sounds the same.
    let rounded = |weights: DVector<f64>| weights.iter().map(|x| f16::from_f64(*x).to_f32()).collect();
    Ok(weights.map(rounded).and_then(VoicingReadout::new))
}

/// Weights that are added to known logits: those of the greatest likelihood with a quadratic penalty, by Newton's method.
///
/// * `features`: a row each observation
/// * `known`:    logits without the weights
/// * `labels`:   0 or 1
/// * `penalty`:  of each weight
///
/// `None` where the numbers are not finite.
fn logistic(
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
        let step = Cholesky::new(curvature)?.solve(&gradient);
        // Where known logits are sure and wrong the curvature is small, and a whole step goes too far.
        let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(MOST_HALVINGS);
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

    const FRAMES: usize = 2000;

    /// Two features and a constant.
    fn features() -> DMatrix<f64> {
        DMatrix::from_fn(FRAMES, 3, |t, k| [(0.37 * t as f64).sin(), (0.61 * t as f64 + 1.0).sin(), 1.0][k])
    }

    /// How many are on the side of their label.
    fn right(logits: &DVector<f64>, labels: &DVector<f64>) -> f64 {
        let same = logits.iter().zip(labels).filter(|(logit, label)| (**logit > 0.0) == (**label > 0.5));
        same.count() as f64 / FRAMES as f64
    }

    #[test]
    fn a_readout_is_found_where_the_known_one_is_sure_and_wrong() {
        let features = features();
        let truth = DVector::from_vec(vec![3.0, -2.0, 0.5]);
        let labels = (&features * &truth).map(|logit| f64::from(u8::from(logit > 0.0)));
        for known in
            [DVector::zeros(FRAMES), -12.0 * (&features * &truth), DVector::from_element(FRAMES, 30.0)]
        {
            let found = logistic(&features, &known, &labels, &DVector::from_element(3, 0.1)).unwrap();
            let logits = &known + &features * &found;
            assert!(right(&logits, &labels) > 0.98, "{} of {found}", right(&logits, &labels));
        }
    }

    #[test]
    fn a_penalty_holds_what_is_known_and_nonsense_finds_nothing() {
        let features = features();
        let known = &features * DVector::from_vec(vec![3.0, -2.0, 0.5]);
        let labels = known.map(|logit| f64::from(u8::from(logit < 0.0)));
        let found = logistic(&features, &known, &labels, &DVector::from_element(3, 1e9)).unwrap();
        assert!(found.amax() < 1e-3, "{found}");
        let nonsense = DVector::from_element(FRAMES, f64::NAN);
        assert_eq!(logistic(&features, &nonsense, &labels, &DVector::from_element(3, 1.0)), None);
    }
}
