//! Products of matrices as backend operations.

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
use burn::{backend::TensorMetadata, prelude::s, tensor::Shape};

use crate::nn::flex::{ALL_CORES, Matrix, Unwritten, dims, matmul, matmul_add, matmul_into, tensor, values, written};

#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait MatmulOps: Backend {
    /// `[N, K]` times `[K, M]`, both in f32 or both in f16, in the same.
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `[T B, K]` and, beside each of its T steps, `steady: [B, J]`, times `[K + J, M]`, to `[T B, M]`; all in f32 or all in f16.
    fn matmul_concat(a: FloatTensor<Self>, steady: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        beside::<Self>(a, steady, weight)
    }

    /// `a b`, and below it `c d`, of as many columns.
    fn matmul_stacked(a: FloatTensor<Self>, b: FloatTensor<Self>, c: FloatTensor<Self>, d: FloatTensor<Self>) -> FloatTensor<Self> {
        stacked::<Self>(a, b, c, d)
    }
}

/// [`MatmulOps::matmul_concat`] by concatenation of both operands at each step.
fn beside<B: MatmulOps>(a: FloatTensor<B>, steady: FloatTensor<B>, weight: FloatTensor<B>) -> FloatTensor<B> {
    let ([rows, _], [batch, width]) = (a.shape().dims::<2>(), steady.shape().dims::<2>());
    let repeated = B::float_expand(B::float_reshape(steady, Shape::new([1, batch, width])), Shape::new([rows / batch, batch, width]));
    B::matmul(B::float_cat(vec![a, B::float_reshape(repeated, Shape::new([rows, width]))], 1), weight)
}

/// [`MatmulOps::matmul_stacked`] by two products.
fn stacked<B: MatmulOps>(a: FloatTensor<B>, b: FloatTensor<B>, c: FloatTensor<B>, d: FloatTensor<B>) -> FloatTensor<B> {
    B::float_cat(vec![B::matmul(a, b), B::matmul(c, d)], 0)
}

/// Rows of a matrix from `first` up to `end`.
fn rows<B: Backend>(matrix: FloatTensor<B>, first: usize, end: usize) -> FloatTensor<B> {
    let columns = matrix.shape().dims::<2>()[1];
    B::float_slice(matrix, &s![first..end, 0..columns])
}

impl MatmulOps for Flex {
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        if a.dtype() != DType::F32 {
            return Self::float_matmul(a, b);
        }
        let ([m, k], n) = ([dims(&a)[0], dims(&a)[1]], dims(&b)[1]);
        tensor(matmul(ALL_CORES, [m, k, n], Matrix::of(&a), Matrix::of(&b)), vec![m, n])
    }

    fn matmul_concat(a: FloatTensor<Self>, steady: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        if a.dtype() != DType::F32 {
            return beside::<Self>(a, steady, weight);
        }
        let [[m, k], [batch, width], [_, n]] = [&a, &steady, &weight].map(|tensor| [dims(tensor)[0], dims(tensor)[1]]);
        let below = Self::matmul(steady, rows::<Self>(weight.clone(), k, k + width));
        let mut made = values(&below).repeat(m / batch);
        matmul_add(ALL_CORES, [m, k, n], (&mut made, n), Matrix::of(&a), Matrix::of(&weight));
        tensor(made, vec![m, n])
    }

    fn matmul_stacked(a: FloatTensor<Self>, b: FloatTensor<Self>, c: FloatTensor<Self>, d: FloatTensor<Self>) -> FloatTensor<Self> {
        if a.dtype() != DType::F32 {
            return stacked::<Self>(a, b, c, d);
        }
        let ([above, below], n) = ([&a, &c].map(|tensor| dims(tensor)[0]), dims(&b)[1]);
        let put = |_, made: &mut Unwritten| {
            let (first, second) = made.split_at_mut(above * n);
            matmul_into(ALL_CORES, [above, dims(&a)[1], n], (first, n), Matrix::of(&a), Matrix::of(&b));
            matmul_into(ALL_CORES, [below, dims(&c)[1], n], (second, n), Matrix::of(&c), Matrix::of(&d));
        };
        // SAFETY: the two products are all there is.
        let made = unsafe { written((above + below) * n, (above + below) * n, put) };
        tensor(made, vec![above + below, n])
    }
}

#[derive(Debug)]
struct MatmulBackward;

impl<B: MatmulOps> Backward<B, 2> for MatmulBackward {
    type State = (B::FloatTensorPrimitive, B::FloatTensorPrimitive);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [of_a, of_b] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let (a, b) = ops.state;
        if let Some(node) = of_a {
            grads.register::<B>(node.id, B::matmul(grad.clone(), B::float_transpose(b)));
        }
        if let Some(node) = of_b {
            grads.register::<B>(node.id, B::matmul(B::float_transpose(a), grad));
        }
    }
}

#[derive(Debug)]
struct BesideBackward;

impl<B: MatmulOps> Backward<B, 3> for BesideBackward {
    type State = [B::FloatTensorPrimitive; 3];

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [of_a, of_steady, of_weight] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let [a, steady, weight] = ops.state;
        let ([count, width], batch, columns) = (a.shape().dims::<2>(), steady.shape().dims::<2>()[0], grad.shape().dims::<2>()[1]);
        // The operand that is constant over time takes the sum over all steps.
        let steps = B::float_reshape(grad.clone(), Shape::new([count / batch, batch, columns]));
        let grad_steady = B::float_reshape(B::float_sum_dim(steps, 0), Shape::new([batch, columns]));
        if let Some(node) = of_a {
            grads.register::<B>(node.id, B::matmul(grad.clone(), B::float_transpose(rows::<B>(weight.clone(), 0, width))));
        }
        if let Some(node) = of_steady {
            let below = rows::<B>(weight.clone(), width, weight.shape().dims::<2>()[0]);
            grads.register::<B>(node.id, B::matmul(grad_steady.clone(), B::float_transpose(below)));
        }
        if let Some(node) = of_weight {
            let stacked = B::matmul_stacked(B::float_transpose(a), grad, B::float_transpose(steady), grad_steady);
            grads.register::<B>(node.id, stacked);
        }
    }
}

impl<B: MatmulOps, C: CheckpointStrategy> MatmulOps for Autodiff<B, C> {
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        let (a, a_node) = a.into_parts();
        let (b, b_node) = b.into_parts();
        let made = B::matmul(a.clone(), b.clone());
        match MatmulBackward.prepare::<C>([a_node, b_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((a, b), made),
            OpsKind::UnTracked(prep) => prep.finish(made),
        }
    }

    fn matmul_concat(a: FloatTensor<Self>, steady: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        let (a, a_node) = a.into_parts();
        let (steady, steady_node) = steady.into_parts();
        let (weight, weight_node) = weight.into_parts();
        let made = B::matmul_concat(a.clone(), steady.clone(), weight.clone());
        match BesideBackward.prepare::<C>([a_node, steady_node, weight_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish([a, steady, weight], made),
            OpsKind::UnTracked(prep) => prep.finish(made),
        }
    }
}
