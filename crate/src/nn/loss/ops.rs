//! L1 + L2 of two spectrograms as a backend operation with a hand-written gradient.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

/// Partial sums: frame `n` of the batch counts towards part `n % PARTS`.
pub const PARTS: usize = 64;

/// * `predicted`, `targets`: `[B, T, M]`
/// * `mask`:                 `[B, T, 1]`
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait LossOps: Backend {
    /// Sums of `|e| + e^2` for `e = (predicted - targets) * mask`, `[PARTS]`. Only `predicted` has a gradient.
    fn errors(
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

/// Gradients of [`LossOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait LossBackwardOps: LossOps {
    /// Returns the gradient of `predicted`.
    fn errors_backward(
        grad: FloatTensor<Self>,
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}
