//! Registers the sum over ranks with autodiff.

use super::ops::AllReduceOps;
use crate::{backward_prelude::*, ranks::Ranks};

#[derive(Debug)]
struct SumBackward;

impl<B: AllReduceOps> Backward<B, 1> for SumBackward {
    type State = Ranks;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        // All ranks take part in the all-reduce, also those whose parent needs no gradient.
        let grad = B::sum_over_ranks(grad, ops.state);
        if let [Some(parent)] = ops.parents {
            grads.register::<B>(parent.id, grad);
        }
    }
}

impl<B: AllReduceOps, C: CheckpointStrategy> AllReduceOps for Autodiff<B, C> {
    fn sum_over_ranks(values: FloatTensor<Self>, ranks: Ranks) -> FloatTensor<Self> {
        let (values, node) = values.into_parts();
        let sum = B::sum_over_ranks(values, ranks.clone());
        match SumBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(ranks, sum),
            OpsKind::UnTracked(prep) => prep.finish(sum),
        }
    }
}
