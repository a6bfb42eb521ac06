//! The scan on the CPU: each core takes some items of the batch through all steps, as in the LSTM's, and waits for no other.

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::{
    super::flex::{Memory, Scratch, Shared, Sizes, add, sums},
    AttentionLstmInputs,
    ops::{AttentionLstmBackwardOps, AttentionLstmOps},
};
use crate::nn::{
    flex::{
        ALL_CORES, Matrix, ONE_CORE, PackedWeights, contiguous, cores, dims, for_each, matmul_add, tensor,
        values as slice, values_mut,
    },
    lstm::flex::{cell_backward, cell_forward, shares},
};

/// Where what lies in a row.
#[derive(Debug, Clone, Copy)]
struct Row {
    symbols: usize,
    channels: usize,
    hidden: usize,
}

/// A row taken apart.
struct Parts<T> {
    context: T,
    /// Hidden, then cell.
    state: T,
    weights: T,
    cumulative: T,
}

impl Row {
    fn width(self) -> usize {
        self.channels + 2 * self.hidden + 2 * self.symbols
    }

    /// Of what the LSTM's weights are multiplied by: context and hidden state.
    fn inputs(self) -> usize {
        self.channels + self.hidden
    }

    fn of(self, row: &[f32]) -> Parts<&[f32]> {
        let (context, rest) = row.split_at(self.channels);
        let (state, rest) = rest.split_at(2 * self.hidden);
        let (weights, cumulative) = rest.split_at(self.symbols);
        Parts { context, state, weights, cumulative: &cumulative[..self.symbols] }
    }

    fn of_mut(self, row: &mut [f32]) -> Parts<&mut [f32]> {
        let (context, rest) = row.split_at_mut(self.channels);
        let (state, rest) = rest.split_at_mut(2 * self.hidden);
        let (weights, cumulative) = rest.split_at_mut(self.symbols);
        Parts { context, state, weights, cumulative: &mut cumulative[..self.symbols] }
    }
}

struct Scan<'a> {
    steps: usize,
    batch: usize,
    row: Row,
    memory: &'a Memory,
    /// `[C + H, 4H]`
    weights: &'a [f32],
    /// `[H, A]`
    query: &'a [f32],
    /// `[B, R]`
    initial: &'a [f32],
}

impl Scan<'_> {
    /// Items that a core takes.
    fn share(&self) -> usize {
        self.batch.div_ceil(cores())
    }

    /// Activates `gates`, which hold the projected inputs, and returns a row a step.
    fn forward(&self, gates: &mut [f32], mask: &[f32]) -> Vec<f32> {
        let &Self { steps, batch, row, memory, .. } = self;
        let (hidden, share, Sizes { symbols, width, .. }) = (row.hidden, self.share(), memory.sizes);
        let weights = PackedWeights::new(
            Matrix::row_major(self.weights, 4 * hidden),
            [row.inputs(), 4 * hidden],
            steps,
        );
        let query = PackedWeights::new(Matrix::row_major(self.query, width), [hidden, width], steps);
        let mut rows = vec![0.0; steps * batch * row.width()];
        let gates = shares(gates, batch * 4 * hidden, share * 4 * hidden);
        let work = shares(&mut rows, batch * row.width(), share * row.width())
            .into_iter()
            .zip(gates)
            .zip(self.initial.chunks(share * row.width()));
        for_each(work.enumerate().collect(), |(number, ((mut rows, mut gates), initial))| {
            let count = initial.len() / row.width();
            let (mut queries, mut scratch) = (vec![0.0; count * width], Scratch::new(memory.sizes));
            for step in 0..steps {
                let (before, rest) = rows.split_at_mut(step);
                let (before, now, gates) =
                    (before.last().map_or(initial, |row| &**row), &mut *rest[0], &mut *gates[step]);
                weights.matmul_add(step, count, (gates, 4 * hidden), (before, row.width()));
                pulp::Arch::new().dispatch(|| {
                    let items = gates
                        .chunks_exact_mut(4 * hidden)
                        .zip(before.chunks_exact(row.width()))
                        .zip(now.chunks_exact_mut(row.width()));
                    for ((gates, before), now) in items {
                        cell_forward(gates, row.of(before).state, row.of_mut(now).state, hidden);
                    }
                });
                queries.fill(0.0);
                query.matmul_add(step, count, (&mut queries, width), (&now[row.channels..], row.width()));
                let items = queries
                    .chunks_exact(width)
                    .zip(before.chunks_exact(row.width()))
                    .zip(now.chunks_exact_mut(row.width()));
                for (item, ((query, before), now)) in items.enumerate() {
                    let (item, before, now) = (number * share + item, row.of(before), row.of_mut(now));
                    let out = [now.weights, now.cumulative, now.context];
                    memory.item(item).forward(
                        query,
                        &mask[item * symbols..],
                        [before.weights, before.cumulative],
                        out,
                        &mut scratch,
                    );
                }
            }
        });
        rows
    }

    /// The gradients of the projected inputs and of what they were sought with.
    fn backward(&self, grad: &[f32], rows: &[f32], gates: &[f32]) -> (FlexTensor, AttentionLstmInputs<Flex>) {
        let &Self { steps, batch, row, memory, .. } = self;
        let Sizes { symbols, width, channels, taps } = memory.sizes;
        let (hidden, share, all) = (row.hidden, self.share(), steps * batch);
        let weights = PackedWeights::new(
            Matrix::column_major(self.weights, 4 * hidden),
            [4 * hidden, row.inputs()],
            steps,
        );
        let query = PackedWeights::new(Matrix::column_major(self.query, width), [width, hidden], steps);
        let mut queries = vec![0.0; all * width];
        let states = Matrix::row_major(&rows[channels..], row.width());
        matmul_add(
            ALL_CORES,
            [all, hidden, width],
            (&mut queries, width),
            states,
            Matrix::row_major(self.query, width),
        );

        let (mut d_projected, mut d_queries, mut d_contexts) =
            (vec![0.0; all * 4 * hidden], vec![0.0; all * width], vec![0.0; all * channels]);
        let (mut d_keys, mut d_energy) = (vec![0.0; batch * symbols * width], vec![0.0; batch * width]);
        let mut d_location = vec![0.0; batch * 2 * taps * width];
        // Of what leaves the current step.
        let mut d_row = vec![0.0; batch * row.width()];
        let work = shares(&mut d_projected, batch * 4 * hidden, share * 4 * hidden).into_iter();
        let work = work.zip(shares(&mut d_queries, batch * width, share * width)).zip(shares(
            &mut d_contexts,
            batch * channels,
            share * channels,
        ));
        let work =
            work.zip(d_keys.chunks_mut(share * symbols * width)).zip(d_energy.chunks_mut(share * width));
        let work = work
            .zip(d_location.chunks_mut(share * 2 * taps * width))
            .zip(d_row.chunks_mut(share * row.width()));
        for_each(
            work.enumerate().collect(),
            |(
                number,
                ((((((mut d_gates, mut d_queries), mut d_contexts), d_keys), d_energy), d_location), carried),
            )| {
                let (first, count) = (number * share, carried.len() / row.width());
                let mut scratch = Scratch::new(memory.sizes);
                let mut d_before = vec![0.0; 2 * symbols];
                for step in (0..steps).rev() {
                    let of = |values, step: usize| {
                        &rows_of(values, step, batch, row.width())[first * row.width()..]
                            [..count * row.width()]
                    };
                    let (now, before) = (
                        of(rows, step),
                        step.checked_sub(1)
                            .map_or(&self.initial[first * row.width()..], |before| of(rows, before)),
                    );
                    let (gates, queries) = (
                        &rows_of(gates, step, batch, 4 * hidden)[first * 4 * hidden..],
                        &rows_of(&queries, step, batch, width)[first * width..],
                    );
                    let (d_gates, d_queries, d_contexts) =
                        (&mut *d_gates[step], &mut *d_queries[step], &mut *d_contexts[step]);
                    pulp::Arch::new().dispatch(|| add(carried, 1.0, of(grad, step)));
                    for item in 0..count {
                        let at = |values: &[f32]| -> std::ops::Range<usize> {
                            item * values.len() / count..(item + 1) * values.len() / count
                        };
                        let (now, before) = (
                            row.of(&now[item * row.width()..][..row.width()]),
                            row.of(&before[item * row.width()..][..row.width()]),
                        );
                        let carried = row.of_mut(&mut carried[item * row.width()..][..row.width()]);
                        d_before.fill(0.0);
                        let (d_weights, d_cumulative) = d_before.split_at_mut(symbols);
                        let (keys, energy, location) = (at(d_keys), at(d_energy), at(d_location));
                        memory.item(first + item).backward(
                            [carried.weights, carried.cumulative, carried.context],
                            now.weights,
                            &queries[item * width..][..width],
                            [before.weights, before.cumulative],
                            &mut d_queries[item * width..][..width],
                            [d_weights, d_cumulative],
                            &mut Shared {
                                keys: &mut d_keys[keys],
                                energy: &mut d_energy[energy],
                                location: &mut d_location[location],
                            },
                            &mut scratch,
                        );
                        d_contexts[item * channels..][..channels].copy_from_slice(carried.context);
                        carried.weights.copy_from_slice(d_weights);
                        carried.cumulative.copy_from_slice(d_cumulative);
                        carried.context.fill(0.0); // Refilled by the matmul that follows.
                    }
                    query.matmul_add(
                        step,
                        count,
                        (&mut carried[channels..], row.width()),
                        (d_queries, width),
                    );
                    pulp::Arch::new().dispatch(|| {
                        for item in 0..count {
                            let (now, before) = (
                                row.of(&now[item * row.width()..][..row.width()]),
                                row.of(&before[item * row.width()..][..row.width()]),
                            );
                            let carried = row.of_mut(&mut carried[item * row.width()..][..row.width()]);
                            let (gates, d_gates) = (
                                &gates[item * 4 * hidden..][..4 * hidden],
                                &mut d_gates[item * 4 * hidden..][..4 * hidden],
                            );
                            cell_backward(
                                gates,
                                &now.state[hidden..],
                                &before.state[hidden..],
                                carried.state,
                                d_gates,
                                hidden,
                            );
                        }
                    });
                    weights.matmul_add(step, count, (carried, row.width()), (d_gates, 4 * hidden));
                }
            },
        );
        // What all steps share: matmuls over time and batch.
        let mut d_weights = vec![0.0; row.inputs() * 4 * hidden];
        let mut add_weights = |count: usize, before: &[f32], d_gates: &[f32]| {
            let out = (&mut d_weights[..], 4 * hidden);
            matmul_add(
                ALL_CORES,
                [row.inputs(), count, 4 * hidden],
                out,
                Matrix::column_major(before, row.width()),
                Matrix::row_major(d_gates, 4 * hidden),
            );
        };
        add_weights(batch, self.initial, &d_projected);
        if steps > 1 {
            add_weights((steps - 1) * batch, rows, &d_projected[batch * 4 * hidden..]);
        }
        let mut d_query = vec![0.0; hidden * width];
        matmul_add(
            ALL_CORES,
            [hidden, all, width],
            (&mut d_query, width),
            Matrix::column_major(&rows[channels..], row.width()),
            Matrix::row_major(&d_queries, width),
        );
        let mut d_values = vec![0.0; batch * symbols * channels];
        for_each(
            d_values.chunks_exact_mut(symbols * channels).enumerate().collect(),
            |(item, d_values): (usize, &mut [f32])| {
                let weights = Matrix::column_major(
                    &rows[item * row.width() + channels + 2 * hidden..],
                    batch * row.width(),
                );
                let contexts = Matrix::row_major(&d_contexts[item * channels..], batch * channels);
                matmul_add(ONE_CORE, [symbols, steps, channels], (d_values, channels), weights, contexts);
            },
        );
        let with = AttentionLstmInputs {
            weights: tensor(d_weights, vec![row.inputs(), 4 * hidden]),
            query: tensor(d_query, vec![hidden, width]),
            keys: tensor(d_keys, dims(&memory.keys)),
            energy: tensor(sums(&d_energy, width), dims(&memory.energy)),
            location: tensor(sums(&d_location, 2 * taps * width), dims(&memory.location)),
            values: tensor(d_values, dims(&memory.values)),
            initial: tensor(d_row, vec![batch, row.width()]),
        };
        (tensor(d_projected, vec![steps, batch, 4 * hidden]), with)
    }
}

/// A step of `[N, B, W]`.
fn rows_of(values: &[f32], step: usize, batch: usize, width: usize) -> &[f32] {
    &values[step * batch * width..][..batch * width]
}

impl AttentionLstmOps for Flex {
    fn attention_lstm(
        projected: FloatTensor<Self>,
        with: AttentionLstmInputs<Self>,
        mask: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let mut gates = contiguous(projected);
        let [weights, query, initial, mask] = [with.weights, with.query, with.initial, mask].map(contiguous);
        let memory = Memory::new(with.keys, with.energy, with.location, with.values);
        let scan = Scan::new(&gates, &memory, &weights, &query, &initial);
        let rows = scan.forward(values_mut(&mut gates), slice(&mask));
        (tensor(rows, vec![scan.steps, scan.batch, scan.row.width()]), gates)
    }
}

impl AttentionLstmBackwardOps for Flex {
    fn attention_lstm_backward(
        grad: FloatTensor<Self>,
        rows: FloatTensor<Self>,
        gates: FloatTensor<Self>,
        with: AttentionLstmInputs<Self>,
    ) -> (FloatTensor<Self>, AttentionLstmInputs<Self>) {
        let [grad, rows, gates, weights, query, initial] =
            [grad, rows, gates, with.weights, with.query, with.initial].map(contiguous);
        let memory = Memory::new(with.keys, with.energy, with.location, with.values);
        Scan::new(&gates, &memory, &weights, &query, &initial).backward(
            slice(&grad),
            slice(&rows),
            slice(&gates),
        )
    }
}

impl<'a> Scan<'a> {
    fn new(
        gates: &FlexTensor,
        memory: &'a Memory,
        weights: &'a FlexTensor,
        query: &'a FlexTensor,
        initial: &'a FlexTensor,
    ) -> Self {
        let [steps, batch, width] = dims(gates)[..] else { unreachable!("[N, B, 4H]") };
        let row = Row { symbols: memory.sizes.symbols, channels: memory.sizes.channels, hidden: width / 4 };
        Self {
            steps,
            batch,
            row,
            memory,
            weights: slice(weights),
            query: slice(query),
            initial: slice(initial),
        }
    }
}
