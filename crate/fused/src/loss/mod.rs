//! L1 + L2 loss of a spectrogram under a mask as one operation, forward and backward.
//!
//! For the error `e = (predicted - targets) * mask` of each value, the loss is the mean of `|e| + e^2` over the valid frames. It is fused on the CPU (`flex`)
//! and on GPUs (`cube`); [`spectrogram_loss_with_tensors`] is the plain reference. The partial sums are added in a fixed order, so that a device always returns
//! the same value for the same inputs.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;

use crate::{
    Compute, Operation,
    trace::{Attributes, Value},
};
use burn::{backend::Dispatch, prelude::*};
use ops::LossOps;

/// Computes the L1 + L2 loss, `[1]`. Only `predicted` has a gradient.
///
/// * `predicted`, `targets`: `[B, T, M]`
/// * `mask`:                 `[B, T, 1]`, 1 for valid frames and 0 for others
/// * `valid_frames`:         the number of valid frames, by which the sum is divided
pub fn spectrogram_loss(
    predicted: Tensor<3>,
    targets: Tensor<3>,
    mask: Tensor<3>,
    valid_frames: usize,
) -> Tensor<1> {
    let mels = targets.dims()[2];
    let sums = Dispatch::errors(predicted.into_dispatch(), targets.into_dispatch(), mask.into_dispatch());
    Tensor::<1>::from_dispatch(sums).sum().div_scalar((valid_frames * mels) as f32)
}

/// Computes [`spectrogram_loss`] from plain tensor operations: the reference of the fused operation.
pub fn spectrogram_loss_with_tensors(
    predicted: Tensor<3>,
    targets: Tensor<3>,
    mask: Tensor<3>,
    valid_frames: usize,
) -> Tensor<1> {
    let mels = targets.dims()[2];
    let error = (predicted - targets) * mask;
    (error.clone().abs() + error.powi_scalar(2)).sum().div_scalar((valid_frames * mels) as f32)
}

impl Compute {
    /// Computes [`spectrogram_loss`], recorded.
    pub fn spectrogram_loss(
        &self,
        predicted: Tensor<3>,
        targets: Tensor<3>,
        mask: Tensor<3>,
        valid_frames: usize,
    ) -> Tensor<1> {
        const LOSS: Operation = Operation::Loss;
        let inputs = self.inputs(|| {
            [
                ("predicted", Value::from_tensor(&predicted)),
                ("targets", Value::from_tensor(&targets)),
                ("mask", Value::from_tensor(&mask)),
            ]
        });
        let loss = if self.is_plain(LOSS) {
            spectrogram_loss_with_tensors(predicted, targets, mask, valid_frames)
        } else {
            spectrogram_loss(self.input(LOSS, "predicted", predicted), targets, mask, valid_frames)
        };
        self.record(LOSS, Attributes::Frames(valid_frames), inputs, loss)
    }
}
