//! Patches as backend operations with a hand-written gradient.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::Patch;

#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait PatchOps: Backend {
    /// `[B, D, W, N, C]` to `[B, D / stride, W / stride, N, side side C]`, in f32.
    fn unfold_patches(input: FloatTensor<Self>, patch: Patch) -> FloatTensor<Self>;
}

/// The gradient of [`PatchOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait PatchBackwardOps: PatchOps {
    /// Adds up what patches have of each place.
    ///
    /// * `shape`: `[B, D, W, N, C]`
    fn fold_patches(unfolded: FloatTensor<Self>, shape: [usize; 5], patch: Patch) -> FloatTensor<Self>;
}
