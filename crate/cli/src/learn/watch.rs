//! Monitors a run: statistics of magnitudes every few steps, dumps of steps with non-finite values, and the facts that distinguish two runs.
//!
//! The outcome of a step is read back while the next one is computed, so that the device does not wait for the host. Until then, weights and batch of the step
//! are kept, so that it can be run again under a probe.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use burn::{module::Module, prelude::*, tensor::Gradients};
use serde::{Deserialize, Serialize};

use super::{
    hyperparameters::{RunConfig, WatchConfig},
    trainable_model::TrainableModel,
};
use crate::learn::preflight::RunFacts;
use burn_fused::{
    ComputePlan, Mode, Precision, Scope,
    adam::SCALING,
    precision::{
        Replayer,
        dump::About,
        fault::first_fault,
        statistics::{OutputStatistics, ParameterStatistics, module_statistics, output_statistics},
    },
    ranks::Ranks,
    readback::read,
    trace::Probe,
    weights::{Metadata, Storage, collect, serialize},
};
use ownvoice::{
    Error, Result,
    check::step_dump::{bad_clips, dump_step},
    digest::sha256_hex,
    files,
    model::batch::Data,
    report::Report,
};

/// The magnitudes of one step: a line of the file at [`statistics_path`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStatistics {
    pub step: usize,
    /// The magnitudes of weights and of gradients, which are multiplied by the loss scale.
    pub parameters: Vec<ParameterStatistics>,
    /// The magnitudes of the output of each operation, for the first rank's shard. They show non-finite values that a later ReLU hides.
    pub outputs: Vec<OutputStatistics>,
}

/// Returns the path of the statistics in the folder of a run: JSON, one line every few steps.
pub fn statistics_path(directory: &Path) -> PathBuf {
    directory.join("statistics.jsonl")
}

/// Returns the path of a dump in the folder of a run. `step` counts from 1, and each rank has its own file.
pub fn dump_path(directory: &Path, step: usize, rank: usize) -> PathBuf {
    directory.join(match rank {
        0 => format!("step-{step:06}.safetensors"),
        _ => format!("step-{step:06}-rank-{rank}.safetensors"),
    })
}

/// A completed step whose outcome has not been read back.
pub struct Taken<M: TrainableModel> {
    /// The number of the step, from 0.
    step: usize,
    /// The model before the update.
    model: M,
    batch: M::Batch,
    /// The sum of the losses, the count of [`Watch::count_outputs`], and the scaling of the optimizer before and after the update.
    outcome: Tensor<1>,
}

/// The monitor of one run.
pub struct Watch<M: TrainableModel> {
    config: WatchConfig,
    plan: ComputePlan,
    directory: PathBuf,
    device: Device,
    /// The ranks. Only the first writes facts and statistics. All write a dump, each of its shard, because the condition is the same on all ranks.
    ranks: Ranks,
    facts: RunFacts,
    latest: Option<Taken<M>>,
    /// The magnitudes of outputs of the current step, if they are counted at this step.
    outputs: Result<Vec<OutputStatistics>>,
    dumps: usize,
}

impl<M: TrainableModel> Watch<M> {
    /// Opens the monitor and writes the facts of a run that begins with `model`. A resumed run keeps its facts.
    pub fn open(model: &M, run_config: &RunConfig, resumed: bool) -> Result<Self> {
        let RunConfig { hyperparameters, directory, device, watch, ranks, .. } = run_config;
        let kept = fs::read(directory.join(RunFacts::FILE)).ok().filter(|_| resumed);
        let kept = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let facts = match kept {
            Some(facts) => facts,
            None => RunFacts {
                version: env!("CARGO_PKG_VERSION").into(),
                device: format!("{:?}", device.clone().inner()),
                hyperparameters: serde_json::to_value(hyperparameters).expect("plain data"),
                weights_sha256: hash(model)?,
                loss_scale: 1.0,
                ranks: ranks.shard().world_size,
                ..RunFacts::default()
            },
        };
        let (config, plan) = (*watch, hyperparameters.compute.clone());
        let (directory, device, ranks) = (directory.clone(), device.clone(), ranks.clone());
        let (latest, outputs) = (None, Ok(Vec::new()));
        let watch = Self { config, plan, directory, device, ranks, facts, latest, outputs, dumps: 0 };
        watch.write_facts()?;
        Ok(watch)
    }

    fn write_facts(&self) -> Result<()> {
        if !self.ranks.is_first() {
            return Ok(());
        }
        let json = serde_json::to_string_pretty(&self.facts).expect("plain data") + "\n";
        files::write(&self.directory.join(RunFacts::FILE), json)
    }

    /// Returns whether magnitudes are counted at this step.
    fn counts(&self, step: usize) -> bool {
        let every = self.config.statistics_every;
        every > 0 && (step + 1).is_multiple_of(every)
    }

    /// Returns the probe that records the outputs of this step, if magnitudes are counted at this step.
    pub fn probe(&self, step: usize) -> Option<Probe> {
        self.counts(step).then(Probe::for_outputs)
    }

    /// Counts the magnitudes of the recorded outputs. Returns the number of non-finite values; [`Self::count`] returns the error.
    pub fn count_outputs(&mut self, probe: &Probe) -> f32 {
        self.outputs = pollster::block_on(output_statistics(probe.take())).map_err(Error::from);
        let outputs = self.outputs.as_deref().unwrap_or_default().iter();
        outputs.map(|OutputStatistics { output, .. }| (output.nans + output.infinities) as f32).sum()
    }

    /// Counts the magnitudes of parameters and gradients, if they are counted at this step, and writes them with those of the outputs.
    pub fn count(&mut self, step: usize, model: &M, gradients: &Gradients) -> Result<()> {
        let outputs = std::mem::replace(&mut self.outputs, Ok(Vec::new()))?;
        if !self.counts(step) || !self.ranks.is_first() {
            return Ok(());
        }
        let parameters = pollster::block_on(module_statistics(model, gradients))?;
        let statistics = StepStatistics { step: step + 1, parameters, outputs };
        let line = serde_json::to_string(&statistics).expect("plain data");
        let path = statistics_path(&self.directory);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| writeln!(file, "{line}")).map_err(Error::io(&path))
    }

    /// Returns a step to observe.
    ///
    /// * `model`:      before the update
    /// * `losses`:     `[N]`, summed over ranks, without gradients
    /// * `non_finite`: `[1]`, the count of [`Self::count_outputs`], summed over ranks
    /// * `before`, `after`: the scaling of the optimizer before and after the update
    pub fn taken(
        step: usize,
        model: M,
        batch: M::Batch,
        [losses, non_finite]: [Tensor<1>; 2],
        [before, after]: [Option<Tensor<1>>; 2],
    ) -> Taken<M> {
        let after = after.expect("an update scales");
        // The optimizer has no scaling before the first update.
        let before = before.unwrap_or_else(|| after.clone());
        Taken { step, model, batch, outcome: Tensor::cat(vec![losses.sum(), non_finite, before, after], 0) }
    }

    /// Examines the previous step, and keeps this one.
    pub fn observe(&mut self, taken: Taken<M>, report: &dyn Report) -> Result<()> {
        if self.facts.order.len() == taken.step && self.facts.order.len() < RunFacts::BATCHES {
            self.facts.order.push(taken.batch.clips().whole.clone());
        }
        if let Some(before) = self.latest.replace(taken) {
            self.examine(before, report)?;
        }
        Ok(())
    }

    /// Examines the last step.
    pub fn finish(&mut self, report: &dyn Report) -> Result<()> {
        if let Some(last) = self.latest.take() {
            self.examine(last, report)?;
        }
        self.write_facts()
    }

    fn examine(&mut self, taken: Taken<M>, report: &dyn Report) -> Result<()> {
        let outcome = pollster::block_on(read(taken.outcome.clone()))?;
        let (first, scalings) = outcome.split_at(2);
        let (loss, non_finite, (before, after)) = (first[0], first[1], scalings.split_at(SCALING));
        self.facts.loss_scale = after[0];
        self.facts.overflows = after[SCALING - 1] as usize;
        if (taken.step + 1).is_multiple_of(RunFacts::BATCHES) {
            self.write_facts()?;
        }
        let overflowed =
            after[SCALING - 1] > before[SCALING - 1] || (taken.step == 0 && after[SCALING - 1] > 0.0);
        if (overflowed || !loss.is_finite() || non_finite > 0.0) && self.dumps < self.config.max_dumps {
            self.dumps += 1;
            // The first step has no scaling before it, and an overflow halves the loss scale.
            let scale = if taken.step == 0 && overflowed { after[0] * 2.0 } else { before[0] };
            pollster::block_on(self.dump(taken, scale, report))?;
        }
        Ok(())
    }

    /// Runs the step again under a probe, writes its dump and reports the fault.
    async fn dump(&self, taken: Taken<M>, loss_scale: f32, report: &dyn Report) -> Result<()> {
        let Taken { step, model, batch, .. } = taken;
        let clips = batch.clips().here().to_vec();
        let about = About {
            device: self.facts.device.clone(),
            plan: self.plan.clone(),
            loss_scale: if self.plan.precision == Precision::Mixed { loss_scale } else { 1.0 },
            bad_clips: bad_clips(&clips, batch.tensors()).await?,
            clips,
            losses: Vec::new(),
        };
        let replayer = Replayer {
            plan: self.plan.clone(),
            device: self.device.clone().inner(),
            loss_scale: about.loss_scale,
        };
        let probe = Probe::default();
        // A copy, so that the running statistics of the run stay unchanged.
        let scope = Scope::recorded(self.plan.clone(), &probe);
        let model = model.valid().train().computing(&scope);
        let named = |model: &M| M::LOSSES.iter().copied().zip(model.losses(&batch, Mode::Train)).collect();
        let dump = dump_step(model, &scope, about, named).await?;
        let path = dump_path(&self.directory, step + 1, self.ranks.shard().rank);
        files::write(&path, dump.serialize())?;
        let culprit = match first_fault(&dump, &replayer).await? {
            Some(culprit) => culprit.to_string(),
            None => "no value is non-finite in a repetition".into(),
        };
        report.note(&format!("step {}: {culprit}; see {}", step + 1, path.display()));
        Ok(())
    }
}

/// Returns the hash of all weights and running statistics.
fn hash<M: Module>(model: &M) -> Result<String> {
    let bytes = pollster::block_on(serialize(collect(model), Storage::Full, Metadata::new()))?;
    Ok(sha256_hex(&bytes))
}
