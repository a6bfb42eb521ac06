//! Initialises parameters and burn's layers.
//!
//! The distributions are those of burn's initialisers, which are not used: orthogonal initialisation links burn's matmul, which would make the WebAssembly a
//! fifth larger. `tests/js/module.test.mjs` asserts that it is not linked.

use burn::{
    module::{Param, ParamId, RunningState},
    nn::{BatchNorm, Linear},
    prelude::*,
    tensor::{Distribution, Shape},
};

/// The initial values of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Fill {
    Constant(f64),
    /// A uniform distribution between the negative of this bound and the bound.
    Uniform(f64),
    /// A normal distribution with mean zero and this standard deviation.
    Normal(f64),
}

impl Fill {
    /// Returns a parameter that is filled on first use, unless weights are loaded before.
    pub fn init<const D: usize>(self, shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
        let fill = move |device: &Device| match self {
            Self::Constant(value) => Tensor::full(shape, value, device),
            Self::Uniform(bound) => Tensor::random(shape, Distribution::Uniform(-bound, bound), device),
            Self::Normal(deviation) => Tensor::random(shape, Distribution::Normal(0.0, deviation), device),
        };
        let made = move |device: &Device, tracked: bool| {
            device.memory_persistent_allocations((), move |()| {
                let filled = fill(device);
                if tracked { filled.require_grad() } else { filled }
            })
        };
        Param::uninitialized(ParamId::new(), made, device.clone(), true, Shape::from(shape))
    }
}

/// Returns a linear layer whose weight and bias are uniform within `1 / sqrt(inputs)`, as in PyTorch.
pub fn linear(inputs: usize, outputs: usize, device: &Device) -> Linear {
    let Linear { weight, .. } = unbiased(inputs, outputs, device);
    Linear { weight, bias: Some(within(inputs).init([outputs], device)) }
}

/// Returns a linear layer as [`linear`] does, without a bias.
pub fn unbiased(inputs: usize, outputs: usize, device: &Device) -> Linear {
    Linear { weight: within(inputs).init([inputs, outputs], device), bias: None }
}

fn within(inputs: usize) -> Fill {
    Fill::Uniform(1.0 / (inputs as f64).sqrt())
}

/// Returns a batch normalisation with scale 1, shift 0 and running statistics of mean 0 and variance 1, with momentum 0.1.
pub fn batch_norm(channels: usize, device: &Device) -> BatchNorm {
    BatchNorm {
        gamma: Fill::Constant(1.0).init([channels], device),
        beta: Fill::Constant(0.0).init([channels], device),
        training: Param::from_bool(true),
        running_mean: RunningState::new(Tensor::zeros([channels], device)),
        running_var: RunningState::new(Tensor::ones([channels], device)),
        momentum: 0.1,
        epsilon: 1e-5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{BatchNormConfig, LinearConfig};

    #[test]
    fn layers_equal_burns_initialisation() {
        let device = Device::flex();
        let draw = |make: &dyn Fn() -> Linear| {
            device.seed(5);
            let Linear { weight, bias } = make();
            let values = Tensor::cat(vec![weight.val().flatten::<1>(0, 1), bias.unwrap().val()], 0);
            values.into_data().try_to_vec::<f32>().unwrap()
        };
        let equal = || {
            let ours = draw(&|| linear(7, 3, &device));
            let burns = draw(&|| LinearConfig::new(7, 3).init(&device));
            ours.len() == burns.len()
                && ours.iter().zip(burns).all(|(ours, burns)| (ours - burns).abs() < 1e-6)
        };
        // Tests in other threads draw from the same generator, so that some attempts fail.
        assert!((0..100).any(|_| equal()));
        let norm = |norm: BatchNorm| {
            (norm.momentum, norm.epsilon, norm.gamma.val().into_data(), norm.beta.val().into_data())
        };
        assert_eq!(norm(batch_norm(4, &device)), norm(BatchNormConfig::new(4).init(&device)));
    }

    #[test]
    fn a_parameter_requires_a_gradient_on_an_autodiff_device() {
        let device = Device::flex();
        let weight = Fill::Normal(1.0).init([2, 2], &device.clone().autodiff());
        let gradients = weight.val().sum().backward();
        let found = weight.val().grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(found, [1.0; 4]);
        assert!(!Fill::Constant(2.0).init([1], &device).val().is_autodiff());
    }
}
