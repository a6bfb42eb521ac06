//! The watch over a run: magnitudes every few steps, dumps of non-finite steps, and the facts that distinguish two runs.
//!
//! The outcome of a step is read back while the next one is computed, so that a device never waits for the host; until then the step's weights and batch are
//! held, and it can be run again under a probe.

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
    files,
    model::batch::Data,
    report::Report,
    voice::sha256_hex,
};

/// Magnitudes at one step: a line of [`statistics_path`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStatistics {
    pub step: usize,
    /// Gradients as the backward pass has them: times the loss' scale.
    pub parameters: Vec<ParameterStatistics>,
    /// Of the first rank's shard, what came out of each operation: what a ReLU behind it hides is seen here.
    pub outputs: Vec<OutputStatistics>,
}

/// Magnitudes in a run's folder, as JSON, a line every few steps.
pub fn statistics_path(directory: &Path) -> PathBuf {
    directory.join("statistics.jsonl")
}

/// The dump of a step in a run's folder; `step` counts from 1. Ranks other than the first have files of their own.
pub fn dump_path(directory: &Path, step: usize, rank: usize) -> PathBuf {
    directory.join(match rank {
        0 => format!("step-{step:06}.safetensors"),
        _ => format!("step-{step:06}-rank-{rank}.safetensors"),
    })
}

/// A step that was taken, before anything of it was read back.
pub struct Taken<M: TrainableModel> {
    /// From 0 on.
    step: usize,
    /// As it was before the update.
    model: M,
    batch: M::Batch,
    /// Sum of the losses, what [`Watch::count_outputs`] found, the optimizer's scaling before the update and after it.
    outcome: Tensor<1>,
}

/// The watch over one run.
pub struct Watch<M: TrainableModel> {
    config: WatchConfig,
    plan: ComputePlan,
    directory: PathBuf,
    device: Device,
    /// The first rank writes facts and magnitudes. All dump a step that failed, each its shard: what a dump is decided by is the same on all.
    ranks: Ranks,
    facts: RunFacts,
    latest: Option<Taken<M>>,
    /// Of the step that is being taken, where its turn has come.
    outputs: Result<Vec<OutputStatistics>>,
    dumps: usize,
}

impl<M: TrainableModel> Watch<M> {
    /// Writes the facts of a run that begins with `model`; those of a run that is resumed stay.
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

    /// Whether magnitudes are counted at this step.
    fn counts(&self, step: usize) -> bool {
        let every = self.config.statistics_every;
        every > 0 && (step + 1).is_multiple_of(every)
    }

    /// What the outputs of this step are to be recorded by, where its turn has come.
    pub fn probe(&self, step: usize) -> Option<Probe> {
        self.counts(step).then(Probe::for_outputs)
    }

    /// Counts magnitudes of what was recorded. Returns how many values are no numbers; an error is [`Self::count`]'s.
    pub fn count_outputs(&mut self, probe: &Probe) -> f32 {
        self.outputs = pollster::block_on(output_statistics(probe.take())).map_err(Error::from);
        let of_all = self.outputs.as_deref().unwrap_or_default().iter();
        of_all.map(|OutputStatistics { output, .. }| (output.nans + output.infinities) as f32).sum()
    }

    /// Counts magnitudes of parameters and gradients, where this step's turn has come, and writes them down with those of the outputs.
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

    /// A step before its update.
    ///
    /// * `losses`:  `[N]`, of all ranks together, without gradients
    /// * `hidden`:  `[1]`, what [`Self::count_outputs`] found on all of them
    /// * `scaling`: the optimizer's, before and after the update
    pub fn taken(
        step: usize,
        model: M,
        batch: M::Batch,
        [losses, hidden]: [Tensor<1>; 2],
        [before, after]: [Option<Tensor<1>>; 2],
    ) -> Taken<M> {
        let after = after.expect("an update scales");
        // Before the first update there is none yet; it begins as it is after.
        let before = before.unwrap_or_else(|| after.clone());
        Taken { step, model, batch, outcome: Tensor::cat(vec![losses.sum(), hidden, before, after], 0) }
    }

    /// Examines the step before this one.
    pub fn observe(&mut self, taken: Taken<M>, report: &dyn Report) -> Result<()> {
        if self.facts.order.len() == taken.step && self.facts.order.len() < RunFacts::BATCHES {
            self.facts.order.push(taken.batch.clips().whole.clone());
        }
        if let Some(before) = self.latest.replace(taken) {
            self.look(before, report)?;
        }
        Ok(())
    }

    /// Examines the last step.
    pub fn finish(&mut self, report: &dyn Report) -> Result<()> {
        if let Some(last) = self.latest.take() {
            self.look(last, report)?;
        }
        self.write_facts()
    }

    fn look(&mut self, taken: Taken<M>, report: &dyn Report) -> Result<()> {
        let outcome = pollster::block_on(read(taken.outcome.clone()))?;
        let (first, scalings) = outcome.split_at(2);
        let (loss, hidden, (before, after)) = (first[0], first[1], scalings.split_at(SCALING));
        self.facts.loss_scale = after[0];
        self.facts.overflows = after[SCALING - 1] as usize;
        if (taken.step + 1).is_multiple_of(RunFacts::BATCHES) {
            self.write_facts()?;
        }
        let overflowed =
            after[SCALING - 1] > before[SCALING - 1] || (taken.step == 0 && after[SCALING - 1] > 0.0);
        if (overflowed || !loss.is_finite() || hidden > 0.0) && self.dumps < self.config.max_dumps {
            self.dumps += 1;
            // At the first step the scaling before is not known, and that after an overflow is half of it.
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
        // A copy, so that batch statistics stay what the run made them.
        let scope = Scope::recorded(self.plan.clone(), &probe);
        let model = model.valid().train().computing(&scope);
        let named = |model: &M| M::LOSSES.iter().copied().zip(model.losses(&batch, Mode::Train)).collect();
        let dump = dump_step(model, &scope, about, named).await?;
        let path = dump_path(&self.directory, step + 1, self.ranks.shard().rank);
        files::write(&path, dump.serialize())?;
        let culprit = match first_fault(&dump, &replayer).await? {
            Some(culprit) => culprit.to_string(),
            None => "all are numbers when it is run again".into(),
        };
        report.note(&format!("step {}: {culprit}; see {}", step + 1, path.display()));
        Ok(())
    }
}

/// Of all weights and running statistics.
fn hash<M: Module>(model: &M) -> Result<String> {
    let bytes = pollster::block_on(serialize(collect(model), Storage::Full, Metadata::new()))?;
    Ok(sha256_hex(&bytes))
}
