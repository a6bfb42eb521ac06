//! Layer normalisation (Ba et al. 2016, "Layer Normalization").

use burn::{
    module::{Module, Param},
    prelude::*,
    tensor::module::layer_norm,
};

use crate::init::Fill;

/// Normalises each vector of C channels, then scales and shifts it.
///
/// It is burn's `layer_norm`. burn's own module is not used because its constructor links burn's initialisers, see [`crate::init`].
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// `[C]`
    pub gamma: Param<Tensor<1>>,
    /// `[C]`
    pub beta: Param<Tensor<1>>,
}

const EPSILON: f64 = 1e-5;

impl LayerNorm {
    pub fn new(channels: usize, device: &Device) -> Self {
        Self {
            gamma: Fill::Constant(1.0).init([channels], device),
            beta: Fill::Constant(0.0).init([channels], device),
        }
    }

    /// Maps `[.., C]` to `[.., C]`.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        layer_norm(input, self.gamma.val(), Some(self.beta.val()), EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_vector_has_mean_zero_and_variance_one() {
        let device = Device::flex();
        let made =
            LayerNorm::new(2, &device).forward(Tensor::<2>::from_floats([[1.0, 3.0], [5.0, -5.0]], &device));
        let expected = TensorData::from([[-1.0f32, 1.0], [1.0, -1.0]]);
        made.into_data().assert_approx_eq::<f32>(&expected, burn::tensor::Tolerance::absolute(1e-4));
    }
}
