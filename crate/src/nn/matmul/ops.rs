//! Products of matrices as backend operations.

use burn::{
    backend::{Backend, TensorMetadata, backend_extension, tensor::FloatTensor},
    prelude::s,
    tensor::Shape,
};

#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait MatmulOps: Backend {
    /// `[N, K]` times `[K, M]`, both in f32 or both in f16, in the same.
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;

    /// The same by burn's own matmul; on a browser's GPU by ours, see [`super::plain`].
    fn plain_matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `[T B, K]` and, beside each of its T steps, `steady: [B, J]`, times `[K + J, M]`, to `[T B, M]`; all in f32 or all in f16.
    fn matmul_concat(
        a: FloatTensor<Self>,
        steady: FloatTensor<Self>,
        weight: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        beside::<Self>(a, steady, weight)
    }

    /// `a b`, and below it `c d`, of as many columns.
    fn matmul_stacked(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        stacked::<Self>(a, b, c, d)
    }
}

/// [`MatmulOps::matmul_concat`] by concatenation of both operands at each step.
pub(super) fn beside<B: MatmulOps>(
    a: FloatTensor<B>,
    steady: FloatTensor<B>,
    weight: FloatTensor<B>,
) -> FloatTensor<B> {
    let ([rows, _], [batch, width]) = (a.shape().dims::<2>(), steady.shape().dims::<2>());
    let repeated = B::float_expand(
        B::float_reshape(steady, Shape::new([1, batch, width])),
        Shape::new([rows / batch, batch, width]),
    );
    B::matmul(B::float_cat(vec![a, B::float_reshape(repeated, Shape::new([rows, width]))], 1), weight)
}

/// [`MatmulOps::matmul_stacked`] by two matmuls.
pub(super) fn stacked<B: MatmulOps>(
    a: FloatTensor<B>,
    b: FloatTensor<B>,
    c: FloatTensor<B>,
    d: FloatTensor<B>,
) -> FloatTensor<B> {
    B::float_cat(vec![B::matmul(a, b), B::matmul(c, d)], 0)
}

/// Rows of a matrix from `first` up to `end`.
pub(super) fn rows<B: Backend>(matrix: FloatTensor<B>, first: usize, end: usize) -> FloatTensor<B> {
    let columns = matrix.shape().dims::<2>()[1];
    B::float_slice(matrix, &s![first..end, 0..columns])
}
