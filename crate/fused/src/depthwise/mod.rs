//! Convolution over space of each channel alone (Howard et al. 2017), on pictures `[B, D, W, C]` of height D and width W, forward and backward.
//!
//! It reads each pixel once for each tap, and multiplies no matrices. It is fused on the CPU (`flex`), where the channels of a pixel are contiguous; on GPUs it
//! sums over fused patches. [`convolve_depthwise_with_tensors`] is the plain reference.

mod autodiff;
mod flex;
mod ops;

use crate::{
    Compute, Operation, is_cpu,
    patches::{Patch, unfold_patches, unfold_patches_with_tensors},
    trace::{Attributes, Value},
};
use burn::{backend::Dispatch, prelude::*};
use ops::DepthwiseOps;

/// Maps `[B, D, W, C]` with a kernel `[K K, C]` to `[B, D / stride, W / stride, C]`, where divisions round up. Pixels outside the picture are zero.
pub fn convolve_depthwise(input: Tensor<4>, weight: Tensor<2>, patch: Patch) -> Tensor<4> {
    assert!(patch.side % 2 == 1 && patch.stride > 0, "a patch has a centre");
    if is_cpu(&input.device()) {
        let made = Dispatch::convolve_depthwise(input.into_dispatch(), weight.into_dispatch(), patch);
        return Tensor::from_dispatch(made);
    }
    of_patches(unfold_patches(input.unsqueeze_dim(3), patch), weight)
}

/// Computes [`convolve_depthwise`] from plain tensor operations: the reference of the fused operation.
pub fn convolve_depthwise_with_tensors(input: Tensor<4>, weight: Tensor<2>, patch: Patch) -> Tensor<4> {
    of_patches(unfold_patches_with_tensors(input.unsqueeze_dim(3), patch), weight)
}

/// Sums the products of patches `[B, D, W, 1, K K C]` and a kernel over the taps.
fn of_patches(patches: Tensor<5>, weight: Tensor<2>) -> Tensor<4> {
    let ([batch, height, width, _, _], [taps, channels]) = (patches.dims(), weight.dims());
    let products = patches.reshape([batch * height * width, taps, channels]) * weight.unsqueeze_dim(0);
    products.sum_dim(1).reshape([batch, height, width, channels])
}

impl Compute {
    /// Computes [`convolve_depthwise`] and records the call.
    pub fn convolve_depthwise(&self, input: Tensor<4>, weight: Tensor<2>, patch: Patch) -> Tensor<4> {
        const DEPTHWISE: Operation = Operation::Depthwise;
        let inputs =
            self.inputs(|| [("input", Value::from_tensor(&input)), ("weight", Value::from_tensor(&weight))]);
        let output = if self.is_plain(DEPTHWISE) {
            convolve_depthwise_with_tensors(input, weight, patch)
        } else {
            let input = self.input(DEPTHWISE, "input", input);
            convolve_depthwise(input, self.input(DEPTHWISE, "weight", weight), patch)
        };
        self.record(DEPTHWISE, Attributes::Patch(patch), inputs, output)
    }
}
