//! Products natively, by the gemm library.

use std::mem::MaybeUninit;

use super::{Matrix, ONE_CORE, Unwritten, written};

/// Where the last element of a matrix lies.
fn last(rows: usize, columns: usize, [row, column]: [usize; 2]) -> usize {
    (rows - 1) * row + (columns - 1) * column
}

/// `a b` for `a: [m, k]`, `b: [k, n]`, added to what `out` holds or put in its place.
///
/// # Safety
///
/// `out` has `m` rows of `n` values, `out_row` apart, to which no other reference exists, and that are initialised where they are added to.
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
    // SAFETY: the assertion bounds the furthest element of `a` and `b`, the caller that of `out`.
    unsafe {
        gemm::gemm(
            m, n, k, out, 1, out_row, adds, a, a_column, a_row, b, b_column, b_row, kept, 1.0, false, false,
            false, on,
        );
    };
}

/// `out += a b` for `a: [m, k]`, `b: [k, n]`; `out` is dense but for the distance of its rows.
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
        "rows lie within what is written, and do not overlap"
    );
    // SAFETY: as asserted, and `out` is borrowed mutably.
    unsafe { call(on, sizes, (out.as_mut_ptr(), out_row), true, a, b) };
}

/// The same in place of what `out` holds.
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
        "rows lie within what is written, and do not overlap"
    );
    // SAFETY: as asserted, and `out` is borrowed mutably; what it holds is not read.
    unsafe { call(on, sizes, (out.as_mut_ptr().cast(), out_row), false, a, b) };
}

/// A matrix that every step multiplies by. For many steps it is cut into panels of columns, each in one piece and row by row: a matmul then
/// reads memory in order and packs nothing.
pub struct PackedWeights<'a> {
    matrix: Matrix<'a>,
    inputs: usize,
    outputs: usize,
    panels: Option<Vec<f32>>,
}

/// Columns of a panel: as many as fill the registers of the widest processors, whole cache lines for all.
const PANEL: usize = 64;
/// Packing costs about as much as this many matmuls of few rows gain.
const WORTH_CUTTING: usize = 8;

impl<'a> PackedWeights<'a> {
    pub fn new(matrix: Matrix<'a>, [inputs, outputs]: [usize; 2], steps: usize) -> Self {
        let Matrix { values, strides: [row, column] } = matrix;
        let panels = (steps >= WORTH_CUTTING).then(|| {
            let cut = |number: usize, panel: &mut Unwritten| {
                let first = number * PANEL;
                for (input, cut) in panel.chunks_exact_mut(PANEL.min(outputs - first)).enumerate() {
                    let from = values[input * row + first * column..].iter().step_by(column);
                    cut.iter_mut().zip(from).for_each(|(cut, &value)| *cut = MaybeUninit::new(value));
                }
            };
            // SAFETY: a panel has so many columns of all inputs.
            unsafe { written(inputs * outputs, inputs * PANEL, cut) }
        });
        Self { matrix, inputs, outputs, panels }
    }

    /// `out += a W` for some rows of `a`, each of the two with the distance of its rows. Every other step begins with the last columns, which the step before
    /// has left in the cache.
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
