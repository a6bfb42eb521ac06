//! A step of attention as a backend operation with hand-written gradients.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::AttendInputs;

/// No gradient reaches `mask`, `[B, L]`.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait AttentionOps: Backend {
    /// Returns weights, their sum over all steps and the weighted mean of the values, `[B, 2 L + C]`.
    fn attend(#[extension_type] with: AttendInputs<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// Gradients of [`AttentionOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait AttentionBackwardOps: AttentionOps {
    /// Returns the gradients of `with`.
    fn attend_backward(
        grad: FloatTensor<Self>,
        attended: FloatTensor<Self>,
        with: AttendInputs<Self>,
    ) -> AttendInputs<Self>;
}
