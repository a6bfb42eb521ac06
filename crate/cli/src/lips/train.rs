//! Trains a lip-to-speech model with the training loop of base voices: resumable, with prefetching and monitoring, on one rank or several.

use std::path::PathBuf;

use burn::prelude::*;
use clap::ValueEnum;
use serde_json::json;

use super::{
    batch::{LipBatch, LipSource},
    features::LipFeatures,
};
use crate::{
    learn::Trained,
    learn::{
        hyperparameters::{Hyperparameters, RunConfig},
        run::{Run, curve_path, split},
        trainable_model::TrainableModel,
    },
};
use burn_fused::{ComputePlan, Mode, Scope};
use ownvoice::{
    Error, Result,
    audio::mel::MelConfig,
    files,
    lips::{
        answers::{SPECTROGRAM_LOSS, losses},
        base::{self, VocoderFile, WEIGHTS},
        clock::mel_frames,
        config::LipConfig,
        model::LipTacotron,
        track::SEARCH_EVERY,
    },
    report::Report,
    vocoder::NeuralVocoder,
    voice::folder,
};

impl Hyperparameters {
    /// The hyperparameters of lip-to-speech models; the window is 3 s.
    pub fn lips() -> Self {
        Self {
            steps: 10_000,
            batch: 8,
            window: 240,
            seed: 1,
            rate_start: 1e-3,
            rate_end: 5e-5,
            checkpoint_every: 100,
            compute: ComputePlan::default(),
        }
    }
}

impl TrainableModel for LipTacotron {
    type Batch = LipBatch;

    const LOSSES: &'static [&'static str] = &["before", "after", "guide"];
    const CRITERION: usize = SPECTROGRAM_LOSS;

    /// Computes [`losses`].
    fn losses(&self, batch: &LipBatch, mode: Mode) -> Vec<Tensor<1>> {
        let speaker = self.speakers.val().select(0, batch.speakers.clone());
        let [_, steps, _] = batch.seen.dims();
        let decoded = self.decode(batch.faces.clone(), &batch.pictures, speaker, steps, mode);
        losses(decoded, &self.postnet, &self.scope, &batch.answers(), mode)
    }

    fn computing(self, scope: &Scope) -> Self {
        self.computing(scope)
    }
}

/// The presets of a model's sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LipPreset {
    /// The paper's sizes.
    Lips,
    /// Sizes for two CPU cores.
    LipsSmall,
    /// Sizes for tests.
    Tiny,
}

impl LipPreset {
    /// Returns the sizes.
    pub fn config(self, speakers: usize) -> LipConfig {
        match self {
            Self::Lips => LipConfig::lips(speakers),
            Self::LipsSmall => LipConfig::lips_small(speakers),
            Self::Tiny => LipConfig::tiny(speakers),
        }
    }
}

/// The configuration of a training.
#[derive(Debug, Clone)]
pub struct LipTrainConfig {
    /// The folder of the features.
    pub data: PathBuf,
    /// The folder for the base.
    pub out: PathBuf,
    /// The folder of the text-to-speech base whose vocoder is used.
    pub base: PathBuf,
    pub preset: LipPreset,
    pub training: RunConfig,
}

/// Trains a model and writes a lip-to-speech base.
///
/// # Errors
/// Fails with `corpus-invalid`, `base-corrupt`, `option-invalid`, `precision-unsupported`, `training-diverged`, `rank-lost` or `io`.
pub fn train_lips(config: &LipTrainConfig, report: &dyn Report) -> Result<Trained> {
    let LipTrainConfig { data, out, base, preset, training } = config;
    let RunConfig { hyperparameters, directory, device, ranks, .. } = training;
    files::check_folder(out)?;
    let features = LipFeatures::load(data)?;
    let sounds = &features.sounds;
    let vocoder = match folder::read_manifest(base)?.files.vocoder {
        Some(entry) => {
            let content = files::read(&base.join(&entry.path))?;
            // A vocoder for other mels is detected before hours of training.
            NeuralVocoder::load(&content, sounds.mel.clone()).map_err(|error| error.in_file(base))?;
            Some(VocoderFile::of(base, &entry.path, out, content)?)
        }
        None => None,
    };
    if !hyperparameters.compute.precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let sizes = preset.config(sounds.speakers.len());
    let (model, held_out_loss) = train(&features, &sizes, training, report)?;
    let trained = base::Trained {
        model: &model,
        config: sizes,
        mel: sounds.mel.clone(),
        window_pictures: window_pictures(hyperparameters.window, &sounds.mel)?,
        speakers: sounds.speakers.clone(),
        vocoder,
        recipe: json!({
            "training": hyperparameters,
            "hours": sounds.seconds() / 3600.0,
            "tracks": features.tracks.len(),
        }),
        quality: json!({ "held_out_loss": held_out_loss }),
    };
    let weights = base::weights(&trained)?;
    if ranks.is_first() {
        base::write(out, trained, &weights)?;
        report.curve(&curve_path(directory), &out.join(WEIGHTS).with_extension(""))?;
    }
    Ok(Trained { path: out.join(WEIGHTS), bytes: weights.len(), held_out_loss })
}

/// Trains to the last step. Returns the model and its held-out loss.
fn train(
    features: &LipFeatures,
    config: &LipConfig,
    run_config: &RunConfig,
    report: &dyn Report,
) -> Result<(LipTacotron, f32)> {
    let RunConfig { hyperparameters, device, ranks, .. } = run_config;
    let (train, held_out) = split(0..features.tracks.len())?;
    device.seed(hyperparameters.seed);
    let blank = LipTacotron::new(config, device)
        .with_ranks(ranks)
        .computing(&Scope::new(hyperparameters.compute.clone()));
    let run = Run::open(blank, run_config)?;
    let pictures = window_pictures(hyperparameters.window, &features.sounds.mel)?;
    let source = LipSource::new(
        features,
        (&train, &held_out),
        config,
        pictures,
        (hyperparameters.batch, hyperparameters.seed),
        ranks.shard(),
    )?;
    run.finish(&source, report)
}

/// Returns the number of pictures that last as long as a window of `frames`.
pub fn window_pictures(frames: usize, mel: &MelConfig) -> Result<usize> {
    let mut windows = (1..=frames).map(|number| number * SEARCH_EVERY);
    windows.find(|&pictures| mel_frames(pictures, mel) == frames).ok_or_else(|| {
        let least = mel_frames(SEARCH_EVERY, mel);
        Error::option_invalid(format!("a window has a multiple of {least} frames, not {frames}"))
    })
}
