//! Training of the encoder that distinguishes speakers, and its measurement on speakers that it was not trained on.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use burn::{module::Module, prelude::Device};
use rayon::prelude::*;

use super::{
    training::{Sample, train},
    verifier::{SpeakerEmbedding, SpeakerVerifier, encoder_input, equal_error_rate},
};
use crate::{
    corpus::{FOREIGN, Perturbation, Recording, layouts},
    learn::Trained,
    learn::{
        hyperparameters::{Hyperparameters, RunConfig},
        run::curve_path,
    },
};
use ownvoice::{
    Error, Result,
    audio::mel::{Mel, MelConfig, MelExtractor},
    files::{self, read_audio},
    report::{Counter, Report},
    voice::folder,
};

/// From corpora to the weights of a speaker encoder.
#[derive(Debug, Clone)]
pub struct SpeakerEncoderConfig {
    /// Corpus folders.
    pub corpora: Vec<PathBuf>,
    /// File for the weights.
    pub out: PathBuf,
    pub hyperparameters: Hyperparameters,
    pub device: Device,
    /// Go on from the checkpoint in the folder for runs, where there is one.
    pub resume: bool,
    /// Folder for checkpoint and curve.
    pub run: PathBuf,
}

/// Formants and pitch of the speakers that each voice of the corpus is made into.
const FORMANTS: [f32; 3] = [0.86, 1.0, 1.16];
const PITCHES: [f32; 3] = [0.8, 1.0, 1.25];
/// Clips of each of them.
const CLIPS: usize = 40;

/// Trains and writes the weights. A base that they are part of stays whole.
pub fn train_speaker_encoder(config: &SpeakerEncoderConfig, report: &dyn Report) -> Result<Trained> {
    let SpeakerEncoderConfig { corpora, out, hyperparameters, device, resume, run } = config;
    files::check_writable(out)?;
    let recordings = recordings_of(corpora)?;
    let perturbations: Vec<Perturbation> = FORMANTS
        .iter()
        .flat_map(|&formants| PITCHES.map(|pitch| Perturbation { formants, pitch: pitch * formants }))
        .collect();
    let mut tasks: Vec<(usize, &Recording, Perturbation)> = Vec::new();
    let mut speakers = 0;
    for recordings in by_speaker(&recordings).values() {
        for (index, perturbation) in perturbations.iter().enumerate() {
            // Each from another place, so that words do not identify a speaker.
            let clips = recordings.iter().cycle().skip(index * CLIPS).take(CLIPS.min(recordings.len()));
            tasks.extend(clips.map(|recording| (speakers, *recording, *perturbation)));
            speakers += 1;
        }
    }
    let mel = MelConfig::speech_16k();
    let counter = Counter::new(report, tasks.len(), "reading");
    let extractor = MelExtractor::new(mel.clone());
    let sample = |&(speaker, recording, perturbation): &(usize, &Recording, Perturbation)| -> Result<Sample> {
        counter.count();
        let (samples, sample_rate_hz) = perturbed(recording, perturbation)?;
        Ok(Sample::new(
            speaker,
            &Mel { mels: mel.mels, data: encoder_input(&extractor, &samples, sample_rate_hz)? },
        ))
    };
    let samples = tasks.par_iter().map(sample).collect::<Result<Vec<_>>>()?;
    report.note(&format!("{} clips of {speakers} speakers", samples.len()));
    // On one rank: the embedding is normalised over a batch by the running statistics of one.
    let run_config = RunConfig { resume: *resume, ..RunConfig::new(hyperparameters.clone(), run.clone(), device) };
    let (model, held_out_loss) = train(&samples, mel.mels, &run_config, report)?;
    let bytes = pollster::block_on(SpeakerVerifier::serialize(&model.valid()))?;
    folder::write_part(out, &bytes)?;
    report.curve(&curve_path(run), &out.with_extension(""))?;
    Ok(Trained::new(out, &bytes, held_out_loss))
}

/// Recordings of all corpora, and of the voices of other languages beside them.
fn recordings_of(corpora: &[PathBuf]) -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for corpus in corpora {
        recordings.extend(layouts::load(corpus)?);
        let foreign = corpus.join(FOREIGN);
        if foreign.is_dir() {
            recordings.extend(layouts::load(&foreign)?);
        }
    }
    Ok(recordings)
}

/// Recordings of each voice; those that are another one played faster or slower, whose names hold an `@`, are left to [`Perturbation`].
fn by_speaker(recordings: &[Recording]) -> BTreeMap<&str, Vec<&Recording>> {
    let mut speakers: BTreeMap<&str, Vec<&Recording>> = BTreeMap::new();
    for recording in recordings.iter().filter(|recording| !recording.speaker.contains('@')) {
        speakers.entry(&recording.speaker).or_default().push(recording);
    }
    speakers
}

/// A recording in another's voice, and its rate.
fn perturbed(recording: &Recording, perturbation: Perturbation) -> Result<(Vec<f32>, u32)> {
    let clip = read_audio(&recording.path)?;
    Ok((perturbation.apply(&clip.samples, clip.sample_rate_hz)?, clip.sample_rate_hz))
}

/// What [`verify`] finds.
pub struct Verification {
    pub speakers: usize,
    /// Pairs of clips.
    pub trials: usize,
    pub equal_error_rate: f32,
    /// Mean cosines.
    pub own: f32,
    pub strangers: f32,
}

/// Of each voice in the folder, the voice itself and others made of it: neighbours, a seventh in the formants or three semitones away.
const NEIGHBOURS: [(f32, f32); 5] = [(1.0, 1.0), (0.875, 1.0), (1.14, 1.0), (1.0, 0.84), (1.0, 1.19)];
/// Clips of each.
const VERIFIED_CLIPS: usize = 24;

/// All pairs of clips of speakers that were made from the folder's voices.
pub fn verify(verifier: &SpeakerVerifier, corpus: &Path) -> Result<Verification> {
    let recordings: Vec<Recording> = layouts::load(corpus)?.collect();
    let mut vectors: Vec<(usize, SpeakerEmbedding)> = Vec::new();
    let mut speakers = 0;
    for recordings in by_speaker(&recordings).values() {
        for (index, &(formants, pitch)) in NEIGHBOURS.iter().enumerate() {
            let perturbation = Perturbation { formants, pitch: pitch * formants };
            for recording in recordings.iter().skip(index).step_by(NEIGHBOURS.len()).take(VERIFIED_CLIPS) {
                let (samples, sample_rate_hz) = perturbed(recording, perturbation)?;
                vectors.push((speakers, verifier.embed(&samples, sample_rate_hz)?));
            }
            speakers += 1;
        }
    }
    let (mut own, mut strangers) = (Vec::new(), Vec::new());
    for (index, (speaker, vector)) in vectors.iter().enumerate() {
        for (other, another) in &vectors[..index] {
            if speaker == other { &mut own } else { &mut strangers }.push(vector.similarity(another));
        }
    }
    if own.is_empty() || strangers.is_empty() {
        return Err(Error::corpus_invalid("verification needs several recordings of several speakers"));
    }
    let mean = |scores: &[f32]| scores.iter().sum::<f32>() / scores.len() as f32;
    Ok(Verification {
        speakers,
        trials: own.len() + strangers.len(),
        equal_error_rate: equal_error_rate(&own, &strangers),
        own: mean(&own),
        strangers: mean(&strangers),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn speakers_of_all_corpora_and_of_other_languages_are_read() {
        let root = tempfile::tempdir().unwrap();
        for speaker in ["engines/ann", "engines/foreign/eve", "people/bob"] {
            let folder = root.path().join(speaker);
            fs::create_dir_all(folder.join("wavs")).unwrap();
            fs::write(folder.join("wavs/c.wav"), []).unwrap();
            fs::write(folder.join("metadata.csv"), "c|Hello.\n").unwrap();
        }
        let recordings =
            recordings_of(&["engines", "people"].map(|corpus| root.path().join(corpus))).unwrap();
        let speakers: Vec<&str> = by_speaker(&recordings).into_keys().collect();
        assert_eq!(speakers, ["ann", "bob", "eve"]);
    }
}
