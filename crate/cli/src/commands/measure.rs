//! `ownvoice measure`: measures a base and writes the results into its manifest. It is the last step of `ownvoice recipe`.

use std::path::PathBuf;

use clap::Args;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
};
use crate::evaluate::measure::{MeasureConfig, SENTENCES};
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice measure --corpus teacher people --wavs wavs --evaluators tests/evaluators
  ownvoice measure --corpus teacher --only kokoro-bf_emma --sentences 8")]
pub struct MeasureArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Corpus folders; the speakers in held-out/ of each are cloned
    #[arg(long, required = true, num_args = 1.., value_name = "DIR")]
    corpus: Vec<PathBuf>,
    /// Held-out speakers to clone [default: all]
    #[arg(long, num_args = 1.., value_name = "NAME")]
    only: Vec<String>,
    /// Number of sentences to speak
    ///
    /// They are taken from the end of each speaker's folder, because clones are trained on its start.
    #[arg(long, default_value_t = SENTENCES)]
    sentences: usize,
    /// Folder for the compared speech as WAV files by speaker, for external evaluators
    #[arg(long)]
    wavs: Option<PathBuf>,
    /// Run the external evaluators in this folder, `tests/evaluators` of the repository, and install them if necessary
    #[arg(long, requires = "wavs", value_name = "DIR")]
    evaluators: Option<PathBuf>,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn measure(arguments: &MeasureArguments, console: &Console) -> Result<()> {
    let MeasureArguments { base, corpus, only, sentences, wavs, evaluators, seed, device } = arguments;
    wavs.as_deref().map_or(Ok(()), |folder| output::check(folder, OutputKind::Files, console))?;
    let config = MeasureConfig {
        base: base.clone(),
        corpora: corpus.clone(),
        speakers: only.clone(),
        sentences: *sentences,
        wavs: wavs.clone(),
        evaluators: evaluators.clone(),
        seed: *seed,
        device: device.open()?,
    };
    let quality = crate::evaluate::measure::measure(&config, console)?;
    console.result(&quality, format!("{}: {quality:#}", base.display()));
    Ok(())
}
