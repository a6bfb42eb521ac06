//! Registers a step of attention with autodiff, see [`AttentionBackwardOps`].

use super::{
    AttendInputs,
    ops::{AttentionBackwardOps, AttentionOps},
};
use crate::backward_prelude::*;

impl<B: AttentionOps> From<[FloatTensor<B>; 6]> for AttendInputs<B> {
    fn from([query, keys, energy, location, before, values]: [FloatTensor<B>; 6]) -> Self {
        Self { query, keys, energy, location, before, values }
    }
}

impl<B: AttentionOps> AttendInputs<B> {
    fn parts(self) -> [FloatTensor<B>; 6] {
        [self.query, self.keys, self.energy, self.location, self.before, self.values]
    }
}

#[derive(Debug)]
struct AttendBackward;

#[derive(Debug, Clone)]
struct Saved<T> {
    attended: T,
    /// The fields of [`AttendInputs`].
    with: [T; 6],
}

impl<B: AttentionBackwardOps> Backward<B, 6> for AttendBackward {
    type State = Saved<B::FloatTensorPrimitive>;

    fn backward(self, ops: Ops<Self::State, 6>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let Saved { attended, with } = ops.state;
        let gradients = B::attend_backward(grad, attended, with.into());
        for (parent, grad) in ops.parents.into_iter().zip(gradients.parts()) {
            if let Some(parent) = parent {
                grads.register::<B>(parent.id, grad);
            }
        }
    }
}

impl<B: AttentionBackwardOps, C: CheckpointStrategy> AttentionOps for Autodiff<B, C> {
    fn attend(with: AttendInputs<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self> {
        assert!(!mask.is_tracked(), "the mask has no gradient");
        let parts = with.parts().map(|tensor| tensor.into_parts());
        let with = parts.each_ref().map(|(tensor, _)| tensor.clone());
        let nodes = parts.map(|(_, node)| node);
        let attended = B::attend(with.clone().into(), mask.into_primitive());
        match AttendBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(Saved { attended: attended.clone(), with }, attended),
            OpsKind::UnTracked(prep) => prep.finish(attended),
        }
    }
}
