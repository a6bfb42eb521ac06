//! Trains a base voice on a prepared corpus, along either path: resumable, with checkpoints, a progress bar and a curve.

use burn::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    adam::{Adam, AdamConfig},
    batch::{Batch, Batcher},
    features::Features,
    loss::{attention_losses, losses},
    moments::{moment_weights, take_moments},
};
use crate::{
    Error, Result,
    model::{AttentiveTacotron, Tacotron, TacotronConfig},
    nn::Mode,
    weights::{Metadata, Precision, apply, collect, pack, unpack},
};

/// How a base is trained; kept in its manifest, so that the same command makes it again.
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
}

impl Default for Recipe {
    fn default() -> Self {
        Self { steps: 5000, batch: 16, window: 160, seed: 1, rate_start: 1e-3, rate_end: 5e-5, checkpoint_every: 100 }
    }
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

/// Every how many utterances one is kept from training.
const HELD_OUT_EVERY: usize = 50;
const HELD_OUT_BATCHES: usize = 2;

/// What the loop trains: a model that says in numbers what it gets wrong.
pub trait Learner: Module {
    /// What [`Self::losses`] returns, the spectrogram after the postnet second.
    const LOSSES: &'static [&'static str];

    fn blank(config: &TacotronConfig, device: &Device) -> Self;

    fn draw(batcher: &mut Batcher, features: &Features, from: &[usize], config: &TacotronConfig, device: &Device) -> Batch;

    /// Each `[1]`; training minimises their sum.
    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>>;
}

/// The duration path, on windows.
impl Learner for Tacotron {
    const LOSSES: &'static [&'static str] = &["before", "after", "durations"];

    fn blank(config: &TacotronConfig, device: &Device) -> Self {
        Self::new(config, device)
    }

    fn draw(batcher: &mut Batcher, features: &Features, from: &[usize], config: &TacotronConfig, device: &Device) -> Batch {
        batcher.draw(features, from, config, device)
    }

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        let losses = losses(self, batch, mode);
        vec![losses.before, losses.after, losses.durations]
    }
}

/// The attention path, on whole utterances.
impl Learner for AttentiveTacotron {
    const LOSSES: &'static [&'static str] = &["before", "after", "gate", "guide"];

    fn blank(config: &TacotronConfig, device: &Device) -> Self {
        Self::new(config, device)
    }

    fn draw(batcher: &mut Batcher, features: &Features, from: &[usize], config: &TacotronConfig, device: &Device) -> Batch {
        batcher.draw_whole(features, from, config, device)
    }

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        let losses = attention_losses(self, batch, mode);
        vec![losses.before, losses.after, losses.gate, losses.guide]
    }
}

/// What a run leaves in its folder.
struct RunFiles {
    checkpoint: PathBuf,
    curve: PathBuf,
}

/// The curve of a run in its folder: a line every [`REPORT_EVERY`] steps of step, seconds, the model's losses, and the held-out loss where it was taken.
pub fn curve_path(directory: &Path) -> PathBuf {
    directory.join("curve.csv")
}

/// Steps between two lines of the curve.
const REPORT_EVERY: usize = 20;

/// Trains to the recipe's last step and returns the model and its held-out loss. `directory` holds checkpoint and curve; with `resume` it goes on from there.
pub fn pretrain<M: Learner>(
    features: &Features,
    config: &TacotronConfig,
    recipe: &Recipe,
    directory: &Path,
    resume: bool,
    device: &Device,
) -> Result<(M, f32)> {
    let device = &device.clone().autodiff();
    fs::create_dir_all(directory).map_err(Error::io(directory))?;
    let files = RunFiles { checkpoint: directory.join("checkpoint.safetensors"), curve: curve_path(directory) };
    let aligned = (0..features.utterances.len()).filter(|&index| features.utterances[index].durations.is_some());
    let (held_out, train): (Vec<usize>, Vec<usize>) = aligned.partition(|index| index % HELD_OUT_EVERY == 0);
    if train.is_empty() || held_out.is_empty() {
        return Err(Error::CorpusInvalid("too few aligned utterances to train on".into()));
    }
    device.seed(recipe.seed);
    let mut model = M::blank(config, device);
    let mut adam = Adam::new(AdamConfig::default());
    if resume && files.checkpoint.exists() {
        (model, adam) = load_checkpoint(&files.checkpoint, model, device)?;
        device.seed(recipe.seed + adam.updates as u64);
    } else {
        fs::write(&files.curve, format!("step,seconds,{},held_out\n", M::LOSSES.join(","))).map_err(Error::io(&files.curve))?;
    }
    let first = adam.updates;
    let bar = ProgressBar::new(recipe.steps as u64)
        .with_position(first as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {msg} ({eta} left)").expect("a valid template"));
    let mut batcher = Batcher::new(recipe.batch, recipe.window, recipe.seed + first as u64);
    let begun = Instant::now();
    // On the device: nothing is read back between two reports.
    let blank = Tensor::<1>::zeros([M::LOSSES.len()], &device.clone().inner());
    let mut sums = blank.clone();
    for step in first..recipe.steps {
        let batch = M::draw(&mut batcher, features, &train, config, device);
        let losses = Tensor::cat(model.losses(&batch, Mode::Train), 0);
        let gradients = losses.clone().sum().backward();
        sums = sums + losses.inner();
        let rate = recipe.rate(step);
        model = adam.step(model, &gradients, |_| rate);
        bar.inc(1);
        if (step + 1) % REPORT_EVERY == 0 {
            let means = std::mem::replace(&mut sums, blank.clone()).div_scalar(REPORT_EVERY as f32);
            let means = means.into_data().try_to_vec::<f32>().expect("losses are f32");
            if !means.iter().all(|mean| mean.is_finite()) {
                return Err(Error::TrainingDiverged { iteration: step });
            }
            let checkpoint = (step + 1) % recipe.checkpoint_every == 0 || step + 1 == recipe.steps;
            let held_out = if checkpoint {
                save_checkpoint(&files.checkpoint, &model, &adam)?;
                Some(held_out_loss(&model, features, &held_out, config, recipe, device))
            } else {
                None
            };
            let held_out = held_out.map_or(String::new(), |loss| format!("{loss:.4}"));
            let named: Vec<String> = means.iter().map(|mean| format!("{mean:.4}")).collect();
            let line = format!("{},{:.1},{},{held_out}\n", step + 1, begun.elapsed().as_secs_f32(), named.join(","));
            let file = OpenOptions::new().append(true).open(&files.curve);
            file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(Error::io(&files.curve))?;
            bar.set_message(M::LOSSES.iter().zip(&named).map(|(name, mean)| format!("{name} {mean}")).collect::<Vec<_>>().join(", "));
            bar.suspend(|| print!("{line}"));
        }
    }
    bar.finish();
    let loss = held_out_loss(&model, features, &held_out, config, recipe, device);
    Ok((model, loss))
}

/// Of the spectrogram after the postnet, without a graph.
fn held_out_loss<M: Learner>(model: &M, features: &Features, held_out: &[usize], config: &TacotronConfig, recipe: &Recipe, device: &Device) -> f32 {
    let (model, device) = (model.valid(), &device.clone().inner());
    let mut batcher = Batcher::new(recipe.batch, recipe.window, 0);
    let mut after = || model.losses(&M::draw(&mut batcher, features, held_out, config, device), Mode::Steady).swap_remove(1);
    (0..HELD_OUT_BATCHES).map(|_| after().into_scalar::<f32>()).sum::<f32>() / HELD_OUT_BATCHES as f32
}

fn save_checkpoint<M: Learner>(path: &Path, model: &M, adam: &Adam) -> Result<()> {
    let mut weights = collect(model);
    weights.extend(moment_weights(adam));
    let metadata = Metadata::from([("updates".to_string(), adam.updates.to_string())]);
    let bytes = pollster::block_on(pack(weights, Precision::Full, metadata));
    // A crash while writing must not cost the checkpoint before.
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes).map_err(Error::io(&partial))?;
    fs::rename(&partial, path).map_err(Error::io(path))
}

fn load_checkpoint<M: Learner>(path: &Path, model: M, device: &Device) -> Result<(M, Adam)> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    let (mut weights, metadata) = unpack(&bytes).map_err(Error::CheckpointCorrupt)?;
    let mut adam = Adam::new(AdamConfig::default());
    adam.updates = metadata
        .get("updates")
        .and_then(|updates| updates.parse().ok())
        .ok_or_else(|| Error::CheckpointCorrupt("it does not say how many updates it has seen".into()))?;
    adam.moments = take_moments(&mut weights, device).into_iter().collect();
    Ok((apply(model, &weights).map_err(Error::CheckpointCorrupt)?, adam))
}
