//! Registers depthwise convolution with autodiff, see [`DepthwiseBackwardOps`].

use burn::backend::TensorMetadata;

use super::ops::{DepthwiseBackwardOps, DepthwiseOps};
use crate::{backward_prelude::*, patches::Patch};

#[derive(Debug)]
struct DepthwiseBackward;

impl<B: DepthwiseBackwardOps> Backward<B, 2> for DepthwiseBackward {
    type State = (B::FloatTensorPrimitive, B::FloatTensorPrimitive, Patch);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [of_input, of_weight] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let (input, weight, patch) = ops.state;
        if let Some(parent) = of_input {
            let shape = input.shape().dims::<4>();
            let made = B::depthwise_backward_input(grad.clone(), weight, shape, patch);
            grads.register::<B>(parent.id, made);
        }
        if let Some(parent) = of_weight {
            grads.register::<B>(parent.id, B::depthwise_backward_weight(grad, input, patch));
        }
    }
}

impl<B: DepthwiseBackwardOps, C: CheckpointStrategy> DepthwiseOps for Autodiff<B, C> {
    fn convolve_depthwise(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        patch: Patch,
    ) -> FloatTensor<Self> {
        let (input, input_node) = input.into_parts();
        let (weight, weight_node) = weight.into_parts();
        let output = B::convolve_depthwise(input.clone(), weight.clone(), patch);
        match DepthwiseBackward.prepare::<C>([input_node, weight_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((input, weight, patch), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }
}
