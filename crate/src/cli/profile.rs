//! `ownvoice profile`: where a training step's time goes, module by module.

use clap::Args;

use super::device::DeviceName;
use crate::{
    Result,
    audio::mel::MelConfig,
    model::TacotronConfig,
    nn::Precision,
    train::profile::{ProfileOptions, profile as measure},
    vocoder::GriffinLim,
};

#[derive(Args)]
pub struct ProfileArguments {
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
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
    /// Mixed: products in half precision, where the device has it
    #[arg(long, value_enum, default_value = "f32")]
    precision: Precision,
    #[arg(long)]
    json: bool,
}

pub fn profile(arguments: &ProfileArguments) -> Result<()> {
    let &ProfileArguments { batch, window, runs, pretraining, precision, .. } = arguments;
    let options = ProfileOptions { batch, window, runs, pretraining, precision };
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
    if arguments.json {
        println!("{}", serde_json::to_string(&found).expect("plain data"));
        return Ok(());
    }
    println!("{:<12} {:>10} {:>10}", "ms", "forward", "backward");
    for row in &found.rows {
        let backward = row.backward_ms.map_or(String::new(), |time| format!("{time:.2}"));
        println!("{:<12} {:>10.2} {backward:>10}", row.module, row.forward_ms);
    }
    if let Some(bytes) = found.device_bytes {
        println!("{:.1} MB of the device's memory", bytes as f64 / 1e6);
    }
    Ok(())
}
