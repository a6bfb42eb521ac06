//! What a convolution is made of, as backend operations with hand-written gradients.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::Activation;

#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait ConvOps: Backend {
    /// Lays each step's neighbours side by side, `[B, T, C]` to `[B, T, K C]`, in f32 or in f16; beyond both ends they are zero.
    fn unfold_taps(input: FloatTensor<Self>, taps: usize) -> FloatTensor<Self>;

    /// Convolves `[B, T, Cin]` with `[K Cin, Cout]`, taps slowest, to `[B, T, Cout]`: both in f32 or both in f16. Beyond both ends the input is zero.
    ///
    /// Returns the output, and the input in the form of the backward pass.
    fn convolve(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// Activates each value.
    fn activate(input: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self>;

    /// Normalises the columns of `[N, C]` by given statistics, scales, shifts and activates. The others are `[C]`; no gradient
    /// reaches `mean` and `variance`.
    ///
    /// Returns the output, and the normalised input for the backward pass.
    fn normalise(
        input: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// Gradients of [`ConvOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait ConvBackwardOps: ConvOps {
    /// The adjoint of [`ConvOps::unfold_taps`], `[B, T, K C]` to `[B, T, C]` in f32.
    fn fold_taps(unfolded: FloatTensor<Self>, taps: usize) -> FloatTensor<Self>;

    /// Returns the gradient of `input`, in f32, from that of the output.
    fn convolve_backward_input(
        grad: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self>;

    /// Returns the gradient of `weight`; `kept` is what [`ConvOps::convolve`] returned.
    fn convolve_backward_weight(
        grad: FloatTensor<Self>,
        kept: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self>;

    /// Returns the gradient of `input`, from the output.
    fn activate_backward(
        grad: FloatTensor<Self>,
        output: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;

    /// Returns the gradients of `input`, `gamma` and `beta`.
    fn normalise_backward(
        grad: FloatTensor<Self>,
        output: FloatTensor<Self>,
        normalised: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}
