//! Products in a browser. The library's tile for wasm wants more registers than wasm's values of four have on most processors, and spends its time
//! putting sums away and fetching them back; this one fits.

use std::{mem::MaybeUninit, sync::OnceLock};

use super::{Matrix, Unwritten};

/// What is made at a time: 4 by 8 are eight sums of four lanes, which leaves room for a row of the one matrix and a value of the other among
/// sixteen registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
/// Rows of the left matrix, and terms of the sums, that stay in the fastest memory meanwhile.
const BLOCK: usize = 64;
const TERMS: usize = 256;

/// Multiplies up to four rows, which lie term by term, by a panel of eight columns, and adds that to `out`, whose rows lie `out_row` values apart.
pub type Tile = unsafe extern "C" fn(rows: usize, strip: *const f32, panel: *const f32, terms: usize, out: *mut f32, out_row: usize);

/// The browser's own, see [`use_tile`].
static TILE: OnceLock<Tile> = OnceLock::new();

/// Takes a faster one than what every browser can run: one that multiplies and adds in one instruction.
///
/// # Safety
///
/// It has to do what [`Tile`] says, and nothing else.
pub unsafe fn use_tile(tile: Tile) {
    let _ = TILE.set(tile);
}

/// A matrix to multiply by, cut into panels of its columns that are read in order: `[N / 8, K, 8]`, the last filled up with zeros.
pub struct Weights {
    panels: Vec<[f32; COLUMNS]>,
    terms: usize,
    columns: usize,
}

impl Weights {
    /// Worth it even for one step, since every product needs it.
    pub fn new((values, [row, column]): Matrix, [terms, columns]: [usize; 2], _steps: usize) -> Self {
        let mut panels = vec![[0.0; COLUMNS]; columns.div_ceil(COLUMNS) * terms];
        for (panel, first) in panels.chunks_exact_mut(terms).zip((0..columns).step_by(COLUMNS)) {
            let width = COLUMNS.min(columns - first);
            for (term, cut) in panel.iter_mut().enumerate() {
                let from = &values[term * row + first * column..];
                if column == 1 && width == COLUMNS {
                    cut.copy_from_slice(&from[..COLUMNS]);
                } else {
                    cut[..width].iter_mut().zip(from.iter().step_by(column)).for_each(|(cut, value)| *cut = *value);
                }
            }
        }
        Self { panels, terms, columns }
    }

    /// `out += a W` for some rows of `a`, each of the two with the distance of its rows.
    pub fn add_product(&self, _step: usize, rows: usize, (out, out_row): (&mut [f32], usize), (a, a_row): (&[f32], usize)) {
        assert!((rows - 1) * out_row + self.columns <= out.len());
        // SAFETY: as asserted.
        unsafe { self.add_product_of(rows, (out.as_mut_ptr(), out_row), (a, [a_row, 1])) };
    }

    /// # Safety
    ///
    /// `out` has so many rows of as many values as there are columns, `out_row` apart, which nobody else sees.
    unsafe fn add_product_of(&self, rows: usize, (out, out_row): (*mut f32, usize), (a, [row, column]): Matrix) {
        let &Self { ref panels, terms, columns } = self;
        let tile = TILE.get();
        let mut block = Vec::with_capacity(BLOCK.min(rows) * TERMS.min(terms));
        for term in (0..terms).step_by(TERMS) {
            let depth = TERMS.min(terms - term);
            for top in (0..rows).step_by(BLOCK) {
                let strips = strips(top, BLOCK.min(rows - top));
                block.clear();
                for &(first, count) in &strips {
                    let from = (&a[first * row + term * column..], [row, column]);
                    match count {
                        1 => take::<1>(&mut block, from, depth),
                        2 => take::<2>(&mut block, from, depth),
                        3 => take::<3>(&mut block, from, depth),
                        _ => take::<ROWS>(&mut block, from, depth),
                    }
                }
                for (panel, first) in panels.chunks_exact(terms).zip((0..columns).step_by(COLUMNS)) {
                    let (panel, width) = (&panel[term..][..depth], COLUMNS.min(columns - first));
                    let mut rest = &block[..];
                    for &(at, count) in &strips {
                        let (strip, others) = rest.split_at(count * depth);
                        // SAFETY: strip and panel hold as many terms, and rows and columns are some of those that `out` has.
                        unsafe {
                            let out = out.add(at * out_row + first);
                            match (tile.filter(|_| width == COLUMNS), count) {
                                (Some(tile), _) => tile(count, strip.as_ptr(), panel.as_flattened().as_ptr(), depth, out, out_row),
                                (None, 1) => add_tile::<1>(strip, panel, (out, out_row), width),
                                (None, 2) => add_tile::<2>(strip, panel, (out, out_row), width),
                                (None, 3) => add_tile::<3>(strip, panel, (out, out_row), width),
                                (None, _) => add_tile::<ROWS>(strip, panel, (out, out_row), width),
                            }
                        }
                        rest = others;
                    }
                }
            }
        }
    }
}

/// `out += a b` for `a: [m, k]`, `b: [k, n]`; `out` is dense but for the distance of its rows.
pub fn add_product(_on: gemm::Parallelism, [m, k, n]: [usize; 3], (out, out_row): (&mut [f32], usize), a: Matrix, b: Matrix) {
    assert!((m - 1) * out_row + n <= out.len());
    // SAFETY: as asserted.
    unsafe { Weights::new(b, [k, n], 1).add_product_of(m, (out.as_mut_ptr(), out_row), a) };
}

/// The same in place of what `out` holds.
pub fn put_product(_on: gemm::Parallelism, [m, k, n]: [usize; 3], (out, out_row): (&mut Unwritten, usize), a: Matrix, b: Matrix) {
    assert!((m - 1) * out_row + n <= out.len());
    for row in 0..m {
        out[row * out_row..][..n].fill(MaybeUninit::new(0.0));
    }
    // SAFETY: as asserted, and all that is added to was written just now.
    unsafe { Weights::new(b, [k, n], 1).add_product_of(m, (out.as_mut_ptr().cast(), out_row), a) };
}

/// Rows in strips of at most four, as even as can be: first row and count.
fn strips(top: usize, rows: usize) -> Vec<(usize, usize)> {
    let count = rows.div_ceil(ROWS);
    let edge = |number: usize| top + number * rows / count;
    (0..count).map(|number| (edge(number), edge(number + 1) - edge(number))).collect()
}

/// Lays so many rows side by side, term by term.
fn take<const R: usize>(strip: &mut Vec<f32>, (a, [row, column]): Matrix, terms: usize) {
    let rows: [&[f32]; R] = std::array::from_fn(|at| &a[at * row..][..(terms - 1) * column + 1]);
    if column == 1 {
        (0..terms).for_each(|term| strip.extend(rows.map(|row| row[term])));
    } else {
        (0..terms).for_each(|term| strip.extend(rows.map(|row| row[term * column])));
    }
}

/// A strip of rows, term by term, times a panel.
///
/// # Safety
///
/// `out` has `R` rows of `width` values, `out_row` apart, which nobody else sees.
#[inline(never)]
unsafe fn add_tile<const R: usize>(strip: &[f32], panel: &[[f32; COLUMNS]], (out, out_row): (*mut f32, usize), width: usize) {
    let mut sums = [[0.0f32; COLUMNS]; R];
    for (a, b) in strip.as_chunks::<R>().0.iter().zip(panel) {
        for row in 0..R {
            for column in 0..COLUMNS {
                sums[row][column] += a[row] * b[column];
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        // SAFETY: a row of those.
        let out = unsafe { std::slice::from_raw_parts_mut(out.add(row * out_row), width) };
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::super::{ONE_CORE, gemm_products};
    use super::*;

    #[test]
    fn products_are_the_librarys_for_all_sizes_and_either_matrix_transposed() {
        let noise = |count: usize| (0..count).map(|index| (index * 7919 % 1009) as f32 / 504.5 - 1.0).collect::<Vec<f32>>();
        for [m, k, n] in [[1, 1, 1], [5, 3, 8], [4, 8, 7], [3, 257, 17], [70, 300, 40], [129, 10, 1]] {
            let (a, b) = (noise(m * k), noise(k * n));
            for a in [(&a[..], [k, 1]), (&a[..], [1, m])] {
                for b in [(&b[..], [n, 1]), (&b[..], [1, k])] {
                    let distance = n + 3;
                    let same = |ours: Vec<f32>, theirs: Vec<f32>| {
                        let worst = ours.iter().zip(&theirs).map(|(ours, theirs)| (ours - theirs).abs()).fold(0.0, f32::max);
                        assert!(worst < 1e-4, "{m} x {k} times {k} x {n}: {worst:e}");
                    };
                    let added = [add_product, gemm_products::add_product].map(|add_product| {
                        let mut out = noise(m * distance);
                        add_product(ONE_CORE, [m, k, n], (&mut out, distance), a, b);
                        out
                    });
                    let put = [put_product, gemm_products::put_product].map(|put_product| {
                        let mut out = noise(m * distance).into_iter().map(MaybeUninit::new).collect::<Vec<_>>();
                        put_product(ONE_CORE, [m, k, n], (&mut out, distance), a, b);
                        // SAFETY: all of it was written from the start.
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
    fn a_tile_of_the_browsers_own_takes_whole_panels() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        unsafe extern "C" fn tile(rows: usize, strip: *const f32, panel: *const f32, terms: usize, out: *mut f32, out_row: usize) {
            CALLS.fetch_add(1, Relaxed);
            for (row, column) in (0..rows).flat_map(|row| (0..COLUMNS).map(move |column| (row, column))) {
                // SAFETY: it is called as `Tile` says.
                unsafe { *out.add(row * out_row + column) += (0..terms).map(|k| *strip.add(k * rows + row) * *panel.add(k * COLUMNS + column)).sum::<f32>() };
            }
        }
        // SAFETY: this one is slow, and does nothing but what it should.
        unsafe { use_tile(tile) };
        let (a, b) = (vec![0.5; 6 * 300], vec![2.0; 300 * 20]);
        let mut out = vec![1.0; 6 * 20];
        add_product(ONE_CORE, [6, 300, 20], (&mut out, 20), (&a, [300, 1]), (&b, [20, 1]));
        assert_eq!(out, vec![301.0; 6 * 20]);
        assert!(CALLS.load(Relaxed) >= 8, "two strips, two whole panels and two blocks of terms; of the last panel only half is wanted");
    }

    #[test]
    fn rows_may_overlap_and_weights_are_cut_once() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0]);
        let weights = Weights::new((&b, [1, 1]), [2, 1], 2);
        let mut out = [0.0; 3];
        weights.add_product(0, 3, (&mut out, 1), (&a, 1));
        assert_eq!(out, [21.0, 32.0, 43.0]);
        weights.add_product(0, 3, (&mut out, 1), (&a, 1));
        assert_eq!(out, [42.0, 64.0, 86.0]);
    }
}
