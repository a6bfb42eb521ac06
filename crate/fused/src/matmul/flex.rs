//! Matrix products on the CPU.

use burn::backend::{DType, Flex, ops::FloatTensorOps, tensor::FloatTensor};

use super::ops::{MatmulOps, concat, rows, stacked};
use crate::flex::{
    ALL_CORES, Matrix, Unwritten, dims, matmul, matmul_add, matmul_into, tensor, values, written,
};

impl MatmulOps for Flex {
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        if a.dtype() != DType::F32 {
            return Self::float_matmul(a, b);
        }
        let ([m, k], n) = ([dims(&a)[0], dims(&a)[1]], dims(&b)[1]);
        tensor(matmul(ALL_CORES, [m, k, n], Matrix::of(&a), Matrix::of(&b)), vec![m, n])
    }

    fn plain_matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(a, b)
    }

    fn matmul_concat(
        a: FloatTensor<Self>,
        constant: FloatTensor<Self>,
        weight: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        if a.dtype() != DType::F32 {
            return concat::<Self>(a, constant, weight);
        }
        let [[m, k], [batch, width], [_, n]] =
            [&a, &constant, &weight].map(|tensor| [dims(tensor)[0], dims(tensor)[1]]);
        let below = Self::matmul(constant, rows::<Self>(weight.clone(), k, k + width));
        let mut made = values(&below).repeat(m / batch);
        matmul_add(ALL_CORES, [m, k, n], (&mut made, n), Matrix::of(&a), Matrix::of(&weight));
        tensor(made, vec![m, n])
    }

    fn matmul_stacked(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        if a.dtype() != DType::F32 {
            return stacked::<Self>(a, b, c, d);
        }
        let ([above, below], n) = ([&a, &c].map(|tensor| dims(tensor)[0]), dims(&b)[1]);
        let put = |_, made: &mut Unwritten| {
            let (first, second) = made.split_at_mut(above * n);
            matmul_into(ALL_CORES, [above, dims(&a)[1], n], (first, n), Matrix::of(&a), Matrix::of(&b));
            matmul_into(ALL_CORES, [below, dims(&c)[1], n], (second, n), Matrix::of(&c), Matrix::of(&d));
        };
        // SAFETY: the two products fill the buffer.
        let made = unsafe { written((above + below) * n, (above + below) * n, put) };
        tensor(made, vec![above + below, n])
    }
}
