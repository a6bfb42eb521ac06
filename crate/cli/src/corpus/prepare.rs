//! Prepares corpora as features to train on.

use std::{collections::BTreeMap, path::PathBuf};

use burn::prelude::Device;
use rayon::prelude::*;

use super::{Coverage, Recording, layouts};
use crate::corpus;
use ownvoice::report::Counter;
use ownvoice::{
    ErrorKind, Result,
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

/// The configuration of a preparation.
#[derive(Debug, Clone)]
pub struct PrepareConfig {
    /// The folders of the corpora, whose speakers form one table.
    pub corpora: Vec<PathBuf>,
    /// The folder for the features.
    pub out: PathBuf,
    /// The weights of an aligner, for recordings without phone times.
    pub aligner: Option<PathBuf>,
}

/// The result of a preparation.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub utterances: usize,
    pub speakers: usize,
    pub seconds: f32,
    /// The number of utterances with durations.
    pub aligned: usize,
    /// The number of recordings that were left out, by error code.
    pub left_out: BTreeMap<&'static str, usize>,
    pub coverage: Coverage,
}

/// The number of recordings that are analysed at once.
const CHUNK: usize = 64;
/// The most recordings of a speaker that the aligner is adapted on, some three minutes.
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
    let counter = Counter::new(report, recordings.len(), "recordings");
    let mut features = FeatureWriter::create(&options.out, config.clone())?;
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    for of_speaker in recordings.chunk_by(|one, next| one.speaker == next.speaker) {
        let adapt = |aligner| adapted(aligner, of_speaker, &config, &phonemizer);
        let aligner = aligner.as_ref().map(adapt).transpose()?;
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
                    let labels = timed(&recording, &mel, seconds, &config, &phonemizer, aligner.as_ref())?;
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

/// Adapts the aligner to a speaker, on evenly spaced recordings among those without phone times.
fn adapted(
    aligner: &ForcedAligner,
    recordings: &[Recording],
    config: &MelConfig,
    phonemizer: &Phonemizer,
) -> Result<ForcedAligner> {
    let untimed: Vec<&Recording> = recordings.iter().filter(|recording| recording.phones.is_none()).collect();
    let stride = untimed.len().div_ceil(ADAPTED_TO).max(1);
    let spoken = untimed.into_par_iter().step_by(stride).filter_map(|recording| {
        // Recordings that cannot be read are counted later, when they are analysed.
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

/// Returns the symbols of a recording and the frames of each. There are no frames without phone times and without an aligner.
fn timed(
    recording: &Recording,
    mel: &Mel,
    seconds: f32,
    config: &MelConfig,
    phonemizer: &Phonemizer,
    aligner: Option<&ForcedAligner>,
) -> Result<(Vec<Symbol>, Option<Vec<u32>>)> {
    match aligner {
        Some(aligner) if recording.phones.is_none() => {
            let (symbols, word_ends) =
                pollster::block_on(aligner.spoken_symbols(phonemizer, mel, &recording.text))?;
            let alignment = pollster::block_on(aligner.align(mel, &symbols, &word_ends))?;
            Ok((alignment.symbols, Some(alignment.durations)))
        }
        _ => {
            let labels = corpus::label(phonemizer, &recording.text, recording.phones.as_deref(), seconds)?;
            let durations = labels.durations(mel.frames(), config.frame_seconds());
            Ok((labels.symbols, durations))
        }
    }
}
