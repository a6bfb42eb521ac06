//! The error of a spectrogram as one operation.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;

use burn::{backend::Dispatch, prelude::*};
use ops::LossOps;

use super::{
    Compute, Operation,
    trace::{Attributes, Value},
};

/// L1 + L2 over the frames that count.
///
/// * `predicted`, `targets`: `[B, T, M]`
/// * `mask`:                 `[B, T, 1]`
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

/// The same from plain tensor operations: its reference.
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
    /// [`spectrogram_loss`], recorded.
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
                ("predicted", Value::of(&predicted)),
                ("targets", Value::of(&targets)),
                ("mask", Value::of(&mask)),
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
