//! The recording of a training step: a step of a model runs under a plan and is recorded as a dump, which [`burn_fused::precision`] compares.

use std::collections::BTreeMap;

use burn::{module::Module, prelude::*, tensor::Gradients};

pub use super::synthetic::sample_features;
use crate::{
    Error, Result,
    features::Features,
    model::{
        AttentiveTacotron, Tacotron, TacotronConfig,
        batch::{Batch, Data, assemble},
        loss::{attention_losses, losses},
    },
};
use burn_fused::{
    ComputePlan, Mode, Precision, Scope,
    adam::{Adam, AdamConfig, FIRST_SCALE},
    precision::{
        Dump, Replayer, Values,
        dump::{About, CallName, CallRecord},
    },
    ranks::Shard,
    trace::{Probe, Value},
    weights::{collect, visit},
};

/// A model whose training step can be recorded.
pub trait Stepped: Module {
    /// Sets how its operations are computed and where they are recorded.
    #[must_use]
    fn under(self, scope: &Scope) -> Self;

    /// Returns the losses, each `[1]`, by name; training minimises their sum.
    fn named_losses(&self, batch: &Batch, mode: Mode) -> Vec<(&'static str, Tensor<1>)>;
}

impl Stepped for Tacotron {
    fn under(self, scope: &Scope) -> Self {
        self.computing(scope)
    }

    fn named_losses(&self, batch: &Batch, mode: Mode) -> Vec<(&'static str, Tensor<1>)> {
        let losses = losses(self, batch, mode);
        vec![
            ("before", losses.before),
            ("after", losses.after),
            ("durations", losses.durations),
            ("pitch", losses.pitch),
        ]
    }
}

/// The attention path needs batches of whole utterances: a window as long as the longest utterance, and an autoregressive configuration.
impl Stepped for AttentiveTacotron {
    fn under(self, scope: &Scope) -> Self {
        self.computing(scope)
    }

    fn named_losses(&self, batch: &Batch, mode: Mode) -> Vec<(&'static str, Tensor<1>)> {
        let losses = attention_losses(self, batch, mode);
        vec![
            ("before", losses.before),
            ("after", losses.after),
            ("gate", losses.gate),
            ("guide", losses.guide),
        ]
    }
}

/// A side of a comparison: a model on a device, and how it is computed there.
pub struct Side<'a, M = Tacotron> {
    /// The model, which may or may not track gradients.
    pub model: &'a M,
    pub device: &'a Device,
    /// The device's name, for the report.
    pub name: &'a str,
    pub plan: ComputePlan,
}

/// The step that both sides run.
#[derive(Debug, Clone)]
pub struct StepConfig {
    pub config: TacotronConfig,
    /// The number of windows in the batch.
    pub batch: usize,
    /// The frames of a window; a multiple of the model's reduction.
    pub window: usize,
    /// Whether to use batch statistics, as in pretraining, or running ones, as in cloning.
    pub mode: Mode,
    /// Selects the batch.
    pub seed: u64,
}

impl StepConfig {
    /// Assembles consecutive utterances, starting at the one that the seed selects, each from another first frame.
    fn batch(&self, features: &Features, device: &Device) -> Result<Batch> {
        let pick = |item: usize| {
            let utterance = &features.utterances[(self.seed as usize + item) % features.utterances.len()];
            let slack = utterance.frames.saturating_sub(self.window);
            (utterance, (item * self.window / 2) % (slack + 1))
        };
        let picks: Vec<_> = (0..self.batch).map(pick).collect();
        assemble(features, &picks, Shard::WHOLE, self.window, &self.config, device)
    }
}

/// The learning rate of the update. The length of Adam's first step does not depend on the scale of the gradient.
const RATE: f64 = 1e-3;

impl<M: Stepped> Side<'_, M> {
    /// Runs one step on a batch of `features` and records it.
    ///
    /// Fails with `device-lost` where the device no longer answers.
    pub async fn dump(&self, features: &Features, step: &StepConfig) -> Result<Dump> {
        let device = self.device.clone().autodiff();
        let batch = step.batch(features, &device)?;
        let probe = Probe::default();
        let about = About {
            device: self.name.to_string(),
            plan: self.plan.clone(),
            loss_scale: first_scale(&self.plan),
            clips: batch.clips.whole.clone(),
            bad_clips: bad_clips(batch.clips.here(), batch.tensors()).await?,
            losses: Vec::new(),
        };
        // Devices of one kind then draw the same dropout in the prenet, if there is one.
        device.seed(step.seed);
        let scope = Scope::recorded(self.plan.clone(), &probe);
        let model = self.model.valid().train().under(&scope);
        let dump = dump_step(model, &scope, about, |model| model.named_losses(&batch, step.mode)).await?;
        match scope.unplanted().next() {
            None => Ok(dump),
            Some(fault) => Err(Error::option_invalid(format!(
                "{fault} takes no effect: no such operation runs in that module, or none with such an input"
            ))),
        }
    }

    /// Computes the gradients of one step. Returns the model that they belong to as well.
    ///
    /// * `probe`: records the outputs of the operations
    pub fn gradients(
        &self,
        features: &Features,
        step: &StepConfig,
        probe: Option<&Probe>,
    ) -> Result<(M, Gradients)> {
        let device = self.device.clone().autodiff();
        let plan = self.plan.clone();
        let scope = match probe {
            Some(probe) => Scope::recorded(plan, probe),
            None => Scope::new(plan),
        };
        let model = self.model.valid().train().under(&scope);
        let batch = step.batch(features, &device)?;
        let total = sum(&model.named_losses(&batch, step.mode));
        let gradients = total.mul_scalar(first_scale(&self.plan)).backward();
        Ok((model, gradients))
    }

    /// Returns a replayer, which computes single operations as this side does.
    pub fn replayer(&self) -> Replayer {
        Replayer { plan: self.plan.clone(), device: self.device.clone(), loss_scale: first_scale(&self.plan) }
    }
}

/// Sums losses to the total `[1]`.
fn sum(named: &[(&str, Tensor<1>)]) -> Tensor<1> {
    Tensor::cat(named.iter().map(|(_, loss)| loss.clone()).collect(), 0).sum()
}

/// Returns the initial loss scale of a plan.
pub(crate) fn first_scale(plan: &ComputePlan) -> f32 {
    if plan.precision == Precision::Mixed { FIRST_SCALE } else { 1.0 }
}

/// Runs and records a training step of any model.
///
/// * `model`: a copy that tracks gradients and computes under `scope`, which records; its running statistics may change
/// * `about`: describes the dump; its losses are filled in
pub async fn dump_step<M: Module>(
    model: M,
    scope: &Scope,
    mut about: About,
    losses: impl FnOnce(&M) -> Vec<(&'static str, Tensor<1>)>,
) -> Result<Dump> {
    let scale = about.loss_scale;
    let named = losses(&model);
    let gradients = sum(&named).mul_scalar(scale).backward();
    for (name, loss) in named {
        let value = Values::read(Value::from_tensor(&loss)).await?.values[0];
        about.losses.push((name.to_string(), value.is_finite().then_some(value)));
    }
    let mut calls = Vec::new();
    for (name, call) in CallName::number(scope.recorded_calls()) {
        let gradient = match call.gradient(&gradients) {
            Some(values) => {
                let value = Value { shape: call.output.shape.clone(), values };
                Some(Values::read(value).await?.times(1.0 / scale))
            }
            None => None,
        };
        let mut inputs = Vec::with_capacity(call.inputs.len());
        for (input, value) in call.inputs {
            inputs.push((input.to_string(), Values::read(value).await?));
        }
        let output = Values::read(call.output).await?;
        calls.push(CallRecord {
            call: name,
            precision: call.precision,
            attributes: call.attributes,
            inputs,
            output,
            gradient,
        });
    }
    let parameter_gradients = gradients_of(&model, &gradients, scale).await?;
    let updates = updates(model, &gradients, scope, scale).await?;
    Ok(Dump { about, calls, gradients: parameter_gradients, updates })
}

/// Reads the unscaled gradients of the parameters by path.
async fn gradients_of<M: Module>(
    model: &M,
    gradients: &Gradients,
    scale: f32,
) -> Result<BTreeMap<String, Values>> {
    let mut on_device = Vec::new();
    visit(model, |path, parameter| {
        let value = |values| Value { shape: parameter.shape(), values };
        on_device.extend(parameter.gradient(gradients).map(|values| (path.to_string(), value(values))));
    });
    let mut found = BTreeMap::new();
    for (path, value) in on_device {
        found.insert(path, Values::read(value).await?.times(1.0 / scale));
    }
    Ok(found)
}

/// Computes an update of the optimizer. Returns the change of each parameter that has a gradient.
pub(super) async fn updates<M: Module>(
    model: M,
    gradients: &Gradients,
    scope: &Scope,
    scale: f32,
) -> Result<BTreeMap<String, Values>> {
    let mut adam = Adam::new(AdamConfig::from_scope(scope));
    let mut found = BTreeMap::new();
    let before = collect(&model);
    let Some(device) = before.values().next().map(|weight| weight.values.device()) else { return Ok(found) };
    adam.scaling = Some(Tensor::from_floats([scale, 0.0, 0.0], &device));
    for (path, weight) in collect(&adam.step(model, gradients, |_| RATE)) {
        if adam.moments.contains_key(&path) {
            let values = weight.values - before[&path].values.clone();
            found.insert(path, Values::read(Value { shape: weight.shape, values }).await?);
        }
    }
    Ok(found)
}

/// Returns the clips with non-finite data, each with the name of the tensor.
///
/// * `data`: tensors with one row for each clip
pub async fn bad_clips(clips: &[String], data: Vec<(&'static str, Value)>) -> Result<Vec<(String, String)>> {
    let mut bad = Vec::new();
    for (name, value) in data {
        let Values { values, .. } = Values::read(value).await?;
        let rows = values.chunks(values.len().div_ceil(clips.len().max(1)).max(1));
        let non_finite = clips.iter().zip(rows).filter(|(_, row)| row.iter().any(|value| !value.is_finite()));
        bad.extend(non_finite.map(|(clip, _)| (clip.clone(), name.to_string())));
    }
    Ok(bad)
}
