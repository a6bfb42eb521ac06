//! Trains the recogniser of an aligner on features and writes its weights.

use std::{fs, path::PathBuf};

use burn::prelude::Device;

use super::training::{RecogniserConfig, train};
use ownvoice::{
    Error, Result, align::ForcedAligner, features::Features, files, report::Report, voice::folder,
};

/// The configuration of a training of the aligner.
#[derive(Debug, Clone)]
pub struct AlignerConfig {
    /// The folder of features with durations.
    pub data: PathBuf,
    /// The file for the weights.
    pub out: PathBuf,
    pub recogniser: RecogniserConfig,
    pub device: Device,
}

/// Trains, and writes the weights at intervals, so that an interrupted training leaves the latest ones. If they are part of a base, its manifest is updated.
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
