//! A step of attention as a backend operation with hand-written gradients.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

/// Shapes as in [`super::Attended`]. No gradient reaches `mask`.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait AttentionOps: Backend {
    /// Returns weights, their sum over all steps and the weighted mean of the values, `[B, 2 L + C]`.
    fn attend(
        query: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        location: FloatTensor<Self>,
        before: FloatTensor<Self>,
        values: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

/// Gradients of [`AttentionOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait AttentionBackwardOps: AttentionOps {
    /// Returns the gradients of `query`, `keys`, `energy`, `location`, `before` and `values`.
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn attend_backward(
        grad: FloatTensor<Self>,
        attended: FloatTensor<Self>,
        query: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        location: FloatTensor<Self>,
        before: FloatTensor<Self>,
        values: FloatTensor<Self>,
    ) -> (
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
    );
}
