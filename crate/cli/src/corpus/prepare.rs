//! From corpora to features to train on.

use std::{collections::BTreeMap, path::PathBuf};

use burn::prelude::Device;
use rayon::prelude::*;

use super::{Coverage, Recording, layouts};
use crate::corpus;
use ownvoice::report::Counter;
use ownvoice::{
    Error, ErrorKind, Result,
    align::{
        ForcedAligner,
        adapt::{AdaptConfig, AdaptationClip, adapt},
    },
    audio::{
        mel::{Mel, MelConfig, MelExtractor},
        pitch,
    },
    features::{self, FeatureWriter},
    files,
    report::Report,
    text::{Phonemizer, symbols::Symbol},
};

/// From corpora to features.
#[derive(Debug, Clone)]
pub struct PrepareConfig {
    /// Corpus folders; their speakers go into one table.
    pub corpora: Vec<PathBuf>,
    /// Folder for the features.
    pub out: PathBuf,
    /// Weights of an aligner, for recordings without phone times.
    pub aligner: Option<PathBuf>,
    /// Speakers whose texts are not read: their phones are those that the aligner recognises. Speakers made of them, `name@..`, are meant too.
    pub pseudo_phones: Vec<String>,
}

/// What was prepared.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub utterances: usize,
    pub speakers: usize,
    pub seconds: f32,
    /// Utterances with durations.
    pub aligned: usize,
    /// Recordings that were left out, by error code.
    pub left_out: BTreeMap<&'static str, usize>,
    pub coverage: Coverage,
}

/// Recordings that are analysed at once.
const CHUNK: usize = 64;
/// Recordings that the aligner is adapted to a speaker by, at most: some three minutes.
const ADAPTED_TO: usize = 40;

/// Writes spectrograms, pitch, symbols and durations of all recordings.
pub fn prepare(options: &PrepareConfig, report: &dyn Report) -> Result<Prepared> {
    let load = |path: &PathBuf| ForcedAligner::load(&files::read(path)?, &Device::flex());
    let aligner = options.aligner.as_ref().map(load).transpose()?;
    let config = MelConfig::speech_16k();
    let phonemizer = Phonemizer::embedded();
    let recordings = options
        .corpora
        .iter()
        .map(|corpus| Ok(layouts::load(corpus, report)?.collect::<Vec<_>>()))
        .collect::<Result<Vec<_>>>()?;
    let recordings = recordings.concat(); // Sorted by speaker.
    check_pseudo_phones(options, &recordings)?;
    let counter = Counter::new(report, recordings.len(), "recordings");
    let mut features = FeatureWriter::create(&options.out, config.clone())?;
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    for of_speaker in recordings.chunk_by(|one, next| one.speaker == next.speaker) {
        let source = match &aligner {
            Some(aligner) if options.is_without_text(&of_speaker[0].speaker) => {
                LabelSource::Recognised(aligner.clone())
            }
            Some(aligner) => LabelSource::Aligned(adapted(aligner, of_speaker, &config, &phonemizer)?),
            None => LabelSource::Given,
        };
        for recordings in of_speaker.chunks(CHUNK) {
            let sounds = recordings.par_iter().map(|recording| {
                let samples = recording.samples(config.sample_rate_hz)?;
                let pitch = pitch::track(&samples, config.sample_rate_hz, config.hop_length);
                Ok((
                    MelExtractor::new(config.clone()).extract(&samples),
                    pitch,
                    samples.len() as f32 / config.sample_rate_hz as f32,
                ))
            });
            for (recording, sound) in recordings.iter().cloned().zip(sounds.collect::<Vec<Result<_>>>()) {
                counter.count();
                let labelled = sound.and_then(|(mel, pitch, seconds)| {
                    let labels = timed(&recording, &mel, seconds, &config, &phonemizer, &source)?;
                    Ok((mel, pitch, labels))
                });
                match labelled {
                    Ok((mel, pitch, (symbols, durations))) => features.push(features::NewUtterance {
                        speaker: &recording.speaker,
                        id: recording.id,
                        text: recording.text,
                        symbols,
                        durations,
                        mel: &mel,
                        f0_hz: &pitch.f0_hz,
                    })?,
                    Err(error) => {
                        if error.kind() == ErrorKind::AudioUnreadable {
                            report.note(&format!("left out: {error}"));
                        }
                        *left_out.entry(error.code()).or_default() += 1;
                    }
                }
            }
        }
    }
    let features = features.finish()?;
    Ok(Prepared {
        utterances: features.utterances.len(),
        speakers: features.speakers.len(),
        seconds: features.seconds(),
        aligned: features.utterances.iter().filter(|utterance| utterance.durations.is_some()).count(),
        left_out,
        coverage: Coverage::count(
            features.utterances.iter().map(|utterance| utterance.symbols.as_slice()),
            &phonemizer,
        ),
    })
}

/// The aligner adapted to a speaker by those of the recordings that have no phone times, evenly spread: an engine's phones are not a person's.
fn adapted(
    aligner: &ForcedAligner,
    recordings: &[Recording],
    config: &MelConfig,
    phonemizer: &Phonemizer,
) -> Result<ForcedAligner> {
    let untimed: Vec<&Recording> = recordings.iter().filter(|recording| recording.phones.is_none()).collect();
    let stride = untimed.len().div_ceil(ADAPTED_TO).max(1);
    let spoken = untimed.into_par_iter().step_by(stride).filter_map(|recording| {
        // What cannot be read is left out here as it is later on, where it is counted.
        let samples = recording.samples(config.sample_rate_hz).ok()?;
        let mel = MelExtractor::new(config.clone()).extract(&samples);
        let spoken = pollster::block_on(aligner.spoken_symbols(phonemizer, &mel, &recording.text));
        let (symbols, word_ends) = spoken.ok()?;
        Some((mel, symbols, word_ends))
    });
    let spoken: Vec<_> = spoken.collect();
    let spoken: Vec<AdaptationClip> =
        spoken.iter().map(|(mel, symbols, word_ends)| AdaptationClip { mel, symbols, word_ends }).collect();
    pollster::block_on(adapt(aligner, &spoken, &AdaptConfig::default()))
}

/// Where the symbols of a speaker's recordings, and the frames of each, come from.
enum LabelSource {
    /// The text, and phone times where the corpus has them.
    Given,
    /// The same, with an aligner for recordings without phone times.
    Aligned(ForcedAligner),
    /// The aligner alone: no text is read.
    Recognised(ForcedAligner),
}

impl PrepareConfig {
    fn is_without_text(&self, speaker: &str) -> bool {
        let origin = speaker.split('@').next().expect("a split has a first part");
        self.pseudo_phones.iter().any(|name| name == origin)
    }
}

/// A name that nobody bears is a slip.
fn check_pseudo_phones(options: &PrepareConfig, recordings: &[Recording]) -> Result<()> {
    if !options.pseudo_phones.is_empty() && options.aligner.is_none() {
        return Err(Error::option_invalid("pseudo-phones are what an aligner recognises: name one"));
    }
    let unknown = |name: &&String| !recordings.iter().any(|recording| recording.speaker == **name);
    match options.pseudo_phones.iter().find(unknown) {
        Some(name) => Err(Error::option_invalid(format!("no speaker of the corpora is named {name}"))),
        None => Ok(()),
    }
}

/// Symbols and the frames of each; without frames where neither phone times nor an aligner are at hand.
fn timed(
    recording: &Recording,
    mel: &Mel,
    seconds: f32,
    config: &MelConfig,
    phonemizer: &Phonemizer,
    source: &LabelSource,
) -> Result<(Vec<Symbol>, Option<Vec<u32>>)> {
    match source {
        LabelSource::Recognised(aligner) => {
            let (symbols, durations) = pollster::block_on(aligner.pseudo_phones(mel))?;
            Ok((symbols, Some(durations)))
        }
        LabelSource::Aligned(aligner) if recording.phones.is_none() => {
            let (symbols, word_ends) =
                pollster::block_on(aligner.spoken_symbols(phonemizer, mel, &recording.text))?;
            let alignment = pollster::block_on(aligner.align(mel, &symbols, &word_ends))?;
            Ok((alignment.symbols, Some(alignment.durations)))
        }
        LabelSource::Aligned(_) | LabelSource::Given => {
            let labels = corpus::label(phonemizer, &recording.text, recording.phones.as_deref(), seconds)?;
            let durations = labels.durations(mel.frames(), config.frame_seconds());
            Ok((labels.symbols, durations))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::{audio::wav, features::Features};
    use serde_json::Value;
    use std::{fs, path::Path};

    /// A corpus of speakers who all say the same sentence.
    fn corpus(root: &Path, speakers: &[&str]) {
        let audio = wav::read(include_bytes!("../../../../tests/fixtures/held-out.wav")).unwrap();
        let spoken: Vec<Value> =
            serde_json::from_slice(include_bytes!("../../../../tests/fixtures/held-out.json")).unwrap();
        let at = |key: &str| (spoken[0][key].as_f64().unwrap() * f64::from(audio.sample_rate_hz)) as usize;
        let sound = wav::write(&audio.samples[at("begin")..at("end")], audio.sample_rate_hz);
        for speaker in speakers {
            let folder = root.join(speaker);
            fs::create_dir_all(folder.join("wavs")).unwrap();
            fs::write(folder.join("wavs/c.wav"), &sound).unwrap();
            fs::write(folder.join("metadata.csv"), format!("c|{}\n", spoken[0]["text"].as_str().unwrap()))
                .unwrap();
        }
    }

    #[test]
    fn pseudo_phones_are_what_is_recognised_of_a_speaker_and_of_those_made_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("corpus"), folder.path().join("features"));
        corpus(&root, &["ann", "ann@1.08x1.08", "anna"]);
        let options = |names: &[&str]| PrepareConfig {
            corpora: vec![root.clone()],
            out: out.clone(),
            aligner: Some("../../models/base/aligner.safetensors".into()),
            pseudo_phones: names.iter().map(|name| name.to_string()).collect(),
        };
        assert_eq!(prepare(&options(&["bob"]), &()).unwrap_err().code(), "option-invalid");
        let blind = PrepareConfig { aligner: None, ..options(&["ann"]) };
        assert_eq!(prepare(&blind, &()).unwrap_err().code(), "option-invalid");

        let prepared = prepare(&options(&["ann"]), &()).unwrap();
        assert_eq!((prepared.utterances, prepared.aligned), (3, 3));
        let features = Features::load(&out).unwrap();
        let of = |speaker: &str| {
            let index = features.speakers.iter().position(|name| name == speaker).unwrap();
            features.utterances.iter().find(|utterance| utterance.speaker == index).unwrap()
        };
        let (text, recognised) = (of("anna"), of("ann"));
        assert_eq!(recognised.symbols, of("ann@1.08x1.08").symbols, "the same sound");
        assert_ne!(recognised.symbols, text.symbols);
        let said = |symbols: &[Symbol]| ownvoice::align::said(symbols);
        let wrong = ownvoice::align::edits(&said(&recognised.symbols), &said(&text.symbols)).count;
        assert!(wrong * 2 < text.symbols.len(), "{wrong} of {}", text.symbols.len());
    }
}
