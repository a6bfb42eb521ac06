//! The targets of a lip-to-speech model, and the losses of its predictions.

use burn::prelude::*;

use crate::model::{postnet::Postnet, teacher_forcing::Decoded};
use burn_fused::{Mode, Scope};

/// The targets of a batch.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The normalised mels, `[B, T, M]`.
    pub targets: Tensor<3>,
    /// `[B, T, 1]`, one where there is a frame.
    pub mask: Tensor<3>,
    /// The expected attention, `[1, T / R, N]` (see [`seen`]).
    pub seen: Tensor<3>,
    /// The number of frames that the spectrogram losses are means over.
    pub frames: usize,
    /// The number of steps that the attention loss is a mean over.
    pub steps: usize,
}

/// Returns `[steps, pictures]`, the weights of the two pictures around the middle of each step, by linear interpolation.
///
/// * `frames`: the mel frames of all pictures together
pub fn seen(pictures: usize, frames: usize, reduction: usize) -> Vec<f32> {
    let steps = frames / reduction;
    let mut seen = vec![0.0; steps * pictures];
    for (step, row) in seen.chunks_exact_mut(pictures).enumerate() {
        let middle = (step as f32 + 0.5) * (reduction * pictures) as f32 / frames as f32 - 0.5;
        let middle = middle.clamp(0.0, (pictures - 1) as f32);
        let (before, share) = (middle as usize, middle.fract());
        row[before] = 1.0 - share;
        row[(before + 1).min(pictures - 1)] += share;
    }
    seen
}

/// The index, in [`losses`], of the spectrogram loss after the postnet, by which a model is judged.
pub const SPECTROGRAM_LOSS: usize = 1;

/// Computes L1 + L2 of the spectrogram before and after the postnet, and the cross entropy of each step's attention against the pictures at the same time.
/// Pictures and frames share a clock, and with this loss attention converges in hundreds of steps instead of thousands.
pub fn losses(
    decoded: Decoded,
    postnet: &Postnet,
    scope: &Scope,
    answers: &Answers,
    mode: Mode,
) -> Vec<Tensor<1>> {
    let residual = postnet.forward(decoded.frames.clone(), mode);
    let compare = |name, predicted| {
        let (targets, mask) = (answers.targets.clone(), answers.mask.clone());
        let compute = scope.at("loss").at(name).compute();
        compute.spectrogram_loss(predicted, targets, mask, answers.frames)
    };
    let ([items, frames, _], [_, steps, pictures]) = (answers.mask.dims(), answers.seen.dims());
    let spoken =
        answers.mask.clone().reshape([items, steps, frames / steps]).narrow(2, 0, 1).squeeze_dim::<2>(2);
    let seen = answers.seen.clone().expand([items, steps, pictures]);
    // The bound keeps the logarithm finite and is low enough that even wrong attention gets a gradient.
    let cross_entropy = (decoded.alignment.clamp_min(1e-30).log() * seen).sum_dim(2).squeeze_dim::<2>(2);
    vec![
        compare("before", decoded.frames.clone()),
        compare("after", decoded.frames + residual),
        (cross_entropy * spoken).sum().div_scalar(-(answers.steps as f32)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_attends_to_the_pictures_around_its_middle() {
        // Two steps of two frames, and five pictures: middles at a quarter and three quarters, which are 1.25 and 3.75 pictures from the start.
        assert_eq!(seen(5, 4, 2), [0.25, 0.75, 0.0, 0.0, 0.0, /* */ 0.0, 0.0, 0.0, 0.75, 0.25]);
        let rows = seen(75, 240, 2);
        assert_eq!(rows.len(), 120 * 75);
        let middle = |step: usize| -> f32 {
            let row = &rows[step * 75..][..75];
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            row.iter().enumerate().map(|(picture, share)| picture as f32 * share).sum()
        };
        // The first and the last step lie closer to the edges than the middle of any picture.
        assert_eq!((middle(0), middle(119)), (0.0, 74.0));
        assert!((middle(60) - (60.5 / 120.0 * 75.0 - 0.5)).abs() < 1e-4);
    }
}
