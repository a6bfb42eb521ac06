//! `ownvoice lips`: speech from silent videos of a face.

mod prepare;
mod say;
mod train;

use clap::{Args, Subcommand};

use super::console::Console;
use burn_fused::ranks::Ranks;
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips corpus --out drawn --speakers 8 --sentences 40
  ownvoice lips prepare drawn --out features
  ownvoice lips train --data features --out models/lips
  ownvoice lips tune --data me --base models/lips --out models/my-lips
  ownvoice lips say silent.mp4 --base models/lips --out speech.wav")]
pub struct LipsVerb {
    #[command(subcommand)]
    pub command: LipsCommand,
}

#[derive(Subcommand)]
pub enum LipsCommand {
    /// Prepare features for training from videos: faces of 96 x 96 pixels at 25 per second, and the mels of their sound
    Prepare(prepare::PrepareArguments),
    /// Make a corpus of drawn faces that speak with the voices of a base
    Corpus(prepare::CorpusArguments),
    /// Train a lip-to-speech base on features; resumable
    Train(train::TrainArguments),
    /// Fine-tune a lip-to-speech base on about a minute of videos of one person
    Tune(train::TuneArguments),
    /// Synthesise the speech of a silent video
    Say(say::SayArguments),
    /// Synthesise the speech of videos with sound, and compare it with the sound
    Evaluate(say::EvaluateArguments),
}

pub fn lips(verb: &LipsVerb, ranks: &Ranks, console: &Console) -> Result<()> {
    match &verb.command {
        LipsCommand::Prepare(arguments) => prepare::prepare(arguments, console),
        LipsCommand::Corpus(arguments) => prepare::corpus(arguments, console),
        LipsCommand::Train(arguments) => train::train(arguments, ranks, console),
        LipsCommand::Tune(arguments) => train::tune(arguments, console),
        LipsCommand::Say(arguments) => say::say(arguments, console),
        LipsCommand::Evaluate(arguments) => say::evaluate(arguments, console),
    }
}
