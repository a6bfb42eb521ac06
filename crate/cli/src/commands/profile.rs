//! `ownvoice profile`: where a training step's time goes, module by module.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use serde::Serialize;

use super::{
    console::Console,
    data_loader::DataLoaderArguments,
    device::{DeviceArguments, PrecisionArguments},
    lips::PresetName,
    profile_lips::{self, LipRun},
    profile_tables::{loader_table, rows},
};
use crate::check::loader::{LoaderProfile, profile_loaders};
use burn_fused::ranks::Ranks;
use ownvoice::{
    Result,
    audio::mel::MelConfig,
    check::profile::{Profile, ProfileOptions, Traffic, profile as measure},
    features::Features,
    model::TacotronConfig,
    vocoder::GriffinLim,
};

#[derive(Args)]
#[command(group(ArgGroup::new("learner").args(["pretraining", "lips_preset"])), after_help = "Examples:
  ownvoice profile
  ownvoice profile --pretraining --device vulkan --json
  ownvoice profile --pretraining --data features --batch 16 --window 160
  ownvoice profile --lips-preset --precision mixed")]
pub struct ProfileArguments {
    #[command(flatten)]
    device: DeviceArguments,
    /// Windows of a batch
    ///
    /// 8 unless given, or 4 of lips.
    #[arg(long)]
    batch: Option<usize>,
    /// Frames of a window
    ///
    /// 128 unless given, or 256 of lips.
    #[arg(long)]
    window: Option<usize>,
    /// Runs that are timed, after three that are not
    #[arg(long, default_value_t = ProfileOptions::default().runs)]
    runs: usize,
    /// Batch statistics, as in pretraining; without, running ones, as in cloning
    #[arg(long)]
    pretraining: bool,
    /// A model of lips in place of the base
    ///
    /// Whole steps are timed too, on noise or on features, and decoding on the device beside decoding that the host steps.
    #[arg(long, value_enum, value_name = "PRESET", num_args = 0..=1, default_missing_value = "lips-small")]
    lips_preset: Option<PresetName>,
    #[command(flatten)]
    precision: PrecisionArguments,
    /// Features that `ownvoice prepare` or `ownvoice lips prepare` wrote
    ///
    /// Given them, whole steps are timed on them too, with the blocking loader and with the loader: how long they wait for their batches.
    #[arg(long, requires = "learner")]
    data: Option<PathBuf>,
    #[command(flatten)]
    loader: DataLoaderArguments,
}

pub fn profile(arguments: &ProfileArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    let &ProfileArguments { batch, window, runs, pretraining, precision, lips_preset, .. } = arguments;
    if let Some(preset) = lips_preset {
        let (data, loader, precision) = (arguments.data.clone(), arguments.loader.get(), precision.get());
        let run = LipRun { preset, batch, window, runs, precision, loader, data };
        return profile_lips::profile(&run, &arguments.device.open()?, console);
    }
    let standard = ProfileOptions::default();
    let (batch, window) = (batch.unwrap_or(standard.batch), window.unwrap_or(standard.window));
    let options =
        ProfileOptions { batch, window, runs, pretraining, precision: precision.get(), ranks: ranks.clone() };
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
    let mut text = rows(&found.rows);
    if let Some(bytes) = found.device_bytes {
        text += &format!("\n{:.1} MB of the device's memory", bytes as f64 / 1e6);
    }
    if let Some(Traffic { ranks, bytes, exchanges }) = found.traffic {
        text +=
            &format!("\n{:.2} MB in {exchanges} exchanges a step among {ranks} ranks", bytes as f64 / 1e6);
    }
    let mut loaders = Vec::new();
    if let Some(data) = &arguments.data {
        let features = Features::load(data)?;
        let (sizes, loader) = (TacotronConfig::small(1), arguments.loader.get());
        loaders = profile_loaders(&sizes, &features, &device, &options, loader)?;
        text += &format!("\n\n{}", loader_table(&loaders));
        text += &format!("\n{:.2} h of features", features.seconds() / 3600.0);
    }
    let peak_memory_bytes = peak_memory_bytes();
    if let Some(bytes) = peak_memory_bytes {
        text += &format!("\n{:.0} MB of memory at most", bytes as f64 / 1e6);
    }
    console.result(&MeasuredStep { batch, profile: found, loaders, peak_memory_bytes }, text);
    Ok(())
}

/// What is printed as JSON.
#[derive(Serialize)]
struct MeasuredStep {
    /// Windows of the whole batch.
    batch: usize,
    #[serde(flatten)]
    profile: Profile,
    /// Without features none was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loaders: Vec<LoaderProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
}

/// The most memory that this process has held so far.
#[cfg(unix)]
fn peak_memory_bytes() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call fills the structure where it returns 0.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some(u64::try_from(usage.ru_maxrss).ok()? * unit)
}

#[cfg(not(unix))]
fn peak_memory_bytes() -> Option<u64> {
    None
}
