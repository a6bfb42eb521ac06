//! `ownvoice profile`: where a training step's time goes, module by module.

use clap::Args;

use super::{
    console::Console,
    device::{DeviceArguments, PrecisionArguments},
};
use crate::{
    Result,
    audio::mel::MelConfig,
    model::TacotronConfig,
    train::profile::{ProfileOptions, profile as measure},
    vocoder::GriffinLim,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice profile
  ownvoice profile --pretraining --device vulkan --json")]
pub struct ProfileArguments {
    #[command(flatten)]
    device: DeviceArguments,
    /// Windows of a batch
    #[arg(long, default_value_t = ProfileOptions::default().batch)]
    batch: usize,
    /// Frames of a window
    #[arg(long, default_value_t = ProfileOptions::default().window)]
    window: usize,
    /// Runs that are timed, after three that are not
    #[arg(long, default_value_t = ProfileOptions::default().runs)]
    runs: usize,
    /// Batch statistics, as in pretraining; without, running ones, as in cloning
    #[arg(long)]
    pretraining: bool,
    #[command(flatten)]
    precision: PrecisionArguments,
}

pub fn profile(arguments: &ProfileArguments, console: &Console) -> Result<()> {
    let &ProfileArguments { batch, window, runs, pretraining, precision, .. } = arguments;
    let options = ProfileOptions { batch, window, runs, pretraining, precision: precision.get() };
    let vocoder = GriffinLim::new(MelConfig::speech_16k());
    let device = arguments.device.open()?;
    let found = pollster::block_on(measure(
        &TacotronConfig::small(1),
        &vocoder,
        &device,
        &options,
        &|| None,
        async |_, _| true,
    ))?;
    let mut text = format!("{:<12} {:>10} {:>10}", "ms", "forward", "backward");
    for row in &found.rows {
        let backward = row.backward_ms.map_or(String::new(), |time| format!("{time:.2}"));
        text += &format!("\n{:<12} {:>10.2} {backward:>10}", row.module, row.forward_ms);
    }
    if let Some(bytes) = found.device_bytes {
        text += &format!("\n{:.1} MB of the device's memory", bytes as f64 / 1e6);
    }
    console.result(&found, text);
    Ok(())
}
