//! Registers the sequence with autodiff, see [`AttentionLstmBackwardOps`].

use burn::backend::AutodiffBackend;

use super::{
    AttentionLstmInputs,
    ops::{AttentionLstmBackwardOps, AttentionLstmOps},
};
use crate::backward_prelude::*;

impl<B: AttentionLstmOps> From<[FloatTensor<B>; 7]> for AttentionLstmInputs<B> {
    fn from([weights, query, keys, energy, location, values, initial]: [FloatTensor<B>; 7]) -> Self {
        Self { weights, query, keys, energy, location, values, initial }
    }
}

impl<B: AttentionLstmOps> AttentionLstmInputs<B> {
    fn parts(self) -> [FloatTensor<B>; 7] {
        [self.weights, self.query, self.keys, self.energy, self.location, self.values, self.initial]
    }
}

#[derive(Debug)]
struct AttentionLstmBackward;

#[derive(Debug, Clone)]
struct Saved<T> {
    rows: T,
    gates: T,
    /// The fields of [`AttentionLstmInputs`].
    with: [T; 7],
}

impl<B: AttentionLstmBackwardOps> Backward<B, 8> for AttentionLstmBackward {
    type State = Saved<B::FloatTensorPrimitive>;

    fn backward(self, ops: Ops<Self::State, 8>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let Saved { rows, gates, with } = ops.state;
        let (projected, with) = B::attention_lstm_backward(grad, rows, gates, with.into());
        for (parent, grad) in ops.parents.into_iter().zip([projected].into_iter().chain(with.parts())) {
            if let Some(parent) = parent {
                grads.register::<B>(parent.id, grad);
            }
        }
    }
}

impl<B: AttentionLstmBackwardOps, C: CheckpointStrategy> AttentionLstmOps for Autodiff<B, C> {
    fn attention_lstm(
        projected: FloatTensor<Self>,
        with: AttentionLstmInputs<Self>,
        mask: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        assert!(!mask.is_tracked(), "the mask has no gradient");
        let (projected, projected_node) = projected.into_parts();
        let parts = with.parts().map(|tensor| tensor.into_parts());
        let with = parts.each_ref().map(|(tensor, _)| tensor.clone());
        let [weights, query, keys, energy, location, values, initial] = parts.map(|(_, node)| node);
        let nodes = [projected_node, weights, query, keys, energy, location, values, initial];
        let (rows, gates) = B::attention_lstm(projected, with.clone().into(), mask.into_primitive());
        let tracked = match AttentionLstmBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                prep.finish(Saved { rows: rows.clone(), gates: gates.clone(), with }, rows)
            }
            OpsKind::UnTracked(prep) => prep.finish(rows),
        };
        (tracked, <Self as AutodiffBackend>::from_inner(gates))
    }
}
