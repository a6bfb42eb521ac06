//! `ownvoice corpus` and `ownvoice prepare`.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::{collections::BTreeMap, fs, path::PathBuf};

use super::device::DeviceName;
use crate::{
    Error, Result,
    align::ForcedAligner,
    audio::{
        mel::{Mel, MelConfig, MelExtractor},
        pitch,
    },
    corpus::{self, Coverage, MakeOptions, Recording, layouts, people::make_people},
    text::{Phonemizer, spell, symbols::Symbol},
    train::features::Features,
};

#[derive(Args)]
pub struct CorpusArguments {
    /// Folder to make it in
    #[arg(long)]
    pub out: PathBuf,
    /// Hours of speech
    #[arg(long, default_value_t = MakeOptions::default().hours)]
    pub hours: f32,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds of each voice that is held out, at most as many as of all others together
    #[arg(long, default_value_t = MakeOptions::default().held_out_seconds)]
    pub held_out_seconds: f32,
    /// Instead of engines: the recordings of people that installed packages hold, those to measure on under held-out/
    #[arg(long, conflicts_with_all = ["hours", "held_out_seconds"])]
    pub people: bool,
}

pub fn corpus(arguments: &CorpusArguments) -> Result<()> {
    let &CorpusArguments { hours, seed, held_out_seconds, people, .. } = arguments;
    if people {
        let found = make_people(&arguments.out, &|person| {
            println!(
                "{}: {} recordings, {:.1} min, {}",
                person.name,
                person.utterances,
                person.seconds / 60.0,
                person.licence
            );
        })?;
        println!(
            "{:.2} h of {} people",
            found.iter().map(|person| person.seconds).sum::<f32>() / 3600.0,
            found.len()
        );
        return Ok(());
    }
    let options = MakeOptions { hours, seed, held_out_seconds, ..MakeOptions::default() };
    let bar = ProgressBar::no_length()
        .with_style(ProgressStyle::with_template("{elapsed_precise} {msg}").expect("a valid template"));
    let summary = corpus::make(&arguments.out, &options, Phonemizer::embedded().lexicon(), &|progress| {
        bar.set_message(format!("{progress:?}"));
    })?;
    bar.finish_and_clear();
    println!("{}", serde_json::to_string_pretty(&summary).expect("plain data"));
    Ok(())
}

#[derive(Args)]
pub struct PrepareArguments {
    /// Corpus folders; their speakers go into one table
    #[arg(required = true, num_args = 1..)]
    pub corpora: Vec<PathBuf>,
    /// Folder for the features
    #[arg(long)]
    pub out: PathBuf,
    /// Weights of an aligner, for recordings without phone times: public corpora, espeak's voices. A base voice learns only from what is aligned
    #[arg(long)]
    pub aligner: Option<PathBuf>,
}

/// Recordings that are analysed at once.
const CHUNK: usize = 64;

pub fn prepare(arguments: &PrepareArguments) -> Result<()> {
    let aligner = match &arguments.aligner {
        Some(path) => {
            Some(ForcedAligner::load(&fs::read(path).map_err(Error::io(path))?, &DeviceName::Cpu.open()?)?)
        }
        None => None,
    };
    let config = MelConfig::speech_16k();
    let phonemizer = Phonemizer::embedded();
    let recordings = arguments
        .corpora
        .iter()
        .map(|corpus| Ok(layouts::load(corpus)?.collect::<Vec<_>>()))
        .collect::<Result<Vec<_>>>()?;
    let recordings = recordings.concat();
    let bar = ProgressBar::new(recordings.len() as u64);
    let mut features = Features::new(config.clone());
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    for recordings in recordings.chunks(CHUNK) {
        let sounds = recordings.par_iter().map(|recording| {
            let samples = recording.samples(config.sample_rate_hz)?;
            let pitch = pitch::track(&samples, config.sample_rate_hz, config.hop_length);
            Ok((
                MelExtractor::new(config.clone()).extract(&samples),
                pitch,
                samples.len() as f32 / config.sample_rate_hz as f32,
            ))
        });
        for (recording, (mel, pitch, seconds)) in
            recordings.iter().cloned().zip(sounds.collect::<Result<Vec<_>>>()?)
        {
            bar.inc(1);
            match timed(&recording, &mel, seconds, &config, &phonemizer, aligner.as_ref()) {
                Ok((symbols, durations)) => features.push(
                    &recording.speaker,
                    recording.id,
                    recording.text,
                    symbols,
                    durations,
                    &mel,
                    &pitch.f0_hz,
                ),
                Err(error) => *left_out.entry(error.code()).or_default() += 1,
            }
        }
    }
    features.save(&arguments.out)?;
    let aligned = features.utterances.iter().filter(|utterance| utterance.durations.is_some()).count();
    println!(
        "{} utterances of {} speakers, {:.2} h, {aligned} with durations; left out: {left_out:?}",
        features.utterances.len(),
        features.speakers.len(),
        features.seconds() / 3600.0
    );
    println!(
        "{}",
        Coverage::of(features.utterances.iter().map(|utterance| utterance.symbols.as_slice()), &phonemizer)
    );
    Ok(())
}

/// Symbols and the frames of each: by the engine's phone times, else by the aligner, else without frames.
fn timed(
    recording: &Recording,
    mel: &Mel,
    seconds: f32,
    config: &MelConfig,
    phonemizer: &Phonemizer,
    aligner: Option<&ForcedAligner>,
) -> Result<(Vec<Symbol>, Option<Vec<u32>>)> {
    match aligner.filter(|_| recording.phones.is_none()) {
        Some(aligner) => {
            let (symbols, word_ends) = spell(&phonemizer.words(&recording.text)?);
            let alignment = pollster::block_on(aligner.align(mel, &symbols, &word_ends))?;
            Ok((alignment.symbols, Some(alignment.durations)))
        }
        None => {
            let labels = corpus::label(phonemizer, &recording.text, recording.phones.as_deref(), seconds)?;
            let durations = labels.durations(mel.frames(), config.frame_seconds());
            Ok((labels.symbols, durations))
        }
    }
}
