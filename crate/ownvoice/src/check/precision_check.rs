//! Whether a device computes a step of training as the CPU does, operation by operation: what a page runs on the visitor's adapter.
//!
//! The self-test ([`super::self_test`]) compares a few figures before a device is used; this compares each operation, and takes seconds.

use std::collections::HashMap;

use burn::prelude::*;

use super::step_dump::{Side, StepConfig, compare_steps, sample_features};
use crate::{Error, Result, model::Tacotron, voice::Base};
use burn_fused::{
    ComputePlan, Mode, Operation, Precision,
    compute::PlantedFault,
    is_cpu,
    precision::{Comparison, Culprit, GoOn, Replayer, dump::About, first_fault, report::report},
    readback::read,
    weights::{apply, collect},
};

#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The device's name, for the report.
    pub name: String,
    /// In which the device computes.
    pub precision: Precision,
    /// What passes.
    pub cosine: f64,
    /// Planted in the device's operations, as a drill.
    pub faults: Vec<PlantedFault>,
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Of the step on the CPU, in f32, unfused.
    pub reference: About,
    /// Of the step on the device.
    pub found: About,
    pub comparison: Comparison,
    /// Where something that is no number begins on the device.
    pub culprit: Option<Culprit>,
}

impl Checked {
    pub fn passes(&self) -> bool {
        self.culprit.is_none() && self.comparison.passes()
    }

    /// One sentence: which operation is at fault, or that none is.
    pub fn verdict(&self) -> String {
        self.culprit.as_ref().map_or_else(|| self.comparison.verdict(), ToString::to_string)
    }

    /// The module's path and the operation at fault: the first that makes something that is no number, else the first that is off by itself.
    pub fn at_fault(&self) -> Option<(&str, Option<Operation>)> {
        let off = || self.comparison.at_fault().next().map(|row| (row.path.as_str(), row.operation));
        self.culprit.as_ref().map(Culprit::place).or_else(off)
    }

    /// All of it, to be copied. It holds no speech.
    pub fn text(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let text = report(&self.reference, &self.found, &self.comparison, false);
        let culprit = self.culprit.as_ref().map_or(String::new(), |culprit| format!("\n{culprit}"));
        format!("ownvoice {version}, precision\n{text}{culprit}")
    }
}

/// Windows of the step, and frames of each: enough that the kernels of training run.
const BATCH: usize = 2;
const WINDOW: usize = 64;

/// Runs a step of training on speech-like noise, on the CPU from plain operations and on the base's device from fused ones, and compares them.
///
/// Fails with `precision-unsupported` where the device has no half precision, with `device-lost` where it no longer answers, and with `cancelled` where `go_on`
/// returns false.
pub async fn check(base: &Base, options: &CheckOptions, go_on: &mut GoOn<'_>) -> Result<Checked> {
    let CheckOptions { name, precision, cosine, faults } = options;
    if !precision.runs_on(&base.device) {
        return Err(Error::precision_unsupported());
    }
    if !(0.0..=1.0).contains(cosine) {
        return Err(Error::option_invalid("a cosine that passes lies between 0 and 1"));
    }
    let (cpu, config) = (Device::flex(), base.config().clone());
    let model = if is_cpu(&base.device) { base.model.clone() } else { on(&base.model, base, &cpu).await? };
    let plan = ComputePlan { faults: faults.clone(), ..ComputePlan::from_precision(*precision) };
    let reference = Side { model: &model, device: &cpu, name: "cpu", plan: ComputePlan::reference() };
    let found = Side { model: &base.model, device: &base.device, name, plan: plan.clone() };
    let features = sample_features(config.mels);
    let step = StepConfig {
        window: WINDOW.next_multiple_of(config.reduction),
        config,
        batch: BATCH,
        mode: Mode::Eval,
        seed: 1,
    };
    let (on_cpu, on_device, comparison) =
        compare_steps(&reference, &found, &features, &step, *cosine, go_on).await?;
    let culprit = if on_device.is_finite() {
        None
    } else {
        let replayer = Replayer { plan, device: base.device.clone(), loss_scale: on_device.about.loss_scale };
        first_fault(&on_device, &replayer).await?
    };
    Ok(Checked { reference: on_cpu.about, found: on_device.about, comparison, culprit })
}

/// A copy of a base's model on another device.
async fn on(model: &Tacotron, base: &Base, device: &Device) -> Result<Tacotron> {
    let mut weights = HashMap::new();
    for (path, weight) in collect(model) {
        weights.insert(path, (weight.shape, read(weight.values).await?));
    }
    Ok(apply(Tacotron::new(base.config(), device), weights).expect("the model's own shapes"))
}
