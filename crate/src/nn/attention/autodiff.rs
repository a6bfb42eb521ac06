//! The gradients of an attention step under autodiff, see [`AttentionBackwardOps`].

use burn::backend::{
    Autodiff,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};

use super::ops::{AttentionBackwardOps, AttentionOps};

#[derive(Debug)]
struct AttendBackward;

/// In the order of [`AttentionBackwardOps::attend_backward`].
#[derive(Debug, Clone)]
struct Saved<T> {
    attended: T,
    inputs: [T; 6],
}

impl<B: AttentionBackwardOps> Backward<B, 6> for AttendBackward {
    type State = Saved<B::FloatTensorPrimitive>;

    fn backward(self, ops: Ops<Self::State, 6>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let parents = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let Saved { attended, inputs: [query, keys, energy, location, before, values] } = ops.state;
        let (query, keys, energy, location, before, values) =
            B::attend_backward(grad, attended, query, keys, energy, location, before, values);
        for (parent, grad) in parents.into_iter().zip([query, keys, energy, location, before, values]) {
            if let Some(parent) = parent {
                grads.register::<B>(parent.id, grad);
            }
        }
    }
}

impl<B: AttentionBackwardOps, C: CheckpointStrategy> AttentionOps for Autodiff<B, C> {
    fn attend(
        query: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        location: FloatTensor<Self>,
        before: FloatTensor<Self>,
        values: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        assert!(!mask.is_tracked(), "no gradient reaches the mask");
        let parts = [query, keys, energy, location, before, values].map(|tensor| tensor.into_parts());
        let inputs = parts.each_ref().map(|(tensor, _)| tensor.clone());
        let nodes = parts.map(|(_, node)| node);
        let [query, keys, energy, location, before, values] = inputs.clone();
        let attended = B::attend(query, keys, energy, location, before, values, mask.into_primitive());
        match AttendBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(Saved { attended: attended.clone(), inputs }, attended),
            OpsKind::UnTracked(prep) => prep.finish(attended),
        }
    }
}
