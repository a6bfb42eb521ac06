//! Patches of pictures (im2col) as one operation, forward and backward: the neighbours of each pixel become channels of it.
//!
//! A convolution over space and time then is one over time, [`crate::conv`], or a linear layer. A video is `[B, D, W, N, C]`: height D, width W, N pictures, so
//! that the values of a pixel over time are contiguous. It is fused on the CPU (`flex`) and on GPUs (`cube`); [`unfold_patches_with_tensors`] is the plain
//! reference.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;
pub mod patch;
mod plain;

use crate::{
    Compute, Operation,
    trace::{Attributes, Value},
};
use burn::{backend::Dispatch, prelude::*};
use ops::PatchOps;
pub use patch::Patch;
pub use plain::unfold_patches_with_tensors;

/// Maps `[B, D, W, N, C]` to `[B, D / stride, W / stride, N, side side C]`, where divisions round up. Within the channels, the rows of a patch vary slowest. Pixels
/// outside the picture are zero.
pub fn unfold_patches(input: Tensor<5>, patch: Patch) -> Tensor<5> {
    assert!(patch.side % 2 == 1 && patch.stride > 0, "a patch has a centre");
    Tensor::from_dispatch(Dispatch::unfold_patches(input.into_dispatch(), patch))
}

impl Compute {
    /// Computes [`unfold_patches`], recorded.
    pub fn unfold_patches(&self, input: Tensor<5>, patch: Patch) -> Tensor<5> {
        const PATCHES: Operation = Operation::UnfoldPatches;
        let inputs = self.inputs(|| [("input", Value::from_tensor(&input))]);
        let output = if self.is_plain(PATCHES) {
            unfold_patches_with_tensors(input, patch)
        } else {
            unfold_patches(self.input(PATCHES, "input", input), patch)
        };
        self.record(PATCHES, Attributes::Patch(patch), inputs, output)
    }
}
