//! A convolution's parts on the CPU: one pass each.

use burn::backend::{DType, Flex, ops::FloatTensorOps, tensor::FloatTensor};
use burn::tensor::FloatDType;

use super::{Activation, ops::ConvOps};
use crate::nn::flex::{dims, packed, tanh, tensor, values, values_mut};

/// The part of a row that a tap sees: first step, first neighbour, steps.
fn overlap(steps: usize, tap: usize, taps: usize) -> (usize, usize, usize) {
    let before = (taps / 2).saturating_sub(tap);
    let after = tap.saturating_sub(taps / 2);
    (before, after, steps.saturating_sub(before + after))
}

#[inline(always)]
fn activate_all(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::None => {}
        Activation::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
        Activation::Tanh => values.iter_mut().for_each(|value| *value = tanh(*value)),
    }
}

/// By what a gradient passes through, from the output.
#[inline(always)]
fn slope(activation: Activation, output: f32) -> f32 {
    match activation {
        Activation::None => 1.0,
        Activation::Relu => f32::from(u8::from(output > 0.0)),
        Activation::Tanh => 1.0 - output * output,
    }
}

impl ConvOps for Flex {
    fn unfold_taps(input: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let dtype = input.dtype();
        let input = packed(input);
        let [batch, steps, channels] = dims(&input)[..] else { unreachable!("[B, T, C]") };
        let mut unfolded = vec![0.0; batch * steps * taps * channels];
        let from = values(&input);
        for item in 0..batch {
            for tap in 0..taps {
                let (step, neighbour, count) = overlap(steps, tap, taps);
                for at in 0..count {
                    let to = ((item * steps + step + at) * taps + tap) * channels;
                    unfolded[to..][..channels].copy_from_slice(&from[(item * steps + neighbour + at) * channels..][..channels]);
                }
            }
        }
        let unfolded = tensor(unfolded, vec![batch, steps, taps * channels]);
        // No CPU gains by half precision: it is there so that what a GPU does can be tried without one.
        if dtype == DType::F32 { unfolded } else { Self::float_cast(unfolded, FloatDType::F16) }
    }

    fn fold_taps(unfolded: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let unfolded = packed(unfolded);
        let [batch, steps, width] = dims(&unfolded)[..] else { unreachable!("[B, T, K C]") };
        let channels = width / taps;
        let mut folded = vec![0.0; batch * steps * channels];
        let from = values(&unfolded);
        for item in 0..batch {
            for tap in 0..taps {
                let (step, neighbour, count) = overlap(steps, tap, taps);
                for at in 0..count {
                    let source = &from[((item * steps + step + at) * taps + tap) * channels..][..channels];
                    let target = &mut folded[(item * steps + neighbour + at) * channels..][..channels];
                    target.iter_mut().zip(source).for_each(|(sum, value)| *sum += value);
                }
            }
        }
        tensor(folded, vec![batch, steps, channels])
    }

    fn activate(input: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        let mut output = packed(input);
        let values = values_mut(&mut output);
        pulp::Arch::new().dispatch(|| activate_all(activation, values));
        output
    }

    fn activate_backward(grad: FloatTensor<Self>, output: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        let (mut grad, output) = (packed(grad), packed(output));
        let passed = values_mut(&mut grad);
        pulp::Arch::new().dispatch(|| {
            passed.iter_mut().zip(values(&output)).for_each(|(grad, &output)| *grad *= slope(activation, output));
        });
        grad
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
        let [mut input, gamma, beta, mean, variance] = [input, gamma, beta, mean, variance].map(packed);
        let (shape, channels) = (dims(&input), dims(&gamma)[0]);
        let (gamma, beta, mean) = (&values(&gamma)[..channels], &values(&beta)[..channels], &values(&mean)[..channels]);
        let inverse: Vec<f32> = values(&variance).iter().map(|variance| (variance + epsilon).sqrt().recip()).collect();
        let normalised = values_mut(&mut input);
        let mut output = vec![0.0; normalised.len()];
        pulp::Arch::new().dispatch(|| {
            for (normalised, output) in normalised.chunks_exact_mut(channels).zip(output.chunks_exact_mut(channels)) {
                for c in 0..channels {
                    normalised[c] = (normalised[c] - mean[c]) * inverse[c];
                    output[c] = normalised[c] * gamma[c] + beta[c];
                }
                activate_all(activation, output);
            }
        });
        (tensor(output, shape), input)
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
        let [mut grad, output, normalised, gamma, variance] = [grad, output, normalised, gamma, variance].map(packed);
        let channels = dims(&gamma)[0];
        let scale: Vec<f32> =
            values(&gamma).iter().zip(values(&variance)).map(|(gamma, variance)| gamma / (variance + epsilon).sqrt()).collect();
        let (mut grad_gamma, mut grad_beta) = (vec![0.0; channels], vec![0.0; channels]);
        let grad_input = values_mut(&mut grad);
        pulp::Arch::new().dispatch(|| {
            let rows = values(&output).chunks_exact(channels).zip(values(&normalised).chunks_exact(channels));
            for (grad, (output, normalised)) in grad_input.chunks_exact_mut(channels).zip(rows) {
                for c in 0..channels {
                    let passed = grad[c] * slope(activation, output[c]);
                    grad_gamma[c] += passed * normalised[c];
                    grad_beta[c] += passed;
                    grad[c] = passed * scale[c];
                }
            }
        });
        (grad, tensor(grad_gamma, vec![channels]), tensor(grad_beta, vec![channels]))
    }
}
