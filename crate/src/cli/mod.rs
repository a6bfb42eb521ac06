//! The command line. Every command is a thin layer over the library.

mod base;
mod bench;
mod clone;
mod aligner;
mod data;
mod device;
mod evaluate;
mod pretraining;
mod profile;
mod say;

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
    /// Train the recogniser that finds when each phone of a recording is spoken
    TrainAligner(aligner::TrainArguments),
    /// Measure the aligner on voices whose phone times are known
    Align(aligner::AlignArguments),
    /// Learn a voice from about a minute of recordings
    Clone(clone::CloneArguments),
    /// Speak a text
    Say(say::SayArguments),
    /// Measure how near a voice is to its speaker
    Evaluate(evaluate::EvaluateArguments),
    /// Time training and synthesis on this machine
    Bench(bench::BenchArguments),
    /// Show where a training step's time goes, module by module
    Profile(profile::ProfileArguments),
}

/// Runs the command line and returns its error, if any.
pub fn run() -> Result<()> {
    match Arguments::parse().command {
        Command::Corpus(arguments) => data::corpus(&arguments),
        Command::Prepare(arguments) => data::prepare(&arguments),
        Command::Pretrain(arguments) => pretraining::pretrain(&arguments),
        Command::TrainAligner(arguments) => aligner::train_aligner(&arguments),
        Command::Align(arguments) => aligner::align(&arguments),
        Command::Clone(arguments) => clone::clone(&arguments),
        Command::Say(arguments) => say::say(&arguments),
        Command::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Profile(arguments) => profile::profile(&arguments),
    }
}
