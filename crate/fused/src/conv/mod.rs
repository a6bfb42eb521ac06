//! Convolution over time, batch normalisation (Ioffe & Szegedy 2015) and activation, on `[B, T, C]`, forward and backward.
//!
//! A convolution has an odd number of taps and zero padding that keeps the length. It is one matmul that reads the neighbours of each step in place. On the CPU
//! (`flex`), convolutions of five taps use Winograd's minimal filtering (`winograd`); GPUs (`cube`) use the kernel of [`crate::matmul`], or burn's matmul where
//! the device has matrix units. With running statistics, normalisation and activation are one operation; batch statistics are burn's on a single rank, and
//! synchronised over all ranks of a data-parallel training otherwise.
//!
//! The plain references are [`convolve_with_tensors`], [`normalise_with_tensors`], [`activate_with_tensors`] and [`unfold_with_tensors`].

pub mod activation;
mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;
mod plain;
mod winograd;

use crate::{
    Compute, Mode, Operation, Scope,
    init::{Fill, batch_norm},
    matmul::{operand, result},
    ranks::Ranks,
    sum_over_ranks,
    trace::{Attributes, Value},
};
pub use activation::Activation;
use burn::{
    backend::Dispatch,
    module::{Module, Param},
    nn::BatchNorm,
    prelude::*,
};
use ops::ConvOps;
pub use plain::{activate_with_tensors, convolve_with_tensors, normalise_with_tensors, unfold_with_tensors};

/// A convolution over time that keeps the length, followed by batch normalisation and activation.
#[derive(Module, Debug)]
pub struct ConvNorm {
    /// `[K Cin, Cout]`, taps slowest. There is no bias, since the normalisation has one.
    pub weight: Param<Tensor<2>>,
    pub norm: BatchNorm,
    taps: usize,
    /// The precision, the faults and the probe of its operations.
    #[module(skip)]
    compute: Compute,
    /// The ranks over whose batches the statistics are taken in training.
    #[module(skip)]
    ranks: Ranks,
}

impl ConvNorm {
    /// Initialises the weight uniformly as Glorot & Bengio (2010), and the normalisation as the identity.
    pub fn new(inputs: usize, outputs: usize, taps: usize, device: &Device) -> Self {
        assert!(taps % 2 == 1, "a convolution that keeps its length has an odd number of taps");
        let bound = (6.0 / ((inputs + outputs) * taps) as f64).sqrt();
        Self {
            weight: Fill::Uniform(bound).init([taps * inputs, outputs], device),
            norm: batch_norm(outputs, device),
            taps,
            compute: Compute::default(),
            ranks: Ranks::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: scope.compute(), ..self }
    }

    /// Sets how the layers of a list compute. `scope` is that of the list.
    pub fn all_computing(layers: Vec<Self>, scope: &Scope) -> Vec<Self> {
        layers.into_iter().enumerate().map(|(number, layer)| layer.computing(&scope.at(number))).collect()
    }

    /// Takes batch statistics over the batches of all ranks.
    pub fn with_ranks(self, ranks: Ranks) -> Self {
        Self { ranks, ..self }
    }

    /// Maps `[B, T, Cin]` to `[B, T, Cout]`. The input is padded with zeros at both ends.
    pub fn forward(&self, input: Tensor<3>, activation: Activation, mode: Mode) -> Tensor<3> {
        let [batch, steps, _] = input.dims();
        let output = self.compute.convolve(input, self.weight.val(), self.taps);
        let outputs = output.dims()[2];
        let output = output.reshape([batch * steps, outputs]);
        let activated = match mode {
            Mode::Train if !self.ranks.is_alone() => {
                self.compute.activate(self.normalise_together(output), activation)
            }
            Mode::Train => {
                let normed = self.norm.forward(output);
                // burn applies an update of the statistics at the next read; without this, a checkpoint would lose the last one.
                self.norm.running_mean.value_sync();
                self.norm.running_var.value_sync();
                self.compute.activate(normed, activation)
            }
            Mode::Eval => self.normalise(output, activation),
        };
        activated.reshape([batch, steps, outputs])
    }

    /// Normalises a shard `[N, C]` of the batch by the statistics of the whole batch (synchronised batch normalisation), with one all-reduce forward and one
    /// backward.
    fn normalise_together(&self, input: Tensor<2>) -> Tensor<2> {
        let ([rows, channels], device) = (input.dims(), input.device());
        let norm = &self.norm;
        let running = [&norm.running_mean, &norm.running_var];
        let [running_mean, running_var] = running.map(|value| value.value_sync().to_device(&device));
        // Squares are summed around the running mean, which all ranks share: around zero, a variance that is small beside the mean would be lost to rounding.
        let shifted = input - running_mean.clone().unsqueeze::<2>(); // (N, C)
        let sums = Tensor::cat(
            vec![
                shifted.clone().sum_dim(0).reshape([channels]),
                shifted.clone().powi_scalar(2).sum_dim(0).reshape([channels]),
                Tensor::full([1], rows as f32, &device),
            ],
            0,
        );
        let sums = sum_over_ranks(sums, &self.ranks); // (2 C + 1)
        let count = sums.clone().narrow(0, 2 * channels, 1).detach();
        let mean = sums.clone().narrow(0, 0, channels) / count.clone();
        let variance = sums.narrow(0, channels, channels) / count - mean.clone().powi_scalar(2);
        if self.ranks.check().is_ok() {
            let moved = |running: Tensor<1>, found: Tensor<1>| {
                (running.mul_scalar(1.0 - norm.momentum) + found.detach().mul_scalar(norm.momentum)).detach()
            };
            norm.running_mean.update(moved(running_mean.clone(), mean.clone() + running_mean));
            norm.running_var.update(moved(running_var, variance.clone()));
            norm.running_mean.value_sync();
            norm.running_var.value_sync();
        }
        let scale = norm.gamma.val() / variance.add_scalar(norm.epsilon).sqrt();
        let shift = norm.beta.val() - mean * scale.clone();
        shifted * scale.unsqueeze::<2>() + shift.unsqueeze::<2>()
    }

    /// Normalises `[N, C]` by the running statistics, and activates.
    fn normalise(&self, input: Tensor<2>, activation: Activation) -> Tensor<2> {
        let device = input.device();
        let mean = self.norm.running_mean.value().to_device(&device);
        let variance = self.norm.running_var.value().to_device(&device);
        let scale_and_shift = [self.norm.gamma.val(), self.norm.beta.val()];
        self.compute.normalise(input, scale_and_shift, [mean, variance], self.norm.epsilon as f32, activation)
    }
}

impl Compute {
    /// Convolves `[B, T, Cin]` with `[K Cin, Cout]`, taps slowest, to `[B, T, Cout]`, and records the call. The input is padded with zeros at both ends.
    pub fn convolve(&self, input: Tensor<3>, weight: Tensor<2>, taps: usize) -> Tensor<3> {
        const CONVOLUTION: Operation = Operation::Convolution;
        let inputs =
            self.inputs(|| [("input", Value::from_tensor(&input)), ("weight", Value::from_tensor(&weight))]);
        let output = if self.is_plain(CONVOLUTION) {
            let (input, weight) = (operand(input, self.precision), operand(weight, self.precision));
            result(convolve_with_tensors(input, weight, taps), self.precision)
        } else {
            let input = operand(self.input(CONVOLUTION, "input", input), self.precision);
            let weight = operand(self.input(CONVOLUTION, "weight", weight), self.precision);
            let (output, _kept) = Dispatch::convolve(input.into_dispatch(), weight.into_dispatch(), taps);
            self.output(CONVOLUTION, result(Tensor::from_dispatch(output), self.precision))
        };
        self.record(CONVOLUTION, Attributes::Taps(taps), inputs, output)
    }

    /// Normalises the columns of `[N, C]` by given statistics, scales, shifts and activates, and records the call.
    ///
    /// * `scale_and_shift`: gamma and beta, `[C]`
    /// * `statistics`:      mean and variance, `[C]`
    pub fn normalise(
        &self,
        input: Tensor<2>,
        scale_and_shift: [Tensor<1>; 2],
        statistics: [Tensor<1>; 2],
        epsilon: f32,
        activation: Activation,
    ) -> Tensor<2> {
        const NORMALISE: Operation = Operation::Normalise;
        let ([gamma, beta], [mean, variance]) = (scale_and_shift, statistics);
        let inputs = self.inputs(|| {
            [
                ("input", Value::from_tensor(&input)),
                ("norm.gamma", Value::from_tensor(&gamma)),
                ("norm.beta", Value::from_tensor(&beta)),
                ("norm.running_mean", Value::from_tensor(&mean)),
                ("norm.running_var", Value::from_tensor(&variance)),
            ]
        });
        let output = if self.is_plain(NORMALISE) {
            normalise_with_tensors(input, [gamma, beta], [mean, variance], epsilon, activation)
        } else {
            let (output, _normalised) = Dispatch::normalise(
                self.input(NORMALISE, "input", input).into_dispatch(),
                self.input(NORMALISE, "norm.gamma", gamma).into_dispatch(),
                self.input(NORMALISE, "norm.beta", beta).into_dispatch(),
                mean.into_dispatch(),
                variance.into_dispatch(),
                epsilon,
                activation,
            );
            Tensor::from_dispatch(output)
        };
        self.record(NORMALISE, Attributes::Normalisation { epsilon, activation }, inputs, output)
    }

    /// Activates each value and records the call.
    pub fn activate(&self, input: Tensor<2>, activation: Activation) -> Tensor<2> {
        const ACTIVATE: Operation = Operation::Activate;
        if activation == Activation::None {
            return input;
        }
        let inputs = self.inputs(|| [("input", Value::from_tensor(&input))]);
        let output = if self.is_plain(ACTIVATE) {
            activate_with_tensors(input, activation)
        } else {
            let input = self.input(ACTIVATE, "input", input);
            Tensor::from_dispatch(Dispatch::activate(input.into_dispatch(), activation))
        };
        self.record(ACTIVATE, Attributes::Activation(activation), inputs, output)
    }

    /// Computes [`unfold`] and records the call.
    pub fn unfold(&self, input: Tensor<3>, taps: usize) -> Tensor<3> {
        const UNFOLD: Operation = Operation::Unfold;
        let inputs = self.inputs(|| [("input", Value::from_tensor(&input))]);
        let output = if self.is_plain(UNFOLD) {
            unfold_with_tensors(input, taps)
        } else {
            unfold(self.input(UNFOLD, "input", input), taps)
        };
        self.record(UNFOLD, Attributes::Taps(taps), inputs, output)
    }
}

/// Concatenates the `taps` neighbours of each step: maps `[B, T, C]` to `[B, T, K C]`. The input is padded with zeros at both ends.
pub fn unfold(input: Tensor<3>, taps: usize) -> Tensor<3> {
    Tensor::from_dispatch(Dispatch::unfold_taps(input.into_dispatch(), taps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfold_pads_with_zeros() {
        let input = Tensor::<3>::from_floats([[[1.0], [2.0], [3.0]]], &Device::flex());
        let expected = TensorData::from([[[0.0f32, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 0.0]]]);
        assert_eq!(unfold(input, 3).into_data(), expected);
    }

    /// Each of two ranks has half of the rows. Outputs, gradients and running statistics equal those of one rank with all rows.
    #[test]
    fn two_ranks_normalise_as_one() {
        let device = Device::flex().autodiff();
        let values: Vec<f32> = (0..8 * 6).map(|at| ((at * 37) % 19) as f32 * 0.3 + 4.0).collect();
        let whole = Tensor::<3>::from_data(TensorData::new(values, [4, 6, 2]), &device);
        let list = |tensor: Tensor<1>| tensor.into_data().try_to_vec::<f32>().unwrap();
        // The second pass is shifted by running statistics that the first has changed.
        let train = |ranks: Ranks| {
            let mut conv = ConvNorm::new(2, 3, 3, &device).with_ranks(ranks.clone());
            let weights = (0..18).map(|at| ((at * 7) % 5) as f32 * 0.1 - 0.15).collect();
            conv.weight =
                Param::from_tensor(Tensor::from_data(TensorData::new::<f32, _>(weights, [6, 3]), &device));
            let rows = 4 / ranks.shard().world_size;
            let input = whole.clone().narrow(0, ranks.shard().rank * rows, rows).require_grad();
            conv.forward(input.clone(), Activation::Tanh, Mode::Train);
            let output = conv.forward(input.clone(), Activation::Tanh, Mode::Train);
            let gradients = (output.clone().powi_scalar(3) + output.clone()).sum().backward();
            let input_gradient = input.grad(&gradients).unwrap().flatten::<1>(0, 2);
            let gamma = conv.norm.gamma.val().grad(&gradients).unwrap();
            (
                list(output.inner().flatten(0, 2)),
                list(input_gradient),
                list(gamma),
                list(conv.norm.running_mean.value().inner()),
                list(conv.norm.running_var.value().inner()),
            )
        };
        let one = train(Ranks::default());
        let two = crate::ranks::threads::run(2, train);
        let near = |found: &[f32], expected: &[f32], what: &str| {
            assert_eq!(found.len(), expected.len(), "{what}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 2e-5 * expected.abs().max(1.0),
                    "{what}: {found}, {expected}"
                );
            }
        };
        near(&[&two[0].0[..], &two[1].0[..]].concat(), &one.0, "outputs");
        near(&[&two[0].1[..], &two[1].1[..]].concat(), &one.1, "gradients of the input");
        let gamma: Vec<f32> = two[0].2.iter().zip(&two[1].2).map(|(a, b)| a + b).collect();
        near(&gamma, &one.2, "gradients of the scale");
        for rank in &two {
            near(&rank.3, &one.3, "running means");
            near(&rank.4, &one.4, "running variances");
        }
    }

    #[test]
    fn evaluation_uses_running_statistics() {
        let device = Device::flex();
        let mut conv = ConvNorm::new(1, 1, 1, &device);
        conv.weight = Param::from_tensor(Tensor::from_floats([[2.0]], &device));
        let output =
            conv.forward(Tensor::from_floats([[[3.0], [-1.0]]], &device), Activation::None, Mode::Eval);
        // The initial statistics are mean 0 and variance 1.
        let expected = TensorData::from([[[6.0f32], [-2.0]]]);
        output.into_data().assert_approx_eq::<f32>(&expected, burn::tensor::Tolerance::absolute(1e-4));
    }
}
