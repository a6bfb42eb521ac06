//! The recurrence as a backend operation with a hand-written backward pass.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::ScanOptions;

/// The recurrence of an LSTM.
///
/// * `projected`: `[T, B, 4H]`, inputs times `W_ih` plus bias
/// * `w_hh`:      `[H, 4H]`, in f32 or f16
/// * `initial`:   `[B, 2H]`, hidden then cell state
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait LstmOps: Backend {
    /// Returns the states `[T, B, 2H]`, and the activated gates `[T, B, 4H]` for the backward pass only: the gates have no gradient.
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// The backward pass of [`LstmOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
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
