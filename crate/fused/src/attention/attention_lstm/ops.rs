//! The sequence as a backend operation with a hand-written backward pass.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::AttentionLstmInputs;

/// All steps of attention and its LSTM.
///
/// * `projected`: `[N, B, 4H]`, the inputs of the LSTM other than the context, times their weights, plus bias
/// * `mask`:      `[B, L]`, which has no gradient
#[backend_extension(Flex, Autodiff)]
pub trait AttentionLstmOps: Backend {
    /// Returns one row for each step, `[N, B, R]`, see [`AttentionLstmInputs`], and the activated gates, `[N, B, 4H]`, for the backward pass only.
    fn attention_lstm(
        projected: FloatTensor<Self>,
        #[extension_type] with: AttentionLstmInputs<Self>,
        mask: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// The backward pass of [`AttentionLstmOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
pub trait AttentionLstmBackwardOps: AttentionLstmOps {
    /// Returns the gradients of `projected` and of `with`.
    fn attention_lstm_backward(
        grad: FloatTensor<Self>,
        rows: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        with: AttentionLstmInputs<Self>,
    ) -> (FloatTensor<Self>, AttentionLstmInputs<Self>);
}
