//! A step of attention on the CPU: for each item, matmuls over its symbols and one pass over them.

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::{
    AttendInputs,
    ops::{AttentionBackwardOps, AttentionOps},
};
use crate::flex::{Matrix, ONE_CORE, contiguous, dims, for_each, matmul_add, tanh, tensor, values as slice};

#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub symbols: usize,  // L
    pub width: usize,    // A
    pub channels: usize, // C
    pub taps: usize,     // K
}

/// The inputs of [`super::AttentionMemory`] for the whole batch.
pub(super) struct Memory {
    pub keys: FlexTensor,
    pub energy: FlexTensor,
    pub location: FlexTensor,
    pub values: FlexTensor,
    pub sizes: Sizes,
}

impl Memory {
    pub fn new(keys: FlexTensor, energy: FlexTensor, location: FlexTensor, values: FlexTensor) -> Self {
        let [keys, energy, location, values] = [keys, energy, location, values].map(contiguous);
        let [_, symbols, width] = dims(&keys)[..] else { unreachable!("[B, L, A]") };
        let sizes = Sizes { symbols, width, channels: dims(&values)[2], taps: dims(&location)[0] / 2 };
        Self { keys, energy, location, values, sizes }
    }

    pub fn item(&self, number: usize) -> Item<'_> {
        let Sizes { symbols, width, channels, .. } = self.sizes;
        Item {
            keys: &slice(&self.keys)[number * symbols * width..][..symbols * width],
            energy: slice(&self.energy),
            location: slice(&self.location),
            values: &slice(&self.values)[number * symbols * channels..][..symbols * channels],
            sizes: self.sizes,
        }
    }
}

/// The inputs of [`super::AttentionMemory`] for one item.
pub(super) struct Item<'a> {
    /// `[L, A]`
    keys: &'a [f32],
    /// `[A]`
    energy: &'a [f32],
    /// `[2 K, A]`
    location: &'a [f32],
    /// `[L, C]`
    values: &'a [f32],
    sizes: Sizes,
}

/// Buffers of a step, allocated once for all steps.
pub(super) struct Scratch {
    /// The weights of the step before and their sum over all steps, with half a kernel of zeros at both ends.
    padded: [Vec<f32>; 2],
    /// `[L, A]`
    hidden: Vec<f32>,
    /// `[L, K]`
    places: Vec<f32>,
    /// `[L]`
    energies: Vec<f32>,
}

impl Scratch {
    pub fn new(Sizes { symbols, width, taps, .. }: Sizes) -> Self {
        let padded = || vec![0.0; symbols + taps - 1];
        Self {
            padded: [padded(), padded()],
            hidden: vec![0.0; symbols * width],
            places: vec![0.0; symbols * taps],
            energies: vec![0.0; symbols],
        }
    }
}

/// Gradients of inputs that all steps of an item share; each step adds to them.
pub(super) struct Shared<'a> {
    /// `[L, A]`
    pub keys: &'a mut [f32],
    /// `[A]`
    pub energy: &'a mut [f32],
    /// `[2 K, A]`
    pub location: &'a mut [f32],
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[inline(always)]
pub(super) fn add(sum: &mut [f32], factor: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// Returns the number of symbols up to the last with a nonzero weight.
fn count(weights: &[f32]) -> usize {
    weights.iter().rposition(|&weight| weight != 0.0).map_or(0, |last| last + 1)
}

impl Item<'_> {
    /// Computes `tanh(query + key + location)` of the first `count` symbols into `scratch.hidden`, `[L, A]`.
    ///
    /// * `before`: the weights of the step before and their sum over all steps, `[L]` each
    fn compute_hidden(&self, count: usize, query: &[f32], before: [&[f32]; 2], scratch: &mut Scratch) {
        let Sizes { symbols, width, taps, .. } = self.sizes;
        let hidden = &mut scratch.hidden[..count * width];
        pulp::Arch::new().dispatch(|| {
            for (hidden, keys) in hidden.chunks_exact_mut(width).zip(self.keys.chunks_exact(width)) {
                hidden
                    .iter_mut()
                    .zip(query)
                    .zip(keys)
                    .for_each(|((hidden, query), key)| *hidden = query + key);
            }
        });
        for (channel, (padded, before)) in scratch.padded.iter_mut().zip(before).enumerate() {
            padded[taps / 2..][..symbols].copy_from_slice(&before[..symbols]);
            // The neighbours of a symbol are contiguous, so that the rows of this matrix overlap.
            let filters = Matrix::row_major(&self.location[channel * width..], 2 * width);
            matmul_add(
                ONE_CORE,
                [count, taps, width],
                (hidden, width),
                Matrix::row_major(padded, 1),
                filters,
            );
        }
        pulp::Arch::new().dispatch(|| hidden.iter_mut().for_each(|hidden| *hidden = tanh(*hidden)));
    }

    /// Writes the new weights and their sum over all steps, `[L]` each, and the context, `[C]`, into outputs that hold zeros.
    pub fn forward(
        &self,
        query: &[f32],
        mask: &[f32],
        before: [&[f32]; 2],
        [weights, cumulative, context]: [&mut [f32]; 3],
        scratch: &mut Scratch,
    ) {
        let Sizes { symbols, width, channels, .. } = self.sizes;
        let count = count(&mask[..symbols]);
        cumulative.copy_from_slice(&before[1][..symbols]);
        if count == 0 {
            return;
        }
        self.compute_hidden(count, query, before, scratch);
        pulp::Arch::new().dispatch(|| {
            let weights = &mut weights[..count];
            let mut highest = f32::NEG_INFINITY;
            for ((weight, hidden), mask) in
                weights.iter_mut().zip(scratch.hidden.chunks_exact(width)).zip(mask)
            {
                *weight = if *mask > 0.0 { dot(hidden, self.energy) } else { f32::NEG_INFINITY };
                highest = highest.max(*weight);
            }
            let mut total = 0.0;
            for weight in weights.iter_mut() {
                *weight = (*weight - highest).exp();
                total += *weight;
            }
            for (weight, value) in weights.iter_mut().zip(self.values.chunks_exact(channels)) {
                *weight /= total;
                add(context, *weight, value);
            }
            add(cumulative, 1.0, weights);
        });
    }

    /// Adds the gradients of the inputs to `d_query`, `d_before` and `shared`, given those of the weights, of their sum and of the context.
    ///
    /// The gradient of the values is left to the caller, for whom it is one matmul over several steps.
    #[expect(clippy::too_many_arguments, reason = "slices of one step, three of them grouped already")]
    pub fn backward(
        &self,
        [d_weights, d_cumulative, d_context]: [&[f32]; 3],
        weights: &[f32],
        query: &[f32],
        before: [&[f32]; 2],
        d_query: &mut [f32],
        d_before: [&mut [f32]; 2],
        shared: &mut Shared,
        scratch: &mut Scratch,
    ) {
        let Sizes { symbols, width, channels, taps } = self.sizes;
        let count = count(&weights[..symbols]);
        add(d_before[1], 1.0, &d_cumulative[..symbols]);
        if count == 0 {
            return;
        }
        self.compute_hidden(count, query, before, scratch);
        pulp::Arch::new().dispatch(|| {
            let energies = &mut scratch.energies[..count];
            let mut mean = 0.0;
            for (symbol, (d_energy, value)) in
                energies.iter_mut().zip(self.values.chunks_exact(channels)).enumerate()
            {
                *d_energy = d_weights[symbol] + d_cumulative[symbol] + dot(d_context, value);
                mean += weights[symbol] * *d_energy;
            }
            let rows = scratch.hidden.chunks_exact_mut(width).zip(shared.keys.chunks_exact_mut(width));
            for ((d_energy, weight), (hidden, d_keys)) in energies.iter().zip(weights).zip(rows) {
                let d_energy = weight * (d_energy - mean);
                add(shared.energy, d_energy, hidden);
                for ((hidden, energy), (d_key, d_query)) in
                    hidden.iter_mut().zip(self.energy).zip(d_keys.iter_mut().zip(&mut *d_query))
                {
                    *hidden = d_energy * energy * (1.0 - *hidden * *hidden);
                    *d_key += *hidden;
                    *d_query += *hidden;
                }
            }
        });
        let d_hidden = &scratch.hidden[..count * width];
        for (channel, d_before) in d_before.into_iter().enumerate() {
            let first = channel * width;
            let padded = Matrix::row_major(&scratch.padded[channel][..], 1);
            matmul_add(
                ONE_CORE,
                [taps, count, width],
                (&mut shared.location[first..], 2 * width),
                padded,
                Matrix::row_major(d_hidden, width),
            );
            let places = &mut scratch.places[..count * taps];
            places.fill(0.0);
            let filters = Matrix::column_major(&self.location[first..], 2 * width);
            matmul_add(
                ONE_CORE,
                [count, width, taps],
                (places, taps),
                Matrix::row_major(d_hidden, width),
                filters,
            );
            for (symbol, places) in places.chunks_exact(taps).enumerate() {
                let outside = (taps / 2).saturating_sub(symbol);
                let neighbours = &mut d_before[(symbol + outside - taps / 2)..symbols];
                add(neighbours, 1.0, &places[outside..]);
            }
        }
    }
}

/// Sums the parts of all items, `[B, length]`.
pub(super) fn sums(parts: &[f32], length: usize) -> Vec<f32> {
    let mut sums = vec![0.0; length];
    parts.chunks_exact(length).for_each(|part| add(&mut sums, 1.0, part));
    sums
}

impl AttentionOps for Flex {
    fn attend(with: AttendInputs<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self> {
        let AttendInputs { query, keys, energy, location, before, values } = with;
        let memory = Memory::new(keys, energy, location, values);
        let [query, before, mask] = [query, before, mask].map(contiguous);
        let Sizes { symbols, width, channels, .. } = memory.sizes;
        let row = 2 * symbols + channels;
        let batch = dims(&query)[0];
        let mut attended = vec![0.0; batch * row];
        for_each(
            attended.chunks_exact_mut(row).enumerate().collect(),
            |(number, out): (usize, &mut [f32])| {
                let before = &slice(&before)[number * row..];
                let (weights, rest) = out.split_at_mut(symbols);
                let (cumulative, context) = rest.split_at_mut(symbols);
                let (query, mask) =
                    (&slice(&query)[number * width..][..width], &slice(&mask)[number * symbols..]);
                let before = [before, &before[symbols..]];
                memory.item(number).forward(
                    query,
                    mask,
                    before,
                    [weights, cumulative, context],
                    &mut Scratch::new(memory.sizes),
                );
            },
        );
        tensor(attended, vec![batch, row])
    }
}

impl AttentionBackwardOps for Flex {
    fn attend_backward(
        grad: FloatTensor<Self>,
        attended: FloatTensor<Self>,
        with: AttendInputs<Self>,
    ) -> AttendInputs<Self> {
        let AttendInputs { query, keys, energy, location, before, values } = with;
        let memory = Memory::new(keys, energy, location, values);
        let [grad, attended, query, before] = [grad, attended, query, before].map(contiguous);
        let Sizes { symbols, width, channels, taps } = memory.sizes;
        let (batch, row) = (dims(&query)[0], 2 * symbols + channels);
        let (mut d_query, mut d_keys) = (vec![0.0; batch * width], vec![0.0; batch * symbols * width]);
        let (mut d_before, mut d_values) = (vec![0.0; batch * row], vec![0.0; batch * symbols * channels]);
        let (mut d_energy, mut d_location) = (vec![0.0; batch * width], vec![0.0; batch * 2 * taps * width]);
        let work = d_query
            .chunks_exact_mut(width)
            .zip(d_before.chunks_exact_mut(row))
            .zip(d_values.chunks_exact_mut(symbols * channels));
        let work = work
            .zip(d_keys.chunks_exact_mut(symbols * width))
            .zip(d_energy.chunks_exact_mut(width))
            .zip(d_location.chunks_exact_mut(2 * taps * width));
        for_each(
            work.enumerate().collect(),
            |(number, (((((d_query, d_before), d_values), keys), energy), location))| {
                let of = |tensor| &slice(tensor)[number * row..][..row];
                let (grad, weights, before) = (of(&grad), of(&attended), of(&before));
                let (d_weights, d_rest) = d_before.split_at_mut(symbols);
                let d_context = &grad[2 * symbols..];
                let query = &slice(&query)[number * width..][..width];
                memory.item(number).backward(
                    [grad, &grad[symbols..], d_context],
                    weights,
                    query,
                    [before, &before[symbols..]],
                    d_query,
                    [d_weights, &mut d_rest[..symbols]],
                    &mut Shared { keys, energy, location },
                    &mut Scratch::new(memory.sizes),
                );
                d_values
                    .chunks_exact_mut(channels)
                    .zip(weights)
                    .for_each(|(d_value, weight)| add(d_value, *weight, d_context));
            },
        );
        AttendInputs {
            query: tensor(d_query, dims(&query)),
            keys: tensor(d_keys, dims(&memory.keys)),
            energy: tensor(sums(&d_energy, width), dims(&memory.energy)),
            location: tensor(sums(&d_location, 2 * taps * width), dims(&memory.location)),
            before: tensor(d_before, dims(&before)),
            values: tensor(d_values, dims(&memory.values)),
        }
    }
}
