//! Fine-tunes a base of lips to one face and voice, on a minute of video with sound.
//!
//! The encoder of faces stays as it is, so that each window is encoded once; decoder, postnet and speaker vector adapt. One window in five is held out: the
//! parameters that speak these best are kept, and the training ends when they no longer gain.

use std::path::PathBuf;

use burn::{
    module::{Module, Param},
    prelude::*,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::json;

use super::{
    base::{self, LipBase, Trained, VocoderFile},
    batch::{Answers, LipBatch, LipSource},
    clock,
    features::LipFeatures,
    model::{LipTacotron, pictures},
    train::losses,
};
use crate::{
    Error, Result, files,
    model::{
        attention::AttentionDecoder,
        postnet::Postnet,
        teacher_forcing::{Spoken, TeacherForcing},
    },
    nn::{Mode, Scope},
    ranks::Shard,
    report::{Progress, Report},
    train::{
        adam::{Adam, AdamConfig},
        finetune::{EVALUATE_EVERY, EarlyStopping, Verdict},
        options::StopRule,
    },
};

/// From a base of lips and features of one speaker to a base of that speaker.
#[derive(Debug, Clone)]
pub struct LipTuneConfig {
    /// Features that `ownvoice lips prepare` wrote.
    pub data: PathBuf,
    /// Folder of the base that is tuned.
    pub base: PathBuf,
    /// Folder for the tuned one.
    pub out: PathBuf,
    /// Which of the features' speakers; `None` where there is one.
    pub speaker: Option<String>,
    pub options: LipTuneOptions,
}

/// How a base is tuned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LipTuneOptions {
    /// At most.
    pub iterations: usize,
    /// Windows.
    pub batch: usize,
    /// Learning rate of decoder and postnet.
    pub rate: f64,
    /// Learning rate of the speaker vector.
    pub speaker_rate: f64,
    pub seed: u64,
}

impl Default for LipTuneOptions {
    fn default() -> Self {
        Self { iterations: 200, batch: 4, rate: 5e-4, speaker_rate: 5e-3, seed: 1 }
    }
}

/// What a tuning came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LipTuned {
    pub speaker: String,
    pub seconds: f32,
    pub iterations: usize,
    /// Of the spectrogram, on held-out windows, before and after.
    pub held_out_loss: [f32; 2],
}

/// One window in so many is held out.
const HELD_OUT_EVERY: usize = 5;

/// Tunes, and writes the base of one speaker.
///
/// # Errors
/// `corpus-invalid`, `base-corrupt`, `option-invalid`, `clip-too-short`, `training-diverged`, `io`.
pub fn tune_lips(config: &LipTuneConfig, device: &Device, report: &dyn Report) -> Result<LipTuned> {
    let LipTuneConfig { data, base: folder, out, speaker, options } = config;
    files::check_folder(out)?;
    let base = LipBase::open(folder, device)?;
    let features = LipFeatures::load(data)?;
    if features.sounds.mel != base.manifest.mel {
        return Err(Error::corpus_invalid("the mels of the features are not those of the base"));
    }
    let (speaker, tracks) = of_speaker(&features, speaker.as_deref())?;
    let windows = Windows::of(&base, &features, &tracks)?;
    let (parts, iterations, held_out_loss) = tune(&base, &windows, options, report)?;
    let seconds = tracks.iter().map(|&track| clock::seconds(features.tracks[track].pictures)).sum();
    let tuned = LipTuned { speaker, seconds, iterations, held_out_loss };

    let manifest = &base.manifest;
    let mut sizes = manifest.model.clone();
    sizes.tacotron.speakers = 1;
    let Adapting { speaker: row, decoder, postnet } = parts.valid();
    let model = LipTacotron {
        encoder: base.model.encoder.clone(),
        speakers: row,
        decoder,
        postnet,
        scope: base.model.scope.clone(),
    };
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
        config: sizes,
        mel: manifest.mel.clone(),
        window_pictures: manifest.window_pictures,
        speakers: vec![tuned.speaker.clone()],
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
    Ok(tuned)
}

/// The name of a speaker and their tracks.
fn of_speaker(features: &LipFeatures, name: Option<&str>) -> Result<(String, Vec<usize>)> {
    let speakers = &features.sounds.speakers;
    let index = match name {
        Some(name) => speakers.iter().position(|speaker| speaker == name),
        None => (speakers.len() == 1).then_some(0),
    };
    let index = index.ok_or_else(|| {
        Error::option_invalid(format!("one speaker is to be chosen: there are {}", speakers.join(", ")))
    })?;
    let utterances = features.sounds.utterances.iter().enumerate();
    let tracks = utterances.filter(|(_, utterance)| utterance.speaker == index).map(|(track, _)| track);
    Ok((speakers[index].clone(), tracks.collect()))
}

/// What adapts.
#[derive(Module, Debug)]
struct Adapting {
    /// `[1, V]`
    speaker: Param<Tensor<2>>,
    decoder: AttentionDecoder,
    postnet: Postnet,
}

/// Windows of a speaker, encoded.
struct Windows {
    /// `[windows, N, E]`
    encoded: Tensor<3>,
    /// `[windows, T, M]`, normalised
    targets: Tensor<3>,
    /// `[windows, T, 1]`
    mask: Tensor<3>,
    /// `[1, T / R, N]`, see [`Answers`]
    seen: Tensor<3>,
    /// Of each.
    pictures: Vec<usize>,
    /// Mel frames of each.
    frames: Vec<usize>,
}

impl Windows {
    fn of(base: &LipBase, features: &LipFeatures, tracks: &[usize]) -> Result<Self> {
        let LipBase { manifest, model, device, .. } = base;
        let source = LipSource::new(
            features,
            (tracks, tracks),
            &manifest.model,
            manifest.window_pictures,
            (1, 0),
            Shard::WHOLE,
        )?;
        let batches = source.unchanged(tracks, device).collect::<Result<Vec<_>>>()?;
        let encode =
            |batch: &LipBatch| model.encoder.forward(batch.faces.clone(), &batch.pictures, Mode::Eval);
        let together =
            |part: &dyn Fn(&LipBatch) -> Tensor<3>| Tensor::cat(batches.iter().map(part).collect(), 0);
        Ok(Self {
            encoded: together(&encode),
            targets: together(&|batch| batch.targets.clone()),
            mask: together(&|batch| batch.mask.clone()),
            seen: batches[0].seen.clone(),
            pictures: batches.iter().flat_map(|batch| batch.pictures.lengths.clone()).collect(),
            frames: batches.iter().map(|batch| batch.whole.frames).collect(),
        })
    }

    fn len(&self) -> usize {
        self.pictures.len()
    }

    /// The losses of some windows, see [`losses`].
    fn losses(&self, parts: &Adapting, reduction: usize, windows: &[usize], mode: Mode) -> Vec<Tensor<1>> {
        let device = &self.encoded.device();
        let indices: Vec<i32> = windows.iter().map(|&window| window as i32).collect();
        let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [windows.len()]), device);
        let chosen = |all: &Tensor<3>| Tensor::from_inner(all.clone().select(0, indices.clone()));
        let frames: Vec<usize> = windows.iter().map(|&window| self.frames[window]).collect();
        let answers = Answers {
            targets: chosen(&self.targets),
            mask: chosen(&self.mask),
            seen: Tensor::from_inner(self.seen.clone()),
            frames: frames.iter().sum(),
            steps: frames.iter().map(|frames| frames.div_ceil(reduction)).sum(),
        };
        let encoded = chosen(&self.encoded);
        let lengths: Vec<usize> = windows.iter().map(|&window| self.pictures[window]).collect();
        let seen = pictures(&lengths, Some(encoded.dims()[1]), &encoded.device());
        let [_, steps, _] = answers.seen.dims();
        let nothing = Tensor::zeros([windows.len(), steps, 0], &encoded.device());
        let speaker = parts.speaker.val().repeat_dim(0, windows.len());
        let spoken = Spoken { symbols: &seen, encoded, speaker, previous: Some(nothing) };
        losses(parts.decoder.teacher_force(spoken, ()), &parts.postnet, &Scope::default(), &answers, mode)
    }

    /// Loss of the spectrogram after the postnet, of windows that nothing is learned from.
    fn criterion(&self, parts: &Adapting, reduction: usize, windows: &[usize]) -> f32 {
        self.losses(parts, reduction, windows, Mode::Eval).swap_remove(1).into_scalar::<f32>()
    }
}

/// Parameters, the iterations that were done, and the losses of held-out windows, before and after.
fn tune(
    base: &LipBase,
    windows: &Windows,
    options: &LipTuneOptions,
    report: &dyn Report,
) -> Result<(Adapting, usize, [f32; 2])> {
    let reduction = base.manifest.model.tacotron.reduction;
    let (held_out, mut train): (Vec<usize>, Vec<usize>) =
        (0..windows.len()).partition(|window| window % HELD_OUT_EVERY == HELD_OUT_EVERY - 1);
    if held_out.is_empty() {
        let window = clock::seconds(base.manifest.window_pictures);
        return Err(Error::clip_too_short(windows.len() as f32 * window, HELD_OUT_EVERY as f32 * window));
    }
    let mut parts = nearest(base, windows, &train);
    let before = windows.criterion(&parts, reduction, &held_out);
    let (mut best, mut iterations) = ((before, parts.clone()), 0);
    let mut stopping = EarlyStopping::new(StopRule::Loss);
    stopping.observe(-before);
    let mut adam = Adam::new(AdamConfig::default());
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let batch = options.batch.clamp(1, train.len());
    train.shuffle(&mut random);
    let mut place = 0;
    while iterations < options.iterations {
        if place + batch > train.len() {
            train.shuffle(&mut random);
            place = 0;
        }
        let drawn = windows.losses(&parts, reduction, &train[place..place + batch], Mode::Train);
        place += batch;
        let gradients = Tensor::cat(drawn, 0).sum().backward();
        parts =
            adam.step(
                parts,
                &gradients,
                |path| {
                    if path == "speaker" { options.speaker_rate } else { options.rate }
                },
            );
        iterations += 1;
        let message = format!("held-out loss {:.4}, at first {before:.4}", best.0);
        report.progress(&Progress { done: iterations, of: Some(options.iterations), message: &message });
        if !iterations.is_multiple_of(EVALUATE_EVERY) && iterations < options.iterations {
            continue;
        }
        let now = windows.criterion(&parts, reduction, &held_out);
        report.note(&format!("iteration {iterations}: held-out loss {now:.4}"));
        if !now.is_finite() {
            return Err(Error::training_diverged(iterations));
        }
        let Verdict { keep, stop } = stopping.observe(-now);
        if keep {
            best = (now, parts.clone());
        }
        if stop {
            break;
        }
    }
    let (after, parts) = best;
    Ok((parts, iterations, [before, after]))
}

/// The base with the row of its speaker table that says the windows best.
fn nearest(base: &LipBase, windows: &Windows, train: &[usize]) -> Adapting {
    let model = &base.model;
    let row = |row: usize| Adapting {
        speaker: Param::from_tensor(Tensor::from_inner(model.speakers.val().narrow(0, row, 1))),
        decoder: model.decoder.clone().train(),
        postnet: model.postnet.clone().train(),
    };
    let reduction = base.manifest.model.tacotron.reduction;
    let rows = (0..base.manifest.speakers.len()).map(row);
    let scored = rows.map(|parts| (windows.criterion(&parts, reduction, train), parts));
    let (_, nearest) = scored.min_by(|one, other| one.0.total_cmp(&other.0)).expect("a base has a speaker");
    nearest
}
