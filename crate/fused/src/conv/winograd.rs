//! Convolutions of five taps on the CPU with two fifths of the multiplications: minimal filtering over time, F(4, 5) (Winograd 1980; Lavin & Gray 2016,
//! "Fast Algorithms for Convolutional Neural Networks").
//!
//! A tile of eight input frames and the five taps are transformed to the values of polynomials at eight points. Eight matmuls, one for each point, take the
//! place of the twenty of four output frames; the transposed transform maps the products to frames. Gradients take the same way in reverse.

use std::array::from_fn;

use crate::flex::{Matrix, ONE_CORE, Unwritten, cores, for_each, matmul_into, written};

const TAPS: usize = 5;
/// The output frames of a tile, and its input frames, which are as many as there are points.
const MADE: usize = 4;
pub const READ: usize = MADE + TAPS - 1;
/// The points besides 0 and infinity, each with its negative. Small numbers and their inverses keep rounding errors small.
const PAIRS: [f64; 3] = [1.0, 0.5, 2.0];
/// The factors at 0, at infinity and at the positive points. At a negative point, odd powers change their sign.
type Transform<const N: usize> = [[f32; N]; 2 + PAIRS.len()];

/// The channels computed at a time: a register of AVX-512, or of WebAssembly.
const LANES: usize = if cfg!(target_arch = "wasm32") { 4 } else { 16 };
type Lanes = [f32; LANES];

/// The sizes of a signal `[B, T, C]` without its channels.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub batch: usize,
    pub steps: usize,
}

/// Returns whether this method is used: the channels must be whole registers, and enough of them that the products saved outweigh the transforms.
pub fn fits(taps: usize, inputs: usize, outputs: usize) -> bool {
    taps == TAPS && inputs.is_multiple_of(LANES) && outputs.is_multiple_of(LANES) && inputs.min(outputs) >= 32
}

/// Returns the factors that evaluate a polynomial of N coefficients.
const fn powers<const N: usize>() -> Transform<N> {
    let mut matrix = [[0.0; N]; 2 + PAIRS.len()];
    (matrix[0][0], matrix[1][N - 1]) = (1.0, 1.0);
    let mut pair = 0;
    while pair < PAIRS.len() {
        let (mut power, mut at) = (1.0, 0);
        while at < N {
            matrix[2 + pair][at] = power as f32;
            (power, at) = (power * PAIRS[pair], at + 1);
        }
        pair += 1;
    }
    matrix
}

/// Returns the numerators and denominators of the Lagrange polynomials, each of which is zero at all points but one.
const fn lagrange() -> (Transform<READ>, [f32; 2 + PAIRS.len()]) {
    // x (x² - 1) (x² - 1/4) (x² - 4), which is zero at all finite points: the polynomial of infinity.
    let mut all = [0.0; READ];
    all[1] = 1.0;
    let mut pair = 0;
    while pair < PAIRS.len() {
        let mut at = READ - 1;
        while at > 0 {
            all[at] = (if at >= 2 { all[at - 2] } else { 0.0 }) - PAIRS[pair] * PAIRS[pair] * all[at];
            at -= 1;
        }
        pair += 1;
    }
    let (mut matrix, mut denominators) = ([[0.0; READ]; 2 + PAIRS.len()], [1.0; 2 + PAIRS.len()]);
    let mut row = 0;
    while row < 2 + PAIRS.len() {
        let place = match row {
            0 => 0.0,
            1 => f64::INFINITY,
            row => PAIRS[row - 2],
        };
        // Divides by (x - place) from the highest power down, and evaluates the quotient there by Horner's rule.
        let (mut carried, mut value, mut at) = (0.0, 0.0, READ - 1);
        while row != 1 && at > 0 {
            carried = all[at] + place * carried;
            value = value * place + carried;
            matrix[row][at - 1] = carried as f32;
            at -= 1;
        }
        if row == 1 {
            while at > 0 {
                matrix[row][at] = all[at] as f32;
                at -= 1;
            }
            value = 1.0;
        }
        denominators[row] = value as f32;
        row += 1;
    }
    (matrix, denominators)
}

const LAGRANGE: Transform<READ> = lagrange().0;
const OUTPUTS: Transform<MADE> = powers();
/// The transform of the taps, which includes the denominators.
const KERNEL_TRANSFORM: Transform<TAPS> = {
    let (mut matrix, denominators) = (powers(), lagrange().1);
    let mut at = 0;
    while at < matrix.len() * TAPS {
        matrix[at / TAPS][at % TAPS] /= denominators[at / TAPS];
        at += 1;
    }
    matrix
};

/// Evaluates the polynomial whose coefficients are `N` rows of C channels at all points, and writes all values, `[8, C]`.
#[inline(always)]
fn evaluate<const N: usize>(matrix: &Transform<N>, rows: [&[f32]; N], places: &mut Unwritten) {
    let channels = rows[0].len();
    for channel in (0..channels).step_by(LANES) {
        let values: [&Lanes; N] = rows.map(|row| row[channel..].first_chunk().expect("whole registers"));
        let mut put = |place: usize, values: Lanes| {
            places[place * channels + channel..][..LANES].write_copy_of_slice(&values);
        };
        for (place, factors) in matrix.iter().enumerate() {
            let mut sums = [[0.0; LANES]; 2]; // even and odd powers
            for (power, value) in values.iter().enumerate() {
                (0..LANES).for_each(|lane| sums[power % 2][lane] += factors[power] * value[lane]);
            }
            let [even, odd] = sums;
            if place < 2 {
                put(place, from_fn(|lane| even[lane] + odd[lane]));
            } else {
                put(2 * place - 2, from_fn(|lane| even[lane] + odd[lane]));
                put(2 * place - 1, from_fn(|lane| even[lane] - odd[lane]));
            }
        }
    }
}

/// Computes the transpose of [`evaluate`] and adds it to `rows` of `out`. `None` drops a row.
#[inline(always)]
fn collect<const N: usize>(matrix: &Transform<N>, places: &[f32], out: &mut [f32], rows: [Option<usize>; N]) {
    let channels = places.len() / READ;
    for channel in (0..channels).step_by(LANES) {
        let at: [&Lanes; READ] =
            from_fn(|place| places[place * channels + channel..].first_chunk().expect("whole registers"));
        let sums: [[Lanes; PAIRS.len()]; 2] = [1.0, -1.0].map(|sign| {
            from_fn(|pair| from_fn(|lane| at[2 * pair + 2][lane] + sign * at[2 * pair + 3][lane]))
        });
        for (power, row) in rows.into_iter().enumerate() {
            let Some(row) = row else { continue };
            let out = &mut out[row * channels + channel..][..LANES];
            for lane in 0..LANES {
                let mut sum = matrix[0][power] * at[0][lane] + matrix[1][power] * at[1][lane];
                (0..PAIRS.len())
                    .for_each(|pair| sum += matrix[2 + pair][power] * sums[power % 2][pair][lane]);
                out[lane] += sum;
            }
        }
    }
}

impl Sizes {
    /// Returns the number of tiles of an item.
    fn tiles(self) -> usize {
        self.steps.div_ceil(MADE)
    }

    /// Returns the frames of a tile, beginning `before` frames before its first output frame. A frame outside the item is `None`.
    fn frames<const N: usize>(self, tile: usize, before: usize) -> [Option<usize>; N] {
        from_fn(|at| (tile * MADE + at).checked_sub(before).filter(|&frame| frame < self.steps))
    }
}

/// Returns the number of rows of each core.
fn share(rows: usize) -> usize {
    rows.div_ceil(cores())
}

/// Evaluates the tiles of a signal `[B, T, C]`, `N` frames every four, at all points: `[B T / 4, 8, C]`. Frames outside an item are zero.
fn evaluate_signal<const N: usize>(
    matrix: &Transform<N>,
    signal: &[f32],
    sizes: Sizes,
    channels: usize,
    before: usize,
) -> Vec<f32> {
    let (row, share) = (READ * channels, share(sizes.batch * sizes.tiles()));
    let nothing = vec![0.0; channels];
    let write = |number: usize, places: &mut Unwritten| {
        pulp::Arch::new().dispatch(|| {
            for (tile, places) in places.chunks_exact_mut(row).enumerate() {
                let (item, tile) =
                    ((number * share + tile) / sizes.tiles(), (number * share + tile) % sizes.tiles());
                let frame = |frame| &signal[(item * sizes.steps + frame) * channels..][..channels];
                evaluate(matrix, sizes.frames(tile, before).map(|at| at.map_or(&nothing[..], frame)), places);
            }
        });
    };
    // SAFETY: `write` evaluates every tile of a share.
    unsafe { written(sizes.batch * sizes.tiles() * row, share * row, write) }
}

/// Computes the transpose of [`evaluate_signal`].
fn collect_signal<const N: usize>(
    matrix: &Transform<N>,
    places: &[f32],
    sizes: Sizes,
    channels: usize,
    before: usize,
) -> Vec<f32> {
    let mut signal = vec![0.0; sizes.batch * sizes.steps * channels];
    let items = signal
        .chunks_exact_mut(sizes.steps * channels)
        .zip(places.chunks_exact(sizes.tiles() * READ * channels));
    for_each(items.collect(), |(signal, places): (&mut [f32], &[f32])| {
        pulp::Arch::new().dispatch(|| {
            for (tile, places) in places.chunks_exact(READ * channels).enumerate() {
                collect(matrix, places, signal, sizes.frames(tile, before));
            }
        });
    });
    signal
}

/// Evaluates a weight `[5 Cin, Cout]` at all points: `[Cin, 8, Cout]`.
fn evaluate_weight(weight: &[f32], outputs: usize) -> Vec<f32> {
    let (row, inputs) = (READ * outputs, weight.len() / (TAPS * outputs));
    let share = share(inputs);
    let write = |number: usize, places: &mut Unwritten| {
        pulp::Arch::new().dispatch(|| {
            for (input, places) in places.chunks_exact_mut(row).enumerate() {
                let input = number * share + input;
                evaluate(
                    &KERNEL_TRANSFORM,
                    from_fn(|tap| &weight[(tap * inputs + input) * outputs..][..outputs]),
                    places,
                );
            }
        });
    };
    // SAFETY: `write` evaluates every input of a share.
    unsafe { written(inputs * row, share * row, write) }
}

/// Multiplies matrices at each point: `[M, 8, N]`. `places` are the strides from point to point in both operands.
fn matmuls([m, k, n]: [usize; 3], a: Matrix, b: Matrix, places: [usize; 2]) -> Vec<f32> {
    let share = share(m);
    let write = |number: usize, made: &mut Unwritten| {
        let rows = made.len() / (READ * n);
        for place in 0..READ {
            let a = a.from(number * share * a.strides[0] + place * places[0]);
            matmul_into(
                ONE_CORE,
                [rows, k, n],
                (&mut made[place * n..], READ * n),
                a,
                b.from(place * places[1]),
            );
        }
    };
    // SAFETY: the products of all points fill each share.
    unsafe { written(m * READ * n, share * READ * n, write) }
}

/// Transforms an input `[B, T, Cin]` for [`convolve`] and [`backward_weight`]: `[tiles, 8, Cin]`.
pub fn tiles(input: &[f32], sizes: Sizes, inputs: usize) -> Vec<f32> {
    evaluate_signal(&LAGRANGE, input, sizes, inputs, TAPS / 2)
}

/// Convolves a transformed input with a weight `[5 Cin, Cout]` to `[B, T, Cout]`.
pub fn convolve(tiles: &[f32], weight: &[f32], sizes: Sizes, inputs: usize) -> Vec<f32> {
    let (rows, outputs) = (tiles.len() / (READ * inputs), weight.len() / (TAPS * inputs));
    let weight = evaluate_weight(weight, outputs);
    let made = matmuls(
        [rows, inputs, outputs],
        Matrix::row_major(tiles, READ * inputs),
        Matrix::row_major(&weight, READ * outputs),
        [inputs, outputs],
    );
    collect_signal(&OUTPUTS, &made, sizes, outputs, 0)
}

/// Returns the gradient of the input, `[B, T, Cin]`.
pub fn backward_input(grad: &[f32], weight: &[f32], sizes: Sizes, outputs: usize) -> Vec<f32> {
    let inputs = weight.len() / (TAPS * outputs);
    let (grads, weight) =
        (evaluate_signal(&OUTPUTS, grad, sizes, outputs, 0), evaluate_weight(weight, outputs));
    let rows = grads.len() / (READ * outputs);
    let made = matmuls(
        [rows, outputs, inputs],
        Matrix::row_major(&grads, READ * outputs),
        Matrix::column_major(&weight, READ * outputs),
        [outputs, outputs],
    );
    collect_signal(&LAGRANGE, &made, sizes, inputs, TAPS / 2)
}

/// Returns the gradient of the weight, `[5 Cin, Cout]`.
pub fn backward_weight(grad: &[f32], tiles: &[f32], sizes: Sizes, [inputs, outputs]: [usize; 2]) -> Vec<f32> {
    let grads = evaluate_signal(&OUTPUTS, grad, sizes, outputs, 0);
    let rows = grads.len() / (READ * outputs);
    let made = matmuls(
        [inputs, rows, outputs],
        Matrix::column_major(tiles, READ * inputs),
        Matrix::row_major(&grads, READ * outputs),
        [inputs, outputs],
    );
    let mut weight = vec![0.0; TAPS * inputs * outputs];
    pulp::Arch::new().dispatch(|| {
        for (input, places) in made.chunks_exact(READ * outputs).enumerate() {
            collect(&KERNEL_TRANSFORM, places, &mut weight, from_fn(|tap| Some(tap * inputs + input)));
        }
    });
    weight
}
