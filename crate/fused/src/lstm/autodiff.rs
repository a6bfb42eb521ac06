//! Registers the recurrence with autodiff, see [`LstmBackwardOps`].

use super::{
    ScanOptions,
    ops::{LstmBackwardOps, LstmOps},
};
use crate::backward_prelude::*;

#[derive(Debug)]
struct LstmBackward;

/// The inputs of the backward pass other than the gradient.
#[derive(Debug, Clone)]
struct Saved<T> {
    states: T,
    gates: T,
    w_hh: T,
    initial: T,
    scan: ScanOptions,
}

impl<B: LstmBackwardOps> Backward<B, 3> for LstmBackward {
    type State = Saved<B::FloatTensorPrimitive>;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [projected, w_hh, initial] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let saved = ops.state;
        let (grad_projected, grad_w_hh, grad_initial) =
            B::lstm_backward(grad, saved.states, saved.gates, saved.w_hh, saved.initial, saved.scan);
        for (parent, grad) in [(projected, grad_projected), (w_hh, grad_w_hh), (initial, grad_initial)] {
            if let Some(parent) = parent {
                grads.register::<B>(parent.id, grad);
            }
        }
    }
}

impl<B: LstmBackwardOps, C: CheckpointStrategy> LstmOps for Autodiff<B, C> {
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (projected, projected_node) = projected.into_parts();
        let (w_hh, w_hh_node) = w_hh.into_parts();
        let (initial, initial_node) = initial.into_parts();
        let (states, gates) = B::lstm_forward(projected, w_hh.clone(), initial.clone(), scan.clone());
        let tracked = match LstmBackward
            .prepare::<C>([projected_node, w_hh_node, initial_node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let saved = Saved { states: states.clone(), gates: gates.clone(), w_hh, initial, scan };
                prep.finish(saved, states)
            }
            OpsKind::UnTracked(prep) => prep.finish(states),
        };
        (tracked, <Self as burn::backend::AutodiffBackend>::from_inner(gates))
    }
}
