//! The L1 + L2 loss of two spectrograms as a backend operation with a hand-written backward pass.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

/// The number of partial sums: frame `n` of the batch is added to part `n % PARTS`.
pub const PARTS: usize = 64;

/// The L1 + L2 loss as partial sums.
///
/// * `predicted`, `targets`: `[B, T, M]`
/// * `mask`:                 `[B, T, 1]`
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait LossOps: Backend {
    /// Returns sums of `|e| + e^2` for `e = (predicted - targets) * mask`, `[PARTS]`. Only `predicted` has a gradient.
    fn errors(
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

/// The backward pass of [`LossOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
pub trait LossBackwardOps: LossOps {
    /// Returns the gradient of `predicted`.
    fn errors_backward(
        grad: FloatTensor<Self>,
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}
