//! `ownvoice profile --lips-preset`: where the time of a training step of lips goes.

use std::path::PathBuf;

use burn::prelude::Device;
use serde::Serialize;

use super::{
    console::Console,
    lips::PresetName,
    profile_tables::{loader_table, rows},
};
use crate::{
    learn::data_loader::DataLoaderConfig,
    lips::{
        features::LipFeatures,
        profile::{LipProfile, LipProfileOptions, noise_features, profile_lips},
        train::window_pictures,
    },
};
use burn_fused::matmul::Precision;
use ownvoice::{Result, audio::mel::MelConfig};

/// What is profiled.
pub struct LipRun {
    pub preset: PresetName,
    pub batch: Option<usize>,
    /// Frames.
    pub window: Option<usize>,
    pub runs: usize,
    pub precision: Precision,
    pub loader: DataLoaderConfig,
    /// Features of faces; without, noise.
    pub data: Option<PathBuf>,
}

pub fn profile(run: &LipRun, device: &Device, console: &Console) -> Result<()> {
    let &LipRun { preset, batch, window, runs, precision, loader, ref data } = run;
    let standard = LipProfileOptions::default();
    let batch = batch.unwrap_or(standard.batch);
    let pictures =
        window.map_or(Ok(standard.pictures), |frames| window_pictures(frames, &MelConfig::speech_16k()))?;
    let options = LipProfileOptions { batch, pictures, runs, precision, loader };
    let found = match data {
        Some(data) => measured(preset, &LipFeatures::load(data)?, device, &options),
        None => {
            let folder = std::env::temp_dir().join(format!("ownvoice-profile-{}", std::process::id()));
            // Twice a batch, so that batches differ.
            let found = noise_features(&folder, 2 * batch, pictures)
                .and_then(|features| measured(preset, &features, device, &options));
            let _ = std::fs::remove_dir_all(&folder); // The figures are what counts.
            found
        }
    }?;
    let LipProfile { decode_ms, stepped_decode_ms, .. } = found;
    let text = format!(
        "{}\n\n{}\n\ndecoding a window: {decode_ms:.2} ms on the device, {stepped_decode_ms:.2} ms stepped by the host",
        rows(&found.rows),
        loader_table(&found.loaders)
    );
    console.result(&MeasuredStep { batch, pictures, profile: found }, text);
    Ok(())
}

fn measured(
    preset: PresetName,
    features: &LipFeatures,
    device: &Device,
    options: &LipProfileOptions,
) -> Result<LipProfile> {
    profile_lips(&preset.get().config(features.sounds.speakers.len()), features, device, options)
}

/// What is printed as JSON.
#[derive(Serialize)]
struct MeasuredStep {
    /// Windows of a batch.
    batch: usize,
    /// Of a window.
    pictures: usize,
    #[serde(flatten)]
    profile: LipProfile,
}
