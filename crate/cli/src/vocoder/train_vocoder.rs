//! Training of the neural vocoder, on recordings and on what a base makes of their words.

use std::path::PathBuf;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{
    dataset::{VocoderClip, VocoderDataset},
    training::train,
};
use crate::{
    corpus::{Recording, label, layouts},
    learn::Trained,
    learn::{hyperparameters::RunConfig, run::curve_path},
};
use burn_fused::{
    Scope,
    weights::{apply, deserialize},
};
use ownvoice::{
    Error, Result,
    audio::{
        mel::{MelConfig, MelExtractor},
        pitch,
    },
    files,
    report::{Counter, Report},
    synth::speak::copy_prosody,
    vocoder::{
        NeuralVocoder,
        network::{SourceFilter, VocoderConfig},
    },
    voice::{Base, Voice, folder},
};

/// From a corpus to the weights of a vocoder.
#[derive(Debug, Clone)]
pub struct TrainVocoderConfig {
    /// Corpus folder.
    pub corpus: PathBuf,
    /// File for the weights.
    pub out: PathBuf,
    /// Folder of a base whose spectrograms of the corpus' words are learned from as well: those are what the vocoder will be given.
    pub base: Option<PathBuf>,
    /// Weights to start from.
    pub from: Option<PathBuf>,
    pub training: RunConfig,
}

/// Recordings that are analysed at once.
const CHUNK: usize = 64;

/// Trains and writes the weights. A base that they are part of stays whole.
pub fn train_vocoder(options: &TrainVocoderConfig, report: &dyn Report) -> Result<Trained> {
    let TrainVocoderConfig { corpus, out, base, from, training } = options;
    let RunConfig { hyperparameters, directory, device, ranks, .. } = training;
    files::check_writable(out)?;
    if !hyperparameters.compute.precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let extractor = MelExtractor::new(MelConfig::speech_16k());
    let recordings: Vec<Recording> = layouts::load(corpus)?.collect();
    let counter = Counter::new(report, recordings.len(), "reading");
    let read = |(index, recording): (usize, &Recording)| {
        counter.count();
        take(recording, hyperparameters.seed + index as u64, &extractor)
    };
    let mut takes = VocoderDataset::create(directory, extractor.config().mels)?;
    let numbered: Vec<(usize, &Recording)> = recordings.iter().enumerate().collect();
    for chunk in numbered.chunks(CHUNK) {
        let read = chunk.par_iter().copied().map(read).collect::<Result<Vec<VocoderClip>>>()?;
        for ((_, recording), take) in chunk.iter().zip(&read) {
            takes.push(recording.id.clone(), take)?;
        }
    }
    if let Some(folder) = base {
        let base = Base::open(folder, &device.clone().inner())?;
        let counter = Counter::new(report, recordings.len(), "spoken by the base");
        for recording in &recordings {
            if let Some(take) = spoken(&base, recording, &extractor)? {
                takes.push(format!("{}, spoken by the base", recording.id), &take)?;
            }
            counter.count();
        }
    }
    report.note(&format!("{} takes of {} recordings", takes.len(), recordings.len()));
    let config = VocoderConfig::small();
    device.seed(hyperparameters.seed);
    let mut blank = SourceFilter::new(&config, device).computing(&Scope::new(hyperparameters.compute.clone()));
    if let Some(path) = from {
        let (weights, _) = deserialize(&files::read(path)?).map_err(Error::checkpoint_corrupt)?;
        blank = apply(blank, weights).map_err(Error::checkpoint_corrupt)?;
    }
    let (model, held_out_loss) = train(&takes, extractor.config(), &config, blank, training, report)?;
    let bytes = pollster::block_on(NeuralVocoder::serialize(&model, &config))?;
    if ranks.is_first() {
        folder::write_part(out, &bytes)?;
        report.curve(&curve_path(directory), &out.with_extension(""))?;
    }
    Ok(Trained::new(out, &bytes, held_out_loss))
}

/// A recording with its own spectrogram. Every other one is played faster or slower: a vocoder has to cover any voice.
fn take(recording: &Recording, seed: u64, extractor: &MelExtractor) -> Result<VocoderClip> {
    const SPEEDS: std::ops::Range<f32> = 0.8..1.25;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let speed = if random.random_bool(0.5) { 1.0 } else { random.random_range(SPEEDS) };
    Ok(VocoderClip::new(
        recording.samples_at_speed(speed, extractor.config().sample_rate_hz)?,
        None,
        extractor,
    ))
}

/// A recording with the spectrogram that the base makes of its words in its timing and at its pitch. `None` where the base lacks the speaker or the recording lacks phone times.
fn spoken(base: &Base, recording: &Recording, extractor: &MelExtractor) -> Result<Option<VocoderClip>> {
    let mel = extractor.config();
    let Some(speaker) = base.manifest.speakers.iter().position(|name| *name == recording.speaker) else {
        return Ok(None);
    };
    let samples = recording.samples(mel.sample_rate_hz)?;
    let seconds = samples.len() as f32 / mel.sample_rate_hz as f32;
    let Ok(labels) = label(&base.phonemizer, &recording.text, recording.phones.as_deref(), seconds) else {
        return Ok(None);
    };
    let Some(durations) = labels.durations(mel.frames(samples.len()), mel.frame_seconds()) else {
        return Ok(None);
    };
    let f0_hz = pitch::track(&samples, mel.sample_rate_hz, mel.hop_length).f0_hz;
    let voice = Voice::from_base_speaker(base, speaker);
    let made = pollster::block_on(copy_prosody(base, &voice, &labels.symbols, &durations, &f0_hz))?;
    Ok(Some(VocoderClip::new(samples, Some(made), extractor)))
}
