//! A step of attention on the CPU: one pass over the symbols each way.

use burn::backend::{Flex, tensor::FloatTensor};

use super::ops::AttentionOps;
use crate::nn::flex::{dims, for_each, packed, tanh, tensor, values as slice};

/// One item's tensors.
struct Item<'a> {
    query: &'a [f32],
    keys: &'a [f32],
    energy: &'a [f32],
    location: &'a [f32],
    /// Weights of the step before, and of all steps, `[L]` each.
    before: [&'a [f32]; 2],
    width: usize,
    taps: usize,
}

impl Item<'_> {
    /// Taps that lie on a symbol, each with that symbol.
    #[inline(always)]
    fn neighbours(&self, symbol: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (half, symbols) = (self.taps / 2, self.before[0].len());
        let first = half.saturating_sub(symbol);
        let last = self.taps.min(symbols + half - symbol);
        (first..last).map(move |tap| (tap, symbol + tap - half))
    }

    /// What a symbol's energy is the product of, `[A]`.
    #[inline(always)]
    fn hidden(&self, symbol: usize, hidden: &mut [f32]) {
        let width = self.width;
        for ((hidden, query), key) in hidden.iter_mut().zip(self.query).zip(&self.keys[symbol * width..][..width]) {
            *hidden = query + key;
        }
        for (tap, neighbour) in self.neighbours(symbol) {
            for (channel, before) in self.before.iter().enumerate() {
                let (weight, filter) = (before[neighbour], &self.location[(2 * tap + channel) * width..][..width]);
                hidden.iter_mut().zip(filter).for_each(|(hidden, filter)| *hidden += weight * filter);
            }
        }
        hidden.iter_mut().for_each(|hidden| *hidden = tanh(*hidden));
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[inline(always)]
fn add(sum: &mut [f32], factor: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

impl AttentionOps for Flex {
    fn attend(
        query: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        location: FloatTensor<Self>,
        before: FloatTensor<Self>,
        values: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let [query, keys, energy, location, before, values, mask] = [query, keys, energy, location, before, values, mask].map(packed);
        let [batch, symbols, width] = dims(&keys)[..] else { unreachable!("[B, L, A]") };
        let (taps, channels) = (dims(&location)[0] / 2, dims(&values)[2]);
        let row = 2 * symbols + channels;
        let mut attended = vec![0.0; batch * row];
        for_each(attended.chunks_exact_mut(row).enumerate().collect(), |(number, out): (usize, &mut [f32])| {
            let mut hidden = vec![0.0; width];
            pulp::Arch::new().dispatch(|| {
                let before = &slice(&before)[number * row..][..2 * symbols];
                let item = Item {
                    query: &slice(&query)[number * width..][..width],
                    keys: &slice(&keys)[number * symbols * width..][..symbols * width],
                    energy: slice(&energy),
                    location: slice(&location),
                    before: [&before[..symbols], &before[symbols..]],
                    width,
                    taps,
                };
                let (weights, rest) = out.split_at_mut(symbols);
                let (cumulative, context) = rest.split_at_mut(symbols);
                let there = |symbol: usize| slice(&mask)[number * symbols + symbol] > 0.0;
                let mut highest = f32::NEG_INFINITY;
                for symbol in (0..symbols).filter(|&symbol| there(symbol)) {
                    item.hidden(symbol, &mut hidden);
                    weights[symbol] = dot(&hidden, item.energy);
                    highest = highest.max(weights[symbol]);
                }
                let mut total = 0.0;
                for symbol in 0..symbols {
                    weights[symbol] = if there(symbol) { (weights[symbol] - highest).exp() } else { 0.0 };
                    total += weights[symbol];
                }
                for symbol in 0..symbols {
                    weights[symbol] /= total;
                    cumulative[symbol] = item.before[1][symbol] + weights[symbol];
                    add(context, weights[symbol], &slice(&values)[(number * symbols + symbol) * channels..][..channels]);
                }
            });
        });
        tensor(attended, vec![batch, row])
    }

    fn attend_backward(
        grad: FloatTensor<Self>,
        attended: FloatTensor<Self>,
        query: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        location: FloatTensor<Self>,
        before: FloatTensor<Self>,
        values: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let [grad, attended, query, keys] = [grad, attended, query, keys].map(packed);
        let [energy, location, before, values] = [energy, location, before, values].map(packed);
        let [batch, symbols, width] = dims(&keys)[..] else { unreachable!("[B, L, A]") };
        let (taps, channels) = (dims(&location)[0] / 2, dims(&values)[2]);
        let row = 2 * symbols + channels;
        let (mut d_query, mut d_keys) = (vec![0.0; batch * width], vec![0.0; batch * symbols * width]);
        let (mut d_before, mut d_values) = (vec![0.0; batch * row], vec![0.0; batch * symbols * channels]);
        // What all items share, energies' weights and filters, each of them adds up for itself.
        let shared = (1 + 2 * taps) * width;
        let mut d_shared = vec![0.0; batch * shared];
        let work = d_query.chunks_exact_mut(width).zip(d_keys.chunks_exact_mut(symbols * width));
        let work = work.zip(d_before.chunks_exact_mut(row)).zip(d_values.chunks_exact_mut(symbols * channels)).zip(d_shared.chunks_exact_mut(shared));
        for_each(work.enumerate().collect(), |(number, ((((d_query, d_keys), d_before), d_values), d_shared))| {
            let (d_energy, d_location) = d_shared.split_at_mut(width);
            let (mut hidden, mut d_energies) = (vec![0.0; width], vec![0.0; symbols]);
            pulp::Arch::new().dispatch(|| {
                let of = |tensor| &slice(tensor)[number * row..][..row];
                let (grad, attended, before) = (of(&grad), of(&attended), of(&before));
                let item = Item {
                    query: &slice(&query)[number * width..][..width],
                    keys: &slice(&keys)[number * symbols * width..][..symbols * width],
                    energy: slice(&energy),
                    location: slice(&location),
                    before: [&before[..symbols], &before[symbols..2 * symbols]],
                    width,
                    taps,
                };
                let (weights, d_context) = (&attended[..symbols], &grad[2 * symbols..]);
                let mut mean = 0.0;
                for symbol in 0..symbols {
                    let d_value = &mut d_values[symbol * channels..][..channels];
                    let value = &slice(&values)[(number * symbols + symbol) * channels..][..channels];
                    let d_weight = grad[symbol] + grad[symbols + symbol] + dot(d_context, value);
                    add(d_value, weights[symbol], d_context);
                    d_energies[symbol] = d_weight;
                    mean += weights[symbol] * d_weight;
                    d_before[symbols + symbol] += grad[symbols + symbol];
                }
                for symbol in (0..symbols).filter(|&symbol| weights[symbol] != 0.0) {
                    let d_symbol = weights[symbol] * (d_energies[symbol] - mean);
                    item.hidden(symbol, &mut hidden);
                    add(d_energy, d_symbol, &hidden);
                    let d_hidden = &mut d_keys[symbol * width..][..width];
                    for ((d_hidden, hidden), energy) in d_hidden.iter_mut().zip(&hidden).zip(item.energy) {
                        *d_hidden = d_symbol * energy * (1.0 - hidden * hidden);
                    }
                    add(d_query, 1.0, d_hidden);
                    for (tap, neighbour) in item.neighbours(symbol) {
                        for (channel, before) in item.before.iter().enumerate() {
                            let filter = (2 * tap + channel) * width;
                            add(&mut d_location[filter..][..width], before[neighbour], d_hidden);
                            d_before[channel * symbols + neighbour] += dot(d_hidden, &item.location[filter..][..width]);
                        }
                    }
                }
            });
        });
        let mut sums = vec![0.0; shared];
        d_shared.chunks_exact(shared).for_each(|part| add(&mut sums, 1.0, part));
        let d_location = sums.split_off(width);
        (
            tensor(d_query, dims(&query)),
            tensor(d_keys, dims(&keys)),
            tensor(sums, dims(&energy)),
            tensor(d_location, dims(&location)),
            tensor(d_before, dims(&before)),
            tensor(d_values, dims(&values)),
        )
    }
}
