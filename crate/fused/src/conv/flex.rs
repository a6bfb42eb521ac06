//! The parts of a convolution layer on the CPU: one pass each, and matmuls that read the neighbours of each step in place.

use burn::backend::{DType, Flex, flex::FlexTensor, ops::FloatTensorOps, tensor::FloatTensor};
use burn::tensor::FloatDType;

use super::{
    Activation,
    ops::{ConvBackwardOps, ConvOps},
    winograd,
};
use crate::flex::{
    ALL_CORES, Matrix, contiguous, dims, for_each, matmul_add, tanh, tensor, values, values_mut,
};

/// The steps of an item for which a tap reads a step inside the item.
struct Overlap {
    first_step: usize,
    first_neighbour: usize,
    steps: usize,
}

fn overlap(steps: usize, tap: usize, taps: usize) -> Overlap {
    let before = (taps / 2).saturating_sub(tap);
    let after = tap.saturating_sub(taps / 2);
    Overlap { first_step: before, first_neighbour: after, steps: steps.saturating_sub(before + after) }
}

/// `[B, T, C]` with half a kernel of zeros at both ends of each item, so that the `K C` values of a step and its neighbours are contiguous.
struct Signal {
    values: Vec<f32>,
    batch: usize,
    steps: usize,
    channels: usize,
    taps: usize,
}

impl Signal {
    fn padded(tensor: FlexTensor, taps: usize) -> Self {
        let tensor = contiguous(tensor);
        let [batch, steps, channels] = dims(&tensor)[..] else { unreachable!("[B, T, C]") };
        let mut signal = Self { values: Vec::new(), batch, steps, channels, taps };
        let edge = taps / 2 * channels;
        signal.values.reserve_exact(batch * signal.padded_steps() * channels);
        for item in values(&tensor).chunks_exact(steps * channels) {
            signal.values.resize(signal.values.len() + edge, 0.0);
            signal.values.extend_from_slice(item);
            signal.values.resize(signal.values.len() + edge, 0.0);
        }
        signal
    }

    fn padded_steps(&self) -> usize {
        self.steps + self.taps - 1
    }

    fn into_tensor(self) -> FlexTensor {
        let shape = vec![self.batch, self.padded_steps(), self.channels];
        tensor(self.values, shape)
    }

    /// Convolves with `[K C, Cout]` to `[B, T, Cout]`: one matmul over all items, after which the rows that reach from one item into the next are removed.
    fn convolve(&self, weight: &[f32]) -> FlexTensor {
        let width = self.taps * self.channels;
        let outputs = weight.len() / width;
        let rows = self.batch * self.padded_steps() + 1 - self.taps;
        let mut output = vec![0.0; rows * outputs];
        matmul_add(
            ALL_CORES,
            [rows, width, outputs],
            (&mut output, outputs),
            Matrix::row_major(&self.values, self.channels),
            Matrix::row_major(weight, outputs),
        );
        for item in 1..self.batch {
            let first = item * self.padded_steps() * outputs;
            output.copy_within(first..first + self.steps * outputs, item * self.steps * outputs);
        }
        output.truncate(self.batch * self.steps * outputs);
        tensor(output, vec![self.batch, self.steps, outputs])
    }
}

/// Maps a weight `[K Cin, Cout]` to that of the backward pass, `[K Cout, Cin]` with the taps in reverse order.
fn reversed(weight: &[f32], outputs: usize, taps: usize) -> Vec<f32> {
    let channels = weight.len() / (taps * outputs);
    let mut reversed = vec![0.0; weight.len()];
    for (tap, weight) in weight.chunks_exact(channels * outputs).rev().enumerate() {
        for (channel, row) in weight.chunks_exact(outputs).enumerate() {
            row.iter().enumerate().for_each(|(output, &weight)| {
                reversed[(tap * outputs + output) * channels + channel] = weight;
            });
        }
    }
    reversed
}

/// Casts a result to the type of the operands. f16 makes nothing faster on the CPU; it is supported so that mixed precision can be tested without a GPU.
fn cast(tensor: FlexTensor, dtype: DType) -> FlexTensor {
    if dtype == DType::F32 { tensor } else { Flex::float_cast(tensor, FloatDType::F16) }
}

#[inline(always)]
fn activate_all(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::None => {}
        Activation::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
        Activation::Relu6 => values.iter_mut().for_each(|value| *value = value.clamp(0.0, 6.0)),
        Activation::Tanh => values.iter_mut().for_each(|value| *value = tanh(*value)),
    }
}

/// Returns the derivative of the activation, given its output.
#[inline(always)]
fn slope(activation: Activation, output: f32) -> f32 {
    match activation {
        Activation::None => 1.0,
        Activation::Relu => f32::from(u8::from(output > 0.0)),
        Activation::Relu6 => f32::from(u8::from(output > 0.0 && output < 6.0)),
        Activation::Tanh => 1.0 - output * output,
    }
}

fn sizes(signal: &FlexTensor) -> winograd::Sizes {
    let dims = dims(signal);
    winograd::Sizes { batch: dims[0], steps: dims[1] }
}

/// The rows that a core normalises at a time.
const ROWS: usize = 256;

impl ConvOps for Flex {
    fn unfold_taps(input: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let dtype = input.dtype();
        let input = contiguous(input);
        let [batch, steps, channels] = dims(&input)[..] else { unreachable!("[B, T, C]") };
        let mut unfolded = vec![0.0; batch * steps * taps * channels];
        let from = values(&input);
        for item in 0..batch {
            for tap in 0..taps {
                let Overlap { first_step: step, first_neighbour: neighbour, steps: count } =
                    overlap(steps, tap, taps);
                for at in 0..count {
                    let to = ((item * steps + step + at) * taps + tap) * channels;
                    unfolded[to..][..channels]
                        .copy_from_slice(&from[(item * steps + neighbour + at) * channels..][..channels]);
                }
            }
        }
        cast(tensor(unfolded, vec![batch, steps, taps * channels]), dtype)
    }

    fn convolve(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let dtype = input.dtype();
        let (sizes, [inputs, outputs]) = (sizes(&input), [dims(&input)[2], dims(&weight)[1]]);
        if dtype == DType::F32 && winograd::fits(taps, inputs, outputs) {
            let tiles = winograd::tiles(values(&contiguous(input)), sizes, inputs);
            let output = winograd::convolve(&tiles, values(&contiguous(weight)), sizes, inputs);
            let shape = vec![winograd::READ, tiles.len() / (winograd::READ * inputs), inputs];
            return (tensor(output, vec![sizes.batch, sizes.steps, outputs]), tensor(tiles, shape));
        }
        let (input, weight) = (Signal::padded(input, taps), contiguous(weight));
        let output = input.convolve(values(&weight));
        (cast(output, dtype), input.into_tensor())
    }

    fn activate(input: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        let mut output = contiguous(input);
        let values = values_mut(&mut output);
        pulp::Arch::new().dispatch(|| activate_all(activation, values));
        output
    }

    fn normalise(
        input: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [mut input, gamma, beta, mean, variance] = [input, gamma, beta, mean, variance].map(contiguous);
        let (shape, channels) = (dims(&input), dims(&gamma)[0]);
        let (gamma, beta, mean) =
            (&values(&gamma)[..channels], &values(&beta)[..channels], &values(&mean)[..channels]);
        let inverse: Vec<f32> =
            values(&variance).iter().map(|variance| (variance + epsilon).sqrt().recip()).collect();
        let normalised = values_mut(&mut input);
        let mut output = vec![0.0; normalised.len()];
        let pieces = normalised.chunks_mut(ROWS * channels).zip(output.chunks_mut(ROWS * channels)).collect();
        for_each(pieces, |(normalised, output): (&mut [f32], &mut [f32])| {
            pulp::Arch::new().dispatch(|| {
                for (normalised, output) in
                    normalised.chunks_exact_mut(channels).zip(output.chunks_exact_mut(channels))
                {
                    for c in 0..channels {
                        normalised[c] = (normalised[c] - mean[c]) * inverse[c];
                        output[c] = normalised[c] * gamma[c] + beta[c];
                    }
                    activate_all(activation, output);
                }
            });
        });
        (tensor(output, shape), input)
    }
}

impl ConvBackwardOps for Flex {
    fn fold_taps(unfolded: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let unfolded = contiguous(unfolded);
        let [batch, steps, width] = dims(&unfolded)[..] else { unreachable!("[B, T, K C]") };
        let channels = width / taps;
        let mut folded = vec![0.0; batch * steps * channels];
        let from = values(&unfolded);
        for item in 0..batch {
            for tap in 0..taps {
                let Overlap { first_step: step, first_neighbour: neighbour, steps: count } =
                    overlap(steps, tap, taps);
                for at in 0..count {
                    let source = &from[((item * steps + step + at) * taps + tap) * channels..][..channels];
                    let target = &mut folded[(item * steps + neighbour + at) * channels..][..channels];
                    target.iter_mut().zip(source).for_each(|(sum, value)| *sum += value);
                }
            }
        }
        tensor(folded, vec![batch, steps, channels])
    }

    fn convolve_backward_input(
        grad: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self> {
        let (sizes, [width, outputs]) = (sizes(&grad), [dims(&weight)[0], dims(&weight)[1]]);
        if weight.dtype() == DType::F32 && winograd::fits(taps, width / taps, outputs) {
            let input = winograd::backward_input(
                values(&contiguous(grad)),
                values(&contiguous(weight)),
                sizes,
                outputs,
            );
            return tensor(input, vec![sizes.batch, sizes.steps, width / taps]);
        }
        let (grad, weight) = (Signal::padded(grad, taps), contiguous(weight));
        grad.convolve(&reversed(values(&weight), grad.channels, taps))
    }

    fn convolve_backward_weight(
        grad: FloatTensor<Self>,
        kept: FloatTensor<Self>,
        taps: usize,
    ) -> FloatTensor<Self> {
        let dtype = grad.dtype();
        let (sizes, [inputs, outputs]) = (sizes(&grad), [dims(&kept)[2], dims(&grad)[2]]);
        if dtype == DType::F32 && winograd::fits(taps, inputs, outputs) {
            let weight =
                winograd::backward_weight(values(&contiguous(grad)), values(&kept), sizes, [inputs, outputs]);
            return tensor(weight, vec![taps * inputs, outputs]);
        }
        let (grad, width) = (Signal::padded(grad, taps), taps * dims(&kept)[2]);
        // One matmul over all items: where the neighbours of a step reach into the next item, the gradient is the zero padding.
        let mut grad_weight = vec![0.0; width * grad.channels];
        let (rows, aligned) =
            (grad.batch * grad.padded_steps() + 1 - taps, &grad.values[taps / 2 * grad.channels..]);
        let sizes = [width, rows, grad.channels];
        matmul_add(
            ALL_CORES,
            sizes,
            (&mut grad_weight, grad.channels),
            Matrix::column_major(values(&kept), width / taps),
            Matrix::row_major(aligned, grad.channels),
        );
        cast(tensor(grad_weight, vec![width, grad.channels]), dtype)
    }

    fn activate_backward(
        grad: FloatTensor<Self>,
        output: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        let (mut grad, output) = (contiguous(grad), contiguous(output));
        let passed = values_mut(&mut grad);
        pulp::Arch::new().dispatch(|| {
            passed
                .iter_mut()
                .zip(values(&output))
                .for_each(|(grad, &output)| *grad *= slope(activation, output));
        });
        grad
    }

    fn normalise_backward(
        grad: FloatTensor<Self>,
        output: FloatTensor<Self>,
        normalised: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let [mut grad, output, normalised, gamma, variance] =
            [grad, output, normalised, gamma, variance].map(contiguous);
        let channels = dims(&gamma)[0];
        let scale: Vec<f32> = values(&gamma)
            .iter()
            .zip(values(&variance))
            .map(|(gamma, variance)| gamma / (variance + epsilon).sqrt())
            .collect();
        let rows = values(&output).chunks(ROWS * channels).zip(values(&normalised).chunks(ROWS * channels));
        let mut sums = vec![0.0; rows.len() * 2 * channels];
        let pieces = values_mut(&mut grad)
            .chunks_mut(ROWS * channels)
            .zip(rows)
            .zip(sums.chunks_exact_mut(2 * channels))
            .collect();
        for_each(
            pieces,
            |((grad, (output, normalised)), sums): ((&mut [f32], (&[f32], &[f32])), &mut [f32])| {
                let (grad_gamma, grad_beta) = sums.split_at_mut(channels);
                pulp::Arch::new().dispatch(|| {
                    let rows = output.chunks_exact(channels).zip(normalised.chunks_exact(channels));
                    for (grad, (output, normalised)) in grad.chunks_exact_mut(channels).zip(rows) {
                        for c in 0..channels {
                            let passed = grad[c] * slope(activation, output[c]);
                            grad_gamma[c] += passed * normalised[c];
                            grad_beta[c] += passed;
                            grad[c] = passed * scale[c];
                        }
                    }
                });
            },
        );
        let (mut grad_gamma, mut grad_beta) = (vec![0.0; channels], vec![0.0; channels]);
        for piece in sums.chunks_exact(2 * channels) {
            grad_gamma.iter_mut().chain(&mut grad_beta).zip(piece).for_each(|(sum, value)| *sum += value);
        }
        (grad, tensor(grad_gamma, vec![channels]), tensor(grad_beta, vec![channels]))
    }
}
