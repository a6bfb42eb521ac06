//! A step of attention as a backend operation with a hand-written backward pass.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::AttendInputs;

/// A step of attention. `mask`, `[B, L]`, has no gradient.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait AttentionOps: Backend {
    /// Returns the weights, their sum over all steps and the context, concatenated: `[B, 2 L + C]`.
    fn attend(#[extension_type] with: AttendInputs<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// The backward pass of [`AttentionOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
pub trait AttentionBackwardOps: AttentionOps {
    /// Returns the gradients of `with`. `attended` is the output of [`AttentionOps::attend`].
    fn attend_backward(
        grad: FloatTensor<Self>,
        attended: FloatTensor<Self>,
        with: AttendInputs<Self>,
    ) -> AttendInputs<Self>;
}
