//! L1 + L2 of two spectrograms as a backend operation with a hand-written gradient.

use burn::backend::{
    Autodiff, Backend,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    tensor::FloatTensor,
};

/// Partial sums: frame `n` of the batch counts towards part `n % PARTS`.
pub const PARTS: usize = 64;

/// * `predicted`, `targets`: `[B, T, M]`
/// * `mask`:                 `[B, T, 1]`
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait LossOps: Backend {
    /// Sums of `|e| + e^2` for `e = (predicted - targets) * mask`, `[PARTS]`. Only `predicted` has a gradient.
    fn errors(predicted: FloatTensor<Self>, targets: FloatTensor<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// Gradients of [`LossOps`], from which `Autodiff` builds its implementation. No derivative of second order exists.
pub trait LossBackwardOps: LossOps {
    /// Returns the gradient of `predicted`.
    fn errors_backward(
        grad: FloatTensor<Self>,
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

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
    fn errors(predicted: FloatTensor<Self>, targets: FloatTensor<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self> {
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
