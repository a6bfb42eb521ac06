//! The fused scan on the CPU: one matrix product and one pass over the gates a step, no allocation inside the loop.

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::{LstmOps, Scan};
use crate::nn::flex::{dims, packed, sigmoid, tanh, tensor, values};

#[cfg(feature = "parallel")]
const PARALLELISM: gemm::Parallelism = gemm::Parallelism::Rayon(0);
#[cfg(not(feature = "parallel"))]
const PARALLELISM: gemm::Parallelism = gemm::Parallelism::None;

/// A row-major view: offset, rows' distance, columns' distance.
#[derive(Clone, Copy)]
struct View {
    offset: usize,
    row: isize,
    column: isize,
}

impl View {
    fn rows(offset: usize, width: usize) -> Self {
        Self { offset, row: width as isize, column: 1 }
    }

    fn transposed(self) -> Self {
        Self { offset: self.offset, row: self.column, column: self.row }
    }
}

/// `out += a b` for `a: [m, k]`, `b: [k, n]`.
fn add_product([m, k, n]: [usize; 3], out: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View)) {
    let last = |view: View, rows: usize, columns: usize| {
        view.offset + (rows - 1) * view.row as usize + (columns - 1) * view.column as usize
    };
    assert!(last(out.1, m, n) < out.0.len() && last(a.1, m, k) < a.0.len() && last(b.1, k, n) < b.0.len());
    // SAFETY: the assertion bounds the furthest element of each view, and `out` is borrowed mutably.
    unsafe {
        gemm::gemm(
            m, n, k,
            out.0.as_mut_ptr().add(out.1.offset), out.1.column, out.1.row, true,
            a.0.as_ptr().add(a.1.offset), a.1.column, a.1.row,
            b.0.as_ptr().add(b.1.offset), b.1.column, b.1.row,
            1.0f32, 1.0f32, false, false, false, PARALLELISM,
        );
    }
}

/// Splits one item's gates into input, forget, candidate and output.
#[inline(always)]
fn split_gates(gates: &mut [f32], hidden: usize) -> [&mut [f32]; 4] {
    let (input, rest) = gates.split_at_mut(hidden);
    let (forget, rest) = rest.split_at_mut(hidden);
    let (candidate, output) = rest.split_at_mut(hidden);
    [input, forget, candidate, &mut output[..hidden]]
}

/// One item's step: activates the gates in place and writes the new state, hidden then cell.
#[inline(always)]
fn cell_forward(gates: &mut [f32], old: &[f32], new: &mut [f32], hidden: usize) {
    let [input, forget, candidate, output] = split_gates(gates, hidden);
    let old_cell = &old[hidden..][..hidden];
    let (new_hidden, new_cell) = new.split_at_mut(hidden);
    let new_cell = &mut new_cell[..hidden];
    for j in 0..hidden {
        input[j] = sigmoid(input[j]);
        forget[j] = sigmoid(forget[j]);
        candidate[j] = tanh(candidate[j]);
        output[j] = sigmoid(output[j]);
        new_cell[j] = forget[j] * old_cell[j] + input[j] * candidate[j];
        new_hidden[j] = output[j] * tanh(new_cell[j]);
    }
}

/// One item's step backwards: `carried` is the gradient of its new state and becomes that of the old cell, `d_gates` is written.
#[inline(always)]
fn cell_backward(gates: &[f32], cell: &[f32], old_cell: &[f32], carried: &mut [f32], d_gates: &mut [f32], hidden: usize) {
    let [d_input, d_forget, d_candidate, d_output] = split_gates(d_gates, hidden);
    let gate = |index: usize| &gates[index * hidden..][..hidden];
    let (input, forget, candidate, output) = (gate(0), gate(1), gate(2), gate(3));
    let (d_hidden, d_cell) = carried.split_at_mut(hidden);
    let (d_cell, cell, old_cell) = (&mut d_cell[..hidden], &cell[..hidden], &old_cell[..hidden]);
    for j in 0..hidden {
        let squashed = tanh(cell[j]);
        let d_c = d_cell[j] + d_hidden[j] * output[j] * (1.0 - squashed * squashed);
        d_output[j] = d_hidden[j] * squashed * output[j] * (1.0 - output[j]);
        d_input[j] = d_c * candidate[j] * input[j] * (1.0 - input[j]);
        d_candidate[j] = d_c * input[j] * (1.0 - candidate[j] * candidate[j]);
        d_forget[j] = d_c * old_cell[j] * forget[j] * (1.0 - forget[j]);
        d_cell[j] = d_c * forget[j];
        d_hidden[j] = 0.0; // Refilled by the product that follows.
    }
}

struct Sizes {
    steps: usize,
    batch: usize,
    hidden: usize,
}

impl Sizes {
    fn of(gates: &FlexTensor) -> Self {
        let dims = dims(gates);
        Self { steps: dims[0], batch: dims[1], hidden: dims[2] / 4 }
    }

    /// Steps in the order they run, each with the step before it.
    fn order(&self, scan: &Scan) -> Vec<(usize, Option<usize>)> {
        let mut order: Vec<usize> = (0..self.steps).collect();
        if scan.reverse {
            order.reverse();
        }
        order.iter().enumerate().map(|(index, &step)| (step, index.checked_sub(1).map(|before| order[before]))).collect()
    }
}

fn runs(scan: &Scan, item: usize, step: usize) -> bool {
    scan.lengths.as_ref().is_none_or(|lengths| step < lengths[item])
}

fn forward(projected: &[f32], w_hh: &[f32], initial: &[f32], sizes: &Sizes, scan: &Scan) -> (Vec<f32>, Vec<f32>) {
    let Sizes { batch, hidden, .. } = *sizes;
    let arch = pulp::Arch::new();
    let mut gates = projected.to_vec();
    let mut states = vec![0.0; sizes.steps * batch * 2 * hidden];
    for (step, before) in sizes.order(scan) {
        let (state_row, gate_row) = (batch * 2 * hidden, batch * 4 * hidden);
        // The previous state, out of reach of the borrow of this step's.
        let (previous, current): (&[f32], &mut [f32]) = match before {
            None => (initial, &mut states[step * state_row..][..state_row]),
            Some(before) if before < step => {
                let (head, tail) = states.split_at_mut(step * state_row);
                (&head[before * state_row..][..state_row], &mut tail[..state_row])
            }
            Some(before) => {
                let (head, tail) = states.split_at_mut(before * state_row);
                (&tail[..state_row], &mut head[step * state_row..][..state_row])
            }
        };
        let gate_block = &mut gates[step * gate_row..][..gate_row];
        add_product(
            [batch, hidden, 4 * hidden],
            (gate_block, View::rows(0, 4 * hidden)),
            (previous, View::rows(0, 2 * hidden)),
            (w_hh, View::rows(0, 4 * hidden)),
        );
        arch.dispatch(|| {
            for item in 0..batch {
                let (old, new) = (&previous[item * 2 * hidden..][..2 * hidden], &mut current[item * 2 * hidden..][..2 * hidden]);
                if runs(scan, item, step) {
                    cell_forward(&mut gate_block[item * 4 * hidden..][..4 * hidden], old, new, hidden);
                } else {
                    new.copy_from_slice(old);
                }
            }
        });
    }
    (states, gates)
}

struct Gradients {
    projected: Vec<f32>,
    w_hh: Vec<f32>,
    initial: Vec<f32>,
}

fn backward(grad: &[f32], states: &[f32], gates: &[f32], w_hh: &[f32], initial: &[f32], sizes: &Sizes, scan: &Scan) -> Gradients {
    let Sizes { steps, batch, hidden } = *sizes;
    let (state_row, gate_row) = (batch * 2 * hidden, batch * 4 * hidden);
    let arch = pulp::Arch::new();
    let mut grad_projected = vec![0.0; steps * gate_row];
    // Transposed once, so that no step's product has to.
    let mut w_hh_transposed = vec![0.0; w_hh.len()];
    for (k, row) in w_hh.chunks_exact(4 * hidden).enumerate() {
        for (n, &weight) in row.iter().enumerate() {
            w_hh_transposed[n * hidden + k] = weight;
        }
    }
    // Gradient of the state that leaves the current step, hidden then cell, `[B, 2H]`.
    let mut carried = vec![0.0; state_row];
    for (step, before) in sizes.order(scan).into_iter().rev() {
        let previous = before.map_or(initial, |before| &states[before * state_row..][..state_row]);
        let (state, gate_block) = (&states[step * state_row..][..state_row], &gates[step * gate_row..][..gate_row]);
        let grad_gates = &mut grad_projected[step * gate_row..][..gate_row];
        for (carried, grad) in carried.iter_mut().zip(&grad[step * state_row..][..state_row]) {
            *carried += grad;
        }
        arch.dispatch(|| {
            for item in (0..batch).filter(|&item| runs(scan, item, step)) {
                cell_backward(
                    &gate_block[item * 4 * hidden..][..4 * hidden],
                    &state[item * 2 * hidden + hidden..],
                    &previous[item * 2 * hidden + hidden..],
                    &mut carried[item * 2 * hidden..][..2 * hidden],
                    &mut grad_gates[item * 4 * hidden..][..4 * hidden],
                    hidden,
                );
            }
        });
        add_product(
            [batch, 4 * hidden, hidden],
            (&mut carried, View::rows(0, 2 * hidden)),
            (grad_gates, View::rows(0, 4 * hidden)),
            (&w_hh_transposed, View::rows(0, hidden)),
        );
    }
    // Weights: the products of all steps with a step before them are one product over time and batch.
    let mut grad_w_hh = vec![0.0; hidden * 4 * hidden];
    let (first, shifted_states, shifted_gates) = if scan.reverse { (steps - 1, state_row, 0) } else { (0, 0, gate_row) };
    let mut accumulate = |rows: usize, states: &[f32], state_offset: usize, gate_offset: usize| {
        if rows > 0 {
            add_product(
                [hidden, rows, 4 * hidden],
                (&mut grad_w_hh, View::rows(0, 4 * hidden)),
                (states, View::rows(state_offset, 2 * hidden).transposed()),
                (&grad_projected, View::rows(gate_offset, 4 * hidden)),
            );
        }
    };
    accumulate(batch, initial, 0, first * gate_row);
    accumulate((steps - 1) * batch, states, shifted_states, shifted_gates);
    Gradients { projected: grad_projected, w_hh: grad_w_hh, initial: carried }
}

impl LstmOps for Flex {
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: Scan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (projected, w_hh, initial) = (packed(projected), packed(w_hh), packed(initial));
        let sizes = Sizes::of(&projected);
        let (states, gates) = forward(values(&projected), values(&w_hh), values(&initial), &sizes, &scan);
        (tensor(states, vec![sizes.steps, sizes.batch, 2 * sizes.hidden]), tensor(gates, dims(&projected)))
    }

    fn lstm_backward(
        grad: FloatTensor<Self>,
        states: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: Scan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let (grad, states, gates, w_hh, initial) = (packed(grad), packed(states), packed(gates), packed(w_hh), packed(initial));
        let sizes = Sizes::of(&gates);
        let grads = backward(values(&grad), values(&states), values(&gates), values(&w_hh), values(&initial), &sizes, &scan);
        (tensor(grads.projected, dims(&gates)), tensor(grads.w_hh, dims(&w_hh)), tensor(grads.initial, dims(&initial)))
    }
}
