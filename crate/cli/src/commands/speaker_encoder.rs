//! `ownvoice train-speaker-encoder` and `ownvoice verify-speakers`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
    training::print,
};
use crate::{
    learn::hyperparameters::Hyperparameters,
    speaker_encoder::{
        from_files::{SpeakerEncoderConfig, Verification},
        verifier::SpeakerVerifier,
    },
};
use ownvoice::{Result, files};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice train-speaker-encoder --corpus work/corpus
  ownvoice train-speaker-encoder --corpus work/corpus work/people --out encoder.safetensors --run encoder-run --resume")]
pub struct TrainArguments {
    /// Corpus folders
    #[arg(long, required = true, num_args = 1.., value_name = "DIR")]
    corpus: Vec<PathBuf>,
    /// File for the weights
    #[arg(long, default_value = "models/base/speaker_encoder.safetensors")]
    out: PathBuf,
    /// Folder for checkpoint and loss curve [default: OUT with the ending .run]
    #[arg(long)]
    run: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
    /// Number of training steps
    #[arg(long, default_value_t = Hyperparameters::speaker_encoder().steps)]
    steps: usize,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = Hyperparameters::speaker_encoder().seed)]
    seed: u64,
    /// Resume from the checkpoint in the run folder
    #[arg(long)]
    resume: bool,
}

pub fn train_speaker_encoder(arguments: &TrainArguments, console: &Console) -> Result<()> {
    let TrainArguments { corpus, out, run, device, steps, seed, resume } = arguments;
    output::check(out, OutputKind::Weights, console)?;
    let config = SpeakerEncoderConfig {
        corpora: corpus.clone(),
        out: out.clone(),
        hyperparameters: Hyperparameters { steps: *steps, seed: *seed, ..Hyperparameters::speaker_encoder() },
        device: device.open()?,
        resume: *resume,
        run: run.clone().unwrap_or_else(|| out.with_extension("run")),
    };
    print(&crate::speaker_encoder::from_files::train_speaker_encoder(&config, console)?, console);
    Ok(())
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice verify-speakers --corpus work/corpus/held-out
  ownvoice verify-speakers --corpus work/corpus/held-out --encoder encoder.safetensors --json")]
pub struct VerifyArguments {
    /// Folders of speakers that the encoder was not trained on
    #[arg(long, required = true, num_args = 1..)]
    corpus: Vec<PathBuf>,
    /// Weights of the encoder
    #[arg(long, default_value = "models/base/speaker_encoder.safetensors")]
    encoder: PathBuf,
}

pub fn verify_speakers(arguments: &VerifyArguments, console: &Console) -> Result<()> {
    let verifier = SpeakerVerifier::load(&files::read(&arguments.encoder)?)?;
    let Verification { speakers, trials, equal_error_rate, same_speaker, other_speakers } =
        crate::speaker_encoder::from_files::verify(&verifier, &arguments.corpus, console)?;
    let json = json!({
        "speakers": speakers,
        "pairs": trials,
        "equal_error_rate": equal_error_rate,
        "cosine.same_speaker": same_speaker,
        "cosine.other_speakers": other_speakers,
    });
    let text = format!(
        "{speakers} speakers, {trials} pairs of clips: equal error rate {:.1} %\nmean cosine of two clips: same speaker {same_speaker:.2}, others {other_speakers:.2}",
        100.0 * equal_error_rate
    );
    console.result(&json, text);
    Ok(())
}
