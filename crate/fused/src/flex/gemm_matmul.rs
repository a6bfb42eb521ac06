//! Native matrix products with the `gemm` library.

use std::mem::MaybeUninit;

use super::{Matrix, ONE_CORE, Unwritten, written};

/// Returns the index of the last element of a matrix.
fn last(rows: usize, columns: usize, [row, column]: [usize; 2]) -> usize {
    (rows - 1) * row + (columns - 1) * column
}

/// Computes `a b` for `a: [m, k]`, `b: [k, n]`, and adds it to `out` or overwrites `out`.
///
/// # Safety
///
/// `out` must have `m` rows of `n` values, `out_row` apart, to which no other reference exists. If `adds`, they must be initialised.
unsafe fn call(
    on: gemm::Parallelism,
    [m, k, n]: [usize; 3],
    (out, out_row): (*mut f32, usize),
    adds: bool,
    a: Matrix,
    b: Matrix,
) {
    assert!(last(m, k, a.strides) < a.values.len() && last(k, n, b.strides) < b.values.len());
    let [out_row, a_row, a_column, b_row, b_column] =
        [out_row, a.strides[0], a.strides[1], b.strides[0], b.strides[1]].map(|stride| stride as isize);
    let (a, b, kept) = (a.values.as_ptr(), b.values.as_ptr(), if adds { 1.0 } else { 0.0 });
    // SAFETY: the assertion bounds the last element of `a` and of `b`, the caller that of `out`.
    unsafe {
        gemm::gemm(
            m, n, k, out, 1, out_row, adds, a, a_column, a_row, b, b_column, b_row, kept, 1.0, false, false,
            false, on,
        );
    };
}

/// Computes `out += a b` for `a: [m, k]`, `b: [k, n]`. The rows of `out` are contiguous values, `out_row` apart.
pub fn matmul_add(
    on: gemm::Parallelism,
    sizes: [usize; 3],
    (out, out_row): (&mut [f32], usize),
    a: Matrix,
    b: Matrix,
) {
    let [m, _, n] = sizes;
    assert!(
        n <= out_row && last(m, n, [out_row, 1]) < out.len(),
        "the rows of the output are within its buffer and do not overlap"
    );
    // SAFETY: the assertion bounds `out`, which is borrowed mutably.
    unsafe { call(on, sizes, (out.as_mut_ptr(), out_row), true, a, b) };
}

/// Computes `out = a b`, as [`matmul_add`] otherwise.
pub fn matmul_into(
    on: gemm::Parallelism,
    sizes: [usize; 3],
    (out, out_row): (&mut Unwritten, usize),
    a: Matrix,
    b: Matrix,
) {
    let [m, _, n] = sizes;
    assert!(
        n <= out_row && last(m, n, [out_row, 1]) < out.len(),
        "the rows of the output are within its buffer and do not overlap"
    );
    // SAFETY: the assertion bounds `out`, which is borrowed mutably and not read.
    unsafe { call(on, sizes, (out.as_mut_ptr().cast(), out_row), false, a, b) };
}

/// A matrix that every step multiplies by. For many steps it is packed into panels of columns, each contiguous and row-major, so that a product reads memory in
/// order and does not pack it again.
pub struct PackedWeights<'a> {
    matrix: Matrix<'a>,
    inputs: usize,
    outputs: usize,
    panels: Option<Vec<f32>>,
}

/// The columns of a panel: whole cache lines that fill the registers of AVX-512.
const PANEL: usize = 64;
/// The number of steps from which packing takes less time than it saves.
const WORTH_PACKING: usize = 8;

impl<'a> PackedWeights<'a> {
    pub fn new(matrix: Matrix<'a>, [inputs, outputs]: [usize; 2], steps: usize) -> Self {
        let Matrix { values, strides: [row, column] } = matrix;
        let panels = (steps >= WORTH_PACKING).then(|| {
            let cut = |number: usize, panel: &mut Unwritten| {
                let first = number * PANEL;
                for (input, cut) in panel.chunks_exact_mut(PANEL.min(outputs - first)).enumerate() {
                    let from = values[input * row + first * column..].iter().step_by(column);
                    cut.iter_mut().zip(from).for_each(|(cut, &value)| *cut = MaybeUninit::new(value));
                }
            };
            // SAFETY: `cut` writes all columns of a panel for all inputs.
            unsafe { written(inputs * outputs, inputs * PANEL, cut) }
        });
        Self { matrix, inputs, outputs, panels }
    }

    /// Computes `out += a W` for some rows of `a`. `out_row` and `a_row` are the distances between rows. Every other step begins with the last columns, which the
    /// step before left in the cache.
    pub fn matmul_add(
        &self,
        step: usize,
        rows: usize,
        (out, out_row): (&mut [f32], usize),
        (a, a_row): (&[f32], usize),
    ) {
        let &Self { matrix, inputs, outputs, ref panels } = self;
        let Some(panels) = panels else {
            return matmul_add(
                ONE_CORE,
                [rows, inputs, outputs],
                (out, out_row),
                Matrix::row_major(a, a_row),
                matrix,
            );
        };
        let count = outputs.div_ceil(PANEL);
        for number in 0..count {
            let first = PANEL * if step.is_multiple_of(2) { number } else { count - 1 - number };
            let width = PANEL.min(outputs - first);
            let panel = Matrix::row_major(&panels[first * inputs..], width);
            matmul_add(
                ONE_CORE,
                [rows, inputs, width],
                (&mut out[first..], out_row),
                Matrix::row_major(a, a_row),
                panel,
            );
        }
    }
}
