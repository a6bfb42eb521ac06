//! The recurrence as a backend operation with hand-written gradients.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::ScanOptions;

/// * `projected`: `[T, B, 4H]`, inputs times `W_ih` plus bias
/// * `w_hh`:      `[H, 4H]`, in f32 or in f16
/// * `initial`:   `[B, 2H]`, hidden then cell state
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait LstmOps: Backend {
    /// Returns states `[T, B, 2H]` and activated gates `[T, B, 4H]`, those for the backward pass alone: only the states carry a gradient.
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// Gradients of [`LstmOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait LstmBackwardOps: LstmOps {
    /// Returns the gradients of `projected`, `w_hh` and `initial`.
    fn lstm_backward(
        grad: FloatTensor<Self>,
        states: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}
