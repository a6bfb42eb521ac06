//! One training step of a model, run under a plan and recorded: what [`burn_fused::precision`] compares.
//!
//! One long file: the step runs in stages that record into one dump, and both sides of a comparison take the same ones.

use std::collections::BTreeMap;

use burn::{module::Module, prelude::*, tensor::Gradients};

use crate::{
    Error, Result,
    audio::mel::{Mel, MelConfig},
    features::{Features, NewUtterance},
    model::{
        AttentiveTacotron, Tacotron, TacotronConfig,
        batch::{Batch, Data, assemble},
        loss::{attention_losses, losses},
    },
    text::symbols::Symbol,
};
use burn_fused::{
    ComputePlan, Mode, Operation, Precision, Scope,
    adam::{Adam, AdamConfig, FIRST_SCALE},
    precision::{
        Bisection, Comparison, Dump, GoOn, Replayer, Values, bisect, compare,
        dump::{About, CallName, CallRecord},
        to_the_end,
    },
    ranks::Shard,
    trace::{Probe, Value},
    weights::{collect, visit},
};

/// A model that a step can be dumped of: along the duration path or along that of attention.
pub trait Stepped: Module {
    /// How its operations are computed, and where they are recorded.
    #[must_use]
    fn under(self, scope: &Scope) -> Self;

    /// Each `[1]`, by name; training minimises their sum.
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

/// Its batches hold whole utterances: a window as long as the longest of them, and an autoregressive configuration.
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

/// A model on a device, and how it computes there.
pub struct Side<'a, M = Tacotron> {
    /// With gradients or without.
    pub model: &'a M,
    pub device: &'a Device,
    /// The device's name, for the report.
    pub name: &'a str,
    pub plan: ComputePlan,
}

/// Which step is run on each side.
#[derive(Debug, Clone)]
pub struct StepConfig {
    pub config: TacotronConfig,
    /// Windows of the batch.
    pub batch: usize,
    /// Frames of a window; a multiple of the model's reduction.
    pub window: usize,
    /// Batch statistics as in pretraining, or running ones as in cloning.
    pub mode: Mode,
    /// Of the batch.
    pub seed: u64,
}

impl StepConfig {
    /// Utterances one after the other, from the seed's on, each from a frame further in.
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

/// Learning rate of the one update: Adam's first step is as long, whatever the gradient.
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
        // The prenet's dropout, where there is one: the same on devices of one kind.
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

    /// The gradients of one step, and the model whose they are; what comes out of its operations is recorded by `probe`, where there is one.
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

    /// Computes single operations as this side does.
    pub fn replayer(&self) -> Replayer {
        Replayer { plan: self.plan.clone(), device: self.device.clone(), loss_scale: first_scale(&self.plan) }
    }
}

fn sum(named: &[(&str, Tensor<1>)]) -> Tensor<1> {
    Tensor::cat(named.iter().map(|(_, loss)| loss.clone()).collect(), 0).sum()
}

fn first_scale(plan: &ComputePlan) -> f32 {
    if plan.precision == Precision::Mixed { FIRST_SCALE } else { 1.0 }
}

/// Runs the step on both sides, and each operation of the first alone on the second. Returns both dumps as well.
///
/// * `cosine`: what passes
///
/// Fails with `cancelled` where `go_on` returns false.
pub async fn compare_steps<M: Stepped>(
    reference: &Side<'_, M>,
    found: &Side<'_, M>,
    features: &Features,
    step: &StepConfig,
    cosine: f64,
    go_on: &mut GoOn<'_>,
) -> Result<(Dump, Dump, Comparison)> {
    let dump = reference.dump(features, step).await?;
    if !go_on(0, dump.calls.len()).await {
        return Err(Error::cancelled());
    }
    let (other, comparison) = compare_with(&dump, reference, found, features, step, cosine, go_on).await?;
    Ok((dump, other, comparison))
}

async fn compare_with<M: Stepped>(
    dump: &Dump,
    reference: &Side<'_, M>,
    found: &Side<'_, M>,
    features: &Features,
    step: &StepConfig,
    cosine: f64,
    go_on: &mut GoOn<'_>,
) -> Result<(Dump, Comparison)> {
    let other = found.dump(features, step).await?;
    let alone_updates = updates_of(found, &dump.gradients).await?;
    let replayers = [&reference.replayer(), &found.replayer()];
    let comparison = compare(dump, &other, replayers, &alone_updates, cosine, go_on).await?;
    Ok((other, comparison))
}

/// Finds the smallest set of operations without whose fused form the second side passes.
pub async fn bisect_steps<M: Stepped>(
    reference: &Side<'_, M>,
    found: &Side<'_, M>,
    features: &Features,
    step: &StepConfig,
    cosine: f64,
) -> Result<Bisection> {
    let dump = reference.dump(features, step).await?;
    let mut operations: std::collections::BTreeSet<Operation> =
        dump.calls.iter().map(|record| record.call.operation).collect();
    operations.insert(Operation::Adam);
    // Its steps are recorded as one.
    if operations.contains(&Operation::AttentionLstm) {
        operations.insert(Operation::Attention);
    }
    bisect(&operations, async |plain| {
        let plan = ComputePlan { plain: plain | &found.plan.plain, ..found.plan.clone() };
        let side = Side { plan, ..*found };
        let found = compare_with(&dump, reference, &side, features, step, cosine, &mut to_the_end).await?;
        Ok(!found.1.passes())
    })
    .await
}

/// Runs a step of any model and records it. What batch statistics the model keeps is updated: give a copy.
///
/// * `model`: tracks gradients, and computes under `scope`, which records
/// * `about`: its losses are filled in
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
    let of_parameters = gradients_of(&model, &gradients, scale).await?;
    let updates = updates(model, &gradients, scope, scale).await?;
    Ok(Dump { about, calls, gradients: of_parameters, updates })
}

/// By the parameter's path, the scale taken off.
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

/// What one update adds to each parameter that has a gradient.
async fn updates<M: Module>(
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

/// What the optimizer of a side makes of given gradients.
async fn updates_of<M: Stepped>(
    side: &Side<'_, M>,
    gradients: &BTreeMap<String, Values>,
) -> Result<BTreeMap<String, Values>> {
    let model = side.model.valid().train();
    // The gradient of the sum of each parameter times a constant is that constant.
    let mut products = Vec::new();
    visit(&model, |path, parameter| {
        let Some(Values { values, .. }) = gradients.get(path) else { return };
        let value = parameter.tracked();
        let constant = TensorData::new(values.clone(), value.dims());
        products.push((value.clone() * Tensor::from_data(constant, &value.device())).sum());
    });
    let scale = first_scale(&side.plan);
    match products.into_iter().reduce(|sum, product| sum + product) {
        Some(sum) => {
            updates(model, &sum.mul_scalar(scale).backward(), &Scope::new(side.plan.clone()), scale).await
        }
        None => Ok(BTreeMap::new()),
    }
}

/// Clips with non-finite data, each with the name of the tensor.
///
/// * `data`: one row a clip
pub async fn bad_clips(clips: &[String], data: Vec<(&'static str, Value)>) -> Result<Vec<(String, String)>> {
    let mut bad = Vec::new();
    for (name, value) in data {
        let Values { values, .. } = Values::read(value).await?;
        let rows = values.chunks(values.len().div_ceil(clips.len().max(1)).max(1));
        let of_name = clips.iter().zip(rows).filter(|(_, row)| row.iter().any(|value| !value.is_finite()));
        bad.extend(of_name.map(|(clip, _)| (clip.clone(), name.to_string())));
    }
    Ok(bad)
}

/// Speech-like noise to run a step on where no corpus is: four voices of 40 symbols of 5 frames, most of them voiced.
pub fn sample_features(mels: usize) -> Features {
    const SYMBOLS: usize = 40;
    const SYMBOL_FRAMES: usize = 5;
    let mut features = Features::new(MelConfig::speech_16k());
    for voice in 0..4usize {
        let frames = SYMBOLS * SYMBOL_FRAMES;
        // Bands that rise and fall at speeds of their own, between -8 and 0 as log-mels do.
        let value = |frame: usize, band: usize| {
            let phase = 0.31 * frame as f32 * (1.0 + 0.05 * band as f32) + 1.7 * band as f32 + voice as f32;
            -4.0 + 2.5 * phase.sin() + 1.5 * (0.07 * frame as f32 + 0.2 * band as f32).cos()
        };
        let data = (0..frames * mels).map(|at| value(at / mels, at % mels)).collect();
        let pitch = |frame: usize| match frame / SYMBOL_FRAMES % 4 {
            0 => 0.0,
            _ => 120.0 + 20.0 * voice as f32 + 15.0 * (0.05 * frame as f32).sin(),
        };
        features.push(NewUtterance {
            speaker: &voice.to_string(),
            id: format!("sample-{voice}"),
            text: String::new(),
            symbols: (0..SYMBOLS).filter_map(|index| Symbol::from_index(10 + (index + voice) % 30)).collect(),
            durations: Some(vec![SYMBOL_FRAMES as u32; SYMBOLS]),
            mel: &Mel { mels, data },
            f0_hz: &(0..frames).map(pitch).collect::<Vec<f32>>(),
        });
    }
    features
}
