//! `ownvoice train-aligner` and `ownvoice align`.

use clap::Args;
use std::{fs, path::PathBuf};

use super::device::DeviceName;
use crate::{
    Error, Result,
    train::{
        align::Aligner,
        features::Features,
        recogniser::{Recipe, train},
    },
};

#[derive(Args)]
pub struct TrainArguments {
    /// Features with durations that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// File for the weights
    #[arg(long, default_value = "models/base/aligner.safetensors")]
    out: PathBuf,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    #[arg(long, default_value_t = Recipe::default().steps)]
    steps: usize,
    #[arg(long, default_value_t = Recipe::default().batch)]
    batch: usize,
    #[arg(long, default_value_t = Recipe::default().seed)]
    seed: u64,
}

/// Trains, and writes the weights at every report, so that a run that is cut short leaves what it has learnt.
pub fn train_aligner(arguments: &TrainArguments) -> Result<()> {
    let features = Features::load(&arguments.data)?;
    let recipe = Recipe { steps: arguments.steps, batch: arguments.batch, seed: arguments.seed, ..Recipe::default() };
    if let Some(folder) = arguments.out.parent() {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    train(&features, &recipe, &arguments.device.open()?, |model, line| {
        println!("{line}");
        let bytes = pollster::block_on(Aligner::pack(model, features.mel.mels));
        fs::write(&arguments.out, bytes).map_err(Error::io(&arguments.out))
    })?;
    Ok(())
}
