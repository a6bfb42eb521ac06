//! The spectrogram loss on GPUs: one dispatch forward and one backward.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
};

use super::ops::{LossBackwardOps, LossOps, PARTS};
use crate::cube::{THREADS, cubes, dim, empty, empty_like, input, output, sum_of_cube};

/// Sums the frames of one part in each workgroup.
#[cube(launch_unchecked)]
fn errors_kernel(predicted: &[f32], targets: &[f32], mask: &[f32], sums: &mut [f32], frames: u32, mels: u32) {
    let (frames, mels) = (frames as usize, mels as usize);
    let part = CUBE_POS_X as usize;
    let mut own = UNIT_POS_X as usize; // index among the values of the part
    let mut sum = 0.0f32;
    let mut frame = part + own / mels * PARTS;
    while frame < frames {
        let at = frame * mels + own % mels;
        let error = (predicted[at] - targets[at]) * mask[frame];
        sum += error.abs() + error * error;
        own += THREADS;
        frame = part + own / mels * PARTS;
    }
    let sum = sum_of_cube(sum);
    if UNIT_POS_X == 0 {
        sums[part] = sum;
    }
}

#[cube(launch_unchecked)]
fn errors_backward_kernel(
    grad: &[f32],
    predicted: &[f32],
    targets: &[f32],
    mask: &[f32],
    grad_predicted: &mut [f32],
    count: u32,
    mels: u32,
) {
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let frame = at / mels as usize;
        let mask = mask[frame];
        let error = (predicted[at] - targets[at]) * mask;
        let sign = select(error > 0.0f32, 1.0f32, select(error < 0.0f32, -1.0f32, 0.0f32));
        grad_predicted[at] = grad[frame % PARTS] * mask * (sign + 2.0f32 * error);
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

impl LossOps for CubeBackend {
    fn errors(
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let [batch, steps, mels] = predicted.shape().dims::<3>();
        let sums = empty(&predicted, [PARTS]);
        let client = predicted.client.clone();
        // SAFETY: reads end at the last frame, and each workgroup writes its own sum.
        unsafe {
            errors_kernel::launch_unchecked(
                &client,
                CubeCount::Static(PARTS as u32, 1, 1),
                dim(),
                input(predicted),
                input(targets),
                input(mask),
                output(&sums),
                (batch * steps) as u32,
                mels as u32,
            );
        }
        sums
    }
}

impl LossBackwardOps for CubeBackend {
    fn errors_backward(
        grad: FloatTensor<Self>,
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let [batch, steps, mels] = predicted.shape().dims::<3>();
        let count = batch * steps * mels;
        let grad_predicted = empty_like(&predicted);
        let client = predicted.client.clone();
        // SAFETY: indices end at the last value.
        unsafe {
            errors_backward_kernel::launch_unchecked(
                &client,
                cubes(count),
                dim(),
                input(grad),
                input(predicted),
                input(targets),
                input(mask),
                output(&grad_predicted),
                count as u32,
                mels as u32,
            );
        }
        grad_predicted
    }
}
