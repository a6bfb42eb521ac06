//! The backward pass of the sequence.

use burn::backend::{Flex, flex::FlexTensor};

use super::Scan;
use crate::{
    attention::{
        attention_lstm::AttentionLstmInputs,
        flex::{Scratch, Shared, Sizes, add, sums},
    },
    flex::{ALL_CORES, Matrix, ONE_CORE, PackedWeights, dims, for_each, matmul_add, tensor},
    lstm::flex::{cell_backward, shares},
};

impl Scan<'_> {
    /// Returns the gradients of the projected inputs and of the other inputs.
    pub fn backward(
        &self,
        grad: &[f32],
        rows: &[f32],
        gates: &[f32],
    ) -> (FlexTensor, AttentionLstmInputs<Flex>) {
        let &Self { steps, batch, row, memory, .. } = self;
        let Sizes { symbols, width, taps, .. } = memory.sizes;
        let (hidden, all) = (row.hidden, steps * batch);
        let weights = PackedWeights::new(
            Matrix::column_major(self.weights, 4 * hidden),
            [4 * hidden, row.inputs()],
            steps,
        );
        let query = PackedWeights::new(Matrix::column_major(self.query, width), [width, hidden], steps);
        let mut queries = vec![0.0; all * width];
        matmul_add(
            ALL_CORES,
            [all, hidden, width],
            (&mut queries, width),
            Matrix::row_major(&rows[row.channels..], row.width()),
            Matrix::row_major(self.query, width),
        );
        let recorded = Recorded { grad, rows, gates, queries: &queries };
        let mut gradients = Gradients::new(self);
        for_each(gradients.shares(self), |share| self.backward_share(share, &recorded, &weights, &query));
        let Gradients { projected, queries, contexts, keys, energy, location, carried } = gradients;
        let with = AttentionLstmInputs {
            weights: tensor(self.weight_gradient(rows, &projected), vec![row.inputs(), 4 * hidden]),
            query: tensor(self.query_gradient(rows, &queries), vec![hidden, width]),
            keys: tensor(keys, dims(&memory.keys)),
            energy: tensor(sums(&energy, width), dims(&memory.energy)),
            location: tensor(sums(&location, 2 * taps * width), dims(&memory.location)),
            values: tensor(self.value_gradient(rows, &contexts, symbols), dims(&memory.values)),
            initial: tensor(carried, vec![batch, row.width()]),
        };
        (tensor(projected, vec![steps, batch, 4 * hidden]), with)
    }

    /// Takes the items of one core through all steps, from the last to the first.
    fn backward_share(
        &self,
        mut share: Share,
        recorded: &Recorded,
        weights: &PackedWeights,
        query: &PackedWeights,
    ) {
        let &Self { steps, batch, row, .. } = self;
        let Sizes { symbols, width, channels, .. } = self.memory.sizes;
        let (hidden, first, count) = (row.hidden, share.first, share.count);
        let mut scratch = Scratch::new(self.memory.sizes);
        let mut d_before = vec![0.0; 2 * symbols];
        for step in (0..steps).rev() {
            // The values of the share's items at a step, of `[N, B, size]`.
            let of = |values, step, size| &step_of(values, step, batch, size)[first * size..][..count * size];
            let now: &[f32] = of(recorded.rows, step, row.width());
            let before = match step {
                0 => &self.initial[first * row.width()..],
                step => of(recorded.rows, step - 1, row.width()),
            };
            let carried = &mut *share.carried;
            pulp::Arch::new().dispatch(|| add(carried, 1.0, of(recorded.grad, step, row.width())));
            let queries = of(recorded.queries, step, width);
            self.attention_backward(&mut share, step, [now, before], queries, &mut d_before, &mut scratch);
            query.matmul_add(
                step,
                count,
                (&mut share.carried[channels..], row.width()),
                (&*share.queries[step], width),
            );
            self.cells_backward(&mut share, step, [now, before], of(recorded.gates, step, 4 * hidden));
            weights.matmul_add(
                step,
                count,
                (&mut *share.carried, row.width()),
                (&*share.projected[step], 4 * hidden),
            );
        }
    }

    /// The attention of one step: adds the gradients of the queries and of the shared inputs, and replaces the carried gradients of the weights by those of the
    /// step before.
    fn attention_backward(
        &self,
        share: &mut Share,
        step: usize,
        [now, before]: [&[f32]; 2],
        queries: &[f32],
        d_before: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let &Self { row, memory, .. } = self;
        let Sizes { symbols, width, channels, taps } = memory.sizes;
        for item in 0..share.count {
            let (now, before) = (row.of(row.item(now, item)), row.of(row.item(before, item)));
            let carried = row.of_mut(row.item_mut(share.carried, item));
            d_before.fill(0.0);
            let (d_weights, d_cumulative) = d_before.split_at_mut(symbols);
            memory.item(share.first + item).backward(
                [carried.weights, carried.cumulative, carried.context],
                now.weights,
                &queries[item * width..][..width],
                [before.weights, before.cumulative],
                &mut share.queries[step][item * width..][..width],
                [d_weights, d_cumulative],
                &mut Shared {
                    keys: &mut share.keys[item * symbols * width..][..symbols * width],
                    energy: &mut share.energy[item * width..][..width],
                    location: &mut share.location[item * 2 * taps * width..][..2 * taps * width],
                },
                scratch,
            );
            share.contexts[step][item * channels..][..channels].copy_from_slice(carried.context);
            carried.weights.copy_from_slice(d_weights);
            carried.cumulative.copy_from_slice(d_cumulative);
            carried.context.fill(0.0); // The matmul with the LSTM's weights refills it.
        }
    }

    /// The LSTM cells of one step: writes the gradients of the gates, and replaces the carried gradient of the state by that of the cell before.
    fn cells_backward(&self, share: &mut Share, step: usize, [now, before]: [&[f32]; 2], gates: &[f32]) {
        let (row, hidden) = (self.row, self.row.hidden);
        pulp::Arch::new().dispatch(|| {
            for item in 0..share.count {
                let (now, before) = (row.of(row.item(now, item)), row.of(row.item(before, item)));
                cell_backward(
                    &gates[item * 4 * hidden..][..4 * hidden],
                    &now.state[hidden..],
                    &before.state[hidden..],
                    row.of_mut(row.item_mut(share.carried, item)).state,
                    &mut share.projected[step][item * 4 * hidden..][..4 * hidden],
                    hidden,
                );
            }
        });
    }

    /// Returns the gradient of the LSTM's weights, `[C + H, 4H]`: one matmul over batch and steps, and one for the first step, whose row is the initial one.
    fn weight_gradient(&self, rows: &[f32], d_projected: &[f32]) -> Vec<f32> {
        let &Self { steps, batch, row, .. } = self;
        let gates = 4 * row.hidden;
        let mut gradient = vec![0.0; row.inputs() * gates];
        let mut add_steps = |count: usize, before: &[f32], d_gates: &[f32]| {
            matmul_add(
                ALL_CORES,
                [row.inputs(), count, gates],
                (&mut gradient, gates),
                Matrix::column_major(before, row.width()),
                Matrix::row_major(d_gates, gates),
            );
        };
        add_steps(batch, self.initial, d_projected);
        if steps > 1 {
            add_steps((steps - 1) * batch, rows, &d_projected[batch * gates..]);
        }
        gradient
    }

    /// Returns the gradient of the query's weights, `[H, A]`.
    fn query_gradient(&self, rows: &[f32], d_queries: &[f32]) -> Vec<f32> {
        let &Self { steps, batch, row, memory, .. } = self;
        let width = memory.sizes.width;
        let mut gradient = vec![0.0; row.hidden * width];
        matmul_add(
            ALL_CORES,
            [row.hidden, steps * batch, width],
            (&mut gradient, width),
            Matrix::column_major(&rows[row.channels..], row.width()),
            Matrix::row_major(d_queries, width),
        );
        gradient
    }

    /// Returns the gradient of the values, `[B, L, C]`: for each item one matmul over all steps.
    fn value_gradient(&self, rows: &[f32], d_contexts: &[f32], symbols: usize) -> Vec<f32> {
        let &Self { steps, batch, row, .. } = self;
        let channels = row.channels;
        let mut gradient = vec![0.0; batch * symbols * channels];
        for_each(
            gradient.chunks_exact_mut(symbols * channels).enumerate().collect(),
            |(item, gradient): (usize, &mut [f32])| {
                let first_weight = item * row.width() + channels + 2 * row.hidden;
                let weights = Matrix::column_major(&rows[first_weight..], batch * row.width());
                let contexts = Matrix::row_major(&d_contexts[item * channels..], batch * channels);
                matmul_add(ONE_CORE, [symbols, steps, channels], (gradient, channels), weights, contexts);
            },
        );
        gradient
    }
}

/// The inputs of the backward pass, of all steps.
struct Recorded<'a> {
    grad: &'a [f32],    // [N, B, R]
    rows: &'a [f32],    // [N, B, R]
    gates: &'a [f32],   // [N, B, 4H]
    queries: &'a [f32], // [N, B, A]
}

/// Gradients that the steps write and add up.
struct Gradients {
    projected: Vec<f32>, // [N, B, 4H]
    queries: Vec<f32>,   // [N, B, A]
    contexts: Vec<f32>,  // [N, B, C]
    keys: Vec<f32>,      // [B, L, A]
    energy: Vec<f32>,    // [B, A]
    location: Vec<f32>,  // [B, 2 K, A]
    /// The gradient of the row that the current step reads, `[B, R]`.
    carried: Vec<f32>,
}

/// The part of [`Gradients`] that belongs to the items of one core: `count` items from `first` on. Gradients of all steps are lists of steps.
struct Share<'a> {
    first: usize,
    count: usize,
    projected: Vec<&'a mut [f32]>,
    queries: Vec<&'a mut [f32]>,
    contexts: Vec<&'a mut [f32]>,
    keys: &'a mut [f32],
    energy: &'a mut [f32],
    location: &'a mut [f32],
    carried: &'a mut [f32],
}

impl Gradients {
    fn new(scan: &Scan) -> Self {
        let Sizes { symbols, width, channels, taps } = scan.memory.sizes;
        let (batch, all) = (scan.batch, scan.steps * scan.batch);
        Self {
            projected: vec![0.0; all * 4 * scan.row.hidden],
            queries: vec![0.0; all * width],
            contexts: vec![0.0; all * channels],
            keys: vec![0.0; batch * symbols * width],
            energy: vec![0.0; batch * width],
            location: vec![0.0; batch * 2 * taps * width],
            carried: vec![0.0; batch * scan.row.width()],
        }
    }

    /// Divides the items among the cores.
    fn shares(&mut self, scan: &Scan) -> Vec<Share<'_>> {
        let Sizes { symbols, width, channels, taps } = scan.memory.sizes;
        let (batch, share, gates) = (scan.batch, scan.share(), 4 * scan.row.hidden);
        let of_steps = shares(&mut self.projected, batch * gates, share * gates)
            .into_iter()
            .zip(shares(&mut self.queries, batch * width, share * width))
            .zip(shares(&mut self.contexts, batch * channels, share * channels));
        let of_items = self
            .keys
            .chunks_mut(share * symbols * width)
            .zip(self.energy.chunks_mut(share * width))
            .zip(self.location.chunks_mut(share * 2 * taps * width))
            .zip(self.carried.chunks_mut(share * scan.row.width()));
        let parts = of_steps.zip(of_items).enumerate();
        let parts = parts.map(
            |(number, (((projected, queries), contexts), (((keys, energy), location), carried)))| Share {
                first: number * share,
                count: carried.len() / scan.row.width(),
                projected,
                queries,
                contexts,
                keys,
                energy,
                location,
                carried,
            },
        );
        parts.collect()
    }
}

/// Returns a step of `[N, B, size]`.
fn step_of(values: &[f32], step: usize, batch: usize, size: usize) -> &[f32] {
    &values[step * batch * size..][..batch * size]
}
