//! Matrix products in WebAssembly. The kernel of `gemm` spills registers there; these kernels of 3 by 12 and 4 by 8 values do not. 3 by 12 is the fastest, 4 by
//! 8 is for column counts that 12 does not divide, and for few rows.

use std::{mem::MaybeUninit, sync::OnceLock};

use super::{Matrix, Unwritten};

/// The rows of the left matrix, and the terms of the sums, that stay in the fastest cache at a time.
const BLOCK: usize = 64;
const TERMS: usize = 256;

/// Multiplies up to three rows, stored term by term, by a panel of twelve columns, or up to four rows by one of eight columns, and adds the product to `out`,
/// whose rows are `out_row` values apart.
pub type MicroKernel = unsafe extern "C" fn(
    rows: usize,
    columns: usize,
    strip: *const f32,
    panel: *const f32,
    terms: usize,
    out: *mut f32,
    out_row: usize,
);

/// The kernel set by [`use_micro_kernel`].
static MICRO_KERNEL: OnceLock<MicroKernel> = OnceLock::new();

/// Sets a kernel that is faster than the portable one: relaxed SIMD multiplies and adds in one instruction, which not every browser supports.
///
/// # Safety
///
/// The kernel must compute what [`MicroKernel`] specifies, and have no other effect.
pub unsafe fn use_micro_kernel(micro_kernel: MicroKernel) {
    let _ = MICRO_KERNEL.set(micro_kernel);
}

/// A right operand packed into panels of columns that are read in order: `[N / COLUMNS, K, COLUMNS]`, the last padded with zeros. `ROWS` by `COLUMNS` values of
/// the product are computed at a time.
pub struct Panels<const ROWS: usize, const COLUMNS: usize> {
    panels: Vec<[f32; COLUMNS]>,
    terms: usize,
    columns: usize,
}

/// A matrix that each step multiplies a few rows by.
pub type PackedWeights = Panels<4, 8>;

impl<const ROWS: usize, const COLUMNS: usize> Panels<ROWS, COLUMNS> {
    /// Packs a matrix. Every product needs a packed matrix, whatever the number of steps.
    pub fn new(
        Matrix { values, strides: [row, column] }: Matrix,
        [terms, columns]: [usize; 2],
        _steps: usize,
    ) -> Self {
        let mut panels = Vec::with_capacity(columns.div_ceil(COLUMNS) * terms);
        for first in (0..columns).step_by(COLUMNS) {
            let (from, width) = (&values[first * column..], COLUMNS.min(columns - first));
            if column == 1 && width == COLUMNS {
                panels.extend((0..terms).map(|term| {
                    *from[term * row..].first_chunk::<COLUMNS>().expect("a whole row of the panel")
                }));
            } else if row == 1 && width == COLUMNS {
                transpose::<COLUMNS>((from, column), terms, |turned| panels.extend_from_slice(turned));
            } else {
                let value =
                    |term: usize, at: usize| if at < width { from[term * row + at * column] } else { 0.0 };
                panels.extend((0..terms).map(|term| std::array::from_fn(|at| value(term, at))));
            }
        }
        Self { panels, terms, columns }
    }

    /// Computes `out += a W` for some rows of `a`. `out_row` and `a_row` are the distances between rows.
    pub fn matmul_add(
        &self,
        _step: usize,
        rows: usize,
        (out, out_row): (&mut [f32], usize),
        (a, a_row): (&[f32], usize),
    ) {
        assert!((rows - 1) * out_row + self.columns <= out.len());
        // SAFETY: the assertion bounds `out`, which is borrowed mutably.
        unsafe { self.matmul_add_of(rows, (out.as_mut_ptr(), out_row), Matrix::row_major(a, a_row)) };
    }

    /// Computes `out += a W`.
    ///
    /// # Safety
    ///
    /// `out` must have `rows` rows of `self.columns` values, `out_row` apart, to which no other reference exists.
    unsafe fn matmul_add_of(&self, rows: usize, (out, out_row): (*mut f32, usize), a: Matrix) {
        let &Self { ref panels, terms, columns } = self;
        let micro_kernel = MICRO_KERNEL.get();
        let mut block = Vec::with_capacity(BLOCK.min(rows) * TERMS.min(terms));
        for term in (0..terms).step_by(TERMS) {
            let depth = TERMS.min(terms - term);
            for top in (0..rows).step_by(BLOCK) {
                let strips = strips(top, BLOCK.min(rows - top), ROWS);
                block.clear();
                for &(first, count) in &strips {
                    let from = a.from(first * a.strides[0] + term * a.strides[1]);
                    match count {
                        1 => pack::<1>(&mut block, from, depth),
                        2 => pack::<2>(&mut block, from, depth),
                        3 => pack::<3>(&mut block, from, depth),
                        _ => pack::<4>(&mut block, from, depth),
                    }
                }
                for (panel, first) in panels.chunks_exact(terms).zip((0..columns).step_by(COLUMNS)) {
                    let (panel, width) = (&panel[term..][..depth], COLUMNS.min(columns - first));
                    let mut rest = &block[..];
                    for &(at, count) in &strips {
                        let (strip, others) = rest.split_at(count * depth);
                        // SAFETY: strip and panel hold `depth` terms, and the rows and columns are within `out`.
                        unsafe {
                            let out = out.add(at * out_row + first);
                            match (micro_kernel.filter(|_| width == COLUMNS), count) {
                                (Some(micro_kernel), _) => micro_kernel(
                                    count,
                                    COLUMNS,
                                    strip.as_ptr(),
                                    panel.as_flattened().as_ptr(),
                                    depth,
                                    out,
                                    out_row,
                                ),
                                (None, 1) => {
                                    micro_kernel_add::<1, COLUMNS>(strip, panel, (out, out_row), width);
                                }
                                (None, 2) => {
                                    micro_kernel_add::<2, COLUMNS>(strip, panel, (out, out_row), width);
                                }
                                (None, 3) => {
                                    micro_kernel_add::<3, COLUMNS>(strip, panel, (out, out_row), width);
                                }
                                (None, _) => {
                                    micro_kernel_add::<4, COLUMNS>(strip, panel, (out, out_row), width);
                                }
                            }
                        }
                        rest = others;
                    }
                }
            }
        }
    }
}

/// Computes `out += a b` for `a: [m, k]`, `b: [k, n]`. The rows of `out` are contiguous values, `out_row` apart.
pub fn matmul_add(
    _on: gemm::Parallelism,
    sizes: [usize; 3],
    (out, out_row): (&mut [f32], usize),
    a: Matrix,
    b: Matrix,
) {
    let [m, _, n] = sizes;
    assert!((m - 1) * out_row + n <= out.len());
    // SAFETY: the assertion bounds `out`, which is borrowed mutably.
    unsafe { matmul_add_of(sizes, (out.as_mut_ptr(), out_row), a, b) };
}

/// Computes `out = a b`, as [`matmul_add`] otherwise.
pub fn matmul_into(
    _on: gemm::Parallelism,
    sizes: [usize; 3],
    (out, out_row): (&mut Unwritten, usize),
    a: Matrix,
    b: Matrix,
) {
    let [m, _, n] = sizes;
    assert!((m - 1) * out_row + n <= out.len());
    for row in 0..m {
        out[row * out_row..][..n].fill(MaybeUninit::new(0.0));
    }
    // SAFETY: the assertion bounds `out`, which is borrowed mutably, and the loop above initialised it.
    unsafe { matmul_add_of(sizes, (out.as_mut_ptr().cast(), out_row), a, b) };
}

/// Computes `out += a b`.
///
/// # Safety
///
/// `out` must have `m` rows of `n` values, `out_row` apart, to which no other reference exists.
unsafe fn matmul_add_of([m, k, n]: [usize; 3], out: (*mut f32, usize), a: Matrix, b: Matrix) {
    // SAFETY: the caller guarantees it.
    unsafe {
        if n.is_multiple_of(12) {
            Panels::<3, 12>::new(b, [k, n], 1).matmul_add_of(m, out, a);
        } else {
            Panels::<4, 8>::new(b, [k, n], 1).matmul_add_of(m, out, a);
        }
    }
}

/// Splits rows into strips of at most `most` rows, of nearly equal size. Returns the first row and the count of each.
fn strips(top: usize, rows: usize, most: usize) -> Vec<(usize, usize)> {
    let count = rows.div_ceil(most);
    let edge = |number: usize| top + number * rows / count;
    (0..count).map(|number| (edge(number), edge(number + 1) - edge(number))).collect()
}

/// Passes `R` rows, `distance` values apart, to `take` term by term. Four terms are transposed at a time, as many as registers hold.
fn transpose<const R: usize>(
    (values, distance): (&[f32], usize),
    terms: usize,
    mut take: impl FnMut(&[[f32; R]]),
) {
    const TURNED: usize = 4;
    let rows: [&[f32]; R] = std::array::from_fn(|row| &values[row * distance..][..terms]);
    let whole = terms - terms % TURNED;
    for first in (0..whole).step_by(TURNED) {
        let mut turned = [[0.0; R]; TURNED];
        for (at, row) in rows.iter().enumerate() {
            let four: &[f32; TURNED] = row[first..].first_chunk().expect("`whole` is a multiple of four");
            (0..TURNED).for_each(|term| turned[term][at] = four[term]);
        }
        take(&turned);
    }
    (whole..terms).for_each(|term| take(&[rows.map(|row| row[term])]));
}

/// Appends `R` rows to a strip, term by term.
fn pack<const R: usize>(
    strip: &mut Vec<f32>,
    Matrix { values: a, strides: [row, column] }: Matrix,
    terms: usize,
) {
    strip.reserve(R * terms);
    if column == 1 {
        transpose::<R>((a, row), terms, |turned| strip.extend_from_slice(turned.as_flattened()));
    } else if row == 1 {
        (0..terms).for_each(|term| {
            strip.extend_from_slice(a[term * column..].first_chunk::<R>().expect("all rows"));
        });
    } else {
        (0..terms).for_each(|term| strip.extend((0..R).map(|at| a[term * column + at * row])));
    }
}

/// Multiplies a strip of rows by a panel and adds the product to `out`.
///
/// # Safety
///
/// `out` must have `R` rows of `width` values, `out_row` apart, to which no other reference exists.
#[inline(never)]
unsafe fn micro_kernel_add<const R: usize, const C: usize>(
    strip: &[f32],
    panel: &[[f32; C]],
    (out, out_row): (*mut f32, usize),
    width: usize,
) {
    let mut sums = [[0.0f32; C]; R];
    for (a, b) in strip.as_chunks::<R>().0.iter().zip(panel) {
        for row in 0..R {
            for column in 0..C {
                sums[row][column] += a[row] * b[column];
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        // SAFETY: the caller guarantees that `out` has this row.
        let out = unsafe { std::slice::from_raw_parts_mut(out.add(row * out_row), width) };
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::flex::{ONE_CORE, gemm_matmul};

    #[test]
    fn products_equal_those_of_gemm_for_all_sizes_and_layouts() {
        let noise = |count: usize| {
            (0..count).map(|index| (index * 7919 % 1009) as f32 / 504.5 - 1.0).collect::<Vec<f32>>()
        };
        for [m, k, n] in [
            [1, 1, 1],
            [5, 3, 8],
            [4, 8, 7],
            [3, 257, 17],
            [70, 300, 40],
            [129, 10, 1],
            [7, 6, 12],
            [68, 261, 36],
        ] {
            let (a, b) = (noise(m * k), noise(k * n));
            for a in [Matrix::row_major(&a[..], k), Matrix::column_major(&a[..], m)] {
                for b in [Matrix::row_major(&b[..], n), Matrix::column_major(&b[..], k)] {
                    let distance = n + 3;
                    let same = |ours: Vec<f32>, theirs: Vec<f32>| {
                        let worst = ours
                            .iter()
                            .zip(&theirs)
                            .map(|(ours, theirs)| (ours - theirs).abs())
                            .fold(0.0, f32::max);
                        assert!(worst < 1e-4, "{m} x {k} times {k} x {n}: {worst:e}");
                    };
                    let added = [matmul_add, gemm_matmul::matmul_add].map(|matmul_add| {
                        let mut out = noise(m * distance);
                        matmul_add(ONE_CORE, [m, k, n], (&mut out, distance), a, b);
                        out
                    });
                    let put = [matmul_into, gemm_matmul::matmul_into].map(|matmul_into| {
                        let mut out =
                            noise(m * distance).into_iter().map(MaybeUninit::new).collect::<Vec<_>>();
                        matmul_into(ONE_CORE, [m, k, n], (&mut out, distance), a, b);
                        // SAFETY: all values were initialised above.
                        out.into_iter().map(|value| unsafe { value.assume_init() }).collect::<Vec<f32>>()
                    });
                    for [ours, theirs] in [added, put] {
                        same(ours, theirs);
                    }
                }
            }
        }
    }

    #[test]
    fn a_custom_micro_kernel_computes_whole_panels() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        unsafe extern "C" fn micro_kernel(
            rows: usize,
            columns: usize,
            strip: *const f32,
            panel: *const f32,
            terms: usize,
            out: *mut f32,
            out_row: usize,
        ) {
            CALLS.fetch_add(1, Relaxed);
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                // SAFETY: it is called as `MicroKernel` specifies.
                unsafe {
                    *out.add(row * out_row + column) += (0..terms)
                        .map(|k| *strip.add(k * rows + row) * *panel.add(k * columns + column))
                        .sum::<f32>();
                };
            }
        }
        // SAFETY: this kernel computes what `MicroKernel` specifies.
        unsafe { use_micro_kernel(micro_kernel) };
        let (a, b) = (vec![0.5; 6 * 300], vec![2.0; 300 * 20]);
        let mut out = vec![1.0; 6 * 20];
        matmul_add(
            ONE_CORE,
            [6, 300, 20],
            (&mut out, 20),
            Matrix::row_major(&a, 300),
            Matrix::row_major(&b, 20),
        );
        assert_eq!(out, vec![301.0; 6 * 20]);
        assert!(
            CALLS.load(Relaxed) >= 8,
            "two strips, two whole panels and two blocks of terms; the half panel uses the portable kernel"
        );
        let mut wide = vec![1.0; 6 * 24];
        matmul_add(
            ONE_CORE,
            [6, 300, 24],
            (&mut wide, 24),
            Matrix::row_major(&a, 300),
            Matrix::row_major(&vec![2.0; 300 * 24], 24),
        );
        assert_eq!(wide, vec![301.0; 6 * 24]);
    }

    #[test]
    fn rows_may_overlap_and_packed_weights_are_reused() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0]);
        let weights = PackedWeights::new(Matrix::row_major(&b, 1), [2, 1], 2);
        let mut out = [0.0; 3];
        weights.matmul_add(0, 3, (&mut out, 1), (&a, 1));
        assert_eq!(out, [21.0, 32.0, 43.0]);
        weights.matmul_add(0, 3, (&mut out, 1), (&a, 1));
        assert_eq!(out, [42.0, 64.0, 86.0]);
    }
}
