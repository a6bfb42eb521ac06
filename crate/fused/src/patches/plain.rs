//! Patches from plain tensor operations: the reference of the fused operation.

use burn::prelude::*;

use super::Patch;

/// Maps `[B, D, W, N, C]` to `[B, D / stride, W / stride, N, side side C]`, see [`super::unfold_patches`].
pub fn unfold_patches_with_tensors(input: Tensor<5>, Patch { side, stride }: Patch) -> Tensor<5> {
    let [batch, height, width, length, channels] = input.dims();
    let (edge, device) = (side / 2, input.device());
    let padded = Tensor::zeros([batch, height + 2 * edge, width + 2 * edge, length, channels], &device)
        .slice_assign([0..batch, edge..edge + height, edge..edge + width, 0..length, 0..channels], input);
    let every = |at: usize, places: usize| {
        let indices: Vec<i32> = (0..places).step_by(stride).map(|place| (place + at) as i32).collect();
        Tensor::<1, Int>::from_data(&indices[..], &device)
    };
    let taps = (0..side * side)
        .map(|at| padded.clone().select(1, every(at / side, height)).select(2, every(at % side, width)));
    Tensor::cat(taps.collect(), 4)
}
