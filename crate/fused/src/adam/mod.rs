//! AdamW (Loshchilov & Hutter 2019), Adam (Kingma & Ba 2015) and gradient descent with momentum, with global-norm clipping, and loss scaling for mixed
//! precision (Micikevicius et al. 2018).
//!
//! The optimizer state is kept by parameter path. The norm, the loss scale and the number of overflows stay on the device, so that an update needs no readback.
//! `plain` is the reference of the fused operations.

#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;
mod plain;

use crate::{
    Operation, Precision, Scope,
    weights::{track_path, visit},
};
use burn::{
    backend::Dispatch,
    module::{Module, ModuleMapper, Param},
    prelude::*,
    tensor::Gradients,
};
pub use ops::SCALING;
use ops::{AdamOps, PARTS, Settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rule by which the parameters move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Weight decay multiplies the parameters.
    #[default]
    AdamW,
    /// Weight decay is added to the gradients.
    Adam,
    /// Stochastic gradient descent, whose momentum is `beta_1`. Weight decay is added to the gradients.
    Sgd,
}

impl Rule {
    pub const ALL: [Self; 3] = [Self::AdamW, Self::Adam, Self::Sgd];

    /// Returns `adamw`, `adam` or `sgd`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AdamW => "adamw",
            Self::Adam => "adam",
            Self::Sgd => "sgd",
        }
    }

    /// Returns the rule of a [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// The hyperparameters of [`Adam`].
#[derive(Debug, Clone)]
pub struct AdamConfig {
    pub rule: Rule,
    /// The decay of the first moment, below 1.
    pub beta_1: f32,
    pub beta_2: f32,
    pub epsilon: f32,
    /// Whether epsilon is added after the bias correction of the second moment, as PyTorch does, and not before it, as section 2 of Kingma & Ba proposes.
    pub epsilon_is_corrected: bool,
    pub weight_decay: f32,
    /// The largest norm of the gradients of all parameters together. Larger gradients are scaled down to it.
    pub clip_norm: f32,
    /// The precision of the backward pass. [`Precision::Mixed`] scales the loss.
    pub precision: Precision,
    /// The initial loss scale in mixed precision.
    pub first_scale: f32,
    /// Whether updates use plain tensor operations in place of the fused ones.
    pub plain: bool,
    /// The scope whose planted faults apply to the update. Only tests and drills plant faults.
    pub scope: Scope,
}

impl AdamConfig {
    /// Returns the configuration for the precision and the plain operations of a scope's plan.
    pub fn from_scope(scope: &Scope) -> Self {
        let plan = scope.plan();
        let (precision, plain) = (plan.precision, plan.plain.contains(&Operation::Adam));
        Self { precision, plain, scope: scope.clone(), ..Self::default() }
    }
}

impl AdamConfig {
    /// Returns the weight decay that is added to the gradients.
    fn added_decay(&self) -> f32 {
        if self.rule == Rule::AdamW { 0.0 } else { self.weight_decay }
    }
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self {
            rule: Rule::AdamW,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-6,
            epsilon_is_corrected: false,
            weight_decay: 1e-6,
            clip_norm: 1.0,
            precision: Precision::F32,
            first_scale: FIRST_SCALE,
            plain: false,
            scope: Scope::default(),
        }
    }
}

/// The first and second moments of one parameter, flattened.
#[derive(Debug, Clone)]
pub struct Moments {
    pub first: Tensor<1>,
    pub second: Tensor<1>,
}

/// The AdamW optimizer with its state.
#[derive(Debug, Clone)]
pub struct Adam {
    config: AdamConfig,
    /// The number of updates so far.
    pub updates: usize,
    /// The moments by parameter path.
    pub moments: BTreeMap<String, Moments>,
    /// The state of loss scaling, `[SCALING]`. `None` before the first use, when the device is still unknown.
    pub scaling: Option<Tensor<1>>,
}

/// The default initial loss scale. Gradients of a mean over the frames of a batch are about 1e-5, and the smallest positive f16 is 6e-8.
pub const FIRST_SCALE: f32 = 4096.0;

impl Adam {
    /// Returns an optimizer before its first update.
    pub fn new(config: AdamConfig) -> Self {
        Self { config, updates: 0, moments: BTreeMap::new(), scaling: None }
    }

    /// Returns the state of loss scaling, `[SCALING]`, and initialises it on first use.
    fn scaling(&mut self, device: &Device) -> Tensor<1> {
        let first = if self.config.precision == Precision::Mixed { self.config.first_scale } else { 1.0 };
        self.scaling.get_or_insert_with(|| Tensor::from_floats([first, 0.0, 0.0], device)).clone()
    }

    /// Multiplies a loss, `[1]`, by the loss scale. [`Self::step`] expects the gradients of the result.
    pub fn scaled(&mut self, loss: Tensor<1>) -> Tensor<1> {
        match self.config.precision {
            Precision::F32 => loss,
            Precision::Mixed => {
                let scaling = self.scaling(&loss.device().inner());
                loss * Tensor::from_inner(scaling.slice([0..1]))
            }
        }
    }

    /// Returns the scalars of the next update.
    fn settings(&self, rate: f64) -> Settings {
        let AdamConfig { rule, beta_1, beta_2, epsilon, epsilon_is_corrected, weight_decay, .. } =
            self.config;
        if rule == Rule::Sgd {
            // The first moment is the mean of the gradients, and momentum their sum. With these settings, the second moment stays 0 and the divisor 1.
            let rate = (rate / (1.0 - f64::from(beta_1))) as f32;
            return Settings { rate, kept: 1.0, beta_1, beta_2: 1.0, epsilon: 1.0 };
        }
        let updates = self.updates as i32;
        let second = (1.0 - f64::from(beta_2).powi(updates)).sqrt();
        let correction = second / (1.0 - f64::from(beta_1).powi(updates));
        let decay = if rule == Rule::AdamW { rate * f64::from(weight_decay) } else { 0.0 };
        let epsilon = if epsilon_is_corrected { (f64::from(epsilon) * second) as f32 } else { epsilon };
        Settings { rate: (rate * correction) as f32, kept: (1.0 - decay) as f32, beta_1, beta_2, epsilon }
    }

    /// Returns the number of updates skipped because of non-finite gradients, `[1]`, on the device.
    pub fn overflows(&mut self, device: &Device) -> Tensor<1> {
        self.scaling(device).slice([SCALING - 1..SCALING])
    }

    /// Updates every parameter that has a gradient. The update is skipped if any gradient is non-finite. `rate` returns the learning rate of a parameter path.
    pub fn step<M: Module>(&mut self, module: M, gradients: &Gradients, rate: impl Fn(&str) -> f64) -> M {
        self.updates += 1;
        let mut found = Vec::new();
        visit(&module, |_, parameter| found.extend(parameter.gradient(gradients)));
        let Some(device) = found.first().map(Tensor::device) else { return module };
        let scaling = self.scaling(&device);
        let grows = self.config.precision == Precision::Mixed;
        let (factor, scaling) = if self.config.plain {
            plain::clip(plain::squared_norm(&module, gradients), scaling, self.config.clip_norm, grows)
        } else {
            let parts = Tensor::<1>::zeros([found.len() * PARTS], &device).into_dispatch();
            let parts = found.into_iter().enumerate().fold(parts, |parts, (place, gradient)| {
                Dispatch::squares(parts, gradient.into_dispatch(), place)
            });
            let squared_norm = Tensor::<1>::from_dispatch(parts).sum();
            let (factor, scaling) = Dispatch::clip(
                squared_norm.into_dispatch(),
                scaling.into_dispatch(),
                self.config.clip_norm,
                grows,
            );
            (Tensor::from_dispatch(factor), Tensor::from_dispatch(scaling))
        };
        self.scaling = Some(scaling);
        module.map(&mut Update { adam: self, gradients, factor, rate, path: Vec::new() })
    }
}

/// A mapper that updates each parameter. It takes the values out of the parameter, so that they can be updated in place if nothing else holds them.
struct Update<'a, R> {
    adam: &'a mut Adam,
    gradients: &'a Gradients,
    /// The factor of all gradients from [`AdamOps::clip`], `[1]`.
    factor: Tensor<1>,
    rate: R,
    path: Vec<String>,
}

impl<R: Fn(&str) -> f64> ModuleMapper for Update<'_, R> {
    track_path!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = param.val().grad(self.gradients) else { return param };
        let path = self.path.join(".");
        let moments = self.adam.moments.remove(&path).unwrap_or_else(|| {
            let zeros = Tensor::zeros([gradient.shape().num_elements()], &gradient.device());
            Moments { first: zeros.clone(), second: zeros }
        });
        let rate = (self.rate)(&path);
        let settings = self.adam.settings(rate);
        let gradient = match self.adam.config.added_decay() {
            0.0 => gradient,
            // The update multiplies by the factor.
            decay => {
                gradient + param.val().inner() * self.factor.clone().recip().mul_scalar(decay).reshape([1; D])
            }
        };
        param.map(|value| {
            if self.adam.config.plain {
                let (value, moments) =
                    plain::update(value.inner(), gradient, moments, self.factor.clone(), settings);
                self.adam.moments.insert(path, moments);
                return Tensor::from_inner(value).require_grad();
            }
            let compute = self.adam.config.scope.at(&path).compute();
            let gradient = compute.constant(Operation::Adam, "gradient", gradient);
            let (value, first, second) = Dispatch::update(
                value.inner().into_dispatch(),
                gradient.into_dispatch(),
                moments.first.into_dispatch(),
                moments.second.into_dispatch(),
                self.factor.clone().into_dispatch(),
                settings,
            );
            let moments =
                Moments { first: Tensor::from_dispatch(first), second: Tensor::from_dispatch(second) };
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
        // The first step of Adam is the learning rate times the sign of the gradient, independent of its magnitude.
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

    /// The values are computed by hand from PyTorch's definitions: decay is added to the gradient, and momentum sums gradients.
    #[test]
    fn descent_sums_gradients_and_adds_decay_to_them() {
        let device = Device::flex().autodiff();
        for plain in [false, true] {
            let mut layer: Linear = LinearConfig::new(1, 1).with_bias(false).init(&device);
            layer.weight = Param::from_tensor(Tensor::from_floats([[2.0]], &device));
            let config = AdamConfig {
                rule: Rule::Sgd,
                beta_1: 0.5,
                weight_decay: 0.1,
                clip_norm: 1e9,
                plain,
                ..AdamConfig::default()
            };
            let mut descent = Adam::new(config);
            for expected in [2.0 - 0.1 * 3.2, 1.68 - 0.1 * (0.5 * 3.2 + 3.168)] {
                let gradients = layer.forward(Tensor::<2>::from_floats([[3.0]], &device)).sum().backward();
                layer = descent.step(layer, &gradients, |_| 0.1);
                assert!((weights(&layer)[0] - expected).abs() < 1e-5, "{:?}, {expected}", weights(&layer));
            }
        }
    }

    /// With a decay of 1, Adam's first step has the sign of the gradient plus the weight; AdamW's that of the gradient, after the decay.
    #[test]
    fn adam_and_adamw_differ_in_where_weight_decay_acts() {
        let device = Device::flex().autodiff();
        let first = |rule| {
            let mut layer: Linear = LinearConfig::new(1, 1).with_bias(false).init(&device);
            layer.weight = Param::from_tensor(Tensor::from_floats([[4.0]], &device));
            let gradients = layer.forward(Tensor::<2>::from_floats([[-0.5]], &device)).sum().backward();
            let mut adam =
                Adam::new(AdamConfig { rule, weight_decay: 1.0, epsilon: 1e-8, ..AdamConfig::default() });
            weights(&adam.step(layer, &gradients, |_| 0.1))[0]
        };
        assert!((first(Rule::Adam) - (4.0 - 0.1)).abs() < 1e-5, "{}", first(Rule::Adam));
        assert!((first(Rule::AdamW) - (0.9 * 4.0 + 0.1)).abs() < 1e-5, "{}", first(Rule::AdamW));
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

    fn weights(layer: &Linear) -> Vec<f32> {
        layer.weight.val().into_data().try_to_vec().unwrap()
    }

    #[test]
    fn a_scaled_loss_changes_nothing_and_an_overflow_is_left_out_and_counted() {
        let device = Device::flex().autodiff();
        let layer: Linear = LinearConfig::new(2, 1).with_bias(false).init(&device);
        let input = Tensor::<2>::from_floats([[0.3, -0.5]], &device);
        let mut single = Adam::new(AdamConfig::default());
        let mut mixed = Adam::new(AdamConfig { precision: Precision::Mixed, ..AdamConfig::default() });
        let gradients = |adam: &mut Adam| {
            let loss = layer.forward(input.clone()).sum();
            adam.scaled(loss).backward()
        };
        let (of_single, of_mixed) = (gradients(&mut single), gradients(&mut mixed));
        let expected = weights(&single.step(layer.clone(), &of_single, |_| 0.01));
        for (found, expected) in
            weights(&mixed.step(layer.clone(), &of_mixed, |_| 0.01)).into_iter().zip(expected)
        {
            assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
        }
        let scaling = |adam: &Adam| adam.scaling.clone().unwrap().into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(scaling(&mixed), [FIRST_SCALE, 1.0, 0.0]);
        let overflowing = mixed.scaled((layer.forward(input.clone()) * f32::INFINITY).sum()).backward();
        assert_eq!(weights(&mixed.step(layer.clone(), &overflowing, |_| 0.01)), weights(&layer));
        assert_eq!(scaling(&mixed), [FIRST_SCALE / 2.0, 0.0, 1.0]);
        for _ in 0..50 {
            let gradients = gradients(&mut mixed);
            mixed.step(layer.clone(), &gradients, |_| 0.0);
        }
        assert_eq!(scaling(&mixed), [FIRST_SCALE, 0.0, 1.0]);
    }

    /// Compares fused and plain updates, with and without clipping, while an overflow halves the loss scale and 50 updates without one double it.
    #[test]
    fn the_plain_update_is_the_fused_one() {
        let device = Device::flex().autodiff();
        device.seed(5);
        let start: Linear = LinearConfig::new(7, 3).init(&device);
        let run = |plain: bool| {
            let config = AdamConfig { precision: Precision::Mixed, plain, ..AdamConfig::default() };
            let (mut adam, mut layer) = (Adam::new(config), start.clone());
            for update in 0..60 {
                let size = if update == 3 { f32::INFINITY } else { 0.1 + (update % 7) as f32 };
                let input = Tensor::<2>::from_floats([[0.3, -0.5, 1.0, 0.0, 2.0, -1.0, 0.1]], &device);
                let gradients = adam.scaled((layer.forward(input) * size).sum()).backward();
                layer = adam.step(layer, &gradients, |_| 0.01);
            }
            let scaling = adam.scaling.unwrap().into_data().try_to_vec::<f32>().unwrap();
            (weights(&layer), scaling)
        };
        let (fused, plain) = (run(false), run(true));
        assert_eq!(fused.1, plain.1);
        let worst = fused.0.iter().zip(&plain.0).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-6, "{worst}");
    }
}
