//! AdamW with global-norm clipping over named parameters (Loshchilov & Hutter 2019). Nothing is read back: the norm stays on the device.

#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;

use burn::{
    backend::{Dispatch, DispatchTensor},
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};
use ops::{AdamOps, PARTS, Settings};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct AdamConfig {
    pub beta_1: f32,
    pub beta_2: f32,
    pub epsilon: f32,
    pub weight_decay: f32,
    /// The gradient of all parameters together is scaled down to this norm.
    pub clip_norm: f32,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-6, weight_decay: 1e-6, clip_norm: 1.0 }
    }
}

/// First and second moment of one parameter, flattened.
#[derive(Debug, Clone)]
pub struct Moments {
    pub first: Tensor<1>,
    pub second: Tensor<1>,
}

#[derive(Debug, Clone)]
pub struct Adam {
    config: AdamConfig,
    /// Updates made.
    pub updates: usize,
    /// By the parameter's path in the module.
    pub moments: BTreeMap<String, Moments>,
}

impl Adam {
    pub fn new(config: AdamConfig) -> Self {
        Self { config, updates: 0, moments: BTreeMap::new() }
    }

    /// One update of every parameter that has a gradient. `rate` gives each path its learning rate.
    pub fn step<M: Module>(&mut self, module: M, gradients: &Gradients, rate: impl Fn(&str) -> f64) -> M {
        self.updates += 1;
        let mut gathered = Gathered { gradients, found: Vec::new() };
        module.visit(&mut gathered);
        let Some((_, device)) = gathered.found.first() else { return module };
        let parts = Tensor::<1>::zeros([gathered.found.len() * PARTS], device).into_dispatch();
        let gradients_in_order = gathered.found.into_iter().map(|(gradient, _)| gradient).enumerate();
        let parts = gradients_in_order.fold(parts, |parts, (place, gradient)| Dispatch::squares(parts, gradient, place));
        let squared_norm = Tensor::<1>::from_dispatch(parts).sum();
        module.map(&mut Update { adam: self, gradients, squared_norm, rate, path: Vec::new() })
    }
}

/// The gradients of all parameters that have one.
struct Gathered<'a> {
    gradients: &'a Gradients,
    found: Vec<(DispatchTensor, Device)>,
}

impl ModuleVisitor for Gathered<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            let device = gradient.device();
            self.found.push((gradient.into_dispatch(), device));
        }
    }
}

struct Update<'a, R> {
    adam: &'a mut Adam,
    gradients: &'a Gradients,
    /// `[1]`
    squared_norm: Tensor<1>,
    rate: R,
    path: Vec<String>,
}

impl<R: Fn(&str) -> f64> ModuleMapper for Update<'_, R> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = param.val().grad(self.gradients) else { return param };
        let path = self.path.join(".");
        let AdamConfig { beta_1, beta_2, epsilon, weight_decay, clip_norm } = self.adam.config;
        let moments = self.adam.moments.remove(&path).unwrap_or_else(|| {
            let zeros = Tensor::zeros([gradient.shape().num_elements()], &gradient.device());
            Moments { first: zeros.clone(), second: zeros }
        });
        let rate = (self.rate)(&path);
        let updates = self.adam.updates as i32;
        let correction = (1.0 - f64::from(beta_2).powi(updates)).sqrt() / (1.0 - f64::from(beta_1).powi(updates));
        let kept = (1.0 - rate * f64::from(weight_decay)) as f32;
        let settings = Settings { rate: (rate * correction) as f32, kept, beta_1, beta_2, epsilon, clip_norm };
        param.map(|value| {
            let (value, first, second) = Dispatch::update(
                value.inner().into_dispatch(),
                gradient.into_dispatch(),
                moments.first.into_dispatch(),
                moments.second.into_dispatch(),
                self.squared_norm.clone().into_dispatch(),
                settings,
            );
            let moments = Moments { first: Tensor::from_dispatch(first), second: Tensor::from_dispatch(second) };
            self.adam.moments.insert(path, moments);
            Tensor::from_inner(Tensor::from_dispatch(value)).require_grad()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{Linear, LinearConfig};

    #[test]
    fn first_step_moves_each_weight_by_the_rate() {
        // Adam's first step is the rate times the gradient's sign, whatever its size.
        let device = Device::flex().autodiff();
        let mut layer: Linear = LinearConfig::new(2, 1).with_bias(false).init(&device);
        layer.weight = Param::from_tensor(Tensor::from_floats([[1.0], [1.0]], &device));
        let loss = layer.forward(Tensor::<2>::from_floats([[3.0, -0.5]], &device)).sum();
        let gradients = loss.backward();
        let mut adam = Adam::new(AdamConfig { weight_decay: 0.0, epsilon: 0.0, ..AdamConfig::default() });
        let layer = adam.step(layer, &gradients, |path| if path == "weight" { 0.01 } else { 0.0 });
        let weights = layer.weight.val().into_data().try_to_vec::<f32>().unwrap();
        assert!((weights[0] - 0.99).abs() < 1e-5 && (weights[1] - 1.01).abs() < 1e-5, "{weights:?}");
    }

    #[test]
    fn clips_the_norm_of_all_parameters_together() {
        let device = Device::flex().autodiff();
        let mut layer: Linear = LinearConfig::new(2, 1).with_bias(false).init(&device);
        layer.weight = Param::from_tensor(Tensor::from_floats([[0.0], [0.0]], &device));
        let gradients = layer.forward(Tensor::<2>::from_floats([[30.0, 40.0]], &device)).sum().backward();
        let mut adam = Adam::new(AdamConfig { beta_1: 0.0, clip_norm: 1.0, ..AdamConfig::default() });
        adam.step(layer, &gradients, |_| 0.0);
        let first = adam.moments["weight"].first.clone().into_data().try_to_vec::<f32>().unwrap();
        assert!((first[0] - 0.6).abs() < 1e-4 && (first[1] - 0.8).abs() < 1e-4, "{first:?}");
    }
}
