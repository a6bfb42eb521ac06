//! `ownvoice import`.

use burn::prelude::Device;
use clap::Args;
use std::{fs, path::PathBuf};

use crate::{
    Error, Result,
    audio::mel::MelConfig,
    import::Imported,
    voice::{AttentiveVoice, Table},
    weights::Storage,
};

#[derive(Args)]
pub struct ImportArguments {
    /// NVIDIA's public checkpoint, such as tacotron2_statedict.pt
    checkpoint: PathBuf,
    /// Folder for the model, for `say --base`
    #[arg(long)]
    out: PathBuf,
}

pub fn import(arguments: &ImportArguments) -> Result<()> {
    let imported = Imported::read(&arguments.checkpoint)?;
    let device = Device::flex();
    let model = imported.model(&device)?;
    let voice = AttentiveVoice { model, config: imported.config, mel: MelConfig::nvidia_22k(), table: Table::Nvidia, speaker: 0, device };
    // In full precision, as it came: so much is not downloaded by a page.
    let bytes = pollster::block_on(voice.serialize(Storage::Full))?;
    fs::create_dir_all(&arguments.out).map_err(Error::io(&arguments.out))?;
    let path = arguments.out.join(AttentiveVoice::FILE);
    fs::write(&path, &bytes).map_err(Error::io(&path))?;
    let parameters: usize = imported.weights.values().map(|(_, values)| values.len()).sum();
    println!("{}: {parameters} parameters, {:.1} MB", path.display(), bytes.len() as f32 / 1e6);
    Ok(())
}
