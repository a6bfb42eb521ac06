//! The sequence on the CPU: each core takes some items of the batch through all steps, as in the LSTM, independently of the other cores.

mod backward;

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::{
    AttentionLstmInputs,
    ops::{AttentionLstmBackwardOps, AttentionLstmOps},
};
use crate::{
    attention::flex::{Memory, Scratch, Sizes},
    flex::{Matrix, PackedWeights, contiguous, cores, dims, for_each, tensor, values as slice, values_mut},
    lstm::flex::{cell_forward, shares},
};

/// The layout of a row, see [`AttentionLstmInputs`].
#[derive(Debug, Clone, Copy)]
struct Row {
    symbols: usize,
    channels: usize,
    hidden: usize,
}

/// The parts of a row.
struct Parts<T> {
    context: T,
    /// The hidden state, followed by the cell state.
    state: T,
    weights: T,
    cumulative: T,
}

impl Row {
    fn width(self) -> usize {
        self.channels + 2 * self.hidden + 2 * self.symbols
    }

    /// Returns the number of values that the LSTM's weights are multiplied by: context and hidden state.
    fn inputs(self) -> usize {
        self.channels + self.hidden
    }

    fn item(self, rows: &[f32], item: usize) -> &[f32] {
        &rows[item * self.width()..][..self.width()]
    }

    fn item_mut(self, rows: &mut [f32], item: usize) -> &mut [f32] {
        &mut rows[item * self.width()..][..self.width()]
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

/// The sizes and the inputs that all steps share.
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

impl Scan<'_> {
    /// Returns the number of items of each core.
    fn share(&self) -> usize {
        self.batch.div_ceil(cores())
    }

    /// Activates `gates`, which hold the projected inputs, and returns one row for each step.
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
