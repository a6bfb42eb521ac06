//! Layers with fresh parameters.
//!
//! Matches burn's initialiser except orthogonal, which would link burn's matmul and enlarge the wasm by a fifth; `tests/js/module.test.mjs` asserts that it is
//! not linked.

use burn::{
    module::{Param, ParamId, RunningState},
    nn::{BatchNorm, Linear},
    prelude::*,
    tensor::{Distribution, Shape},
};

/// What a parameter is at first.
#[derive(Debug, Clone, Copy)]
pub enum Fill {
    Constant(f64),
    /// Between this and its negative.
    Uniform(f64),
    /// Around zero, with this standard deviation.
    Normal(f64),
}

impl Fill {
    /// A parameter that is filled on first use, unless weights are loaded before.
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

/// Uniform as PyTorch's: within one over the root of the inputs.
pub fn linear(inputs: usize, outputs: usize, device: &Device) -> Linear {
    let Linear { weight, .. } = unbiased(inputs, outputs, device);
    Linear { weight, bias: Some(within(inputs).init([outputs], device)) }
}

/// The same without a bias.
pub fn unbiased(inputs: usize, outputs: usize, device: &Device) -> Linear {
    Linear { weight: within(inputs).init([inputs, outputs], device), bias: None }
}

fn within(inputs: usize) -> Fill {
    Fill::Uniform(1.0 / (inputs as f64).sqrt())
}

/// That changes nothing at first, of running statistics that are updated by a tenth.
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
    fn layers_are_burns_own() {
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
        // Tests that run beside this one draw from the same generator; one attempt of many goes undisturbed.
        assert!((0..100).any(|_| equal()));
        let norm = |norm: BatchNorm| {
            (norm.momentum, norm.epsilon, norm.gamma.val().into_data(), norm.beta.val().into_data())
        };
        assert_eq!(norm(batch_norm(4, &device)), norm(BatchNormConfig::new(4).init(&device)));
    }

    #[test]
    fn a_parameter_tracks_gradients_where_its_device_does() {
        let device = Device::flex();
        let weight = Fill::Normal(1.0).init([2, 2], &device.clone().autodiff());
        let gradients = weight.val().sum().backward();
        let found = weight.val().grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(found, [1.0; 4]);
        assert!(!Fill::Constant(2.0).init([1], &device).val().is_autodiff());
    }
}
