//! One loop for what trains for hours, the base voice and the vocoder: resumable, with checkpoints, reports and a curve.

use burn::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    adam::{Adam, AdamConfig},
    optimizer_state::{optimizer_weights, restore_optimizer},
};
use crate::{
    Error, Result, files,
    nn::{Mode, Precision},
    report::{Progress, Report},
    weights::{Metadata, Storage, apply, collect, deserialize, serialize},
};

/// How a model is trained; kept beside it, so that the same command makes it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    pub steps: usize,
    pub batch: usize,
    /// Frames.
    pub window: usize,
    pub seed: u64,
    pub rate_start: f64,
    pub rate_end: f64,
    /// Every how many steps the state is saved and the held-out loss taken.
    pub checkpoint_every: usize,
    #[serde(default)]
    pub precision: Precision,
}

impl Recipe {
    /// Short warm-up, then exponential decay from start to end.
    fn rate(&self, step: usize) -> f64 {
        const WARM_UP_STEPS: f64 = 100.0;
        let progress = step as f64 / self.steps as f64;
        let decayed = self.rate_start * (self.rate_end / self.rate_start).powf(progress);
        decayed * ((step + 1) as f64 / WARM_UP_STEPS).min(1.0)
    }
}

/// A model with the losses that train it.
pub trait Learner: Module {
    type Batch;

    /// Names of what [`Self::losses`] returns.
    const LOSSES: &'static [&'static str];
    /// Index of the loss that is reported on held-out batches.
    const CRITERION: usize;

    /// Each `[1]`; training minimises their sum.
    fn losses(&self, batch: &Self::Batch, mode: Mode) -> Vec<Tensor<1>>;
}

/// What a batch is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    Train,
    /// The n-th of the batches that are held out: the same at each validation.
    HeldOut(usize),
}

/// Splits a corpus' usable items, by index, into those to train on and those kept from it: one in fifty.
pub fn split(usable: impl Iterator<Item = usize>) -> Result<(Vec<usize>, Vec<usize>)> {
    const HELD_OUT_EVERY: usize = 50;
    let (held_out, train): (Vec<usize>, Vec<usize>) = usable.partition(|index| index % HELD_OUT_EVERY == 0);
    if train.is_empty() || held_out.is_empty() {
        return Err(Error::corpus_invalid(
            "too few recordings to train on, or too short ones, or without durations",
        ));
    }
    Ok((train, held_out))
}

const HELD_OUT_BATCHES: usize = 2;
/// Steps between two lines of the curve.
const REPORT_EVERY: usize = 20;

/// The curve of a run in its folder: a line every 20 steps of step, seconds, the model's losses, and the held-out loss where it was taken.
pub fn curve_path(directory: &Path) -> PathBuf {
    directory.join("curve.csv")
}

/// A recipe, and where and on which device it runs.
#[derive(Debug, Clone)]
pub struct RunConfig {
    pub recipe: Recipe,
    /// Holds checkpoint and curve.
    pub directory: PathBuf,
    /// Go on from the checkpoint, where there is one.
    pub resume: bool,
    /// Tracks gradients.
    pub device: Device,
}

/// A training on its way.
pub struct Run<'a, M> {
    pub model: M,
    adam: Adam,
    run_config: &'a RunConfig,
}

impl<'a, M: Learner> Run<'a, M> {
    /// Starts from `blank`, which must be on the plan's device, or from the checkpoint.
    pub fn open(blank: M, run_config: &'a RunConfig) -> Result<Self> {
        fs::create_dir_all(&run_config.directory).map_err(Error::io(&run_config.directory))?;
        let mut run = Self {
            model: blank,
            adam: Adam::new(AdamConfig { precision: run_config.recipe.precision, ..AdamConfig::default() }),
            run_config,
        };
        if run_config.resume && run.checkpoint_path().exists() {
            run.load_checkpoint()?;
            run_config.device.seed(run_config.recipe.seed + run.step() as u64);
        } else {
            let curve = curve_path(&run_config.directory);
            fs::write(&curve, format!("step,seconds,{},held_out\n", M::LOSSES.join(",")))
                .map_err(Error::io(&curve))?;
        }
        Ok(run)
    }

    /// Steps done.
    pub fn step(&self) -> usize {
        self.adam.updates
    }

    /// Trains to the recipe's last step and returns the model and its held-out loss.
    pub fn finish(mut self, report: &dyn Report, mut draw: impl FnMut(Draw) -> M::Batch) -> Result<(M, f32)> {
        let RunConfig { recipe, directory, device, .. } = self.run_config;
        let mut message = String::new();
        let begun = Instant::now();
        // On the device: nothing is read back between two reports.
        let blank = Tensor::<1>::zeros([M::LOSSES.len()], &device.clone().inner());
        let mut sums = blank.clone();
        for step in self.step()..recipe.steps {
            let losses = Tensor::cat(self.model.losses(&draw(Draw::Train), Mode::Train), 0);
            let gradients = self.adam.scaled(losses.clone().sum()).backward();
            sums = sums + losses.inner();
            let rate = recipe.rate(step);
            self.model = self.adam.step(self.model, &gradients, |_| rate);
            report.progress(&Progress { done: step + 1, of: Some(recipe.steps), message: &message });
            if (step + 1) % REPORT_EVERY == 0 {
                let means = std::mem::replace(&mut sums, blank.clone()).div_scalar(REPORT_EVERY as f32);
                let means = means.into_data().try_to_vec::<f32>().expect("losses are f32");
                if !means.iter().all(|mean| mean.is_finite()) {
                    return Err(Error::training_diverged(step));
                }
                let mut held_out = String::new();
                if (step + 1) % recipe.checkpoint_every == 0 || step + 1 == recipe.steps {
                    self.save_checkpoint()?;
                    held_out = format!("{:.4}", self.held_out_loss(&mut draw));
                }
                let named: Vec<String> = means.iter().map(|mean| format!("{mean:.4}")).collect();
                let line = format!(
                    "{},{:.1},{},{held_out}",
                    step + 1,
                    begun.elapsed().as_secs_f32(),
                    named.join(",")
                );
                let curve = curve_path(directory);
                let file = OpenOptions::new().append(true).open(&curve);
                file.and_then(|mut file| writeln!(file, "{line}")).map_err(Error::io(&curve))?;
                let losses = M::LOSSES.iter().zip(&named).map(|(name, mean)| format!("{name} {mean}"));
                message = losses.collect::<Vec<_>>().join(", ");
                report.note(&line);
            }
        }
        let loss = self.held_out_loss(&mut draw);
        Ok((self.model, loss))
    }

    fn held_out_loss(&self, draw: &mut impl FnMut(Draw) -> M::Batch) -> f32 {
        let criterion = (0..HELD_OUT_BATCHES).map(|index| {
            self.model.losses(&draw(Draw::HeldOut(index)), Mode::Eval).swap_remove(M::CRITERION)
        });
        criterion.map(|loss| loss.into_scalar::<f32>()).sum::<f32>() / HELD_OUT_BATCHES as f32
    }

    fn checkpoint_path(&self) -> PathBuf {
        self.run_config.directory.join("checkpoint.safetensors")
    }

    fn save_checkpoint(&self) -> Result<()> {
        let mut weights = collect(&self.model);
        weights.extend(optimizer_weights(&self.adam));
        let metadata = Metadata::from([("updates".to_string(), self.adam.updates.to_string())]);
        let bytes = pollster::block_on(serialize(weights, Storage::Full, metadata))?;
        files::write(&self.checkpoint_path(), bytes)
    }

    fn load_checkpoint(&mut self) -> Result<()> {
        let path = self.checkpoint_path();
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        let (mut weights, metadata) = deserialize(&bytes).map_err(Error::checkpoint_corrupt)?;
        let updates = metadata.get("updates").and_then(|updates| updates.parse().ok());
        self.adam.updates = updates
            .ok_or_else(|| Error::checkpoint_corrupt("it does not say how many updates it has seen"))?;
        restore_optimizer(&mut self.adam, &collect(&self.model), &mut weights, &self.run_config.device)?;
        self.model = apply(self.model.clone(), &weights).map_err(Error::checkpoint_corrupt)?;
        Ok(())
    }
}
