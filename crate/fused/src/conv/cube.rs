//! The parts of a convolution layer on GPUs: one dispatch each.

use burn::backend::{DType, TensorMetadata, ops::FloatTensorOps, tensor::FloatTensor};
use burn::tensor::{FloatDType, Shape};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    tensor::CubeTensor,
};

use half::f16;

use super::{
    Activation,
    ops::{ConvBackwardOps, ConvOps},
};
use crate::{
    cube::{THREADS, cubes, dim, empty, empty_like, empty_of, input, output, tanh},
    matmul::cube::{Operand, burns_own, has_units, matmul},
};

/// The columns of a workgroup that sums over rows. The rows of a column are divided among `THREADS / COLUMNS` threads.
const COLUMNS: usize = 32;

/// Concatenates the neighbours of each step.
#[cube(launch_unchecked)]
fn unfold_kernel<F: Float>(
    input: &[F],
    output: &mut [F],
    count: u32,
    steps: u32,
    channels: u32,
    #[comptime] taps: usize,
) {
    let (steps, channels) = (steps as usize, channels as usize);
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let channel = at % channels;
        let tap = (at / channels) % taps;
        let row = at / (channels * taps);
        let neighbour = row % steps + tap; // the index of the neighbour, shifted by half a kernel
        let mut value = F::new(0.0);
        if neighbour >= comptime!(taps / 2) && neighbour < steps + comptime!(taps / 2) {
            value = input[(row + tap - comptime!(taps / 2)) * channels + channel];
        }
        output[at] = value;
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

/// Computes the adjoint of [`unfold_kernel`].
#[cube(launch_unchecked)]
fn fold_kernel<F: Float>(
    input: &[F],
    output: &mut [f32],
    count: u32,
    steps: u32,
    channels: u32,
    #[comptime] taps: usize,
) {
    let (steps, channels) = (steps as usize, channels as usize);
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let channel = at % channels;
        let row = at / channels;
        let mut sum = 0.0f32;
        #[unroll]
        for tap in 0..taps {
            let step = row % steps + comptime!(taps / 2); // the index of the step that reads it, shifted by the tap
            if step >= tap && step < steps + tap {
                sum += f32::cast_from(
                    input[((row + comptime!(taps / 2) - tap) * taps + tap) * channels + channel],
                );
            }
        }
        output[at] = sum;
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

#[cube]
fn activated(value: f32, #[comptime] activation: Activation) -> f32 {
    match comptime!(activation) {
        Activation::None => value,
        Activation::Relu => max(value, 0.0f32),
        Activation::Relu6 => min(max(value, 0.0f32), 6.0f32),
        Activation::Tanh => tanh(value),
    }
}

/// Returns the derivative of the activation, given its output.
#[cube]
fn slope(output: f32, #[comptime] activation: Activation) -> f32 {
    match comptime!(activation) {
        Activation::None => 1.0f32.runtime(),
        Activation::Relu => select(output > 0.0f32, 1.0f32, 0.0f32),
        Activation::Relu6 => select(output > 0.0f32 && output < 6.0f32, 1.0f32, 0.0f32),
        Activation::Tanh => 1.0f32 - output * output,
    }
}

#[cube(launch_unchecked)]
fn activate_kernel(input: &[f32], output: &mut [f32], count: u32, #[comptime] activation: Activation) {
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        output[at] = activated(input[at], activation);
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

#[cube(launch_unchecked)]
fn activate_backward_kernel(
    grad: &[f32],
    output: &[f32],
    grad_input: &mut [f32],
    count: u32,
    #[comptime] activation: Activation,
) {
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        grad_input[at] = grad[at] * slope(output[at], activation);
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn normalise_kernel(
    input: &[f32],
    gamma: &[f32],
    beta: &[f32],
    mean: &[f32],
    variance: &[f32],
    output: &mut [f32],
    normalised: &mut [f32],
    count: u32,
    channels: u32,
    epsilon: f32,
    #[comptime] activation: Activation,
) {
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let channel = at % channels as usize;
        let value = (input[at] - mean[channel]) / (variance[channel] + epsilon).sqrt();
        normalised[at] = value;
        output[at] = activated(value * gamma[channel] + beta[channel], activation);
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

/// Computes the gradients of input, scale and shift. Each workgroup sums over all rows of [`COLUMNS`] columns.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)]
fn normalise_backward_kernel(
    grad: &[f32],
    output: &[f32],
    normalised: &[f32],
    gamma: &[f32],
    variance: &[f32],
    grad_input: &mut [f32],
    grad_gamma: &mut [f32],
    grad_beta: &mut [f32],
    rows: u32,
    channels: u32,
    epsilon: f32,
    #[comptime] activation: Activation,
) {
    let (rows, channels) = (rows as usize, channels as usize);
    let place = UNIT_POS_X as usize;
    let channel = CUBE_POS_X as usize * COLUMNS + place % COLUMNS;
    let mut sums = Shared::<[f32]>::new_slice(comptime!(2 * THREADS));
    let mut gamma_sum = 0.0f32;
    let mut beta_sum = 0.0f32;
    if channel < channels {
        let scale = gamma[channel] / (variance[channel] + epsilon).sqrt();
        let mut row = place / COLUMNS;
        while row < rows {
            let at = row * channels + channel;
            let passed = grad[at] * slope(output[at], activation);
            gamma_sum += passed * normalised[at];
            beta_sum += passed;
            grad_input[at] = passed * scale;
            row += comptime!(THREADS / COLUMNS);
        }
    }
    sums[place] = gamma_sum;
    sums[place + THREADS] = beta_sum;
    sync_cube();
    if place < COLUMNS && channel < channels {
        #[unroll]
        for share in 1..comptime!(THREADS / COLUMNS) {
            gamma_sum += sums[place + comptime!(share * COLUMNS)];
            beta_sum += sums[place + comptime!(share * COLUMNS + THREADS)];
        }
        grad_gamma[channel] = gamma_sum;
        grad_beta[channel] = beta_sum;
    }
}

/// The launch function of [`unfold_kernel`] and [`fold_kernel`]: input, output, count, steps, channels, taps.
type TapsKernel = unsafe fn(&Client, CubeCount, CubeDim, BufferArg, BufferArg, u32, u32, u32, usize);

/// Launches the kernel for f32 or that for f16 over all values of its output.
///
/// # Safety
///
/// The kernel must stay inside its buffers.
unsafe fn launch_taps(
    [single, half]: [TapsKernel; 2],
    tensor: CubeTensor,
    target: &CubeTensor,
    [steps, channels, taps]: [usize; 3],
) {
    let count = target.shape().num_elements();
    let client = tensor.client.clone();
    let launch = if tensor.dtype == DType::F16 { half } else { single };
    let (steps, channels) = (steps as u32, channels as u32);
    // SAFETY: the caller guarantees it.
    unsafe {
        launch(
            &client,
            cubes(count),
            dim(),
            input(tensor),
            output(target),
            count as u32,
            steps,
            channels,
            taps,
        );
    }
}

impl ConvOps for CubeBackend {
    fn unfold_taps(tensor: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let [batch, steps, channels] = tensor.shape().dims::<3>();
        let unfolded = empty_of(&tensor, [batch, steps, taps * channels], tensor.dtype);
        let kernels: [TapsKernel; 2] =
            [unfold_kernel::launch_unchecked::<f32>, unfold_kernel::launch_unchecked::<f16>];
        // SAFETY: indices end at the last value of the output and stay within the steps of an item.
        unsafe { launch_taps(kernels, tensor, &unfolded, [steps, channels, taps]) };
        unfolded
    }

    fn convolve(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [batch, steps, _] = input.shape().dims::<3>();
        let [width, outputs] = weight.shape().dims::<2>();
        let (output, kept) = if has_units(&input) {
            let unfolded =
                Self::float_reshape(Self::unfold_taps(input, taps), Shape::from([batch * steps, width]));
            (burns_own(unfolded.clone(), weight), unfolded)
        } else {
            (
                matmul(
                    [batch * steps, width, outputs],
                    Operand::windows(input.clone(), taps),
                    Operand::matrix(weight),
                ),
                input,
            )
        };
        (Self::float_reshape(output, Shape::from([batch, steps, outputs])), kept)
    }

    fn activate(tensor: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        let activated = empty_like(&tensor);
        let count = tensor.shape().num_elements();
        let client = tensor.client.clone();
        // SAFETY: indices end at `count`.
        unsafe {
            activate_kernel::launch_unchecked(
                &client,
                cubes(count),
                dim(),
                input(tensor),
                output(&activated),
                count as u32,
                activation,
            )
        };
        activated
    }

    fn normalise(
        tensor: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [rows, channels] = tensor.shape().dims::<2>();
        let (activated, normalised) = (empty_like(&tensor), empty_like(&tensor));
        let client = tensor.client.clone();
        // SAFETY: indices end at the last value of `tensor`, and the other inputs are `[C]`.
        unsafe {
            normalise_kernel::launch_unchecked(
                &client,
                cubes(rows * channels),
                dim(),
                input(tensor),
                input(gamma),
                input(beta),
                input(mean),
                input(variance),
                output(&activated),
                output(&normalised),
                (rows * channels) as u32,
                channels as u32,
                epsilon,
                activation,
            );
        }
        (activated, normalised)
    }
}

impl ConvBackwardOps for CubeBackend {
    fn fold_taps(unfolded: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let [batch, steps, width] = unfolded.shape().dims::<3>();
        let channels = width / taps;
        let folded = empty(&unfolded, [batch, steps, channels]);
        let kernels: [TapsKernel; 2] =
            [fold_kernel::launch_unchecked::<f32>, fold_kernel::launch_unchecked::<f16>];
        // SAFETY: as above.
        unsafe { launch_taps(kernels, unfolded, &folded, [steps, channels, taps]) };
        folded
    }

    fn convolve_backward_input(
        grad: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self> {
        let [batch, steps, outputs] = grad.shape().dims::<3>();
        let width = weight.shape().dims::<2>()[0];
        if has_units(&grad) {
            let grad = Self::float_reshape(grad, Shape::from([batch * steps, outputs]));
            let unfolded = burns_own(grad, Self::float_swap_dims(weight, 0, 1));
            return Self::fold_taps(Self::float_reshape(unfolded, Shape::from([batch, steps, width])), taps);
        }
        let inputs = width / taps;
        let grad_input = matmul(
            [batch * steps, taps * outputs, inputs],
            Operand::windows(grad, taps),
            Operand::taps_back(weight, taps),
        );
        Self::float_cast(
            Self::float_reshape(grad_input, Shape::from([batch, steps, inputs])),
            FloatDType::F32,
        )
    }

    fn convolve_backward_weight(
        grad: FloatTensor<Self>,
        kept: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self> {
        let [batch, steps, outputs] = grad.shape().dims::<3>();
        let grad = Self::float_reshape(grad, Shape::from([batch * steps, outputs]));
        if has_units(&grad) {
            return burns_own(Self::float_swap_dims(kept, 0, 1), grad);
        }
        let width = taps * kept.shape().dims::<3>()[2];
        matmul([width, batch * steps, outputs], Operand::windows_across(kept, taps), Operand::matrix(grad))
    }

    fn activate_backward(
        grad: FloatTensor<Self>,
        activated: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        let grad_input = empty_like(&grad);
        let count = grad.shape().num_elements();
        let client = grad.client.clone();
        // SAFETY: as above.
        unsafe {
            activate_backward_kernel::launch_unchecked(
                &client,
                cubes(count),
                dim(),
                input(grad),
                input(activated),
                output(&grad_input),
                count as u32,
                activation,
            );
        }
        grad_input
    }

    fn normalise_backward(
        grad: FloatTensor<Self>,
        activated: FloatTensor<Self>,
        normalised: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let [rows, channels] = grad.shape().dims::<2>();
        let (grad_input, grad_gamma, grad_beta) =
            (empty_like(&grad), empty(&grad, [channels]), empty(&grad, [channels]));
        let client = grad.client.clone();
        // SAFETY: as above.
        unsafe {
            normalise_backward_kernel::launch_unchecked(
                &client,
                CubeCount::Static(channels.div_ceil(COLUMNS) as u32, 1, 1),
                dim(),
                input(grad),
                input(activated),
                input(normalised),
                input(gamma),
                input(variance),
                output(&grad_input),
                output(&grad_gamma),
                output(&grad_beta),
                rows as u32,
                channels as u32,
                epsilon,
                activation,
            );
        }
        (grad_input, grad_gamma, grad_beta)
    }
}
