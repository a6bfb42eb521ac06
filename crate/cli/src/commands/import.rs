//! `ownvoice import`: imports checkpoints and bases.

use burn::prelude::Device;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

use super::{
    console::Console,
    output::{self, OutputKind},
};
use crate::import::Imported;
use burn_fused::weights::Storage;
use ownvoice::{
    Result,
    audio::mel::MelConfig,
    files, lips,
    voice::{AttentiveVoice, Table},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice import tacotron2_statedict.pt --out models/nvidia
  ownvoice say --base models/nvidia --text \"Hello.\" --out hello.wav
  ownvoice import downloads/lips --out models/lips")]
pub struct ImportArguments {
    /// NVIDIA's public checkpoint, such as tacotron2_statedict.pt, or the folder of a lip-to-speech base
    from: PathBuf,
    /// Folder for the model, for `say --base` or `lips say --base`
    #[arg(long)]
    out: PathBuf,
}

pub fn import(arguments: &ImportArguments, console: &Console) -> Result<()> {
    let is_lip_base = arguments.from.is_dir();
    output::check(
        &arguments.out,
        if is_lip_base { OutputKind::LipBase } else { OutputKind::Attention },
        console,
    )?;
    if is_lip_base {
        return import_lips(arguments, console);
    }
    let imported = Imported::read(&arguments.from)?;
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
    // In full precision, as in the checkpoint, because no page downloads this model.
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

fn import_lips(ImportArguments { from, out }: &ImportArguments, console: &Console) -> Result<()> {
    let manifest = lips::base::import(from, out)?;
    let text = format!("{}: {}, speakers {}", out.display(), manifest.name, manifest.speakers.join(", "));
    console.result(&json!({"path": out, "name": manifest.name, "speakers": manifest.speakers}), text);
    Ok(())
}
