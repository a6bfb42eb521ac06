//! `ownvoice recipe`: makes a base by the recipe.

use std::path::PathBuf;

use clap::Args;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, Made},
};
use crate::{corpus::MakeOptions, learn::hyperparameters::Hyperparameters, pretrain::recipe::RecipeConfig};
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice recipe --work work
  ownvoice recipe --work work --people people --hours 2 --out models/mine")]
pub struct RecipeArguments {
    /// Folder for the base voice
    #[arg(long, default_value = "models/base")]
    out: PathBuf,
    /// Folder for corpus, features and checkpoints, some gigabytes, from which an interrupted recipe is resumed
    #[arg(long)]
    work: PathBuf,
    /// Hours of speech
    #[arg(long, default_value_t = MakeOptions::default().hours)]
    hours: f32,
    /// Number of training steps
    ///
    /// These are the steps of the base; the other parts have fixed numbers of steps.
    #[arg(long, default_value_t = Hyperparameters::base().steps)]
    steps: usize,
    /// Corpus folder of people, as `corpus --people` makes it; the base is trained on some of them and measured on the others
    #[arg(long)]
    people: Option<PathBuf>,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn recipe(arguments: &RecipeArguments, console: &Console) -> Result<()> {
    let RecipeArguments { out, work, hours, steps, people, seed, device } = arguments;
    output::check(out, Made::Base, console)?;
    let config = RecipeConfig {
        out: out.clone(),
        work: work.clone(),
        hours: *hours,
        steps: *steps,
        people: people.clone(),
        seed: *seed,
        device: device.open()?,
    };
    let quality = crate::pretrain::recipe(&config, console)?;
    console.result(&quality, format!("{}: {quality:#}", out.display()));
    Ok(())
}
