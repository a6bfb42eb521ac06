//! The recurrence on GPUs: the whole sequence in one dispatch, forward and backward.
//!
//! A workgroup computes a few batch items with all their hidden units, so that steps need no synchronisation between workgroups and no dispatch of their own. A
//! dispatch takes a browser 24 to 71 us; a step of 384 units reads 2.4 MB of weights, which takes about 25 us from the cache of one core. Each thread computes
//! some units, so that reads of the weights are contiguous and each weight is read once for all items of the workgroup. The hidden state is in shared memory.

use burn::backend::{DType, TensorMetadata, ops::FloatTensorOps, tensor::FloatTensor};
use burn::tensor::{FloatDType, Shape};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
};

use half::f16;

use super::{
    ScanOptions,
    ops::{LstmBackwardOps, LstmOps},
};
use crate::{
    cube::{Four, THREADS, empty, empty_of, input, output, sigmoid, tanh},
    matmul::ops::MatmulOps,
};

/// The items of a workgroup, whose values form a [`Four`]. Items past the end of the batch repeat the computation of the last one and write nothing.
const ITEMS: usize = 4;

/// The distribution of units over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Layout {
    hidden: usize,
    /// The units of a thread, which are `threads` apart.
    units: usize,
    threads: usize,
    /// The unrolling of the loop over the weights, so that several are read before the first is used.
    ahead: usize,
    reverse: bool,
}

impl Layout {
    fn new(hidden: usize, reverse: bool) -> Self {
        let units = hidden.div_ceil(THREADS);
        let threads = hidden.div_ceil(units).next_multiple_of(32);
        let ahead = [4, 2].into_iter().find(|ahead| hidden.is_multiple_of(*ahead)).unwrap_or(1);
        Self { hidden, units, threads, ahead, reverse }
    }

    fn cubes(batch: usize) -> CubeCount {
        CubeCount::Static(batch.div_ceil(ITEMS) as u32, 1, 1)
    }

    fn dim(&self) -> CubeDim {
        CubeDim::new_1d(self.threads as u32)
    }
}

/// Runs all steps forward. Past the length of an item the state stays unchanged, and the gates are stored accordingly: forget gate 1, input and output gates 0.
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
    #[comptime] layout: Layout,
) {
    let steps = steps as usize;
    let batch = batch as usize;
    let hidden = comptime!(layout.hidden);
    let first_unit = UNIT_POS_X as usize;
    let first_item = CUBE_POS_X as usize * ITEMS;
    let mut shared = Shared::<[Four]>::new_slice(hidden);
    let mut hiddens = Array::<Four>::new(comptime!(layout.units));
    let mut cells = Array::<Four>::new(comptime!(layout.units));
    let mut sums = Array::<Four>::new(comptime!(4 * layout.units));
    let mut valid = Array::<u32>::new(ITEMS);

    #[unroll]
    for b in 0..ITEMS {
        #[comptime]
        let length = match &lengths {
            ComptimeOption::Some(lengths) => lengths[min(first_item + b, batch - 1)],
            ComptimeOption::None => u32::cast_from(steps),
        };
        valid[b] = length;
    }
    #[unroll]
    for u in 0..comptime!(layout.units) {
        let unit = first_unit + comptime!(u * layout.threads);
        let mut hidden_state = Four::new(0.0f32);
        let mut cell_state = Four::new(0.0f32);
        #[unroll]
        for b in 0..ITEMS {
            let column =
                min(first_item + b, batch - 1) * comptime!(2 * hidden) + min(unit, comptime!(hidden - 1));
            hidden_state.insert(b, initial[column]);
            cell_state.insert(b, initial[column + hidden]);
        }
        hiddens[u] = hidden_state;
        cells[u] = cell_state;
        if unit < hidden {
            shared[unit] = hidden_state;
        }
    }
    sync_cube();

    for index in 0..steps {
        let step = if comptime!(layout.reverse) { steps - 1 - index } else { index };
        #[unroll]
        for u in 0..comptime!(layout.units) {
            let unit = min(first_unit + comptime!(u * layout.threads), comptime!(hidden - 1));
            #[unroll]
            for gate in 0..4usize {
                let mut sum = Four::new(0.0f32);
                #[unroll]
                for b in 0..ITEMS {
                    let row = step * batch + min(first_item + b, batch - 1);
                    sum.insert(b, projected[row * comptime!(4 * hidden) + unit + comptime!(gate * hidden)]);
                }
                sums[comptime!(4 * u + gate)] = sum;
            }
        }
        for block in 0..comptime!(hidden / layout.ahead) {
            #[unroll]
            for near in 0..comptime!(layout.ahead) {
                let k = block * comptime!(layout.ahead) + near;
                let hidden_state = shared[k];
                #[unroll]
                for u in 0..comptime!(layout.units) {
                    let column = k * comptime!(4 * hidden)
                        + min(first_unit + comptime!(u * layout.threads), comptime!(hidden - 1));
                    #[unroll]
                    for gate in 0..4usize {
                        let weight = f32::cast_from(w_hh[column + comptime!(gate * hidden)]);
                        sums[comptime!(4 * u + gate)] += hidden_state * Four::new(weight);
                    }
                }
            }
        }
        sync_cube(); // All threads have read the old state.
        #[unroll]
        for u in 0..comptime!(layout.units) {
            let unit = first_unit + comptime!(u * layout.threads);
            let mut hidden_state = hiddens[u];
            let mut cell_state = cells[u];
            #[unroll]
            for b in 0..ITEMS {
                let mut input = 0.0f32;
                let mut forget = 1.0f32;
                let mut candidate = 0.0f32;
                let mut output = 0.0f32;
                let mut new_cell = cell_state.extract(b);
                let mut new_hidden = hidden_state.extract(b);
                if step < valid[b] as usize {
                    input = sigmoid(sums[comptime!(4 * u)].extract(b));
                    forget = sigmoid(sums[comptime!(4 * u + 1)].extract(b));
                    candidate = tanh(sums[comptime!(4 * u + 2)].extract(b));
                    output = sigmoid(sums[comptime!(4 * u + 3)].extract(b));
                    new_cell = forget * new_cell + input * candidate;
                    new_hidden = output * tanh(new_cell);
                }
                cell_state.insert(b, new_cell);
                hidden_state.insert(b, new_hidden);
                if unit < hidden && first_item + b < batch {
                    let row = step * batch + first_item + b;
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
            hiddens[u] = hidden_state;
            cells[u] = cell_state;
            if unit < hidden {
                shared[unit] = hidden_state;
            }
        }
        sync_cube();
    }
}

/// Runs all steps backward. The gradients of one gate at a time are in shared memory while they are multiplied by the weights: those of all four gates
/// would not fit.
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
    previous: &mut [f32],     // [T, B, H]: the hidden state before each step
    steps: u32,
    batch: u32,
    #[comptime] layout: Layout,
) {
    let steps = steps as usize;
    let batch = batch as usize;
    let hidden = comptime!(layout.hidden);
    let first_unit = UNIT_POS_X as usize;
    let first_item = CUBE_POS_X as usize * ITEMS;
    let mut shared = Shared::<[Four]>::new_slice(hidden);
    let mut d_hiddens = Array::<Four>::new(comptime!(layout.units));
    let mut d_cells = Array::<Four>::new(comptime!(layout.units));
    let mut d_gates = Array::<Four>::new(comptime!(4 * layout.units));
    #[unroll]
    for u in 0..comptime!(layout.units) {
        d_hiddens[u] = Four::new(0.0f32);
        d_cells[u] = Four::new(0.0f32);
    }

    for index in 0..steps {
        let step = if comptime!(layout.reverse) { index } else { steps - 1 - index };
        #[unroll]
        for u in 0..comptime!(layout.units) {
            let unit = first_unit + comptime!(u * layout.threads);
            let column = min(unit, comptime!(hidden - 1));
            let mut d_hidden_state = d_hiddens[u];
            let mut d_cell_state = d_cells[u];
            let mut d_inputs = Four::new(0.0f32);
            let mut d_forgets = Four::new(0.0f32);
            let mut d_candidates = Four::new(0.0f32);
            let mut d_outputs = Four::new(0.0f32);
            #[unroll]
            for b in 0..ITEMS {
                let item = min(first_item + b, batch - 1);
                let row = step * batch + item;
                let state_column = row * comptime!(2 * hidden) + column;
                let gate_column = row * comptime!(4 * hidden) + column;
                let start = item * comptime!(2 * hidden) + column;
                let mut old_hidden = initial[start];
                let mut old_cell = initial[start + hidden];
                if index + 1 < steps {
                    let before = if comptime!(layout.reverse) { row + batch } else { row - batch };
                    let before = before * comptime!(2 * hidden) + column;
                    old_hidden = states[before];
                    old_cell = states[before + hidden];
                }
                let input = f32::cast_from(gates[gate_column]);
                let forget = f32::cast_from(gates[gate_column + hidden]);
                let candidate = f32::cast_from(gates[gate_column + comptime!(2 * hidden)]);
                let output = f32::cast_from(gates[gate_column + comptime!(3 * hidden)]);
                let squashed = tanh(states[state_column + hidden]);
                let d_hidden = d_hidden_state.extract(b) + grad[state_column];
                let d_cell = d_cell_state.extract(b)
                    + grad[state_column + hidden]
                    + d_hidden * output * (1.0f32 - squashed * squashed);
                let d_input = d_cell * candidate * input * (1.0f32 - input);
                let d_forget = d_cell * old_cell * forget * (1.0f32 - forget);
                let d_candidate = d_cell * input * (1.0f32 - candidate * candidate);
                let d_output = d_hidden * squashed * output * (1.0f32 - output);
                d_cell_state.insert(b, d_cell * forget);
                // A step past the length passes the gradient of the hidden state on; for any other step, the products below compute it.
                d_hidden_state.insert(b, select(output == 0.0f32, d_hidden, 0.0f32));
                d_inputs.insert(b, d_input);
                d_forgets.insert(b, d_forget);
                d_candidates.insert(b, d_candidate);
                d_outputs.insert(b, d_output);
                if unit < hidden && first_item + b < batch {
                    grad_gates[gate_column] = d_input;
                    grad_gates[gate_column + hidden] = d_forget;
                    grad_gates[gate_column + comptime!(2 * hidden)] = d_candidate;
                    grad_gates[gate_column + comptime!(3 * hidden)] = d_output;
                    previous[row * hidden + column] = old_hidden;
                }
            }
            d_hiddens[u] = d_hidden_state;
            d_cells[u] = d_cell_state;
            d_gates[comptime!(4 * u)] = d_inputs;
            d_gates[comptime!(4 * u + 1)] = d_forgets;
            d_gates[comptime!(4 * u + 2)] = d_candidates;
            d_gates[comptime!(4 * u + 3)] = d_outputs;
        }
        #[unroll]
        for gate in 0..4usize {
            #[unroll]
            for u in 0..comptime!(layout.units) {
                let unit = first_unit + comptime!(u * layout.threads);
                if unit < hidden {
                    shared[unit] = d_gates[comptime!(4 * u + gate)];
                }
            }
            sync_cube();
            for block in 0..comptime!(hidden / layout.ahead) {
                #[unroll]
                for near in 0..comptime!(layout.ahead) {
                    let k = block * comptime!(layout.ahead) + near;
                    let d_gate = shared[k];
                    #[unroll]
                    for u in 0..comptime!(layout.units) {
                        let unit = min(first_unit + comptime!(u * layout.threads), comptime!(hidden - 1));
                        let weight =
                            f32::cast_from(w_hh_transposed[(k + comptime!(gate * hidden)) * hidden + unit]);
                        d_hiddens[u] += d_gate * Four::new(weight);
                    }
                }
            }
            sync_cube(); // All threads have read the gradients of the gate.
        }
    }

    #[unroll]
    for u in 0..comptime!(layout.units) {
        let unit = first_unit + comptime!(u * layout.threads);
        #[unroll]
        for b in 0..ITEMS {
            if unit < hidden && first_item + b < batch {
                let start = (first_item + b) * comptime!(2 * hidden) + unit;
                grad_initial[start] = d_hiddens[u].extract(b);
                grad_initial[start + hidden] = d_cells[u].extract(b);
            }
        }
    }
}

impl LstmOps for CubeBackend {
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [steps, batch, width] = projected.shape().dims::<3>();
        let hidden = width / 4;
        let layout = Layout::new(hidden, scan.reverse);
        let (states, gates) = (
            empty(&projected, [steps, batch, 2 * hidden]),
            empty_of(&projected, [steps, batch, 4 * hidden], w_hh.dtype),
        );
        let client = projected.client.clone();
        let lengths = scan.lengths.map(|lengths| {
            let lengths: Vec<u32> = lengths.into_iter().map(|length| length as u32).collect();
            let handle = client.create_from_slice(u32::as_bytes(&lengths));
            // SAFETY: the buffer holds one length for each item.
            unsafe { BufferArg::from_raw_parts(handle, batch) }
        });
        // SAFETY: indices stop at the last item and the last unit, and all shapes follow from `projected`.
        unsafe {
            let launch = if w_hh.dtype == DType::F16 {
                forward_kernel::launch_unchecked::<f16>
            } else {
                forward_kernel::launch_unchecked::<f32>
            };
            launch(
                &client,
                Layout::cubes(batch),
                layout.dim(),
                input(projected),
                input(w_hh),
                input(initial),
                lengths.into(),
                output(&states),
                output(&gates),
                steps as u32,
                batch as u32,
                layout,
            );
        }
        (states, gates)
    }
}

impl LstmBackwardOps for CubeBackend {
    fn lstm_backward(
        grad: FloatTensor<Self>,
        states: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let [steps, batch, width] = gates.shape().dims::<3>();
        let hidden = width / 4;
        let layout = Layout::new(hidden, scan.reverse);
        let half = w_hh.dtype == DType::F16;
        let (grad_gates, grad_initial) =
            (empty(&gates, [steps, batch, 4 * hidden]), empty(&gates, [batch, 2 * hidden]));
        let previous = empty(&gates, [steps, batch, hidden]);
        // SAFETY: as in the forward pass.
        unsafe {
            let launch = if half {
                backward_kernel::launch_unchecked::<f16>
            } else {
                backward_kernel::launch_unchecked::<f32>
            };
            launch(
                &gates.client,
                Layout::cubes(batch),
                layout.dim(),
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
                layout,
            );
        }
        // The gradient of the weights is one matmul over time and batch.
        let rows = |tensor, width| {
            let rows = Self::float_reshape(tensor, Shape::from([steps * batch, width]));
            if half { Self::float_cast(rows, FloatDType::F16) } else { rows }
        };
        let grad_w_hh =
            Self::matmul(Self::float_transpose(rows(previous, hidden)), rows(grad_gates.clone(), 4 * hidden));
        (grad_gates, grad_w_hh, grad_initial)
    }
}
