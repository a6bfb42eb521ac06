//! Patches as a backend operation with a hand-written backward pass.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::Patch;

/// Patches of pictures.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait PatchOps: Backend {
    /// Maps `[B, D, W, N, C]` to `[B, D / stride, W / stride, N, side side C]`, in f32.
    fn unfold_patches(input: FloatTensor<Self>, patch: Patch) -> FloatTensor<Self>;
}

/// The backward pass of [`PatchOps`], from which `Autodiff` gets its implementation. Second derivatives are not supported.
pub trait PatchBackwardOps: PatchOps {
    /// Computes the adjoint of [`PatchOps::unfold_patches`]: sums the values of each pixel over all patches.
    ///
    /// * `shape`: the shape of the result, `[B, D, W, N, C]`
    fn fold_patches(unfolded: FloatTensor<Self>, shape: [usize; 5], patch: Patch) -> FloatTensor<Self>;
}
