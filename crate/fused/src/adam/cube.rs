//! The update on GPUs: two dispatches for each parameter and one for the clipping of all.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    kernel::into_contiguous,
};

use super::ops::{AdamOps, GROW_AFTER, MAX_SCALE, PARTS, Settings};
use crate::cube::{THREADS, cubes, dim, empty, empty_like, input, output, sum_of_cube};

/// Computes the partial sums of squares of one gradient. Each workgroup writes one sum.
#[cube(launch_unchecked)]
fn squares_kernel(gradient: &[f32], parts: &mut [f32], count: u32, first: u32) {
    let mut at = ABSOLUTE_POS;
    let mut sum = 0.0f32;
    while at < count as usize {
        sum += gradient[at] * gradient[at];
        at += CUBE_COUNT_X as usize * THREADS;
    }
    let sum = sum_of_cube(sum);
    if UNIT_POS_X == 0 {
        parts[(first + CUBE_POS_X) as usize] = sum;
    }
}

/// Computes [`AdamOps::clip`] in a single thread; on the device it needs no readback. Non-finite values are recognised by the bits of their exponents, since
/// shader compilers may assume that all values are finite.
#[cube(launch_unchecked)]
fn clip_kernel(
    squared_norm: &[f32],
    scaling: &[f32],
    factor: &mut [f32],
    new_scaling: &mut [f32],
    clip_norm: f32,
    #[comptime] grows: bool,
) {
    let scale = scaling[0];
    let since = scaling[1] + 1.0f32;
    let mut new_scale = scale;
    let mut new_since = since;
    let mut overflows = scaling[2];
    let mut by = 0.0f32;
    if (u32::reinterpret(squared_norm[0]) & 0x7f80_0000u32) == 0x7f80_0000u32 {
        overflows += 1.0f32;
        new_since = 0.0f32;
        if comptime!(grows) {
            new_scale = max(0.5f32 * scale, 1.0f32);
        }
    } else {
        by = min(clip_norm / (squared_norm[0].sqrt() / scale + 1e-6f32), 1.0f32) / scale;
        if comptime!(grows) {
            if since >= GROW_AFTER {
                new_scale = min(2.0f32 * scale, MAX_SCALE);
                new_since = 0.0f32;
            }
        }
    }
    factor[0] = by;
    new_scaling[0] = new_scale;
    new_scaling[1] = new_since;
    new_scaling[2] = overflows;
}

/// Updates one parameter and its moments.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn update_kernel(
    parameter: &[f32],
    gradient: &[f32],
    first: &[f32],
    second: &[f32],
    factor: &[f32],
    new_parameter: &mut [f32],
    new_first: &mut [f32],
    new_second: &mut [f32],
    count: u32,
    rate: f32,
    kept: f32,
    beta_1: f32,
    beta_2: f32,
    epsilon: f32,
) {
    let factor = factor[0];
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let mut mean = first[at];
        let mut square = second[at];
        let mut value = parameter[at];
        if factor > 0.0f32 {
            let gradient = gradient[at] * factor;
            mean = beta_1 * mean + (1.0f32 - beta_1) * gradient;
            square = beta_2 * square + (1.0f32 - beta_2) * gradient * gradient;
            value = kept * value - rate * mean / (square.sqrt() + epsilon);
        }
        new_first[at] = mean;
        new_second[at] = square;
        new_parameter[at] = value;
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

impl AdamOps for CubeBackend {
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self> {
        // The sums are written in place, since no other tensor shares their buffer.
        let parts = into_contiguous(parts);
        let count = gradient.shape().num_elements();
        let client = gradient.client.clone();
        // Small parameters need fewer than `PARTS` workgroups; the other sums stay zero.
        let cubes = CubeCount::Static(count.div_ceil(THREADS).min(PARTS) as u32, 1, 1);
        // SAFETY: The kernel reads below `count`, and each workgroup writes only its own sum.
        unsafe {
            squares_kernel::launch_unchecked(
                &client,
                cubes,
                dim(),
                input(gradient),
                output(&parts),
                count as u32,
                (place * PARTS) as u32,
            );
        }
        parts
    }

    fn clip(
        squared_norm: FloatTensor<Self>,
        scaling: FloatTensor<Self>,
        clip_norm: f32,
        grows: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (factor, new_scaling) = (empty(&scaling, [1]), empty_like(&scaling));
        let client = scaling.client.clone();
        // SAFETY: A single thread accesses only values inside its tensors.
        unsafe {
            clip_kernel::launch_unchecked(
                &client,
                CubeCount::Static(1, 1, 1),
                CubeDim::new_1d(1),
                input(squared_norm),
                input(scaling),
                output(&factor),
                output(&new_scaling),
                clip_norm,
                grows,
            );
        }
        (factor, new_scaling)
    }

    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let Settings { rate, kept, beta_1, beta_2, epsilon } = settings;
        let (new_parameter, new_first, new_second) =
            (empty_like(&parameter), empty_like(&first), empty_like(&second));
        let count = parameter.shape().num_elements();
        let client = parameter.client.clone();
        // SAFETY: The indices are below `count`, and each tensor has `count` values.
        unsafe {
            update_kernel::launch_unchecked(
                &client,
                cubes(count),
                dim(),
                input(parameter),
                input(gradient),
                input(first),
                input(second),
                input(factor),
                output(&new_parameter),
                output(&new_first),
                output(&new_second),
                count as u32,
                rate,
                kept,
                beta_1,
                beta_2,
                epsilon,
            );
        }
        (new_parameter, new_first, new_second)
    }
}
