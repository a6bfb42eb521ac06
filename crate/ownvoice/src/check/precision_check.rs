//! The precision check: compares a training step on a device with the CPU, operation by operation. A page runs it on the visitor's adapter.
//!
//! The self-test ([`super::self_test`]) compares a few values before a device is used; this check compares each operation, and takes seconds.

use std::collections::HashMap;

use burn::prelude::*;

use super::{
    compare_steps::{ComparedSteps, compare_steps},
    step_dump::{Side, StepConfig, sample_features},
};
use crate::{Error, Result, model::Tacotron, voice::Base};
use burn_fused::{
    ComputePlan, Mode, Operation, Precision,
    compute::PlantedFault,
    is_cpu,
    precision::{Comparison, Culprit, GoOn, Replayer, dump::About, first_fault, report::report},
    readback::read,
    weights::{apply, collect},
};

/// The options of a precision check.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The device's name, for the report.
    pub name: String,
    /// The precision in which the device computes.
    pub precision: Precision,
    /// The lowest cosine similarity that passes, 0 to 1.
    pub cosine: f64,
    /// Faults to plant in the device's operations, which tests the check itself.
    pub faults: Vec<PlantedFault>,
}

/// The result of a precision check.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Describes the step on the CPU, in f32 and from plain operations.
    pub reference: About,
    /// Describes the step on the device.
    pub found: About,
    pub comparison: Comparison,
    /// The first operation with non-finite output on the device; `None` where all values are finite.
    pub culprit: Option<Culprit>,
}

impl Checked {
    /// Whether all values are finite and the comparison passes.
    pub fn passes(&self) -> bool {
        self.culprit.is_none() && self.comparison.passes()
    }

    /// Returns a sentence that names the operation at fault, or says that there is none.
    pub fn verdict(&self) -> String {
        self.culprit.as_ref().map_or_else(|| self.comparison.verdict(), ToString::to_string)
    }

    /// Returns the module's path and the operation at fault: the first with non-finite output, else the first that deviates when computed alone.
    pub fn at_fault(&self) -> Option<(&str, Option<Operation>)> {
        let deviating = || self.comparison.at_fault().next().map(|row| (row.path.as_str(), row.operation));
        self.culprit.as_ref().map(Culprit::place).or_else(deviating)
    }

    /// Returns a report as text, for the visitor to copy. It contains no speech.
    pub fn text(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let text = report(&self.reference, &self.found, &self.comparison, false);
        let culprit = self.culprit.as_ref().map_or(String::new(), |culprit| format!("\n{culprit}"));
        format!("ownvoice {version}, precision\n{text}{culprit}")
    }
}

/// The number of windows in the step, and the frames of a window: large enough to select the kernels that training uses.
const BATCH: usize = 2;
const WINDOW: usize = 64;

/// Runs a training step on a synthetic corpus, on the CPU from plain operations and on the base's device from fused ones, and compares them.
///
/// Fails with `precision-unsupported` where the device has no half precision, with `device-lost` where it no longer answers, and with `cancelled` where `go_on`
/// returns false.
pub async fn check(base: &Base, options: &CheckOptions, go_on: &mut GoOn<'_>) -> Result<Checked> {
    let CheckOptions { name, precision, cosine, faults } = options;
    if !precision.runs_on(&base.device) {
        return Err(Error::precision_unsupported());
    }
    if !(0.0..=1.0).contains(cosine) {
        return Err(Error::option_invalid("the lowest cosine that passes lies between 0 and 1"));
    }
    let (cpu, config) = (Device::flex(), base.config().clone());
    let model = if is_cpu(&base.device) { base.model.clone() } else { copy_to_device(base, &cpu).await? };
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
    let ComparedSteps { reference, found, comparison } =
        compare_steps(&reference, &found, &features, &step, *cosine, go_on).await?;
    let culprit = if found.is_finite() {
        None
    } else {
        let replayer = Replayer { plan, device: base.device.clone(), loss_scale: found.about.loss_scale };
        first_fault(&found, &replayer).await?
    };
    Ok(Checked { reference: reference.about, found: found.about, comparison, culprit })
}

/// Copies the model of a base to another device.
async fn copy_to_device(base: &Base, device: &Device) -> Result<Tacotron> {
    let mut weights = HashMap::new();
    for (path, weight) in collect(&base.model) {
        weights.insert(path, (weight.shape, read(weight.values).await?));
    }
    Ok(apply(Tacotron::new(base.config(), device), weights).expect("the shapes are the model's"))
}
