//! Convolution over time with batch normalisation and activation, as one matrix product on `[B, T, C]`.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;
mod winograd;

use burn::{
    backend::Dispatch,
    module::{Module, Param},
    nn::{BatchNorm, BatchNormConfig, Initializer},
    prelude::*,
};
use ops::ConvOps;

use super::{
    Mode, Precision,
    matmul::{operand, result},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    None,
    Relu,
    Tanh,
}

/// A convolution of odd width over time that keeps the length, then batch normalisation.
#[derive(Module, Debug)]
pub struct ConvNorm {
    /// `[K Cin, Cout]`, taps slowest. No bias: the normalisation has one.
    pub weight: Param<Tensor<2>>,
    pub norm: BatchNorm,
    taps: usize,
    /// In what its products are computed.
    #[module(skip)]
    precision: Precision,
}

impl ConvNorm {
    pub fn new(inputs: usize, outputs: usize, taps: usize, device: &Device) -> Self {
        assert!(taps % 2 == 1, "a convolution that keeps its length has an odd number of taps");
        let bound = (6.0 / ((inputs + outputs) * taps) as f64).sqrt();
        Self {
            weight: Initializer::Uniform { min: -bound, max: bound }.init([taps * inputs, outputs], device),
            norm: BatchNormConfig::new(outputs).init(device),
            taps,
            precision: Precision::F32,
        }
    }

    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// `[B, T, Cin]` to `[B, T, Cout]`; beyond both ends the input is zero.
    pub fn forward(&self, input: Tensor<3>, activation: Activation, mode: Mode) -> Tensor<3> {
        let [batch, steps, _] = input.dims();
        let (input, weight) = (operand(input, self.precision), operand(self.weight.val(), self.precision));
        let (output, _kept) = Dispatch::convolve(input.into_dispatch(), weight.into_dispatch(), self.taps);
        let output = result(Tensor::<3>::from_dispatch(output), self.precision);
        let outputs = output.dims()[2];
        let output = output.reshape([batch * steps, outputs]);
        let activated = match mode {
            Mode::Train => {
                let normed = self.norm.forward(output);
                // Otherwise the statistics lag one update behind, and a checkpoint would lose it.
                self.norm.running_mean.value_sync();
                self.norm.running_var.value_sync();
                activate(normed, activation)
            }
            Mode::Eval => self.normalise(output, activation),
        };
        activated.reshape([batch, steps, outputs])
    }

    /// By the running statistics: `[N, C]`.
    fn normalise(&self, input: Tensor<2>, activation: Activation) -> Tensor<2> {
        let device = input.device();
        let mean = self.norm.running_mean.value().to_device(&device);
        let variance = self.norm.running_var.value().to_device(&device);
        let (output, _normalised) = Dispatch::normalise(
            input.into_dispatch(),
            self.norm.gamma.val().into_dispatch(),
            self.norm.beta.val().into_dispatch(),
            mean.into_dispatch(),
            variance.into_dispatch(),
            self.norm.epsilon as f32,
            activation,
        );
        Tensor::from_dispatch(output)
    }
}

fn activate(input: Tensor<2>, activation: Activation) -> Tensor<2> {
    match activation {
        Activation::None => input,
        some => Tensor::from_dispatch(Dispatch::activate(input.into_dispatch(), some)),
    }
}

/// Lays each step's `taps` neighbours side by side: `[B, T, C]` to `[B, T, K C]`.
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

    #[test]
    fn steady_mode_uses_running_statistics() {
        let device = Device::flex();
        let mut conv = ConvNorm::new(1, 1, 1, &device);
        conv.weight = Param::from_tensor(Tensor::from_floats([[2.0]], &device));
        let output =
            conv.forward(Tensor::from_floats([[[3.0], [-1.0]]], &device), Activation::None, Mode::Eval);
        // Fresh statistics: mean 0, variance 1.
        let expected = TensorData::from([[[6.0f32], [-2.0]]]);
        output.into_data().assert_approx_eq::<f32>(&expected, burn::tensor::Tolerance::absolute(1e-4));
    }
}
