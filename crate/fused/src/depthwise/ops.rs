//! Depthwise convolution as a backend operation with a hand-written backward pass.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use crate::patches::Patch;

/// Depthwise convolution.
#[backend_extension(Flex, Autodiff)]
pub trait DepthwiseOps: Backend {
    /// Maps `[B, D, W, C]` with a kernel `[K K, C]` to `[B, D / stride, W / stride, C]`, in f32.
    fn convolve_depthwise(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        patch: Patch,
    ) -> FloatTensor<Self>;
}

/// The backward pass of [`DepthwiseOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
pub trait DepthwiseBackwardOps: DepthwiseOps {
    /// Returns the gradient of the input.
    ///
    /// * `shape`: the shape of the input, `[B, D, W, C]`
    fn depthwise_backward_input(
        grad: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        shape: [usize; 4],
        patch: Patch,
    ) -> FloatTensor<Self>;

    /// Returns the gradient of the kernel, `[K K, C]`.
    fn depthwise_backward_weight(
        grad: FloatTensor<Self>,
        input: FloatTensor<Self>,
        patch: Patch,
    ) -> FloatTensor<Self>;
}
