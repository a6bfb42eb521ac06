//! Registers the spectrogram loss with autodiff, see [`LossBackwardOps`].

use super::ops::{LossBackwardOps, LossOps};
use crate::backward_prelude::*;

#[derive(Debug)]
struct ErrorsBackward;

impl<B: LossBackwardOps> Backward<B, 1> for ErrorsBackward {
    type State = [B::FloatTensorPrimitive; 3];

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let [predicted, targets, mask] = ops.state;
        if let [Some(parent)] = ops.parents {
            grads.register::<B>(parent.id, B::errors_backward(grad, predicted, targets, mask));
        }
    }
}

impl<B: LossBackwardOps, C: CheckpointStrategy> LossOps for Autodiff<B, C> {
    fn errors(
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        assert!(!targets.is_tracked() && !mask.is_tracked(), "only the prediction has a gradient");
        let (predicted, node) = predicted.into_parts();
        let (targets, mask) = (targets.into_primitive(), mask.into_primitive());
        let sums = B::errors(predicted.clone(), targets.clone(), mask.clone());
        match ErrorsBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish([predicted, targets, mask], sums),
            OpsKind::UnTracked(prep) => prep.finish(sums),
        }
    }
}
