//! The update on GPUs: two launches a parameter.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    kernel::into_contiguous,
};

use super::ops::{AdamOps, PARTS, Settings};
use crate::nn::cube::{THREADS, cubes, dim, empty_like, input, output, sum_of_cube};

#[cube(launch_unchecked)]
fn squares_kernel(gradient: &[f32], parts: &mut [f32], count: u32, first: u32) {
    let mut at = ABSOLUTE_POS;
    let mut sum = 0.0f32;
    while at < count as usize {
        sum += gradient[at] * gradient[at];
        at += comptime!(PARTS * THREADS);
    }
    let sum = sum_of_cube(sum);
    if UNIT_POS_X == 0 {
        parts[(first + CUBE_POS_X) as usize] = sum;
    }
}

#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn update_kernel(
    parameter: &[f32],
    gradient: &[f32],
    first: &[f32],
    second: &[f32],
    squared_norm: &[f32],
    new_parameter: &mut [f32],
    new_first: &mut [f32],
    new_second: &mut [f32],
    count: u32,
    rate: f32,
    kept: f32,
    beta_1: f32,
    beta_2: f32,
    epsilon: f32,
    clip_norm: f32,
) {
    let scale = min(clip_norm / (squared_norm[0].sqrt() + 1e-6f32), 1.0f32);
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let gradient = gradient[at] * scale;
        let mean = beta_1 * first[at] + (1.0f32 - beta_1) * gradient;
        let square = beta_2 * second[at] + (1.0f32 - beta_2) * gradient * gradient;
        new_first[at] = mean;
        new_second[at] = square;
        new_parameter[at] = kept * parameter[at] - rate * mean / (square.sqrt() + epsilon);
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

impl AdamOps for CubeBackend {
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self> {
        // In place: nobody else holds the sums while they are gathered.
        let parts = into_contiguous(parts);
        let count = gradient.shape().num_elements();
        let client = gradient.client.clone();
        // SAFETY: reads stop at `count`; each workgroup writes its own sum.
        unsafe {
            squares_kernel::launch_unchecked(
                &client,
                CubeCount::Static(PARTS as u32, 1, 1),
                dim(),
                input(gradient),
                output(&parts),
                count as u32,
                (place * PARTS) as u32,
            );
        }
        parts
    }

    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        squared_norm: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let Settings { rate, kept, beta_1, beta_2, epsilon, clip_norm } = settings;
        let (new_parameter, new_first, new_second) = (empty_like(&parameter), empty_like(&first), empty_like(&second));
        let count = parameter.shape().num_elements();
        let client = parameter.client.clone();
        // SAFETY: indices stop at `count`, which all of them hold.
        unsafe {
            update_kernel::launch_unchecked(
                &client,
                cubes(count),
                dim(),
                input(parameter),
                input(gradient),
                input(first),
                input(second),
                input(squared_norm),
                output(&new_parameter),
                output(&new_first),
                output(&new_second),
                count as u32,
                rate,
                kept,
                beta_1,
                beta_2,
                epsilon,
                clip_norm,
            );
        }
        (new_parameter, new_first, new_second)
    }
}
