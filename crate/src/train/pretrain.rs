//! Trains a base voice on a prepared corpus: resumable, with checkpoints, a progress bar and a curve.

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
    batch::Batcher,
    features::Features,
    loss::losses,
    moments::{moment_weights, take_moments},
};
use crate::{
    Error, Result,
    model::{Tacotron, TacotronConfig},
    nn::Mode,
    voice::weights::{Metadata, Precision, apply, collect, pack, unpack},
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
        Self { steps: 4000, batch: 16, window: 160, seed: 1, rate_start: 1e-3, rate_end: 5e-5, checkpoint_every: 100 }
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

/// What a run leaves in its folder.
struct RunFiles {
    checkpoint: PathBuf,
    curve: PathBuf,
}

/// Trains to the recipe's last step and returns the model and its held-out loss. `directory` holds checkpoint and curve; with `resume` it goes on from there.
pub fn pretrain(features: &Features, config: &TacotronConfig, recipe: &Recipe, directory: &Path, resume: bool, device: &Device) -> Result<(Tacotron, f32)> {
    let device = &device.clone().autodiff();
    fs::create_dir_all(directory).map_err(Error::io(directory))?;
    let files = RunFiles { checkpoint: directory.join("checkpoint.safetensors"), curve: directory.join("curve.csv") };
    let aligned = (0..features.utterances.len()).filter(|&index| features.utterances[index].durations.is_some());
    let (held_out, train): (Vec<usize>, Vec<usize>) = aligned.partition(|index| index % HELD_OUT_EVERY == 0);
    if train.is_empty() || held_out.is_empty() {
        return Err(Error::CorpusInvalid("too few aligned utterances to train on".into()));
    }
    device.seed(recipe.seed);
    let mut model = Tacotron::new(config, device);
    let mut adam = Adam::new(AdamConfig::default());
    if resume && files.checkpoint.exists() {
        (model, adam) = load_checkpoint(&files.checkpoint, model, device)?;
        device.seed(recipe.seed + adam.updates as u64);
    } else {
        fs::write(&files.curve, "step,seconds,before,after,durations,held_out\n").map_err(Error::io(&files.curve))?;
    }
    let first = adam.updates;
    let bar = ProgressBar::new(recipe.steps as u64)
        .with_position(first as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {msg} ({eta} left)").expect("a valid template"));
    let mut batcher = Batcher::new(recipe.batch, recipe.window, recipe.seed + first as u64);
    let begun = Instant::now();
    let mut sums = [0.0f32; 3];
    const REPORT_EVERY: usize = 20;
    for step in first..recipe.steps {
        let batch = batcher.draw(features, &train, config, device);
        let losses = losses(&model, &batch, Mode::Train);
        let gradients = losses.total().backward();
        for (sum, loss) in sums.iter_mut().zip([&losses.before, &losses.after, &losses.durations]) {
            *sum += loss.clone().into_scalar::<f32>() / REPORT_EVERY as f32;
        }
        let rate = recipe.rate(step);
        model = adam.step(model, &gradients, |_| rate);
        bar.inc(1);
        if (step + 1) % REPORT_EVERY == 0 {
            if sums.iter().any(|sum| !sum.is_finite()) {
                return Err(Error::TrainingDiverged { iteration: step });
            }
            let checkpoint = (step + 1) % recipe.checkpoint_every == 0 || step + 1 == recipe.steps;
            let held_out = if checkpoint {
                save_checkpoint(&files.checkpoint, &model, &adam)?;
                Some(held_out_loss(&model, features, &held_out, config, recipe, device))
            } else {
                None
            };
            let [before, after, durations] = sums;
            let held_out = held_out.map_or(String::new(), |loss| format!("{loss:.4}"));
            let line = format!("{},{:.1},{before:.4},{after:.4},{durations:.4},{held_out}\n", step + 1, begun.elapsed().as_secs_f32());
            let file = OpenOptions::new().append(true).open(&files.curve);
            file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(Error::io(&files.curve))?;
            bar.set_message(format!("mel {after:.3}, durations {durations:.3}"));
            if !bar.is_hidden() || checkpoint {
                bar.println(line.trim_end());
            }
            if bar.is_hidden() {
                print!("{line}");
            }
            sums = [0.0; 3];
        }
    }
    bar.finish();
    let loss = held_out_loss(&model, features, &held_out, config, recipe, device);
    Ok((model, loss))
}

fn held_out_loss(model: &Tacotron, features: &Features, held_out: &[usize], config: &TacotronConfig, recipe: &Recipe, device: &Device) -> f32 {
    let mut batcher = Batcher::new(recipe.batch, recipe.window, 0);
    let total: f32 = (0..HELD_OUT_BATCHES)
        .map(|_| losses(model, &batcher.draw(features, held_out, config, device), Mode::Steady).after.into_scalar::<f32>())
        .sum();
    total / HELD_OUT_BATCHES as f32
}

fn save_checkpoint(path: &Path, model: &Tacotron, adam: &Adam) -> Result<()> {
    let mut weights = collect(model);
    weights.extend(moment_weights(adam));
    let metadata = Metadata::from([("updates".to_string(), adam.updates.to_string())]);
    let bytes = pollster::block_on(pack(weights, Precision::Full, metadata));
    // A crash while writing must not cost the checkpoint before.
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes).map_err(Error::io(&partial))?;
    fs::rename(&partial, path).map_err(Error::io(path))
}

fn load_checkpoint(path: &Path, model: Tacotron, device: &Device) -> Result<(Tacotron, Adam)> {
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
