//! The recurrence on the CPU: each core takes some items of the batch through all steps, each a matmul and a pass over the gates, independently of the other cores.

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::{
    ScanOptions,
    ops::{LstmBackwardOps, LstmOps},
};
use crate::flex::{
    ALL_CORES, Matrix, PackedWeights, contiguous, cores, dims, for_each, matmul, matmul_add, sigmoid, tanh,
    tensor, values, values_mut,
};

/// Splits the gates of an item into input, forget, candidate and output.
#[inline(always)]
fn split_gates(gates: &mut [f32], hidden: usize) -> [&mut [f32]; 4] {
    let (input, rest) = gates.split_at_mut(hidden);
    let (forget, rest) = rest.split_at_mut(hidden);
    let (candidate, output) = rest.split_at_mut(hidden);
    [input, forget, candidate, &mut output[..hidden]]
}

/// Computes one step of one item: activates the gates in place and writes the new state, hidden then cell.
#[inline(always)]
pub(crate) fn cell_forward(gates: &mut [f32], old: &[f32], new: &mut [f32], hidden: usize) {
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

/// Computes one step of one item backward: replaces the gradient of the new state, `carried`, by that of the old cell state, and writes `d_gates`.
#[inline(always)]
pub(crate) fn cell_backward(
    gates: &[f32],
    cell: &[f32],
    old_cell: &[f32],
    carried: &mut [f32],
    d_gates: &mut [f32],
    hidden: usize,
) {
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
        d_hidden[j] = 0.0; // The matmul with the weights refills it.
    }
}

#[derive(Debug, Clone, Copy)]
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

    /// Returns the steps in the order in which they run, each with the step before it.
    fn order(&self, scan: &ScanOptions) -> Vec<(usize, Option<usize>)> {
        let mut order: Vec<usize> = (0..self.steps).collect();
        if scan.reverse {
            order.reverse();
        }
        order
            .iter()
            .enumerate()
            .map(|(index, &step)| (step, index.checked_sub(1).map(|before| order[before])))
            .collect()
    }
}

/// Returns whether a step is within the length of an item.
fn runs(scan: &ScanOptions, item: usize, step: usize) -> bool {
    scan.lengths.as_ref().is_none_or(|lengths| step < lengths[item])
}

/// Splits `[T, B, W]` into shares of items, each a list of steps.
///
/// * `row`:   values of a step
/// * `share`: values of a share's items at a step
pub(crate) fn shares(values: &mut [f32], row: usize, share: usize) -> Vec<Vec<&mut [f32]>> {
    let mut shares: Vec<Vec<_>> = (0..row.div_ceil(share)).map(|_| Vec::new()).collect();
    for step in values.chunks_exact_mut(row) {
        step.chunks_mut(share).zip(&mut shares).for_each(|(values, share)| share.push(values));
    }
    shares
}

/// Activates `gates`, which hold the projected inputs, and returns the states.
fn forward(gates: &mut [f32], w_hh: &[f32], initial: &[f32], sizes: &Sizes, scan: &ScanOptions) -> Vec<f32> {
    let Sizes { steps, batch, hidden } = *sizes;
    let (items, order) = (batch.div_ceil(cores()), sizes.order(scan));
    let weights = PackedWeights::new(Matrix::row_major(w_hh, 4 * hidden), [hidden, 4 * hidden], steps);
    let mut states = vec![0.0; steps * batch * 2 * hidden];
    let gates = shares(gates, batch * 4 * hidden, items * 4 * hidden);
    let work = shares(&mut states, batch * 2 * hidden, items * 2 * hidden)
        .into_iter()
        .zip(gates)
        .zip(initial.chunks(items * 2 * hidden))
        .enumerate()
        .collect();
    for_each(
        work,
        |(share, ((mut states, mut gates), initial)): (
            usize,
            ((Vec<&mut [f32]>, Vec<&mut [f32]>), &[f32]),
        )| {
            let count = initial.len() / (2 * hidden);
            for &(step, before) in &order {
                let (current, gates) = (std::mem::take(&mut states[step]), &mut *gates[step]);
                let previous = before.map_or(initial, |before| &*states[before]);
                weights.matmul_add(step, count, (gates, 4 * hidden), (previous, 2 * hidden));
                pulp::Arch::new().dispatch(|| {
                    for item in 0..count {
                        let (old, new) = (
                            &previous[item * 2 * hidden..][..2 * hidden],
                            &mut current[item * 2 * hidden..][..2 * hidden],
                        );
                        if runs(scan, share * items + item, step) {
                            cell_forward(&mut gates[item * 4 * hidden..][..4 * hidden], old, new, hidden);
                        } else {
                            new.copy_from_slice(old);
                        }
                    }
                });
                states[step] = current;
            }
        },
    );
    states
}

struct Gradients {
    projected: Vec<f32>,
    w_hh: Vec<f32>,
    initial: Vec<f32>,
}

fn backward(
    grad: &[f32],
    states: &[f32],
    gates: &[f32],
    w_hh: &[f32],
    initial: &[f32],
    sizes: &Sizes,
    scan: &ScanOptions,
) -> Gradients {
    let Sizes { steps, batch, hidden } = *sizes;
    let (state_row, gate_row) = (batch * 2 * hidden, batch * 4 * hidden);
    let (items, order) = (batch.div_ceil(cores()), sizes.order(scan));
    let weights = PackedWeights::new(Matrix::column_major(w_hh, 4 * hidden), [4 * hidden, hidden], steps);
    let mut grad_projected = vec![0.0; steps * gate_row];
    // The gradient of the state after the current step, hidden then cell, `[B, 2H]`.
    let mut grad_state = vec![0.0; state_row];
    let work = shares(&mut grad_projected, gate_row, items * 4 * hidden)
        .into_iter()
        .zip(grad_state.chunks_mut(items * 2 * hidden))
        .enumerate()
        .collect();
    for_each(work, |(share, (mut grad_gates, carried)): (usize, (Vec<&mut [f32]>, &mut [f32]))| {
        let (first, count) = (share * items, carried.len() / (2 * hidden));
        let own = |step: usize| step * state_row + first * 2 * hidden;
        for &(step, before) in order.iter().rev() {
            let previous = before.map_or(&initial[own(0)..], |before| &states[own(before)..]);
            let (state, gates) = (&states[own(step)..], &gates[step * gate_row + first * 4 * hidden..]);
            let grad_gates = &mut *grad_gates[step];
            pulp::Arch::new().dispatch(|| {
                carried.iter_mut().zip(&grad[own(step)..]).for_each(|(carried, grad)| *carried += grad);
                for item in (0..count).filter(|&item| runs(scan, first + item, step)) {
                    cell_backward(
                        &gates[item * 4 * hidden..][..4 * hidden],
                        &state[item * 2 * hidden + hidden..],
                        &previous[item * 2 * hidden + hidden..],
                        &mut carried[item * 2 * hidden..][..2 * hidden],
                        &mut grad_gates[item * 4 * hidden..][..4 * hidden],
                        hidden,
                    );
                }
            });
            weights.matmul_add(step, count, (carried, 2 * hidden), (grad_gates, 4 * hidden));
        }
    });
    // The gradient of the weights is one matmul over time and batch for all steps but the first, and one for the first step, whose old state is mostly zero.
    let (first, before, after) = if scan.reverse { (steps - 1, state_row, 0) } else { (0, 0, gate_row) };
    let size = |rows: usize| [hidden, rows, 4 * hidden];
    let mut grad_w_hh = match steps {
        1 => vec![0.0; hidden * 4 * hidden],
        steps => matmul(
            ALL_CORES,
            size((steps - 1) * batch),
            Matrix::column_major(&states[before..], 2 * hidden),
            Matrix::row_major(&grad_projected[after..], 4 * hidden),
        ),
    };
    if initial.iter().any(|&value| value != 0.0) {
        let grad_gates = Matrix::row_major(&grad_projected[first * gate_row..], 4 * hidden);
        matmul_add(
            ALL_CORES,
            size(batch),
            (&mut grad_w_hh, 4 * hidden),
            Matrix::column_major(initial, 2 * hidden),
            grad_gates,
        );
    }
    Gradients { projected: grad_projected, w_hh: grad_w_hh, initial: grad_state }
}

impl LstmOps for Flex {
    fn lstm_forward(
        projected: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (mut gates, w_hh, initial) = (contiguous(projected), contiguous(w_hh), contiguous(initial));
        let sizes = Sizes::of(&gates);
        let states = forward(values_mut(&mut gates), values(&w_hh), values(&initial), &sizes, &scan);
        (tensor(states, vec![sizes.steps, sizes.batch, 2 * sizes.hidden]), gates)
    }
}

impl LstmBackwardOps for Flex {
    fn lstm_backward(
        grad: FloatTensor<Self>,
        states: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        w_hh: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        scan: ScanOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let (grad, states, gates, w_hh, initial) =
            (contiguous(grad), contiguous(states), contiguous(gates), contiguous(w_hh), contiguous(initial));
        let sizes = Sizes::of(&gates);
        let grads = backward(
            values(&grad),
            values(&states),
            values(&gates),
            values(&w_hh),
            values(&initial),
            &sizes,
            &scan,
        );
        (
            tensor(grads.projected, dims(&gates)),
            tensor(grads.w_hh, dims(&w_hh)),
            tensor(grads.initial, dims(&initial)),
        )
    }
}
