//! Helpers shared by the fused operations on the CPU: tensors as slices, matrix products, and functions without branches or calls, which the compiler
//! vectorises.

#[cfg(not(target_arch = "wasm32"))]
mod gemm_matmul;
#[cfg(any(test, target_arch = "wasm32"))]
mod panels;

#[cfg(not(target_arch = "wasm32"))]
pub use gemm_matmul::{PackedWeights, matmul_add, matmul_into};
#[cfg(target_arch = "wasm32")]
pub use panels::{MicroKernel, PackedWeights, matmul_add, matmul_into, use_micro_kernel};

use std::mem::MaybeUninit;

use burn::backend::{
    DType, Flex,
    flex::{FlexTensor, Layout},
    ops::FloatTensorOps,
};
use burn::tensor::{Bytes, FloatDType, Shape};

/// Makes a contiguous tensor in f32.
pub fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(Shape::from(shape)), DType::F32)
}

/// Returns the shape.
pub fn dims(tensor: &FlexTensor) -> Vec<usize> {
    tensor.layout().shape().iter().copied().collect()
}

/// Returns a tensor in f32 whose buffer holds exactly its values, row-major, as [`values`] requires.
pub fn contiguous(tensor: FlexTensor) -> FlexTensor {
    let tensor =
        if tensor.dtype() == DType::F32 { tensor } else { Flex::float_cast(tensor, FloatDType::F32) };
    tensor.to_contiguous()
}

/// Returns the values of a tensor of [`contiguous`].
pub fn values(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect("packed")
}

/// Returns the values of a tensor of [`contiguous`] for writing. They are copied first if another tensor shares the buffer.
pub fn values_mut(tensor: &mut FlexTensor) -> &mut [f32] {
    let count = tensor.layout().num_elements();
    &mut tensor.storage_mut::<f32>()[..count]
}

/// A strided view of a matrix. Its rows may overlap.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    pub values: &'a [f32],
    /// The distance in values from one row to the next, and from one column to the next.
    pub strides: [usize; 2],
}

impl<'a> Matrix<'a> {
    /// Views rows of contiguous values, `stride` values apart.
    pub fn row_major(values: &'a [f32], stride: usize) -> Self {
        Self { values, strides: [stride, 1] }
    }

    /// Views columns of contiguous values, `stride` values apart: the transpose of [`Self::row_major`].
    pub fn column_major(values: &'a [f32], stride: usize) -> Self {
        Self { values, strides: [1, stride] }
    }

    /// Views a tensor of rank 2, which may be transposed.
    pub fn of(tensor: &'a FlexTensor) -> Self {
        let [row, column] = tensor.layout().strides() else { unreachable!("two dimensions") };
        let strides = [*row, *column].map(|stride| usize::try_from(stride).expect("never flipped"));
        Self { values: &tensor.storage::<f32>()[tensor.layout().start_offset()..], strides }
    }

    /// Returns the view whose first value is `offset` values further on.
    pub fn from(self, offset: usize) -> Self {
        Self { values: &self.values[offset..], ..self }
    }
}

/// A buffer that is written before it is read. Initialising a large buffer would take as long as filling it.
pub type Unwritten = [MaybeUninit<f32>];

/// Returns a buffer of `count` values that `write` fills on all cores, in shares of the given size.
///
/// # Safety
///
/// `write`, which is given the number of a share and its values, must write all of them.
pub unsafe fn written(
    count: usize,
    share: usize,
    write: impl Fn(usize, &mut Unwritten) + Send + Sync,
) -> Vec<f32> {
    let mut values = Box::new_uninit_slice(count);
    for_each(values.chunks_mut(share).enumerate().collect(), |(number, values)| write(number, values));
    // SAFETY: the caller guarantees that `write` has written every value.
    unsafe { values.assume_init() }.into_vec()
}

/// Returns `a b` for `a: [m, k]`, `b: [k, n]`, where `sizes` is `[m, k, n]`.
pub fn matmul(on: gemm::Parallelism, sizes: [usize; 3], a: Matrix, b: Matrix) -> Vec<f32> {
    let [m, _, n] = sizes;
    // SAFETY: m contiguous rows of n values fill the buffer.
    unsafe { written(m * n, m * n, |_, made| matmul_into(on, sizes, (made, n), a, b)) }
}

/// Computes a product on one core.
pub const ONE_CORE: gemm::Parallelism = gemm::Parallelism::None;
/// Computes a product on all cores.
#[cfg(feature = "parallel")]
pub const ALL_CORES: gemm::Parallelism = gemm::Parallelism::Rayon(0);
/// Computes a product on all cores, of which there is one.
#[cfg(not(feature = "parallel"))]
pub const ALL_CORES: gemm::Parallelism = ONE_CORE;

/// Returns the number of cores that [`for_each`] uses.
pub fn cores() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    return 1;
}

/// Calls `each` with every item of `work`, on all cores.
pub fn for_each<T: Send>(work: Vec<T>, each: impl Fn(T) + Send + Sync) {
    #[cfg(feature = "parallel")]
    if work.len() > 1 {
        return rayon::iter::ParallelIterator::for_each(
            rayon::iter::IntoParallelIterator::into_par_iter(work),
            each,
        );
    }
    work.into_iter().for_each(each);
}

/// Computes `e^x` to a few ulp, with x clamped to the range of f32.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding and subtracting it rounds to the nearest integer. After the addition, the integer is in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4; // ln 2 split into two parts
    let p = 1.987_569_1e-4f32;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let power = f32::from_bits(shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23);
    (p * r * r + r + 1.0) * power
}

/// Computes the logistic function.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Computes the hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}
