//! What fused operations on the CPU share: tensors as slices, and functions without branches or calls, so that the compiler vectorises them.

use burn::backend::{
    DType, Flex,
    flex::{FlexTensor, Layout},
    ops::FloatTensorOps,
};
use burn::tensor::{Bytes, FloatDType, Shape};

pub fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(Shape::from(shape)), DType::F32)
}

pub fn dims(tensor: &FlexTensor) -> Vec<usize> {
    tensor.layout().shape().iter().copied().collect()
}

/// Contiguous, from the start of its buffer and in f32, so that [`values`] are exactly its own.
pub fn packed(tensor: FlexTensor) -> FlexTensor {
    let tensor = if tensor.dtype() == DType::F32 { tensor } else { Flex::float_cast(tensor, FloatDType::F32) };
    tensor.to_contiguous()
}

pub fn values(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect("packed")
}

/// A packed tensor's values to be changed: in place where nobody else holds them, in a copy otherwise.
pub fn values_mut(tensor: &mut FlexTensor) -> &mut [f32] {
    let count = tensor.layout().num_elements();
    &mut tensor.storage_mut::<f32>()[..count]
}

/// A matrix' values, and how far apart its rows lie and its columns. Rows may overlap.
pub type Matrix<'a> = (&'a [f32], [usize; 2]);

pub const ONE_CORE: gemm::Parallelism = gemm::Parallelism::None;
#[cfg(feature = "parallel")]
pub const ALL_CORES: gemm::Parallelism = gemm::Parallelism::Rayon(0);
#[cfg(not(feature = "parallel"))]
pub const ALL_CORES: gemm::Parallelism = ONE_CORE;

/// `out += a b` for `a: [m, k]`, `b: [k, n]`; `out` is dense but for the distance of its rows.
pub fn add_product(on: gemm::Parallelism, [m, k, n]: [usize; 3], out: (&mut [f32], usize), a: Matrix, b: Matrix) {
    let last = |rows: usize, columns: usize, [row, column]: [usize; 2]| (rows - 1) * row + (columns - 1) * column;
    assert!(last(m, n, [out.1, 1]) < out.0.len() && last(m, k, a.1) < a.0.len() && last(k, n, b.1) < b.0.len());
    assert!(n <= out.1, "rows that are written may not overlap");
    let [out_row, a_row, a_column, b_row, b_column] = [out.1, a.1[0], a.1[1], b.1[0], b.1[1]].map(|distance| distance as isize);
    // SAFETY: the assertions bound the furthest element of each matrix, and `out` is borrowed mutably.
    unsafe {
        let (out, a, b) = (out.0.as_mut_ptr(), a.0.as_ptr(), b.0.as_ptr());
        gemm::gemm(m, n, k, out, 1, out_row, true, a, a_column, a_row, b, b_column, b_row, 1.0, 1.0, false, false, false, on);
    }
}

/// Cores that [`for_each`] works on.
pub fn cores() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    return 1;
}

/// Does all of `work`, on all cores where there are several.
pub fn for_each<T: Send>(work: Vec<T>, each: impl Fn(T) + Send + Sync) {
    #[cfg(feature = "parallel")]
    if work.len() > 1 {
        return rayon::iter::ParallelIterator::for_each(rayon::iter::IntoParallelIterator::into_par_iter(work), each);
    }
    work.into_iter().for_each(each);
}

/// `e^x` to a few ulp for the range that gates need.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Added and taken away it rounds to the nearest integer, which stands in the low bits meanwhile.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4; // ln 2 in two parts
    let p = 1.987_569_1e-4f32;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 5.000_000_1e-1;
    let power = f32::from_bits(shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23);
    (p * r * r + r + 1.0) * power
}

#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}
