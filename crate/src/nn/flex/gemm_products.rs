//! Products natively, by the gemm library.

use super::{Matrix, ONE_CORE};

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

/// A matrix that every step multiplies by. For many steps it is cut into panels of columns, each in one piece and row by row: a product then
/// reads memory in order and packs nothing.
pub struct Weights<'a> {
    values: &'a [f32],
    /// How far apart rows and columns lie.
    distances: [usize; 2],
    inputs: usize,
    outputs: usize,
    panels: Option<Vec<f32>>,
}

/// Columns of a panel: as many as fill the registers of the widest processors, whole cache lines for all.
const PANEL: usize = 64;
/// Cutting costs about as much as so many products of few rows gain.
const WORTH_CUTTING: usize = 8;

impl<'a> Weights<'a> {
    pub fn new((values, distances): Matrix<'a>, [inputs, outputs]: [usize; 2], steps: usize) -> Self {
        let [row, column] = distances;
        let panels = (steps >= WORTH_CUTTING).then(|| {
            let mut panels = Vec::with_capacity(inputs * outputs);
            for first in (0..outputs).step_by(PANEL) {
                for input in 0..inputs {
                    panels.extend((first..outputs.min(first + PANEL)).map(|output| values[input * row + output * column]));
                }
            }
            panels
        });
        Self { values, distances, inputs, outputs, panels }
    }

    /// `out += a W` for some rows of `a`, each of the two with the distance of its rows.
    pub fn add_product(&self, rows: usize, (out, out_row): (&mut [f32], usize), (a, a_row): (&[f32], usize)) {
        let &Self { values, distances, inputs, outputs, ref panels } = self;
        let Some(panels) = panels else {
            return add_product(ONE_CORE, [rows, inputs, outputs], (out, out_row), (a, [a_row, 1]), (values, distances));
        };
        for first in (0..outputs).step_by(PANEL) {
            let width = PANEL.min(outputs - first);
            let panel = (&panels[first * inputs..], [width, 1]);
            add_product(ONE_CORE, [rows, inputs, width], (&mut out[first..], out_row), (a, [a_row, 1]), panel);
        }
    }
}
