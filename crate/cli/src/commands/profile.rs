//! `ownvoice profile`: the time of each module in a training step.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use serde::Serialize;

use super::{
    console::Console,
    data_loader::DataLoaderArguments,
    device::{DeviceArguments, PrecisionArguments},
    profile_lips::{self, LipRun},
    profile_tables::{loader_table, rows},
    tune_net::net_parser,
};
use crate::{
    check::loader::{LoaderProfile, profile_loaders},
    lips::train::LipPreset,
};
use burn_fused::{Mode, ranks::Ranks};
use ownvoice::{
    Result,
    audio::mel::MelConfig,
    check::profile::{Profile, ProfileOptions, Traffic, profile as measure},
    features::Features,
    model::TacotronConfig,
    nets::{
        NetConfig, NetKind,
        profile::{NetProfileOptions, profile_net},
    },
    vocoder::GriffinLim,
};

#[derive(Args)]
#[command(group(ArgGroup::new("learner").args(["pretraining", "lips_preset"])), after_help = "Examples:
  ownvoice profile
  ownvoice profile --pretraining --device vulkan --json
  ownvoice profile --pretraining --data features --batch 16 --window 160
  ownvoice profile --lips-preset --precision mixed
  ownvoice profile --net mobilenetv1 --batch 32")]
pub struct ProfileArguments {
    #[command(flatten)]
    device: DeviceArguments,
    /// Number of windows or pictures in a batch
    ///
    /// The default is 8, 4 with --lips-preset, or 16 with --net.
    #[arg(long)]
    batch: Option<usize>,
    /// Length of a window in frames
    ///
    /// The default is 128, or 256 with --lips-preset.
    #[arg(long)]
    window: Option<usize>,
    /// Number of timed runs, after three that are not timed
    #[arg(long, default_value_t = ProfileOptions::default().runs)]
    runs: usize,
    /// Use batch statistics, as in pretraining, instead of running statistics, as in cloning
    #[arg(long)]
    pretraining: bool,
    /// Profile a lip-to-speech model instead of the base
    ///
    /// Whole steps are timed too, on noise or on features, and decoding on the device is compared with decoding step by step from the host.
    #[arg(long, value_enum, value_name = "PRESET", num_args = 0..=1, default_missing_value = "lips-small")]
    lips_preset: Option<LipPreset>,
    /// Small net for pictures
    ///
    /// A step of this net with random weights, on noise of its usual size, is profiled instead of one of the base.
    #[arg(long, value_parser = net_parser(), conflicts_with_all = ["lips_preset", "window", "data"])]
    net: Option<NetKind>,
    #[command(flatten)]
    precision: PrecisionArguments,
    /// Features that `ownvoice prepare` or `ownvoice lips prepare` wrote
    ///
    /// Whole steps are timed on them too, with the blocking data loader and with threads, to measure how long they wait for their batches.
    #[arg(long, requires = "learner")]
    data: Option<PathBuf>,
    #[command(flatten)]
    loader: DataLoaderArguments,
}

pub fn profile(arguments: &ProfileArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    let &ProfileArguments { batch, window, runs, pretraining, precision, lips_preset, .. } = arguments;
    if let Some(preset) = lips_preset {
        let (data, loader, precision) = (arguments.data.clone(), arguments.loader.get(), precision.precision);
        let run = LipRun { preset, batch, window, runs, precision, loader, data };
        return profile_lips::profile(&run, &arguments.device.open()?, console);
    }
    if let Some(kind) = arguments.net {
        return profile_small_net(kind, arguments, console);
    }
    let defaults = ProfileOptions::default();
    let (batch, window) = (batch.unwrap_or(defaults.batch), window.unwrap_or(defaults.window));
    let options = ProfileOptions {
        batch,
        window,
        runs,
        pretraining,
        precision: precision.precision,
        ranks: ranks.clone(),
    };
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
    print(batch, found, loaders, text, console);
    Ok(())
}

/// Profiles a net of its usual size for as many classes as ImageNet has.
fn profile_small_net(kind: NetKind, arguments: &ProfileArguments, console: &Console) -> Result<()> {
    let batch = arguments.batch.unwrap_or(NetProfileOptions::default().batch);
    let mode = if arguments.pretraining { Mode::Train } else { Mode::Eval };
    let (runs, precision) = (arguments.runs, arguments.precision.precision);
    let options = NetProfileOptions { batch, runs, mode, precision };
    let config = NetConfig::of(kind, 1000);
    let found = pollster::block_on(profile_net(&config, &arguments.device.open()?, options))?;
    let text = rows(&found);
    print(batch, Profile { rows: found, device_bytes: None, traffic: None }, Vec::new(), text, console);
    Ok(())
}

/// Prints a profile, and the peak memory of this process.
fn print(batch: usize, profile: Profile, loaders: Vec<LoaderProfile>, mut text: String, console: &Console) {
    let peak_memory_bytes = peak_memory_bytes();
    if let Some(bytes) = peak_memory_bytes {
        text += &format!("\n{:.0} MB of peak memory", bytes as f64 / 1e6);
    }
    console.result(&MeasuredStep { batch, profile, loaders, peak_memory_bytes }, text);
}

/// The result as JSON.
#[derive(Serialize)]
struct MeasuredStep {
    /// The number of windows or pictures in the whole batch.
    batch: usize,
    #[serde(flatten)]
    profile: Profile,
    /// The profiles of data loaders, which need features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loaders: Vec<LoaderProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
}

/// Returns the peak memory of this process so far.
#[cfg(unix)]
fn peak_memory_bytes() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call fills the structure if it returns 0.
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
