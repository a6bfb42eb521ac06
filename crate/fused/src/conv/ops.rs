//! The parts of a convolution layer as backend operations with hand-written backward passes.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::Activation;

/// The operations of a convolution layer: unfolding, convolution, activation and normalisation.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait ConvOps: Backend {
    /// Concatenates the neighbours of each step: maps `[B, T, C]` to `[B, T, K C]`, in f32 or f16. The input is padded with zeros at both ends.
    fn unfold_taps(input: FloatTensor<Self>, taps: usize) -> FloatTensor<Self>;

    /// Convolves `[B, T, Cin]` with `[K Cin, Cout]`, taps slowest, to `[B, T, Cout]`, both in f32 or both in f16. The input is padded with zeros at both ends.
    ///
    /// Returns the output, and the input in the form that the backward pass uses.
    fn convolve(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// Activates each value.
    fn activate(input: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self>;

    /// Normalises the columns of `[N, C]` by given statistics, scales, shifts and activates. All other tensors are `[C]`; `mean` and `variance` have no gradient.
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

/// The backward pass of [`ConvOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
pub trait ConvBackwardOps: ConvOps {
    /// Computes the adjoint of [`ConvOps::unfold_taps`]: maps `[B, T, K C]` to `[B, T, C]` in f32.
    fn fold_taps(unfolded: FloatTensor<Self>, taps: usize) -> FloatTensor<Self>;

    /// Returns the gradient of `input`, in f32.
    fn convolve_backward_input(
        grad: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self>;

    /// Returns the gradient of `weight`. `kept` is the second result of [`ConvOps::convolve`].
    fn convolve_backward_weight(
        grad: FloatTensor<Self>,
        kept: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self>;

    /// Returns the gradient of `input`, given the output.
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
