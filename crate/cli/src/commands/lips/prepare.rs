//! `ownvoice lips prepare` and `ownvoice lips corpus`.

use std::path::PathBuf;

use clap::Args;

use super::super::{
    console::Console,
    output::{self, OutputKind},
};
use crate::lips::{
    corpus::{LipCorpusConfig, LipTexts, LipVoices, make_lip_corpus},
    prepare::LipPrepareConfig,
};
use ownvoice::Result;

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips prepare Lip2Wav/Dataset --out features
  ownvoice lips prepare drawn --out features --json")]
pub struct PrepareArguments {
    /// Folder of videos, with a folder per speaker, which contains videos or intervals/*/ with videos (the layout of Lip2Wav)
    videos: PathBuf,
    /// Folder for the features
    #[arg(long)]
    out: PathBuf,
}

pub fn prepare(PrepareArguments { videos, out }: &PrepareArguments, console: &Console) -> Result<()> {
    output::check(out, OutputKind::LipFeatures, console)?;
    let config = LipPrepareConfig { videos: videos.clone(), out: out.clone() };
    let prepared = crate::lips::prepare::prepare(&config, console)?;
    let text = format!(
        "{} tracks of {} speakers in {} videos, {:.1} min; {} stretches left out",
        prepared.tracks,
        prepared.speakers,
        prepared.videos,
        prepared.seconds / 60.0,
        prepared.left_out.len()
    );
    console.result(&prepared, text);
    Ok(())
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips corpus --out drawn
  ownvoice lips corpus --out drawn --speakers 2 --sentences 5 --seed 7")]
pub struct CorpusArguments {
    /// Folder for the corpus
    #[arg(long)]
    out: PathBuf,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Number of speakers, each with a voice of the base
    #[arg(long, default_value_t = 8, conflicts_with = "voices")]
    speakers: usize,
    /// Voices of the base, separated by commas, one per speaker [default: voices that are spread over its speaker table]
    #[arg(long, value_delimiter = ',')]
    voices: Vec<String>,
    /// Number of sentences to speak
    ///
    /// Each speaker speaks this many sentences.
    #[arg(long, default_value_t = 40)]
    sentences: usize,
    /// Number of faces of each speaker [default: one per sentence]
    #[arg(long)]
    faces: Option<usize>,
    /// Texts to speak
    #[arg(long, value_enum, default_value = "commands")]
    texts: LipTexts,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn corpus(arguments: &CorpusArguments, console: &Console) -> Result<()> {
    let CorpusArguments { out, base, speakers, voices, sentences, faces, texts, seed } = arguments;
    output::check(out, OutputKind::Corpus, console)?;
    let named = || LipVoices::Named(voices.clone());
    let config = LipCorpusConfig {
        out: out.clone(),
        base: base.clone(),
        voices: if voices.is_empty() { LipVoices::Spread(*speakers) } else { named() },
        sentences: *sentences,
        faces: faces.unwrap_or(*sentences),
        texts: *texts,
        seed: *seed,
    };
    let summary = make_lip_corpus(&config, console)?;
    let text = format!(
        "{} speakers, {} videos each, {:.1} min in all: {}",
        summary.speakers.len(),
        sentences,
        summary.seconds / 60.0,
        out.display()
    );
    console.result(&summary, text);
    Ok(())
}
