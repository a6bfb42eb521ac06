//! Training of the recogniser that finds when each phone of a recording is spoken.

use std::{fs, path::PathBuf};

use burn::prelude::Device;

use super::training::{RecogniserConfig, train};
use ownvoice::{
    Error, Result, align::ForcedAligner, features::Features, files, report::Report, voice::folder,
};

/// From features to the weights of an aligner.
#[derive(Debug, Clone)]
pub struct AlignerConfig {
    /// Features with durations.
    pub data: PathBuf,
    /// File for the weights.
    pub out: PathBuf,
    pub recogniser: RecogniserConfig,
    pub device: Device,
}

/// Trains, and writes the weights at intervals, so that a run that is cut short leaves what it has learned. A base that they are part of stays whole.
pub fn train_aligner(config: &AlignerConfig, report: &dyn Report) -> Result<()> {
    let AlignerConfig { data, out, recogniser, device } = config;
    let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    parent.map_or(Ok(()), |folder| fs::create_dir_all(folder).map_err(Error::io(folder)))?;
    files::check_writable(out)?;
    let features = Features::load(data)?;
    train(&features, recogniser, device, report, |model| {
        let bytes = pollster::block_on(ForcedAligner::serialize(model, features.mel.mels))?;
        folder::write_part(out, &bytes)
    })?;
    Ok(())
}
