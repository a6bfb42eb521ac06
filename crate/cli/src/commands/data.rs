//! `ownvoice corpus` and `ownvoice prepare`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    console::Console,
    output::{self, OutputKind},
};
use crate::{
    corpus::{
        MakeOptions,
        make_people::make_people,
        prepare::PrepareConfig,
        teacher::{TeacherOptions, make_teacher},
    },
    pretrain::recipe::make_corpus,
};
use ownvoice::{Result, report::Report, text::Phonemizer};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice corpus --out corpus --hours 6
  ownvoice corpus --out corpus --hours 12 --teacher kokoro-js/voices
  ownvoice corpus --out people --people")]
pub struct CorpusArguments {
    /// Folder for the corpus
    #[arg(long)]
    out: PathBuf,
    /// Hours of speech
    #[arg(long, default_value_t = MakeOptions::default().hours)]
    hours: f32,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = MakeOptions::default().seed)]
    seed: u64,
    /// Seconds of each held-out voice, at most as many as of all other voices together
    #[arg(long, default_value_t = MakeOptions::default().held_out_seconds)]
    held_out_seconds: f32,
    /// Use recordings of people from installed packages instead of speech engines; those for measurements are in held-out/
    #[arg(long, conflicts_with_all = ["hours", "held_out_seconds"])]
    people: bool,
    /// Use the neural voices of Kokoro-82M and mixes of them instead of speech engines; needs its Python packages, this folder with the voices of the npm package kokoro-js, and Debian's wordnet-base
    #[arg(long, value_name = "VOICES", conflicts_with_all = ["people", "held_out_seconds"])]
    teacher: Option<PathBuf>,
}

pub fn corpus(arguments: &CorpusArguments, console: &Console) -> Result<()> {
    let &CorpusArguments { hours, seed, held_out_seconds, people, ref teacher, .. } = arguments;
    output::check(&arguments.out, if people { OutputKind::People } else { OutputKind::Corpus }, console)?;
    if people {
        let found = make_people(&arguments.out, &|person| {
            console.note(&format!(
                "{}: {} recordings, {:.1} min, {}",
                person.name,
                person.utterances,
                person.seconds / 60.0,
                person.licence
            ));
        })?;
        let hours = found.iter().map(|person| person.seconds).sum::<f32>() / 3600.0;
        console.result(&found, format!("{hours:.2} h of {} people", found.len()));
        return Ok(());
    }
    let summary = if let Some(voices) = teacher {
        let options = TeacherOptions { voices: voices.clone(), hours, seed };
        make_teacher(&arguments.out, &options, &Phonemizer::embedded(), console)?
    } else {
        let options = MakeOptions { hours, seed, held_out_seconds, ..MakeOptions::default() };
        make_corpus(&arguments.out, &options, console)?
    };
    console.result(&summary, serde_json::to_string_pretty(&summary).expect("plain data"));
    Ok(())
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice prepare corpus --out features
  ownvoice prepare LJSpeech-1.1 people --out features --aligner models/base/aligner.safetensors")]
pub struct PrepareArguments {
    /// Corpus folders, whose speakers form one table
    #[arg(required = true, num_args = 1..)]
    corpora: Vec<PathBuf>,
    /// Folder for the features
    #[arg(long)]
    out: PathBuf,
    /// Weights of an aligner, for recordings without phone times, as in public corpora and of espeak-ng; a base is trained only on recordings with phone times
    #[arg(long)]
    aligner: Option<PathBuf>,
}

pub fn prepare(arguments: &PrepareArguments, console: &Console) -> Result<()> {
    let PrepareArguments { corpora, out, aligner } = arguments;
    output::check(out, OutputKind::Features, console)?;
    let config = PrepareConfig { corpora: corpora.clone(), out: out.clone(), aligner: aligner.clone() };
    let prepared = crate::corpus::prepare::prepare(&config, console)?;
    let crate::corpus::prepare::Prepared { utterances, speakers, seconds, aligned, left_out, coverage } =
        &prepared;
    let json = json!({
        "path": out,
        "utterances": utterances,
        "speakers": speakers,
        "seconds": seconds,
        "aligned": aligned,
        "left_out": left_out,
    });
    let text = format!(
        "{utterances} utterances of {speakers} speakers, {:.2} h, {aligned} with durations; left out: {left_out:?}\n{coverage}",
        seconds / 3600.0
    );
    console.result(&json, text);
    Ok(())
}
