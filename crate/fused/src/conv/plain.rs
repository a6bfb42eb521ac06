//! The parts of a convolution layer from plain tensor operations: the references of the fused operations.

use burn::{
    prelude::*,
    tensor::{
        FloatDType,
        activation::{relu, tanh},
    },
};

use super::Activation;
use crate::matmul::plain;

/// Concatenates the `taps` neighbours of each step: maps `[B, T, C]` to `[B, T, K C]`, in f32 or f16.
pub fn unfold_with_tensors(input: Tensor<3>, taps: usize) -> Tensor<3> {
    let [batch, steps, channels] = input.dims();
    let edge = Tensor::<3>::zeros([batch, taps / 2, channels], &input.device())
        .cast(FloatDType::from(input.dtype()));
    let padded = Tensor::cat(vec![edge.clone(), input, edge], 1);
    Tensor::cat((0..taps).map(|tap| padded.clone().narrow(1, tap, steps)).collect(), 2)
}

/// Convolves `[B, T, Cin]` with `[K Cin, Cout]`, taps slowest, to `[B, T, Cout]`, both in f32 or both in f16.
pub fn convolve_with_tensors(input: Tensor<3>, weight: Tensor<2>, taps: usize) -> Tensor<3> {
    let ([batch, steps, _], [rows, columns]) = (input.dims(), weight.dims());
    let unfolded = unfold_with_tensors(input, taps).reshape([batch * steps, rows]);
    plain(unfolded, weight).reshape([batch, steps, columns])
}

/// Normalises the columns of `[N, C]` by mean and variance, scales and shifts by gamma and beta, and activates.
pub fn normalise_with_tensors(
    input: Tensor<2>,
    [gamma, beta]: [Tensor<1>; 2],
    [mean, variance]: [Tensor<1>; 2],
    epsilon: f32,
    activation: Activation,
) -> Tensor<2> {
    let row = |values: Tensor<1>| values.unsqueeze_dim::<2>(0);
    let normed = (input - row(mean)) / (row(variance) + epsilon).sqrt();
    activate_with_tensors(normed * row(gamma) + row(beta), activation)
}

/// Activates each value.
pub fn activate_with_tensors<const D: usize>(input: Tensor<D>, activation: Activation) -> Tensor<D> {
    match activation {
        Activation::None => input,
        Activation::Relu => relu(input),
        Activation::Relu6 => relu(input).clamp_max(6.0),
        Activation::Tanh => tanh(input),
    }
}
