//! `ownvoice pretrain`.

use burn::prelude::Device;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::device::DeviceName;
use crate::{
    Result,
    model::TacotronConfig,
    train::{
        features::Features,
        pretrain::{Recipe, pretrain as train},
    },
};

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Preset {
    Small,
    Tacotron2,
    Tiny,
}

#[derive(Args)]
pub struct PretrainArguments {
    /// Features that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the base voice
    #[arg(long)]
    out: PathBuf,
    #[arg(long, value_enum, default_value = "small")]
    preset: Preset,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    #[arg(long, default_value_t = Recipe::default().steps)]
    steps: usize,
    #[arg(long, default_value_t = Recipe::default().batch)]
    batch: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go on from the checkpoint in the folder for runs
    #[arg(long)]
    resume: bool,
    /// Folder for checkpoint and curve [default: OUT/run]
    #[arg(long)]
    run: Option<PathBuf>,
}

pub fn pretrain(arguments: &PretrainArguments) -> Result<()> {
    let device: Device = arguments.device.open()?;
    let features = Features::load(&arguments.data)?;
    let speakers = features.speakers.len();
    let config = match arguments.preset {
        Preset::Small => TacotronConfig::small(speakers),
        Preset::Tacotron2 => TacotronConfig::tacotron2(speakers),
        Preset::Tiny => TacotronConfig::tiny(speakers),
    };
    let recipe = Recipe { steps: arguments.steps, batch: arguments.batch, seed: arguments.seed, ..Recipe::default() };
    let run = arguments.run.clone().unwrap_or_else(|| arguments.out.join("run"));
    let _model = train(&features, &config, &recipe, &run, arguments.resume, &device)?;
    Ok(())
}
