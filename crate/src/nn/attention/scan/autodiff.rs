//! Registers the scan with autodiff: the backward pass is hand-written, see [`SeekOps::seek_backward`].

use burn::backend::{
    Autodiff, AutodiffBackend,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};

use super::SeekOps;

#[derive(Debug)]
struct SeekBackward;

#[derive(Debug, Clone)]
struct Saved<T> {
    rows: T,
    gates: T,
    /// All that is tracked but the first, in order.
    inputs: [T; 7],
}

impl<B: SeekOps> Backward<B, 8> for SeekBackward {
    type State = Saved<B::FloatTensorPrimitive>;

    fn backward(self, ops: Ops<Self::State, 8>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let Saved { rows, gates, inputs: [weights, query, keys, energy, location, values, initial] } = ops.state;
        let (projected, weights, query, keys, energy, location, values, initial) =
            B::seek_backward(grad, rows, gates, weights, query, keys, energy, location, values, initial);
        for (parent, grad) in ops.parents.into_iter().zip([projected, weights, query, keys, energy, location, values, initial]) {
            if let Some(parent) = parent {
                grads.register::<B>(parent.id, grad);
            }
        }
    }
}

impl<B: SeekOps, C: CheckpointStrategy> SeekOps for Autodiff<B, C> {
    fn seek(
        projected: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        query: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        location: FloatTensor<Self>,
        values: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        assert!(!mask.is_tracked(), "no gradient reaches the mask");
        let (projected, projected_node) = projected.into_parts();
        let parts = [weights, query, keys, energy, location, values, initial].map(|tensor| tensor.into_parts());
        let inputs = parts.each_ref().map(|(tensor, _)| tensor.clone());
        let [weights, query, keys, energy, location, values, initial] = parts.map(|(_, node)| node);
        let nodes = [projected_node, weights, query, keys, energy, location, values, initial];
        let [weights, query, keys, energy, location, values, initial] = inputs.clone();
        let (rows, gates) = B::seek(projected, weights, query, keys, energy, location, values, initial, mask.into_primitive());
        let tracked = match SeekBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(Saved { rows: rows.clone(), gates: gates.clone(), inputs }, rows),
            OpsKind::UnTracked(prep) => prep.finish(rows),
        };
        (tracked, <Self as AutodiffBackend>::from_inner(gates))
    }

    fn seek_backward(
        _grad: FloatTensor<Self>,
        _rows: FloatTensor<Self>,
        _gates: FloatTensor<Self>,
        _weights: FloatTensor<Self>,
        _query: FloatTensor<Self>,
        _keys: FloatTensor<Self>,
        _energy: FloatTensor<Self>,
        _location: FloatTensor<Self>,
        _values: FloatTensor<Self>,
        _initial: FloatTensor<Self>,
    ) -> (
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
    ) {
        unreachable!("only first-order derivatives are supported")
    }
}
