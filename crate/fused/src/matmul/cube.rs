//! Matrix products on GPUs: a workgroup computes a square tile of the result and a thread 8 by 8 values of it, from tiles of both operands in shared memory.
//!
//! An operand can be the windows of a convolution, which are read from the signal without being materialised. burn's matmul is autotuned over many kernels, which
//! takes too long for a browser; the kernel that it uses without autotuning has a tenth of this one's speed on SwiftShader.

#[cfg(not(target_family = "wasm"))]
use burn::backend::ops::FloatTensorOps;
use burn::backend::{DType, TensorMetadata, tensor::FloatTensor};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    tensor::CubeTensor,
};
use half::f16;

use super::ops::MatmulOps;
use crate::cube::{Four, empty_of, input, output};

/// The rows and columns of the result that a workgroup computes.
const TILE: usize = 64;
/// The terms of each sum that are in shared memory at a time.
const DEPTH: usize = 16;
/// The [`Four`]s of a term of a tile in shared memory.
const FOURS: usize = TILE / 4;
/// The stride of the terms of a tile, padded so that threads that store the terms of one row use different banks.
const PITCH: usize = FOURS + 1;
/// The [`Four`]s of rows that a thread computes, and those of columns.
const EACH: usize = 2;
/// The threads along rows, and along columns. It is also the stride of a thread's fours, so that neighbouring threads read and write neighbouring values.
const ALONG: usize = FOURS / EACH;
const THREADS: usize = ALONG * ALONG;
/// The unrolling of the loop over the terms.
const AHEAD: usize = 4;

/// The memory layout of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lies {
    /// Row-major.
    Rows,
    /// Column-major.
    Columns,
    /// The windows of a signal `[B, T, C]`: a row is a step with half a kernel of neighbours on both sides, zero outside the item.
    Windows,
    /// The transpose of [`Self::Windows`].
    WindowsAcross,
    /// The weight of a convolution `[K Cin, Cout]` as that of its backward pass, `[K Cout, Cin]` with the taps in reverse order.
    TapsBack,
}

impl Lies {
    /// Returns whether the values of a column are contiguous.
    fn down(self) -> bool {
        matches!(self, Self::Columns | Self::WindowsAcross | Self::TapsBack)
    }
}

/// A matrix in a buffer, with its layout.
pub struct Operand {
    tensor: CubeTensor,
    lies: Lies,
    /// The values of a row, of a column or of a step; for a weight, its inputs.
    width: usize,
    /// The steps of an item; for a weight, its taps.
    steps: usize,
    /// The values of the neighbours before a step; for a weight, its outputs.
    shift: usize,
}

impl Operand {
    /// Returns a matrix as an operand. It is copied only if it is neither row-major nor column-major.
    pub fn matrix(tensor: CubeTensor) -> Self {
        let [rows, columns] = tensor.shape().dims::<2>();
        let transposed = tensor.meta.strides().iter().eq(&[1, rows]) && columns > 1;
        let (lies, width) = if transposed { (Lies::Columns, rows) } else { (Lies::Rows, columns) };
        Self { tensor, lies, width, steps: 1, shift: 1 }
    }

    pub fn windows(signal: CubeTensor, taps: usize) -> Self {
        let [_, steps, width] = signal.shape().dims::<3>();
        Self { tensor: signal, lies: Lies::Windows, width, steps, shift: taps / 2 * width }
    }

    pub fn windows_across(signal: CubeTensor, taps: usize) -> Self {
        Self { lies: Lies::WindowsAcross, ..Self::windows(signal, taps) }
    }

    pub fn taps_back(weight: CubeTensor, taps: usize) -> Self {
        let [width, shift] = weight.shape().dims::<2>();
        Self { tensor: weight, lies: Lies::TapsBack, width: width / taps, steps: taps, shift }
    }

    fn arg(self) -> BufferArg {
        if self.lies == Lies::Columns { self.tensor.into_buffer_arg() } else { input(self.tensor) }
    }
}

/// Returns a value of an operand, zero outside of it.
#[cube]
#[allow(clippy::too_many_arguments)]
fn value<W: Float>(
    values: &[W],
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
    width: usize,
    steps: usize,
    shift: usize,
    #[comptime] lies: Lies,
) -> f32 {
    let mut inside = row < rows && column < columns;
    let place = match comptime!(lies) {
        Lies::Rows => row * width + column,
        Lies::Columns => column * width + row,
        Lies::Windows => {
            let at = (row % steps) * width + column;
            inside = inside && at >= shift && at < steps * width + shift;
            row * width + column - shift
        }
        Lies::WindowsAcross => {
            let at = (column % steps) * width + row;
            inside = inside && at >= shift && at < steps * width + shift;
            column * width + row - shift
        }
        Lies::TapsBack => ((steps - 1 - row / shift) * width + column) * shift + row % shift,
    };
    let mut value = 0.0f32;
    if inside {
        value = f32::cast_from(values[place]);
    }
    value
}

/// Computes a tile of the result in each workgroup.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn matmul_kernel<W: Float>(
    a: &[W],
    b: &[W],
    out: &mut [W],
    rows: u32,
    terms: u32,
    columns: u32,
    a_width: u32,
    a_steps: u32,
    a_shift: u32,
    b_width: u32,
    b_steps: u32,
    b_shift: u32,
    #[comptime] a_lies: Lies,
    #[comptime] b_lies: Lies,
) {
    let (rows, terms, columns) = (rows as usize, terms as usize, columns as usize);
    let (a_width, a_steps, a_shift) = (a_width as usize, a_steps as usize, a_shift as usize);
    let (b_width, b_steps, b_shift) = (b_width as usize, b_steps as usize, b_shift as usize);
    let place = UNIT_POS_X as usize;
    let (down, across) = (place / ALONG, place % ALONG);
    let (first_row, first_column) = (CUBE_POS_Y as usize * TILE, CUBE_POS_X as usize * TILE);
    let mut left = Shared::<[Four]>::new_slice(comptime!(DEPTH * PITCH));
    let mut right = Shared::<[Four]>::new_slice(comptime!(DEPTH * PITCH));
    let mut sums = Array::<Four>::new(comptime!(4 * EACH * EACH));
    #[unroll]
    for at in 0..comptime!(4 * EACH * EACH) {
        sums[at] = Four::new(0.0f32);
    }

    let mut from = 0usize.runtime();
    while from < terms {
        #[unroll]
        for share in 0..comptime!(FOURS * DEPTH / THREADS) {
            let at = place + comptime!(share * THREADS);
            // Neighbouring threads read neighbouring values.
            let (four, term) =
                if comptime!(a_lies.down()) { (at % FOURS, at / FOURS) } else { (at / DEPTH, at % DEPTH) };
            let mut loaded = Four::new(0.0f32);
            #[unroll]
            for i in 0..4usize {
                loaded.insert(
                    i,
                    value::<W>(
                        a,
                        first_row + 4 * four + i,
                        from + term,
                        rows,
                        terms,
                        a_width,
                        a_steps,
                        a_shift,
                        a_lies,
                    ),
                );
            }
            left[term * PITCH + four] = loaded;
            let (four, term) =
                if comptime!(b_lies.down()) { (at / DEPTH, at % DEPTH) } else { (at % FOURS, at / FOURS) };
            let mut loaded = Four::new(0.0f32);
            #[unroll]
            for i in 0..4usize {
                loaded.insert(
                    i,
                    value::<W>(
                        b,
                        from + term,
                        first_column + 4 * four + i,
                        terms,
                        columns,
                        b_width,
                        b_steps,
                        b_shift,
                        b_lies,
                    ),
                );
            }
            right[term * PITCH + four] = loaded;
        }
        sync_cube();
        for block in 0..comptime!(DEPTH / AHEAD) {
            #[unroll]
            for near in 0..AHEAD {
                let term = (block * AHEAD + near) * PITCH;
                #[unroll]
                for i in 0..EACH {
                    let of_rows = left[term + down + comptime!(i * ALONG)];
                    #[unroll]
                    for j in 0..EACH {
                        let of_columns = right[term + across + comptime!(j * ALONG)];
                        #[unroll]
                        for r in 0..4usize {
                            sums[comptime!((i * EACH + j) * 4 + r)] +=
                                Four::new(of_rows.extract(r)) * of_columns;
                        }
                    }
                }
            }
        }
        sync_cube();
        from += DEPTH;
    }

    #[unroll]
    for i in 0..EACH {
        #[unroll]
        for r in 0..4usize {
            let row = first_row + 4 * (down + comptime!(i * ALONG)) + r;
            #[unroll]
            for j in 0..EACH {
                let column = first_column + 4 * (across + comptime!(j * ALONG));
                #[unroll]
                for c in 0..4usize {
                    if row < rows && column + c < columns {
                        out[row * columns + column + c] =
                            W::cast_from(sums[comptime!((i * EACH + j) * 4 + r)].extract(c));
                    }
                }
            }
        }
    }
}

/// Multiplies `[rows, terms]` by `[terms, columns]`. Operands and result are all in f32 or all in f16.
pub fn matmul([rows, terms, columns]: [usize; 3], a: Operand, b: Operand) -> CubeTensor {
    let dtype = a.tensor.dtype;
    let made = empty_of(&a.tensor, [rows, columns], dtype);
    let client = a.tensor.client.clone();
    let cubes = CubeCount::Static(columns.div_ceil(TILE) as u32, rows.div_ceil(TILE) as u32, 1);
    let [a_places, b_places] =
        [&a, &b].map(|operand| [operand.width as u32, operand.steps as u32, operand.shift as u32]);
    let (a_lies, b_lies) = (a.lies, b.lies);
    // SAFETY: the kernel reads and writes only inside the operands and the result.
    unsafe {
        let launch = if dtype == DType::F16 {
            matmul_kernel::launch_unchecked::<f16>
        } else {
            matmul_kernel::launch_unchecked::<f32>
        };
        launch(
            &client,
            cubes,
            CubeDim::new_1d(THREADS as u32),
            a.arg(),
            b.arg(),
            output(&made),
            rows as u32,
            terms as u32,
            columns as u32,
            a_places[0],
            a_places[1],
            a_places[2],
            b_places[0],
            b_places[1],
            b_places[2],
            a_lies,
            b_lies,
        );
    }
    made
}

/// Returns whether a device has matrix units, which burn's matmul uses. WebGPU has none, and burn's matmul, a fifth of the WebAssembly, is left out there.
pub fn has_units(tensor: &CubeTensor) -> bool {
    cfg!(not(target_family = "wasm")) && !tensor.client.features().matmul.cmma.is_empty()
}

/// Multiplies with burn's matmul, or with ours in WebAssembly.
pub fn burns_own(a: CubeTensor, b: CubeTensor) -> CubeTensor {
    #[cfg(target_family = "wasm")]
    return CubeBackend::matmul(a, b);
    #[cfg(not(target_family = "wasm"))]
    CubeBackend::float_matmul(a, b)
}

impl MatmulOps for CubeBackend {
    fn matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        if has_units(&a) {
            return burns_own(a, b);
        }
        let ([rows, terms], [_, columns]) = (a.shape().dims::<2>(), b.shape().dims::<2>());
        matmul([rows, terms, columns], Operand::matrix(a), Operand::matrix(b))
    }

    fn plain_matmul(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        burns_own(a, b)
    }
}
