//! Matrix products as backend operations.

use burn::{
    backend::{Backend, TensorMetadata, backend_extension, tensor::FloatTensor},
    prelude::s,
    tensor::Shape,
};

/// The matrix products of a backend.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait MatmulOps: Backend {
    /// Multiplies `[N, K]` by `[K, M]`. Operands and result are all in f32 or all in f16.
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;

    /// Multiplies with burn's matmul, or with ours on the GPU of a browser, see [`super::plain`].
    fn plain_matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;

    /// Multiplies `[T B, K]`, concatenated at each of its T steps with `constant: [B, J]`, by `[K + J, M]` to `[T B, M]`, all in f32 or all in f16.
    fn matmul_concat(
        a: FloatTensor<Self>,
        constant: FloatTensor<Self>,
        weight: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        concat::<Self>(a, constant, weight)
    }

    /// Returns the rows of `a b` followed by those of `c d`, which has as many columns.
    fn matmul_stacked(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        stacked::<Self>(a, b, c, d)
    }
}

/// Computes [`MatmulOps::matmul_concat`] by concatenating both operands at each step.
pub(super) fn concat<B: MatmulOps>(
    a: FloatTensor<B>,
    constant: FloatTensor<B>,
    weight: FloatTensor<B>,
) -> FloatTensor<B> {
    let ([rows, _], [batch, width]) = (a.shape().dims::<2>(), constant.shape().dims::<2>());
    let repeated = B::float_expand(
        B::float_reshape(constant, Shape::new([1, batch, width])),
        Shape::new([rows / batch, batch, width]),
    );
    B::matmul(B::float_cat(vec![a, B::float_reshape(repeated, Shape::new([rows, width]))], 1), weight)
}

/// Computes [`MatmulOps::matmul_stacked`] by two products.
pub(super) fn stacked<B: MatmulOps>(
    a: FloatTensor<B>,
    b: FloatTensor<B>,
    c: FloatTensor<B>,
    d: FloatTensor<B>,
) -> FloatTensor<B> {
    B::float_cat(vec![B::matmul(a, b), B::matmul(c, d)], 0)
}

/// Returns the rows of a matrix from `first` up to `end`.
pub(super) fn rows<B: Backend>(matrix: FloatTensor<B>, first: usize, end: usize) -> FloatTensor<B> {
    let columns = matrix.shape().dims::<2>()[1];
    B::float_slice(matrix, &s![first..end, 0..columns])
}
