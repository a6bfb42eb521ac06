//! Fine-tunes a lip-to-speech base on features, and writes a base of one speaker.

use std::path::PathBuf;

use burn::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::features::LipFeatures;
use ownvoice::{
    Error, Result, files,
    lips::{
        base::{self, LipBase, Trained, VocoderFile},
        clock::mel_frames,
        lesson::Lesson,
        tuned::TunedLips,
        tuner::{LipStep, LipTuneOptions, LipTuner},
    },
    report::{Progress, Report},
};

/// The configuration of a tuning.
#[derive(Debug, Clone)]
pub struct LipTuneConfig {
    /// The folder of features that `ownvoice lips prepare` wrote.
    pub data: PathBuf,
    /// The folder of the base that is tuned.
    pub base: PathBuf,
    /// The folder for the tuned base.
    pub out: PathBuf,
    /// The speaker, or `None` if the features hold only one.
    pub speaker: Option<String>,
    pub options: LipTuneOptions,
}

/// The result of a tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LipTuned {
    pub speaker: String,
    pub seconds: f32,
    pub iterations: usize,
    /// The spectrogram loss of the held-out windows, before and after.
    pub held_out_loss: [f32; 2],
}

/// Tunes a base and writes the base of one speaker.
///
/// # Errors
/// Fails with `corpus-invalid`, `base-corrupt`, `option-invalid`, `clip-too-short`, `training-diverged` or `io`.
pub fn tune_lips(config: &LipTuneConfig, device: &Device, report: &dyn Report) -> Result<LipTuned> {
    let LipTuneConfig { data, base: folder, out, speaker, options } = config;
    files::check_folder(out)?;
    let base = LipBase::open(folder, device)?;
    let features = LipFeatures::load(data)?;
    if features.sounds.mel != base.manifest.mel {
        return Err(Error::corpus_invalid("the mel configuration of the features is not that of the base"));
    }
    let (name, tracks) = of_speaker(&features, speaker.as_deref())?;
    let lessons = tracks.iter().map(|&track| lesson(&base, &features, track)).collect::<Result<Vec<_>>>()?;
    let tuned = pollster::block_on(tune(&base, &lessons, options, report))?;
    let LipBase { manifest, model, .. } = tuned.on(&base, &name);
    let vocoder = match &manifest.files.vocoder {
        Some(entry) => {
            let path = folder.join(&entry.path);
            let (from, name) = (path.parent().expect("a file has a folder"), path.file_name());
            let name = name.expect("a file has a name").to_string_lossy();
            Some(VocoderFile::of(from, &name, out, files::read(&path)?)?)
        }
        None => None,
    };
    let trained = Trained {
        model: &model,
        config: manifest.model,
        mel: manifest.mel,
        window_pictures: manifest.window_pictures,
        speakers: manifest.speakers,
        vocoder,
        recipe: json!({
            "base": manifest.files.weights.sha256,
            "of_base": manifest.recipe,
            "tuning": options,
            "seconds": tuned.seconds,
        }),
        quality: json!({ "held_out_loss": tuned.held_out_loss[1] }),
    };
    let weights = base::weights(&trained)?;
    base::write(out, trained, &weights)?;
    let TunedLips { iterations, seconds, held_out_loss, .. } = tuned;
    Ok(LipTuned { speaker: name, seconds, iterations, held_out_loss })
}

/// Returns the name of the speaker and the indices of their tracks.
fn of_speaker(features: &LipFeatures, name: Option<&str>) -> Result<(String, Vec<usize>)> {
    let speakers = &features.sounds.speakers;
    let index = match name {
        Some(name) => speakers.iter().position(|speaker| speaker == name),
        None => (speakers.len() == 1).then_some(0),
    };
    let index = index.ok_or_else(|| {
        Error::option_invalid(format!("choose one of the speakers {}", speakers.join(", ")))
    })?;
    let utterances = features.sounds.utterances.iter().enumerate();
    let tracks = utterances.filter(|(_, utterance)| utterance.speaker == index).map(|(track, _)| track);
    Ok((speakers[index].clone(), tracks.collect()))
}

fn lesson(base: &LipBase, features: &LipFeatures, track: usize) -> Result<Lesson> {
    let LipFeatures { sounds, tracks, .. } = features;
    let pictures = tracks[track].pictures;
    let faces = features.faces(&tracks[track], 0..pictures)?;
    let log_mels = sounds.log_mels(&sounds.utterances[track], 0..mel_frames(pictures, &sounds.mel))?;
    Ok(Lesson::new(base, &faces, &log_mels))
}

async fn tune(
    base: &LipBase,
    lessons: &[Lesson],
    options: &LipTuneOptions,
    report: &dyn Report,
) -> Result<TunedLips> {
    let mut tuner = LipTuner::start(base, lessons, options.clone()).await?;
    let before = tuner.held_out_before();
    let mut now = before;
    if options.iterations == 0 {
        return tuner.finish().await;
    }
    loop {
        let LipStep { iteration, iterations, held_out_loss, stop, .. } = tuner.step().await?;
        if let Some(loss) = held_out_loss {
            now = loss;
            report.note(&format!("iteration {iteration}: held-out loss {loss:.4}"));
        }
        let message = format!("held-out loss {now:.4}, initially {before:.4}");
        report.progress(&Progress { done: iteration, of: Some(iterations), message: &message });
        if stop.is_some() {
            break;
        }
    }
    tuner.finish().await
}
