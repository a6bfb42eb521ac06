//! `ownvoice pretrain`.

use std::path::PathBuf;

use clap::Args;

use super::{
    console::Console,
    output::{self, OutputKind},
    training::TrainingArguments,
};
use crate::{
    learn::hyperparameters::Hyperparameters,
    pretrain::base::{AlignmentPath, Preset, PretrainConfig},
};
use burn_fused::ranks::Ranks;
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice pretrain --data features --out models/base --resume
  ownvoice pretrain --data features --out models/attention --path attention --preset tacotron2")]
pub struct PretrainArguments {
    /// Features that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the base voice, which contains the aligner
    #[arg(long)]
    out: PathBuf,
    /// Sizes of the model
    #[arg(long, value_enum, default_value = "small")]
    preset: Preset,
    /// How symbols are aligned with frames
    #[arg(long, value_enum, default_value = "durations")]
    path: AlignmentPath,
    /// Number of training steps
    #[arg(long, default_value_t = Hyperparameters::base().steps)]
    steps: usize,
    /// Number of windows or pictures in a batch
    #[arg(long, default_value_t = Hyperparameters::base().batch)]
    batch: usize,
    /// Initial learning rate
    ///
    /// It falls to a twentieth of this value.
    #[arg(long, default_value_t = Hyperparameters::base().rate_start)]
    rate: f64,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = Hyperparameters::base().seed)]
    seed: u64,
    /// Folder of a base whose weights are the initial ones
    #[arg(long)]
    from: Option<PathBuf>,
    #[command(flatten)]
    training: TrainingArguments,
}

pub fn pretrain(arguments: &PretrainArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    let made = match arguments.path {
        AlignmentPath::Durations => OutputKind::Base,
        AlignmentPath::Attention => OutputKind::Attention,
    };
    output::check(&arguments.out, made, console)?;
    let PretrainArguments { data, out, preset, path, steps, batch, rate, seed, from, training } = arguments;
    let hyperparameters = Hyperparameters {
        steps: *steps,
        batch: *batch,
        seed: *seed,
        rate_start: *rate,
        rate_end: rate / 20.0,
        ..Hyperparameters::base()
    };
    training.train(&hyperparameters, out, ranks, console, |training, report| {
        let (data, out, from) = (data.clone(), out.clone(), from.clone());
        let config = PretrainConfig { data, out, preset: *preset, path: *path, from, training };
        crate::pretrain::pretrain(&config, report)
    })
}
