//! The command line. Every command is a thin layer over the library.

mod data;
mod device;
mod pretraining;

use clap::{Parser, Subcommand};

use crate::Result;

#[derive(Parser)]
#[command(name = "ownvoice", version, about = "Speech in your own voice, learned from one minute of it on your own machine")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a multi-speaker corpus from the installed speech engines (flite, festival, espeak-ng)
    Corpus(data::CorpusArguments),
    /// Turn a corpus (LJSpeech, LibriTTS or VCTK layout, or our own) into features to train on
    Prepare(data::PrepareArguments),
    /// Train a base voice; resumable
    Pretrain(pretraining::PretrainArguments),
}

/// Runs the command line and returns its error, if any.
pub fn run() -> Result<()> {
    match Arguments::parse().command {
        Command::Corpus(arguments) => data::corpus(&arguments),
        Command::Prepare(arguments) => data::prepare(&arguments),
        Command::Pretrain(arguments) => pretraining::pretrain(&arguments),
    }
}
