//! A step of attention on GPUs: one dispatch forward and three backward. Each has at most eight buffers, the number that WebGPU guarantees.

use burn::backend::{TensorMetadata, ops::FloatTensorOps, tensor::FloatTensor};
use burn::tensor::{Shape, Slice};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    tensor::CubeTensor,
};

use super::{
    AttendInputs, MAX_SYMBOLS,
    ops::{AttentionBackwardOps, AttentionOps},
};
use crate::cube::{THREADS, cubes, dim, empty, empty_like, input, max_of_cube, output, sum_of_cube, tanh};

/// The energy of masked symbols, far below any other.
const MASKED: f32 = -1e30;

/// Computes one unit of `tanh(query + key + location)` of a symbol.
#[cube]
#[allow(clippy::too_many_arguments)]
fn hidden(
    query: &[f32],
    keys: &[f32],
    location: &[f32],
    before: &[f32],
    item: usize,
    symbol: usize,
    unit: usize,
    symbols: usize,
    width: usize,
    row: usize,
    #[comptime] taps: usize,
) -> f32 {
    let mut sum = query[item * width + unit] + keys[(item * symbols + symbol) * width + unit];
    for tap in 0..taps {
        let ahead = symbol + tap; // the index of the neighbour, shifted by half a kernel
        if ahead >= comptime!(taps / 2) && ahead < symbols + comptime!(taps / 2) {
            let at = row + ahead - comptime!(taps / 2);
            let filter = 2 * tap * width + unit;
            sum += before[at] * location[filter] + before[at + symbols] * location[filter + width];
        }
    }
    tanh(sum)
}

/// Computes a step. Each workgroup computes one item.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn attend_kernel(
    query: &[f32],        // [B, A]
    keys: &[f32],         // [B, L, A]
    energy: &[f32],       // [A]
    location: &[f32],     // [2 K, A]
    before: &[f32],       // [B, 2 L + C]
    values: &[f32],       // [B, L, C]
    mask: &[f32],         // [B, L]
    attended: &mut [f32], // [B, 2 L + C]
    symbols: u32,
    width: u32,
    channels: u32,
    #[comptime] taps: usize,
) {
    let (symbols, width, channels) = (symbols as usize, width as usize, channels as usize);
    let item = CUBE_POS_X as usize;
    let row = item * (2 * symbols + channels);
    let place = UNIT_POS_X as usize;
    let mut shared = Shared::<[f32]>::new_slice(MAX_SYMBOLS);
    let mut highest = MASKED.runtime();
    let mut symbol = place;
    while symbol < symbols {
        let mut sum = MASKED.runtime();
        if mask[item * symbols + symbol] > 0.0f32 {
            sum = 0.0f32;
            for unit in 0..width {
                sum += energy[unit]
                    * hidden(query, keys, location, before, item, symbol, unit, symbols, width, row, taps);
            }
        }
        shared[symbol] = sum;
        highest = max(highest, sum);
        symbol += THREADS;
    }
    let highest = max_of_cube(highest);
    let mut total = 0.0f32;
    symbol = place;
    while symbol < symbols {
        let mut value = 0.0f32;
        if mask[item * symbols + symbol] > 0.0f32 {
            value = max(shared[symbol] - highest, -80.0f32).exp();
        }
        shared[symbol] = value;
        total += value;
        symbol += THREADS;
    }
    let total = sum_of_cube(total);
    symbol = place;
    while symbol < symbols {
        let weight = shared[symbol] / total;
        shared[symbol] = weight;
        attended[row + symbol] = weight;
        attended[row + symbols + symbol] = before[row + symbols + symbol] + weight;
        symbol += THREADS;
    }
    sync_cube();
    let mut channel = place;
    while channel < channels {
        let mut sum = 0.0f32;
        for symbol in 0..symbols {
            sum += shared[symbol] * values[(item * symbols + symbol) * channels + channel];
        }
        attended[row + 2 * symbols + channel] = sum;
        channel += THREADS;
    }
}

/// Computes the gradients of energies and values. Each workgroup computes one item.
#[cube(launch_unchecked)]
fn energies_kernel(
    grad: &[f32],           // [B, 2 L + C]
    attended: &[f32],       // [B, 2 L + C]
    values: &[f32],         // [B, L, C]
    d_energies: &mut [f32], // [B, L]
    d_values: &mut [f32],   // [B, L, C]
    symbols: u32,
    channels: u32,
) {
    let (symbols, channels) = (symbols as usize, channels as usize);
    let item = CUBE_POS_X as usize;
    let row = item * (2 * symbols + channels);
    let place = UNIT_POS_X as usize;
    let mut shared = Shared::<[f32]>::new_slice(MAX_SYMBOLS);
    let mut mean = 0.0f32;
    let mut symbol = place;
    while symbol < symbols {
        let mut d_weight = grad[row + symbol] + grad[row + symbols + symbol];
        for channel in 0..channels {
            d_weight +=
                grad[row + 2 * symbols + channel] * values[(item * symbols + symbol) * channels + channel];
        }
        shared[symbol] = d_weight;
        mean += attended[row + symbol] * d_weight;
        symbol += THREADS;
    }
    let mean = sum_of_cube(mean);
    symbol = place;
    while symbol < symbols {
        d_energies[item * symbols + symbol] = attended[row + symbol] * (shared[symbol] - mean);
        symbol += THREADS;
    }
    let mut channel = place;
    while channel < channels {
        for symbol in 0..symbols {
            d_values[(item * symbols + symbol) * channels + channel] =
                attended[row + symbol] * grad[row + 2 * symbols + channel];
        }
        channel += THREADS;
    }
}

/// Computes the gradients of keys, query, energy weights and location filters. Each workgroup computes one item, each thread some units. The gradients of the
/// parameters are written for each item, to be summed over the batch.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn units_kernel(
    d_energies: &[f32], // [B, L]
    query: &[f32],      // [B, A]
    keys: &[f32],       // [B, L, A]
    energy: &[f32],     // [A]
    location: &[f32],   // [2 K, A]
    before: &[f32],     // [B, 2 L + C]
    d_keys: &mut [f32], // [B, L, A]
    parts: &mut [f32],  // [B, 2 + 2 K, A]: query, energy and location
    symbols: u32,
    width: u32,
    channels: u32,
    #[comptime] taps: usize,
) {
    let (symbols, width, channels) = (symbols as usize, width as usize, channels as usize);
    let item = CUBE_POS_X as usize;
    let row = item * (2 * symbols + channels);
    let mut unit = UNIT_POS_X as usize;
    while unit < width {
        let part = item * comptime!(2 + 2 * taps) * width + unit;
        let mut query_sum = 0.0f32;
        let mut energy_sum = 0.0f32;
        for symbol in 0..symbols {
            let value = hidden(query, keys, location, before, item, symbol, unit, symbols, width, row, taps);
            let d_energy = d_energies[item * symbols + symbol];
            let d_hidden = d_energy * energy[unit] * (1.0f32 - value * value);
            d_keys[(item * symbols + symbol) * width + unit] = d_hidden;
            query_sum += d_hidden;
            energy_sum += d_energy * value;
        }
        parts[part] = query_sum;
        parts[part + width] = energy_sum;
        for tap in 0..taps {
            let mut last = 0.0f32;
            let mut all = 0.0f32;
            for symbol in 0..symbols {
                let ahead = symbol + tap;
                if ahead >= comptime!(taps / 2) && ahead < symbols + comptime!(taps / 2) {
                    let at = row + ahead - comptime!(taps / 2);
                    let d_hidden = d_keys[(item * symbols + symbol) * width + unit]; // This thread wrote it.
                    last += before[at] * d_hidden;
                    all += before[at + symbols] * d_hidden;
                }
            }
            let filter = part + (2 + 2 * tap) * width;
            parts[filter] = last;
            parts[filter + width] = all;
        }
        unit += THREADS;
    }
}

/// Computes the gradient of the step before from that of the keys. It is a dispatch of its own since it reads values that other threads wrote.
#[cube(launch_unchecked)]
fn before_kernel(
    grad: &[f32],
    d_keys: &[f32],
    location: &[f32],
    d_before: &mut [f32],
    count: u32,
    symbols: u32,
    width: u32,
    channels: u32,
    #[comptime] taps: usize,
) {
    let (symbols, width, channels) = (symbols as usize, width as usize, channels as usize);
    let columns = 2 * symbols + channels;
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let column = at % columns;
        let item = at / columns;
        let mut sum = 0.0f32;
        if column < 2 * symbols {
            let channel = column / symbols;
            let neighbour = column % symbols;
            if channel == 1 {
                sum = grad[at];
            }
            for tap in 0..taps {
                let symbol = neighbour + comptime!(taps / 2); // the index of the symbol that reads it, shifted by the tap
                if symbol >= tap && symbol < symbols + tap {
                    let key = (item * symbols + symbol - tap) * width;
                    let filter = (2 * tap + channel) * width;
                    for unit in 0..width {
                        sum += d_keys[key + unit] * location[filter + unit];
                    }
                }
            }
        }
        d_before[at] = sum;
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

/// Returns batch, symbols, width, channels and taps.
fn sizes(keys: &CubeTensor, values: &CubeTensor, location: &CubeTensor) -> [usize; 5] {
    let [batch, symbols, width] = keys.shape().dims::<3>();
    [batch, symbols, width, values.shape().dims::<3>()[2], location.shape().dims::<2>()[0] / 2]
}

impl AttentionOps for CubeBackend {
    fn attend(with: AttendInputs<Self>, mask: FloatTensor<Self>) -> FloatTensor<Self> {
        let AttendInputs { query, keys, energy, location, before, values } = with;
        let [batch, symbols, width, channels, taps] = sizes(&keys, &values, &location);
        let attended = empty_like(&before);
        let client = keys.client.clone();
        // SAFETY: a workgroup stays within its item, and its threads within symbols, units and channels. `AttentionMemory::attend` checks that the energies fit the
        // shared memory.
        unsafe {
            attend_kernel::launch_unchecked(
                &client,
                CubeCount::Static(batch as u32, 1, 1),
                dim(),
                input(query),
                input(keys),
                input(energy),
                input(location),
                input(before),
                input(values),
                input(mask),
                output(&attended),
                symbols as u32,
                width as u32,
                channels as u32,
                taps,
            );
        }
        attended
    }
}

impl AttentionBackwardOps for CubeBackend {
    fn attend_backward(
        grad: FloatTensor<Self>,
        attended: FloatTensor<Self>,
        with: AttendInputs<Self>,
    ) -> AttendInputs<Self> {
        let AttendInputs { query, keys, energy, location, before, values } = with;
        let [batch, symbols, width, channels, taps] = sizes(&keys, &values, &location);
        let (d_keys, d_values, d_before) = (empty_like(&keys), empty_like(&values), empty_like(&before));
        let (d_energies, parts) =
            (empty(&keys, [batch, symbols]), empty(&keys, [batch, 2 + 2 * taps, width]));
        let (energy_shape, location_shape) = (energy.shape(), location.shape());
        let count = batch * (2 * symbols + channels);
        let client = keys.client.clone();
        let items = || CubeCount::Static(batch as u32, 1, 1);
        // SAFETY: as in the forward pass.
        unsafe {
            energies_kernel::launch_unchecked(
                &client,
                items(),
                dim(),
                input(grad.clone()),
                input(attended),
                input(values),
                output(&d_energies),
                output(&d_values),
                symbols as u32,
                channels as u32,
            );
            units_kernel::launch_unchecked(
                &client,
                items(),
                dim(),
                input(d_energies),
                input(query),
                input(keys),
                input(energy),
                input(location.clone()),
                input(before),
                output(&d_keys),
                output(&parts),
                symbols as u32,
                width as u32,
                channels as u32,
                taps,
            );
            before_kernel::launch_unchecked(
                &client,
                cubes(count),
                dim(),
                input(grad),
                input(d_keys.clone()),
                input(location),
                output(&d_before),
                count as u32,
                symbols as u32,
                width as u32,
                channels as u32,
                taps,
            );
        }
        let rows = |tensor, rows: std::ops::Range<usize>| {
            Self::float_slice(tensor, &[Slice::full(), Slice::from(rows), Slice::full()])
        };
        let sums = Self::float_sum_dim(parts.clone(), 0);
        AttendInputs {
            query: Self::float_reshape(rows(parts, 0..1), Shape::from([batch, width])),
            keys: d_keys,
            energy: Self::float_reshape(rows(sums.clone(), 1..2), energy_shape),
            location: Self::float_reshape(rows(sums, 2..2 + 2 * taps), location_shape),
            before: d_before,
            values: d_values,
        }
    }
}
