//! `ownvoice recipe`: makes a base by the recipe.

use std::path::PathBuf;

use clap::Args;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
};
use crate::{learn::hyperparameters::Hyperparameters, pretrain::recipe::RecipeConfig};
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice recipe --work work --teacher kokoro-js/voices
  ownvoice recipe --work work --teacher kokoro-js/voices --evaluators tests/evaluators --out models/mine")]
pub struct RecipeArguments {
    /// Folder for the base voice
    #[arg(long, default_value = "models/base")]
    out: PathBuf,
    /// Folder for corpora, features and checkpoints, some gigabytes, from which an interrupted recipe is resumed
    #[arg(long)]
    work: PathBuf,
    /// Voices of the npm package kokoro-js, of which `corpus --teacher` makes a corpus
    #[arg(long, value_name = "VOICES")]
    teacher: PathBuf,
    /// Hours of speech
    #[arg(long, default_value_t = 12.0)]
    hours: f32,
    /// Number of training steps
    ///
    /// These are the steps of the base; the other parts have fixed numbers of steps.
    #[arg(long, default_value_t = Hyperparameters::base().steps)]
    steps: usize,
    /// Run the external evaluators in this folder, `tests/evaluators` of the repository, and install them if necessary
    #[arg(long, value_name = "DIR")]
    evaluators: Option<PathBuf>,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn recipe(arguments: &RecipeArguments, console: &Console) -> Result<()> {
    let RecipeArguments { out, work, teacher, hours, steps, evaluators, seed, device } = arguments;
    output::check(out, OutputKind::Base, console)?;
    let config = RecipeConfig {
        out: out.clone(),
        work: work.clone(),
        teacher: teacher.clone(),
        hours: *hours,
        steps: *steps,
        evaluators: evaluators.clone(),
        seed: *seed,
        device: device.open()?,
    };
    let quality = crate::pretrain::recipe(&config, console)?;
    console.result(&quality, format!("{}: {quality:#}", out.display()));
    Ok(())
}
