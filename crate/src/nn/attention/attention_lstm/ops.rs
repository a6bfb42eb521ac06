//! The sequence as a backend operation with hand-written gradients.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::AttentionLstmInputs;

/// `projected`, `[N, B, 4H]`, are the LSTM's inputs besides the context, times their weights, plus bias. No gradient reaches `mask`.
#[backend_extension(Flex, Autodiff)]
pub trait AttentionLstmOps: Backend {
    /// Returns a row a step `[N, B, R]`, and activated gates `[N, B, 4H]`, those for the backward pass alone.
    fn attention_lstm(
        projected: FloatTensor<Self>,
        #[extension_type] with: AttentionLstmInputs<Self>,
        mask: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// Gradients of [`AttentionLstmOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait AttentionLstmBackwardOps: AttentionLstmOps {
    /// Returns the gradients of `projected` and of `with`.
    fn attention_lstm_backward(
        grad: FloatTensor<Self>,
        rows: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        with: AttentionLstmInputs<Self>,
    ) -> (FloatTensor<Self>, AttentionLstmInputs<Self>);
}
