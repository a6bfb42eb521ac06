//! `ownvoice lips train` and `ownvoice lips tune`.

use std::path::PathBuf;

use clap::Args;

use super::super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
    training::TrainingArguments,
};
use crate::{
    learn::hyperparameters::Hyperparameters,
    lips::{
        train::{LipPreset, LipTrainConfig, train_lips},
        tune::{LipTuneConfig, tune_lips},
    },
};
use burn_fused::ranks::Ranks;
use ownvoice::{Result, lips::LipTuneOptions};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips train --data features --out models/lips
  ownvoice lips train --data features --out models/lips --preset lips --device cuda --precision mixed --resume")]
pub struct TrainArguments {
    /// Features that `ownvoice lips prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the lip-to-speech base
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base whose vocoder is used
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Sizes of the model
    #[arg(long, value_enum, default_value = "lips-small")]
    preset: LipPreset,
    /// Number of training steps
    #[arg(long, default_value_t = Hyperparameters::lips().steps)]
    steps: usize,
    /// Number of windows or pictures in a batch
    #[arg(long, default_value_t = Hyperparameters::lips().batch)]
    batch: usize,
    /// Length of a window in frames
    ///
    /// A second has 80 frames.
    #[arg(long, default_value_t = Hyperparameters::lips().window)]
    window: usize,
    /// Initial learning rate
    ///
    /// It falls to a twentieth of this value.
    #[arg(long, default_value_t = Hyperparameters::lips().rate_start)]
    rate: f64,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = Hyperparameters::lips().seed)]
    seed: u64,
    #[command(flatten)]
    training: TrainingArguments,
}

pub fn train(arguments: &TrainArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::LipBase, console)?;
    let TrainArguments { data, out, base, preset, steps, batch, window, rate, seed, training } = arguments;
    let preset = *preset;
    let hyperparameters = Hyperparameters {
        steps: *steps,
        batch: *batch,
        window: *window,
        seed: *seed,
        rate_start: *rate,
        rate_end: rate / 20.0,
        ..Hyperparameters::lips()
    };
    training.train(&hyperparameters, out, ranks, console, |training, report| {
        let (data, out, base) = (data.clone(), out.clone(), base.clone());
        train_lips(&LipTrainConfig { data, out, base, preset, training }, report)
    })
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips tune --data me --base models/lips --out models/my-lips
  ownvoice lips tune --data features --of flite-awb --base models/lips --out tuned --iterations 100 --json")]
pub struct TuneArguments {
    /// Features that `ownvoice lips prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder of the lip-to-speech base
    #[arg(long)]
    base: PathBuf,
    /// Folder for the fine-tuned base, which has one speaker
    #[arg(long)]
    out: PathBuf,
    /// Speaker whose videos are used [default: the only speaker of the features]
    #[arg(long = "of")]
    speaker: Option<String>,
    /// Number of training iterations
    ///
    /// This is the maximum: training ends early when the held-out clips no longer improve.
    #[arg(long, default_value_t = LipTuneOptions::default().iterations)]
    iterations: usize,
    /// Initial learning rate
    #[arg(long, default_value_t = LipTuneOptions::default().rate)]
    rate: f64,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = LipTuneOptions::default().seed)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn tune(arguments: &TuneArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::LipBase, console)?;
    let TuneArguments { data, base, out, speaker, iterations, rate, seed, device } = arguments;
    let options =
        LipTuneOptions { iterations: *iterations, rate: *rate, seed: *seed, ..LipTuneOptions::default() };
    let (data, base, out, speaker) = (data.clone(), base.clone(), out.clone(), speaker.clone());
    let config = LipTuneConfig { data, base, out, speaker, options };
    let tuned = tune_lips(&config, &device.open()?, console)?;
    let [before, after] = tuned.held_out_loss;
    let text = format!(
        "{}: {} from {:.0} s of video, held-out loss {before:.4} to {after:.4} in {} iterations",
        config.out.display(),
        tuned.speaker,
        tuned.seconds,
        tuned.iterations
    );
    console.result(&tuned, text);
    Ok(())
}
