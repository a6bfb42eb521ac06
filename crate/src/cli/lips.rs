//! `ownvoice lips`: speech from silent videos of a face.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::console::Console;
use crate::{
    Result,
    lips::{LipCorpusConfig, LipPrepareConfig, make_lip_corpus, prepare},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips corpus --out drawn --speakers 8 --sentences 40
  ownvoice lips prepare drawn --out features
  ownvoice lips prepare Lip2Wav/Dataset --out features --json")]
pub struct LipsVerb {
    #[command(subcommand)]
    command: LipsCommand,
}

#[derive(Subcommand)]
enum LipsCommand {
    /// Turn videos into features to train on: faces of 96 x 96 pixels at 25 a second, and the mels of their sound
    Prepare(PrepareArguments),
    /// Make a corpus of drawn faces that speak with the voices of a base
    Corpus(CorpusArguments),
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips prepare Lip2Wav/Dataset --out features
  ownvoice lips prepare drawn --out features --json")]
struct PrepareArguments {
    /// Folder of videos: a folder a speaker, with videos in it or in its intervals/*/ (the layout of the Lip2Wav sets)
    videos: PathBuf,
    /// Folder for the features
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips corpus --out drawn
  ownvoice lips corpus --out drawn --speakers 2 --sentences 5 --seed 7")]
struct CorpusArguments {
    /// Folder to make it in
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Faces, each with a voice of the base
    #[arg(long, default_value_t = 8)]
    speakers: usize,
    /// Sentences of each speaker
    #[arg(long, default_value_t = 40)]
    sentences: usize,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn lips(verb: &LipsVerb, console: &Console) -> Result<()> {
    match &verb.command {
        LipsCommand::Prepare(PrepareArguments { videos, out }) => {
            let config = LipPrepareConfig { videos: videos.clone(), out: out.clone() };
            let prepared = prepare(&config, console)?;
            let text = format!(
                "{} tracks of {} speakers in {} videos, {:.1} min; {} stretches left out",
                prepared.tracks,
                prepared.speakers,
                prepared.videos,
                prepared.seconds / 60.0,
                prepared.left_out.len()
            );
            console.result(&prepared, text);
        }
        LipsCommand::Corpus(CorpusArguments { out, base, speakers, sentences, seed }) => {
            let config = LipCorpusConfig {
                out: out.clone(),
                base: base.clone(),
                speakers: *speakers,
                sentences: *sentences,
                seed: *seed,
            };
            let summary = make_lip_corpus(&config, console)?;
            let text = format!(
                "{} faces, {} videos each, {:.1} min in all: {}",
                summary.speakers.len(),
                sentences,
                summary.seconds / 60.0,
                out.display()
            );
            console.result(&summary, text);
        }
    }
    Ok(())
}
