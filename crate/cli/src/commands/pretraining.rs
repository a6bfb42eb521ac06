//! `ownvoice pretrain`.

use std::path::PathBuf;

use clap::Args;

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
    /// Number of windows in a batch
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
    /// Share of the initial weights in the weights that are written, 0 to 1
    ///
    /// Both are averaged, to keep what the base has learned from other data.
    #[arg(long, default_value_t = 0.0, requires = "from")]
    start_share: f32,
    /// Learn a domain embedding of people: one vector that is added to those of all speakers except speech engines
    ///
    /// It learns what recordings of people have in common. At the end it is added to each of their vectors.
    #[arg(long)]
    mark_people: bool,
    #[command(flatten)]
    training: TrainingArguments,
}

pub fn pretrain(arguments: &PretrainArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    let made = match arguments.path {
        AlignmentPath::Durations => Made::Base,
        AlignmentPath::Attention => Made::Attention,
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
        let config = PretrainConfig {
            data,
            out,
            preset: *preset,
            path: *path,
            from,
            average_weight: *start_share,
            domain_embedding: *mark_people,
            training,
        };
        crate::pretrain::pretrain(&config, report)
    })
}
