//! Registers matrix products with autodiff. Their gradients are matrix products too.

use burn::backend::TensorMetadata;
use burn::tensor::Shape;

use super::ops::{MatmulOps, rows};
use crate::backward_prelude::*;

#[derive(Debug)]
struct MatmulBackward {
    /// Whether burn's matmul computes the gradients.
    plain: bool,
}

impl<B: MatmulOps> Backward<B, 2> for MatmulBackward {
    type State = (B::FloatTensorPrimitive, B::FloatTensorPrimitive);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [of_a, of_b] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let (a, b) = ops.state;
        let matmul = if self.plain { B::plain_matmul } else { B::matmul };
        if let Some(node) = of_a {
            grads.register::<B>(node.id, matmul(grad.clone(), B::float_transpose(b)));
        }
        if let Some(node) = of_b {
            grads.register::<B>(node.id, matmul(B::float_transpose(a), grad));
        }
    }
}

#[derive(Debug)]
struct MatmulConcatBackward;

impl<B: MatmulOps> Backward<B, 3> for MatmulConcatBackward {
    type State = [B::FloatTensorPrimitive; 3];

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [of_a, of_constant, of_weight] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let [a, constant, weight] = ops.state;
        let ([count, width], batch, columns) =
            (a.shape().dims::<2>(), constant.shape().dims::<2>()[0], grad.shape().dims::<2>()[1]);
        // The gradient of the operand that is the same at all steps is a sum over the steps.
        let steps = B::float_reshape(grad.clone(), Shape::new([count / batch, batch, columns]));
        let grad_constant = B::float_reshape(B::float_sum_dim(steps, 0), Shape::new([batch, columns]));
        if let Some(node) = of_a {
            grads.register::<B>(
                node.id,
                B::matmul(grad.clone(), B::float_transpose(rows::<B>(weight.clone(), 0, width))),
            );
        }
        if let Some(node) = of_constant {
            let below = rows::<B>(weight.clone(), width, weight.shape().dims::<2>()[0]);
            grads.register::<B>(node.id, B::matmul(grad_constant.clone(), B::float_transpose(below)));
        }
        if let Some(node) = of_weight {
            let stacked =
                B::matmul_stacked(B::float_transpose(a), grad, B::float_transpose(constant), grad_constant);
            grads.register::<B>(node.id, stacked);
        }
    }
}

impl<B: MatmulOps, C: CheckpointStrategy> MatmulOps for Autodiff<B, C> {
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        let (a, a_node) = a.into_parts();
        let (b, b_node) = b.into_parts();
        let made = B::matmul(a.clone(), b.clone());
        match (MatmulBackward { plain: false }).prepare::<C>([a_node, b_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((a, b), made),
            OpsKind::UnTracked(prep) => prep.finish(made),
        }
    }

    fn plain_matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        let (a, a_node) = a.into_parts();
        let (b, b_node) = b.into_parts();
        let made = B::plain_matmul(a.clone(), b.clone());
        match (MatmulBackward { plain: true }).prepare::<C>([a_node, b_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((a, b), made),
            OpsKind::UnTracked(prep) => prep.finish(made),
        }
    }

    fn matmul_concat(
        a: FloatTensor<Self>,
        constant: FloatTensor<Self>,
        weight: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let (a, a_node) = a.into_parts();
        let (constant, constant_node) = constant.into_parts();
        let (weight, weight_node) = weight.into_parts();
        let made = B::matmul_concat(a.clone(), constant.clone(), weight.clone());
        match MatmulConcatBackward
            .prepare::<C>([a_node, constant_node, weight_node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => prep.finish([a, constant, weight], made),
            OpsKind::UnTracked(prep) => prep.finish(made),
        }
    }
}
