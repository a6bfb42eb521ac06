//! The product of two matrices as a backend operation.

use burn::backend::{
    Autodiff, Backend, DType, Flex,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    ops::FloatTensorOps,
    tensor::FloatTensor,
};

use crate::nn::flex::{ALL_CORES, add_product, dims, matrix, tensor};

#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait ProductOps: Backend {
    /// `[N, K]` times `[K, M]`, both in f32 or both in f16, in the same.
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl ProductOps for Flex {
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        if !cfg!(target_arch = "wasm32") || a.dtype() != DType::F32 {
            return Self::float_matmul(a, b);
        }
        let ([m, k], n) = ([dims(&a)[0], dims(&a)[1]], dims(&b)[1]);
        let mut made = vec![0.0; m * n];
        add_product(ALL_CORES, [m, k, n], (&mut made, n), matrix(&a), matrix(&b));
        tensor(made, vec![m, n])
    }
}

#[derive(Debug)]
struct MultiplyBackward;

impl<B: ProductOps> Backward<B, 2> for MultiplyBackward {
    type State = (B::FloatTensorPrimitive, B::FloatTensorPrimitive);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [of_a, of_b] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let (a, b) = ops.state;
        if let Some(node) = of_a {
            grads.register::<B>(node.id, B::multiply(grad.clone(), B::float_transpose(b)));
        }
        if let Some(node) = of_b {
            grads.register::<B>(node.id, B::multiply(B::float_transpose(a), grad));
        }
    }
}

impl<B: ProductOps, C: CheckpointStrategy> ProductOps for Autodiff<B, C> {
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        let (a, a_node) = a.into_parts();
        let (b, b_node) = b.into_parts();
        let made = B::multiply(a.clone(), b.clone());
        match MultiplyBackward.prepare::<C>([a_node, b_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((a, b), made),
            OpsKind::UnTracked(prep) => prep.finish(made),
        }
    }
}
