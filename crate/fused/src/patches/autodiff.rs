//! Registers patches with autodiff, see [`PatchBackwardOps`].

use burn::backend::TensorMetadata;

use super::{
    Patch,
    ops::{PatchBackwardOps, PatchOps},
};
use crate::backward_prelude::*;

#[derive(Debug)]
struct UnfoldBackward;

impl<B: PatchBackwardOps> Backward<B, 1> for UnfoldBackward {
    /// The shape of the input.
    type State = ([usize; 5], Patch);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (shape, patch) = ops.state;
        if let [Some(parent)] = ops.parents {
            grads.register::<B>(parent.id, B::fold_patches(grad, shape, patch));
        }
    }
}

impl<B: PatchBackwardOps, C: CheckpointStrategy> PatchOps for Autodiff<B, C> {
    fn unfold_patches(input: FloatTensor<Self>, patch: Patch) -> FloatTensor<Self> {
        let (input, node) = input.into_parts();
        let shape = input.shape().dims::<5>();
        let output = B::unfold_patches(input, patch);
        match UnfoldBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((shape, patch), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }
}
