//! `ownvoice corpus` and `ownvoice prepare`.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    Result,
    audio::mel::{MelConfig, MelExtractor},
    corpus::{self, MakeOptions, layouts},
    text::Phonemizer,
    train::features::Features,
};

#[derive(Args)]
pub struct CorpusArguments {
    /// Folder to make it in
    #[arg(long)]
    pub out: PathBuf,
    /// Hours of speech
    #[arg(long, default_value_t = 3.0)]
    pub hours: f32,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

pub fn corpus(arguments: &CorpusArguments) -> Result<()> {
    let options = MakeOptions { hours: arguments.hours, seed: arguments.seed, ..MakeOptions::default() };
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template("{elapsed_precise} {msg}").expect("a valid template"));
    let summary = corpus::make(&arguments.out, &options, Phonemizer::embedded().lexicon(), &mut |progress| {
        bar.set_message(format!("{progress:?}"));
    })?;
    bar.finish_and_clear();
    println!("{}", serde_json::to_string_pretty(&summary).expect("plain data"));
    Ok(())
}

#[derive(Args)]
pub struct PrepareArguments {
    /// Corpus folder
    pub corpus: PathBuf,
    /// Folder for the features
    #[arg(long)]
    pub out: PathBuf,
}

pub fn prepare(arguments: &PrepareArguments) -> Result<()> {
    let config = MelConfig::speech_16k();
    let extractor = MelExtractor::new(config.clone());
    let phonemizer = Phonemizer::embedded();
    let recordings: Vec<_> = layouts::load(&arguments.corpus)?.collect();
    let bar = ProgressBar::new(recordings.len() as u64);
    let mut features = Features::new(config.clone());
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    for recording in bar.wrap_iter(recordings.into_iter()) {
        let samples = recording.samples(config.sample_rate_hz)?;
        let seconds = samples.len() as f32 / config.sample_rate_hz as f32;
        let labels = match corpus::label(&phonemizer, &recording.text, recording.phones.as_deref(), seconds) {
            Ok(labels) => labels,
            Err(error) => {
                *left_out.entry(error.code()).or_default() += 1;
                continue;
            }
        };
        let mel = extractor.extract(&samples);
        let durations = labels.durations(mel.frames(), config.frame_seconds());
        features.push(&recording.speaker, recording.id, recording.text, labels.symbols, durations, &mel);
    }
    features.save(&arguments.out)?;
    let aligned = features.utterances.iter().filter(|utterance| utterance.durations.is_some()).count();
    println!(
        "{} utterances of {} speakers, {:.2} h, {aligned} with durations; left out: {left_out:?}",
        features.utterances.len(),
        features.speakers.len(),
        features.seconds() / 3600.0
    );
    Ok(())
}
