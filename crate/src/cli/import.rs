//! `ownvoice import`.

use burn::prelude::Device;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

use super::{
    console::Console,
    output::{self, Made},
};
use crate::{
    Result,
    audio::mel::MelConfig,
    files,
    import::Imported,
    voice::{AttentiveVoice, Table},
    weights::Storage,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice import tacotron2_statedict.pt --out models/nvidia
  ownvoice say --base models/nvidia --text \"Hello.\" --out hello.wav")]
pub struct ImportArguments {
    /// NVIDIA's public checkpoint, such as tacotron2_statedict.pt
    checkpoint: PathBuf,
    /// Folder for the model, for `say --base`
    #[arg(long)]
    out: PathBuf,
}

pub fn import(arguments: &ImportArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::Attention, console)?;
    let imported = Imported::read(&arguments.checkpoint)?;
    let device = Device::flex();
    let model = imported.model(&device)?;
    let voice = AttentiveVoice {
        model,
        config: imported.config,
        mel: MelConfig::nvidia_22k(),
        table: Table::Nvidia,
        speaker: 0,
        device,
    };
    // In full precision, as it came: so much is not downloaded by a page.
    let bytes = pollster::block_on(voice.serialize(Storage::Full))?;
    let path = arguments.out.join(AttentiveVoice::FILE);
    files::write(&path, &bytes)?;
    let parameters: usize = imported.weights.values().map(|(_, values)| values.len()).sum();
    console.result(
        &json!({"path": path, "bytes": bytes.len(), "parameters": parameters}),
        format!("{}: {parameters} parameters, {:.1} MB", path.display(), bytes.len() as f32 / 1e6),
    );
    Ok(())
}
