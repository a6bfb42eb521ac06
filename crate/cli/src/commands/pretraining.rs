//! `ownvoice pretrain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{
    console::Console,
    output::{self, Made},
    training::TrainingArguments,
};
use crate::{
    learn::hyperparameters::Hyperparameters,
    pretrain::base::{AlignmentPath, Preset, PretrainConfig},
};
use burn_fused::ranks::Ranks;
use ownvoice::Result;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PresetName {
    Small,
    Tacotron2,
    Tiny,
}

/// How text and sound are brought together.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PathName {
    /// By known durations: the base voice
    Durations,
    /// By location-sensitive attention: classic Tacotron 2
    Attention,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice pretrain --data features --out models/base --resume
  ownvoice pretrain --data features --out models/attention --path attention --preset tacotron2")]
pub struct PretrainArguments {
    /// Features that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the base voice; the aligner must be in it
    #[arg(long)]
    out: PathBuf,
    /// Sizes of the model
    #[arg(long, value_enum, default_value = "small")]
    preset: PresetName,
    /// How text and sound are brought together
    #[arg(long, value_enum, default_value = "durations")]
    path: PathName,
    /// Steps of the training
    #[arg(long, default_value_t = Hyperparameters::base().steps)]
    steps: usize,
    /// Windows of a batch
    #[arg(long, default_value_t = Hyperparameters::base().batch)]
    batch: usize,
    /// Learning rate at the start
    ///
    /// It falls to a twentieth.
    #[arg(long, default_value_t = Hyperparameters::base().rate_start)]
    rate: f64,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = Hyperparameters::base().seed)]
    seed: u64,
    /// Folder of a base that training begins with
    #[arg(long)]
    from: Option<PathBuf>,
    /// Share of that base in the weights that are written, 0 to 1
    ///
    /// They are averaged: what the base could and the features do not teach is kept.
    #[arg(long, default_value_t = 0.0, requires = "from")]
    start_share: f32,
    /// Learn one vector that is added to those of all speakers but the engines'
    ///
    /// What recordings of people have in common is learned once; in the end each of their vectors has taken it in.
    #[arg(long)]
    mark_people: bool,
    #[command(flatten)]
    training: TrainingArguments,
}

pub fn pretrain(arguments: &PretrainArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    let made = match arguments.path {
        PathName::Durations => Made::Base,
        PathName::Attention => Made::Attention,
    };
    output::check(&arguments.out, made, console)?;
    let PretrainArguments {
        data,
        out,
        preset,
        path,
        steps,
        batch,
        rate,
        seed,
        from,
        start_share,
        mark_people,
        training,
    } = arguments;
    let preset = match preset {
        PresetName::Small => Preset::Small,
        PresetName::Tacotron2 => Preset::Tacotron2,
        PresetName::Tiny => Preset::Tiny,
    };
    let path = match path {
        PathName::Durations => AlignmentPath::Durations,
        PathName::Attention => AlignmentPath::Attention,
    };
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
        let (start_share, mark_people) = (*start_share, *mark_people);
        crate::pretrain::pretrain(
            &PretrainConfig { data, out, preset, path, from, start_share, mark_people, training },
            report,
        )
    })
}
