//! AdamW with global-norm clipping over named parameters (Loshchilov & Hutter 2019). Nothing is read back: the norm stays on the device.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};
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
        let mut norm = SquaredNorm { gradients, sum: None };
        module.visit(&mut norm);
        let Some(squared) = norm.sum else { return module };
        let scale = (squared.sqrt() + 1e-6).recip().mul_scalar(self.config.clip_norm).clamp_max(1.0);
        module.map(&mut Update { adam: self, gradients, scale, rate, path: Vec::new() })
    }
}

struct SquaredNorm<'a> {
    gradients: &'a Gradients,
    sum: Option<Tensor<1>>,
}

impl ModuleVisitor for SquaredNorm<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            let squared = gradient.powi_scalar(2).sum();
            self.sum = Some(match self.sum.take() {
                None => squared,
                Some(sum) => sum + squared,
            });
        }
    }
}

struct Update<'a, R> {
    adam: &'a mut Adam,
    gradients: &'a Gradients,
    /// `[1]`, at most one.
    scale: Tensor<1>,
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
        let AdamConfig { beta_1, beta_2, epsilon, weight_decay, .. } = self.adam.config;
        let count = gradient.shape().num_elements();
        let gradient = gradient.reshape([count]) * self.scale.clone();
        let moments = match self.adam.moments.remove(&path) {
            None => Moments {
                first: gradient.clone().mul_scalar(1.0 - beta_1),
                second: gradient.powi_scalar(2).mul_scalar(1.0 - beta_2),
            },
            Some(Moments { first, second }) => Moments {
                first: first.mul_scalar(beta_1) + gradient.clone().mul_scalar(1.0 - beta_1),
                second: second.mul_scalar(beta_2) + gradient.powi_scalar(2).mul_scalar(1.0 - beta_2),
            },
        };
        let rate = (self.rate)(&path);
        let updates = self.adam.updates as i32;
        let correction = (1.0 - f64::from(beta_2).powi(updates)).sqrt() / (1.0 - f64::from(beta_1).powi(updates));
        let change = (moments.first.clone() / (moments.second.clone().sqrt() + epsilon)).mul_scalar(rate * correction);
        self.adam.moments.insert(path, moments);
        param.map(|value| {
            let shape = value.dims();
            let kept = value.inner().mul_scalar(1.0 - rate * f64::from(weight_decay));
            Tensor::from_inner(kept - change.reshape(shape)).require_grad()
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
