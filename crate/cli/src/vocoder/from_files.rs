//! Trains the neural vocoder on recordings and on spectrograms that a base synthesises for their words.

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
    synth::sentence::copy_prosody,
    vocoder::{
        NeuralVocoder,
        network::{SourceFilter, VocoderConfig},
    },
    voice::{Base, Voice, folder},
};

/// The configuration of a training of the vocoder.
#[derive(Debug, Clone)]
pub struct TrainVocoderConfig {
    /// The folder of the corpus.
    pub corpus: PathBuf,
    /// The file for the weights.
    pub out: PathBuf,
    /// The folder of a base. If it is given, the vocoder also learns from the spectrograms that the base synthesises for the words of the corpus, because it will
    /// receive such spectrograms.
    pub base: Option<PathBuf>,
    /// The file of the initial weights.
    pub from: Option<PathBuf>,
    pub training: RunConfig,
}

/// The number of recordings that are analysed at once.
const CHUNK: usize = 64;

/// Trains a vocoder and writes its weights. If they are part of a base, its manifest is updated.
pub fn train_vocoder(config: &TrainVocoderConfig, report: &dyn Report) -> Result<Trained> {
    let TrainVocoderConfig { corpus, out, base, from, training } = config;
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
        recorded(recording, hyperparameters.seed + index as u64, &extractor)
    };
    let mut dataset = VocoderDataset::create(directory, extractor.config().mels)?;
    let numbered: Vec<(usize, &Recording)> = recordings.iter().enumerate().collect();
    for chunk in numbered.chunks(CHUNK) {
        let read = chunk.par_iter().copied().map(read).collect::<Result<Vec<VocoderClip>>>()?;
        for ((_, recording), clip) in chunk.iter().zip(&read) {
            dataset.push(recording.id.clone(), clip)?;
        }
    }
    if let Some(folder) = base {
        let base = Base::open(folder, &device.clone().inner())?;
        let counter = Counter::new(report, recordings.len(), "spoken by the base");
        for recording in &recordings {
            if let Some(clip) = synthesised(&base, recording, &extractor)? {
                dataset.push(format!("{}, spoken by the base", recording.id), &clip)?;
            }
            counter.count();
        }
    }
    report.note(&format!("{} clips of {} recordings", dataset.len(), recordings.len()));
    let sizes = VocoderConfig::small();
    device.seed(hyperparameters.seed);
    let mut blank = SourceFilter::new(&sizes, device).computing(&Scope::new(hyperparameters.compute.clone()));
    if let Some(path) = from {
        let (weights, _) = deserialize(&files::read(path)?).map_err(Error::checkpoint_corrupt)?;
        blank = apply(blank, weights).map_err(Error::checkpoint_corrupt)?;
    }
    let (model, held_out_loss) = train(&dataset, extractor.config(), &sizes, blank, training, report)?;
    let bytes = pollster::block_on(NeuralVocoder::serialize(&model, &sizes))?;
    if ranks.is_first() {
        folder::write_part(out, &bytes)?;
        report.curve(&curve_path(directory), &out.with_extension(""))?;
    }
    Ok(Trained::new(out, &bytes, held_out_loss))
}

/// Returns a recording with its own spectrogram. Half of the recordings, at random, are played faster or slower, so that the vocoder learns other voices.
fn recorded(recording: &Recording, seed: u64, extractor: &MelExtractor) -> Result<VocoderClip> {
    const SPEEDS: std::ops::Range<f32> = 0.8..1.25;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let speed = if random.random_bool(0.5) { 1.0 } else { random.random_range(SPEEDS) };
    Ok(VocoderClip::new(
        recording.samples_at_speed(speed, extractor.config().sample_rate_hz)?,
        None,
        extractor,
    ))
}

/// Returns a recording with the spectrogram that the base synthesises for its words, durations and pitch. Returns `None` if the base lacks the speaker or the
/// recording lacks phone times.
fn synthesised(base: &Base, recording: &Recording, extractor: &MelExtractor) -> Result<Option<VocoderClip>> {
    let config = extractor.config();
    let speaker = base.speakers().iter().position(|name| *name == recording.speaker);
    let Some(voice) = speaker.and_then(|speaker| Voice::from_base_speaker(base, speaker)) else {
        return Ok(None);
    };
    let samples = recording.samples(config.sample_rate_hz)?;
    let seconds = samples.len() as f32 / config.sample_rate_hz as f32;
    let Ok(labels) = label(&base.phonemizer, &recording.text, recording.phones.as_deref(), seconds) else {
        return Ok(None);
    };
    let Some(durations) = labels.durations(config.frames(samples.len()), config.frame_seconds()) else {
        return Ok(None);
    };
    let f0_hz = pitch::track(&samples, config.sample_rate_hz, config.hop_length).f0_hz;
    let mel = pollster::block_on(copy_prosody(&voice, &labels.symbols, &durations, &f0_hz))?;
    Ok(Some(VocoderClip::new(samples, Some(mel), extractor)))
}
