//! Patches of pictures side by side, so that a convolution over space and time is one over time alone.
//!
//! A video is laid out as `[B, D, W, N, C]`, height and width first: what a place shows over time lies in one piece, and the neighbours of a place
//! become more channels of it.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;
pub(super) mod patch;
mod plain;

use burn::{backend::Dispatch, prelude::*};
use ops::PatchOps;
pub use patch::Patch;
pub use plain::unfold_patches_with_tensors;

use super::{
    Compute, Operation,
    trace::{Attributes, Value},
};

/// `[B, D, W, N, C]` to `[B, D / stride, W / stride, N, side side C]`, rounded up, rows of a patch slowest.
pub fn unfold_patches(input: Tensor<5>, patch: Patch) -> Tensor<5> {
    assert!(patch.side % 2 == 1 && patch.stride > 0, "a patch has a centre");
    Tensor::from_dispatch(Dispatch::unfold_patches(input.into_dispatch(), patch))
}

impl Compute {
    /// [`unfold_patches`], recorded.
    pub fn unfold_patches(&self, input: Tensor<5>, patch: Patch) -> Tensor<5> {
        const PATCHES: Operation = Operation::UnfoldPatches;
        let inputs = self.inputs(|| [("input", Value::of(&input))]);
        let output = if self.is_plain(PATCHES) {
            unfold_patches_with_tensors(input, patch)
        } else {
            unfold_patches(self.input(PATCHES, "input", input), patch)
        };
        self.record(PATCHES, Attributes::Patch(patch), inputs, output)
    }
}
