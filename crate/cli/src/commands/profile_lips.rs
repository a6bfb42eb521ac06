//! `ownvoice profile --lips-preset`: the time of each module in a training step of a lip-to-speech model.

use std::path::PathBuf;

use burn::prelude::Device;
use serde::Serialize;

use super::{
    console::Console,
    profile_tables::{loader_table, rows},
};
use crate::{
    learn::data_loader::DataLoaderConfig,
    lips::{
        features::LipFeatures,
        profile::{LipProfile, LipProfileOptions, noise_features, profile_lips},
        train::{LipPreset, window_pictures},
    },
};
use burn_fused::matmul::Precision;
use ownvoice::{Result, audio::mel::MelConfig};

/// The arguments of a profile.
pub struct LipRun {
    pub preset: LipPreset,
    pub batch: Option<usize>,
    /// The length of a window in frames.
    pub window: Option<usize>,
    pub runs: usize,
    pub precision: Precision,
    pub loader: DataLoaderConfig,
    /// The folder of features of faces; `None` for noise.
    pub data: Option<PathBuf>,
}

pub fn profile(run: &LipRun, device: &Device, console: &Console) -> Result<()> {
    let &LipRun { preset, batch, window, runs, precision, loader, ref data } = run;
    let defaults = LipProfileOptions::default();
    let batch = batch.unwrap_or(defaults.batch);
    let pictures =
        window.map_or(Ok(defaults.pictures), |frames| window_pictures(frames, &MelConfig::speech_16k()))?;
    let options = LipProfileOptions { batch, pictures, runs, precision, loader };
    let found = match data {
        Some(data) => measured(preset, &LipFeatures::load(data)?, device, &options),
        None => {
            let folder = std::env::temp_dir().join(format!("ownvoice-profile-{}", std::process::id()));
            // Two batches of features, so that batches differ.
            let found = noise_features(&folder, 2 * batch, pictures)
                .and_then(|features| measured(preset, &features, device, &options));
            let _ = std::fs::remove_dir_all(&folder); // A remaining folder does not invalidate the measurement.
            found
        }
    }?;
    let LipProfile { decode_ms, stepped_decode_ms, .. } = found;
    let text = format!(
        "{}\n\n{}\n\ndecoding a window: {decode_ms:.2} ms on the device, {stepped_decode_ms:.2} ms step by step from the host",
        rows(&found.rows),
        loader_table(&found.loaders)
    );
    console.result(&MeasuredStep { batch, pictures, profile: found }, text);
    Ok(())
}

fn measured(
    preset: LipPreset,
    features: &LipFeatures,
    device: &Device,
    options: &LipProfileOptions,
) -> Result<LipProfile> {
    profile_lips(&preset.config(features.sounds.speakers.len()), features, device, options)
}

/// The result as JSON.
#[derive(Serialize)]
struct MeasuredStep {
    /// Windows of a batch.
    batch: usize,
    /// The number of pictures in a window.
    pictures: usize,
    #[serde(flatten)]
    profile: LipProfile,
}
