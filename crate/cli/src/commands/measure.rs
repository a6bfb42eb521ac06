//! `ownvoice measure`: measures a base and writes the results into its manifest. It is the last step of `ownvoice recipe`.

use std::path::PathBuf;

use clap::Args;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, Made},
};
use crate::evaluate::measure::MeasureConfig;
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice measure --corpus work/corpus
  ownvoice measure --people people --wavs wavs")]
pub struct MeasureArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Corpus folder of speech engines with the held-out voices
    #[arg(long, required_unless_present = "people")]
    corpus: Option<PathBuf>,
    /// Corpus folder of people, as `corpus --people` makes it
    #[arg(long)]
    people: Option<PathBuf>,
    /// Folder for the compared speech as WAV files by speaker, for external evaluators
    #[arg(long)]
    wavs: Option<PathBuf>,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn measure(arguments: &MeasureArguments, console: &Console) -> Result<()> {
    let MeasureArguments { base, corpus, people, wavs, seed, device } = arguments;
    wavs.as_deref().map_or(Ok(()), |folder| output::check(folder, Made::Files, console))?;
    let config = MeasureConfig {
        base: base.clone(),
        corpus: corpus.clone(),
        people: people.clone(),
        wavs: wavs.clone(),
        seed: *seed,
        device: device.open()?,
    };
    let quality = crate::evaluate::measure::measure(&config, console)?;
    console.result(&quality, format!("{}: {quality:#}", base.display()));
    Ok(())
}
