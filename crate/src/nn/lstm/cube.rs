//! The fused scan on GPUs: the whole sequence in one launch, forward and backward, from one source for WebGPU, Vulkan, Metal and CUDA.
//!
//! A workgroup owns a few batch items and all their hidden units, so that no step needs another workgroup and none is a dispatch of
//! its own: a dispatch costs a browser 24 to 71 us, and a step of `small` reads 2.4 MB of weights, some 25 us from one core's cache.
//! Threads lie along the units: what they read of the weights is contiguous, each weight is read once for all items of the workgroup,
//! and the state stands in shared memory.

use burn::backend::{DType, TensorMetadata, ops::FloatTensorOps, tensor::FloatTensor};
use burn::tensor::{FloatDType, Shape};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    tensor::CubeTensor,
};

use half::f16;

use super::{LstmOps, Scan, WIDEST_ON_GPUS};
use crate::nn::cube::{THREADS, empty, empty_of, input, output, sigmoid, tanh};

/// `f32`s that a workgroup shares.
const SHARED: usize = 4 * WIDEST_ON_GPUS;
/// Sums that a thread keeps in registers, in gates of four.
const SUMS: usize = 8;

/// How a scan lies on the device.
struct Plan {
    steps: usize,
    batch: usize,
    hidden: usize,
    /// Units of a thread, `threads` apart.
    units: usize,
    threads: usize,
}

impl Plan {
    fn of(gates: &CubeTensor) -> Self {
        let [steps, batch, width] = gates.shape().dims::<3>();
        let hidden = width / 4;
        let units = hidden.div_ceil(THREADS);
        Self { steps, batch, hidden, units, threads: hidden.div_ceil(units).next_multiple_of(32) }
    }

    /// Items of a workgroup: at most `wanted`, as many as registers and shared memory hold. `width` values of each are shared.
    fn tile(&self, wanted: usize, width: usize) -> usize {
        let held = wanted.min(SUMS / self.units).min(SHARED / width).max(1);
        held.min(self.batch)
    }

    /// Weights that are read before the first of them is used.
    fn ahead(count: usize) -> usize {
        [4, 2].into_iter().find(|ahead| count.is_multiple_of(*ahead)).unwrap_or(1)
    }

    fn cubes(&self, tile: usize) -> CubeCount {
        CubeCount::Static(self.batch.div_ceil(tile) as u32, 1, 1)
    }

    fn dim(&self) -> CubeDim {
        CubeDim::new_1d(self.threads as u32)
    }
}

/// Past an item's length the state goes on unchanged, and the gates say so: keep the cell, take nothing in, put nothing out.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn forward_kernel<W: Float>(
    projected: &[f32],               // [T, B, 4H]
    w_hh: &[W],                      // [H, 4H]
    initial: &[f32],                 // [B, 2H]
    lengths: ComptimeOption<&[u32]>, // [B]
    states: &mut [f32],              // [T, B, 2H]
    gates: &mut [W],                 // [T, B, 4H]
    steps: u32,
    batch: u32,
    #[comptime] hidden: usize,
    #[comptime] tile: usize,
    #[comptime] units: usize,
    #[comptime] threads: usize,
    #[comptime] ahead: usize,
    #[comptime] reverse: bool,
) {
    let steps = steps as usize;
    let batch = batch as usize;
    let first_unit = UNIT_POS_X as usize;
    let first_item = CUBE_POS_X as usize * tile;
    let mut shared = Shared::<[f32]>::new_slice(comptime!(tile * hidden));
    let mut cells = Array::<f32>::new(comptime!(tile * units));
    let mut valid = Array::<u32>::new(tile);
    let mut sums = Array::<f32>::new(comptime!(4 * tile * units));
    let mut hiddens = Array::<f32>::new(tile);

    #[unroll]
    for b in 0..tile {
        // Threads and items past the end compute what the last ones do, and write nothing.
        let item = min(first_item + b, batch - 1);
        #[comptime]
        let length = match &lengths {
            ComptimeOption::Some(lengths) => lengths[item],
            ComptimeOption::None => u32::cast_from(steps),
        };
        valid[b] = length;
        #[unroll]
        for u in 0..units {
            let unit = first_unit + comptime!(u * threads);
            let column = item * comptime!(2 * hidden) + min(unit, comptime!(hidden - 1));
            cells[comptime!(b * units + u)] = initial[column + hidden];
            if unit < hidden {
                shared[comptime!(b * hidden) + unit] = initial[column];
            }
        }
    }
    sync_cube();

    for index in 0..steps {
        let step = if comptime!(reverse) { steps - 1 - index } else { index };
        #[unroll]
        for b in 0..tile {
            let row = (step * batch + min(first_item + b, batch - 1)) * comptime!(4 * hidden);
            #[unroll]
            for u in 0..units {
                let column = row + min(first_unit + comptime!(u * threads), comptime!(hidden - 1));
                #[unroll]
                for gate in 0..4usize {
                    sums[comptime!((b * units + u) * 4 + gate)] = projected[column + comptime!(gate * hidden)];
                }
            }
        }
        for block in 0..comptime!(hidden / ahead) {
            #[unroll]
            for near in 0..ahead {
                let k = block * ahead + near;
                #[unroll]
                for b in 0..tile {
                    hiddens[b] = shared[comptime!(b * hidden) + k];
                }
                #[unroll]
                for u in 0..units {
                    let column = k * comptime!(4 * hidden) + min(first_unit + comptime!(u * threads), comptime!(hidden - 1));
                    #[unroll]
                    for gate in 0..4usize {
                        let weight = f32::cast_from(w_hh[column + comptime!(gate * hidden)]);
                        #[unroll]
                        for b in 0..tile {
                            sums[comptime!((b * units + u) * 4 + gate)] += hiddens[b] * weight;
                        }
                    }
                }
            }
        }
        sync_cube(); // Everyone has read the old state.
        #[unroll]
        for b in 0..tile {
            let row = step * batch + first_item + b;
            #[unroll]
            for u in 0..units {
                let unit = first_unit + comptime!(u * threads);
                if unit < hidden && first_item + b < batch {
                    let at = comptime!(b * units + u);
                    let mut input = 0.0f32;
                    let mut forget = 1.0f32;
                    let mut candidate = 0.0f32;
                    let mut output = 0.0f32;
                    let mut new_cell = cells[at];
                    let mut new_hidden = shared[comptime!(b * hidden) + unit];
                    if step < valid[b] as usize {
                        input = sigmoid(sums[comptime!(at * 4)]);
                        forget = sigmoid(sums[comptime!(at * 4 + 1)]);
                        candidate = tanh(sums[comptime!(at * 4 + 2)]);
                        output = sigmoid(sums[comptime!(at * 4 + 3)]);
                        new_cell = forget * new_cell + input * candidate;
                        new_hidden = output * tanh(new_cell);
                    }
                    cells[at] = new_cell;
                    shared[comptime!(b * hidden) + unit] = new_hidden;
                    let gate_column = row * comptime!(4 * hidden) + unit;
                    gates[gate_column] = W::cast_from(input);
                    gates[gate_column + hidden] = W::cast_from(forget);
                    gates[gate_column + comptime!(2 * hidden)] = W::cast_from(candidate);
                    gates[gate_column + comptime!(3 * hidden)] = W::cast_from(output);
                    let state_column = row * comptime!(2 * hidden) + unit;
                    states[state_column] = new_hidden;
                    states[state_column + hidden] = new_cell;
                }
            }
        }
        sync_cube();
    }
}

/// From the last step that ran to the first. The gates' gradients of a step stand in shared memory while they meet the weights.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn backward_kernel<W: Float>(
    grad: &[f32],             // [T, B, 2H]
    states: &[f32],           // [T, B, 2H]
    gates: &[W],              // [T, B, 4H]
    w_hh_transposed: &[W],    // [4H, H]
    initial: &[f32],          // [B, 2H]
    grad_gates: &mut [f32],   // [T, B, 4H]
    grad_initial: &mut [f32], // [B, 2H]
    previous: &mut [f32],     // [T, B, H]: the hidden state that each step saw
    steps: u32,
    batch: u32,
    #[comptime] hidden: usize,
    #[comptime] tile: usize,
    #[comptime] units: usize,
    #[comptime] threads: usize,
    #[comptime] reverse: bool,
) {
    let steps = steps as usize;
    let batch = batch as usize;
    let first_unit = UNIT_POS_X as usize;
    let first_item = CUBE_POS_X as usize * tile;
    let mut shared = Shared::<[f32]>::new_slice(comptime!(4 * tile * hidden));
    let mut d_hiddens = Array::<f32>::new(comptime!(tile * units));
    let mut d_cells = Array::<f32>::new(comptime!(tile * units));
    let mut d_gates = Array::<f32>::new(tile);
    #[unroll]
    for at in 0..comptime!(tile * units) {
        d_hiddens[at] = 0.0f32;
        d_cells[at] = 0.0f32;
    }

    for index in 0..steps {
        let step = if comptime!(reverse) { index } else { steps - 1 - index };
        #[unroll]
        for b in 0..tile {
            let item = min(first_item + b, batch - 1);
            let row = step * batch + item;
            #[unroll]
            for u in 0..units {
                let unit = first_unit + comptime!(u * threads);
                let column = min(unit, comptime!(hidden - 1));
                let at = comptime!(b * units + u);
                let state_column = row * comptime!(2 * hidden) + column;
                let gate_column = row * comptime!(4 * hidden) + column;
                let start = item * comptime!(2 * hidden) + column;
                let mut old_hidden = initial[start];
                let mut old_cell = initial[start + hidden];
                if index + 1 < steps {
                    let before = if comptime!(reverse) { row + batch } else { row - batch };
                    let before = before * comptime!(2 * hidden) + column;
                    old_hidden = states[before];
                    old_cell = states[before + hidden];
                }
                let input = f32::cast_from(gates[gate_column]);
                let forget = f32::cast_from(gates[gate_column + hidden]);
                let candidate = f32::cast_from(gates[gate_column + comptime!(2 * hidden)]);
                let output = f32::cast_from(gates[gate_column + comptime!(3 * hidden)]);
                let squashed = tanh(states[state_column + hidden]);
                let d_hidden = d_hiddens[at] + grad[state_column];
                let d_cell = d_cells[at] + grad[state_column + hidden] + d_hidden * output * (1.0f32 - squashed * squashed);
                let d_input = d_cell * candidate * input * (1.0f32 - input);
                let d_forget = d_cell * old_cell * forget * (1.0f32 - forget);
                let d_candidate = d_cell * input * (1.0f32 - candidate * candidate);
                let d_output = d_hidden * squashed * output * (1.0f32 - output);
                d_cells[at] = d_cell * forget;
                // A frozen step hands the hidden state's gradient on; any other makes it anew below.
                d_hiddens[at] = select(output == 0.0f32, d_hidden, 0.0f32);
                if unit < hidden {
                    let place = comptime!(4 * b * hidden) + unit;
                    shared[place] = d_input;
                    shared[place + hidden] = d_forget;
                    shared[place + comptime!(2 * hidden)] = d_candidate;
                    shared[place + comptime!(3 * hidden)] = d_output;
                    if first_item + b < batch {
                        grad_gates[gate_column] = d_input;
                        grad_gates[gate_column + hidden] = d_forget;
                        grad_gates[gate_column + comptime!(2 * hidden)] = d_candidate;
                        grad_gates[gate_column + comptime!(3 * hidden)] = d_output;
                        previous[row * hidden + column] = old_hidden;
                    }
                }
            }
        }
        sync_cube();
        for block in 0..hidden {
            #[unroll]
            for near in 0..4usize {
                let n = block * 4 + near;
                #[unroll]
                for b in 0..tile {
                    d_gates[b] = shared[comptime!(4 * b * hidden) + n];
                }
                #[unroll]
                for u in 0..units {
                    let weight = f32::cast_from(w_hh_transposed[n * hidden + min(first_unit + comptime!(u * threads), comptime!(hidden - 1))]);
                    #[unroll]
                    for b in 0..tile {
                        d_hiddens[comptime!(b * units + u)] += d_gates[b] * weight;
                    }
                }
            }
        }
        sync_cube(); // Everyone has read the gates' gradients.
    }

    #[unroll]
    for b in 0..tile {
        #[unroll]
        for u in 0..units {
            let unit = first_unit + comptime!(u * threads);
            if unit < hidden && first_item + b < batch {
                let start = (first_item + b) * comptime!(2 * hidden) + unit;
                grad_initial[start] = d_hiddens[comptime!(b * units + u)];
                grad_initial[start + hidden] = d_cells[comptime!(b * units + u)];
            }
        }
    }
}

impl LstmOps for CubeBackend {
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: Scan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let plan = Plan::of(&projected);
        let Plan { steps, batch, hidden, units, threads } = plan;
        let (states, gates) = (empty(&projected, [steps, batch, 2 * hidden]), empty_of(&projected, [steps, batch, 4 * hidden], w_hh.dtype));
        let client = projected.client.clone();
        let lengths = scan.lengths.map(|lengths| {
            let lengths: Vec<u32> = lengths.into_iter().map(|length| length as u32).collect();
            let handle = client.create_from_slice(u32::as_bytes(&lengths));
            // SAFETY: the buffer holds one length an item.
            unsafe { BufferArg::from_raw_parts(handle, batch) }
        });
        // Four items: their products hide what a weight's journey takes, and half the weights' traffic of two.
        let tile = plan.tile(4, hidden);
        // SAFETY: indices stop at the last item and the last unit, and all shapes follow from `projected`.
        unsafe {
            let launch = if w_hh.dtype == DType::F16 { forward_kernel::launch_unchecked::<f16> } else { forward_kernel::launch_unchecked::<f32> };
            launch(
                &client,
                plan.cubes(tile),
                plan.dim(),
                input(projected),
                input(w_hh),
                input(initial),
                lengths.into(),
                output(&states),
                output(&gates),
                steps as u32,
                batch as u32,
                hidden,
                tile,
                units,
                threads,
                Plan::ahead(hidden),
                scan.reverse,
            );
        }
        (states, gates)
    }

    fn lstm_backward(
        grad: FloatTensor<Self>,
        states: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: Scan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let plan = Plan::of(&gates);
        let Plan { steps, batch, hidden, units, threads } = plan;
        let half = w_hh.dtype == DType::F16;
        let (grad_gates, grad_initial) = (empty(&gates, [steps, batch, 4 * hidden]), empty(&gates, [batch, 2 * hidden]));
        let previous = empty(&gates, [steps, batch, hidden]);
        let tile = plan.tile(2, 4 * hidden);
        // SAFETY: as in the forward pass.
        unsafe {
            let launch = if half { backward_kernel::launch_unchecked::<f16> } else { backward_kernel::launch_unchecked::<f32> };
            launch(
                &gates.client,
                plan.cubes(tile),
                plan.dim(),
                input(grad),
                input(states),
                input(gates.clone()),
                input(Self::float_transpose(w_hh)),
                input(initial),
                output(&grad_gates),
                output(&grad_initial),
                output(&previous),
                steps as u32,
                batch as u32,
                hidden,
                tile,
                units,
                threads,
                scan.reverse,
            );
        }
        // Weights: the products of all steps are one product over time and batch.
        let rows = |tensor, width| {
            let rows = Self::float_reshape(tensor, Shape::from([steps * batch, width]));
            if half { Self::float_cast(rows, FloatDType::F16) } else { rows }
        };
        let grad_w_hh = Self::float_matmul(Self::float_transpose(rows(previous, hidden)), rows(grad_gates.clone(), 4 * hidden));
        (grad_gates, grad_w_hh, grad_initial)
    }
}
