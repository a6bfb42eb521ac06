//! Trains the speaker encoder on corpora, and measures it on speakers that it was not trained on.

use std::{collections::BTreeMap, path::PathBuf};

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

/// The configuration of a training of the speaker encoder.
#[derive(Debug, Clone)]
pub struct SpeakerEncoderConfig {
    /// The folders of the corpora.
    pub corpora: Vec<PathBuf>,
    /// The file for the weights.
    pub out: PathBuf,
    pub hyperparameters: Hyperparameters,
    pub device: Device,
    /// Whether to resume from the checkpoint in the run folder, if there is one.
    pub resume: bool,
    /// The folder for checkpoint and loss curve.
    pub run: PathBuf,
}

/// The formant factors of the perturbed speakers that are made from each voice of the corpus.
const FORMANTS: [f32; 3] = [0.86, 1.0, 1.16];
/// The pitch factors of the perturbed speakers.
const PITCHES: [f32; 3] = [0.8, 1.0, 1.25];
/// The maximum number of clips of each perturbed speaker.
const CLIPS: usize = 40;

/// Trains a speaker encoder and writes its weights. If they are part of a base, its manifest is updated.
pub fn train_speaker_encoder(config: &SpeakerEncoderConfig, report: &dyn Report) -> Result<Trained> {
    let SpeakerEncoderConfig { corpora, out, hyperparameters, device, resume, run } = config;
    files::check_writable(out)?;
    let recordings = recordings_of(corpora, report)?;
    let perturbations: Vec<Perturbation> = FORMANTS
        .iter()
        .flat_map(|&formants| PITCHES.map(|pitch| Perturbation { formants, pitch: pitch * formants }))
        .collect();
    let mut tasks: Vec<(usize, &Recording, Perturbation)> = Vec::new();
    let mut speakers = 0;
    for recordings in by_speaker(&recordings).values() {
        for (index, perturbation) in perturbations.iter().enumerate() {
            // The clips of each speaker begin at another recording, so that words do not identify a speaker.
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
    // The training uses one rank, because the batch norm of the embedding computes its statistics on one rank.
    let run_config =
        RunConfig { resume: *resume, ..RunConfig::new(hyperparameters.clone(), run.clone(), device) };
    let (model, held_out_loss) = train(&samples, mel.mels, &run_config, report)?;
    let bytes = pollster::block_on(SpeakerVerifier::serialize(&model.valid()))?;
    folder::write_part(out, &bytes)?;
    report.curve(&curve_path(run), &out.with_extension(""))?;
    Ok(Trained::new(out, &bytes, held_out_loss))
}

/// Returns the recordings of all corpora, including those of voices in other languages.
fn recordings_of(corpora: &[PathBuf], report: &dyn Report) -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for corpus in corpora {
        recordings.extend(layouts::load(corpus, report)?);
        let foreign = corpus.join(FOREIGN);
        if foreign.is_dir() {
            recordings.extend(layouts::load(&foreign, report)?);
        }
    }
    Ok(recordings)
}

/// Returns the recordings of each voice, except voices that are made by faster or slower playback, whose names contain an `@`, because [`Perturbation`] is used
/// instead.
fn by_speaker(recordings: &[Recording]) -> BTreeMap<&str, Vec<&Recording>> {
    let mut speakers: BTreeMap<&str, Vec<&Recording>> = BTreeMap::new();
    for recording in recordings.iter().filter(|recording| !recording.speaker.contains('@')) {
        speakers.entry(&recording.speaker).or_default().push(recording);
    }
    speakers
}

/// Returns a recording with a perturbed voice, and its sample rate in Hz.
fn perturbed(recording: &Recording, perturbation: Perturbation) -> Result<(Vec<f32>, u32)> {
    let clip = read_audio(&recording.path)?;
    Ok((perturbation.apply(&clip.samples, clip.sample_rate_hz)?, clip.sample_rate_hz))
}

/// The result of [`verify`].
pub struct Verification {
    pub speakers: usize,
    /// The number of pairs of clips.
    pub trials: usize,
    pub equal_error_rate: f32,
    /// The mean cosine of clips of the same speaker.
    pub same_speaker: f32,
    /// The mean cosine of clips of different speakers.
    pub other_speakers: f32,
}

/// The factors of formants and pitch of the speakers that are made from each voice in the folder: the voice itself, and neighbours that differ by a seventh in the
/// formants or by three semitones.
const NEIGHBOURS: [(f32, f32); 5] = [(1.0, 1.0), (0.875, 1.0), (1.14, 1.0), (1.0, 0.84), (1.0, 1.19)];
/// The maximum number of clips of each speaker.
const VERIFIED_CLIPS: usize = 24;

/// Measures an encoder on all pairs of clips of speakers that are made from the voices in some folders.
pub fn verify(verifier: &SpeakerVerifier, corpora: &[PathBuf], report: &dyn Report) -> Result<Verification> {
    let recordings = recordings_of(corpora, report)?;
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
    let (mut same, mut different) = (Vec::new(), Vec::new());
    for (index, (speaker, vector)) in vectors.iter().enumerate() {
        for (other, another) in &vectors[..index] {
            if speaker == other { &mut same } else { &mut different }.push(vector.similarity(another));
        }
    }
    if same.is_empty() || different.is_empty() {
        return Err(Error::corpus_invalid("verification needs several recordings of several speakers"));
    }
    let mean = |scores: &[f32]| scores.iter().sum::<f32>() / scores.len() as f32;
    Ok(Verification {
        speakers,
        trials: same.len() + different.len(),
        equal_error_rate: equal_error_rate(&same, &different),
        same_speaker: mean(&same),
        other_speakers: mean(&different),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn speakers_of_all_corpora_and_languages_are_read() {
        let root = tempfile::tempdir().unwrap();
        for speaker in ["engines/ann", "engines/foreign/eve", "people/bob"] {
            let folder = root.path().join(speaker);
            fs::create_dir_all(folder.join("wavs")).unwrap();
            fs::write(folder.join("wavs/c.wav"), []).unwrap();
            fs::write(folder.join("metadata.csv"), "c|Hello.\n").unwrap();
        }
        let recordings =
            recordings_of(&["engines", "people"].map(|corpus| root.path().join(corpus)), &()).unwrap();
        let speakers: Vec<&str> = by_speaker(&recordings).into_keys().collect();
        assert_eq!(speakers, ["ann", "bob", "eve"]);
    }
}
