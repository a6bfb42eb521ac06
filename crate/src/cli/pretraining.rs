//! `ownvoice pretrain`.

use std::path::PathBuf;

use burn::prelude::Device;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::{
    console::Console,
    device::{DeviceArguments, PlanArguments},
    feeder::FeederArguments,
    output::{self, Made},
    ranks::RanksArguments,
};
use crate::{
    Result,
    pipeline::{self, AlignmentPath, Preset, PretrainConfig, Trained},
    ranks::Ranks,
    report::Report,
    train::{run::Recipe, watch::WatchConfig},
};

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PresetName {
    Small,
    Tacotron2,
    Tiny,
}

/// How text and sound are brought together.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PathName {
    /// By known durations: the base voice
    Durations,
    /// By location-sensitive attention: classic Tacotron 2
    Attention,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice pretrain --data features --out models/base --resume
  ownvoice pretrain --data features --out models/attention --path attention --preset tacotron2")]
pub struct PretrainArguments {
    /// Features that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the base voice; the aligner must be in it
    #[arg(long)]
    out: PathBuf,
    /// Sizes of the model
    #[arg(long, value_enum, default_value = "small")]
    preset: PresetName,
    /// How text and sound are brought together
    #[arg(long, value_enum, default_value = "durations")]
    path: PathName,
    #[command(flatten)]
    device: DeviceArguments,
    /// Steps of the training
    #[arg(long, default_value_t = Recipe::base().steps)]
    steps: usize,
    /// Windows of a batch
    #[arg(long, default_value_t = Recipe::base().batch)]
    batch: usize,
    #[command(flatten)]
    plan: PlanArguments,
    /// Learning rate at the start; it falls to a twentieth
    #[arg(long, default_value_t = Recipe::base().rate_start)]
    rate: f64,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = Recipe::base().seed)]
    seed: u64,
    /// Folder of a base that training begins with
    #[arg(long)]
    from: Option<PathBuf>,
    /// Go on from the checkpoint in the folder for runs
    #[arg(long)]
    resume: bool,
    /// Steps from one count of magnitudes, in statistics.jsonl of the folder for runs, to the next; 0: none
    #[arg(long, default_value_t = WatchConfig::default().statistics_every)]
    statistics_every: usize,
    /// Folder for checkpoint and curve [default: OUT/run]
    #[arg(long)]
    run: Option<PathBuf>,
    #[command(flatten)]
    feeder: FeederArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

pub fn pretrain(arguments: &PretrainArguments, ranks: &Ranks, console: &Console) -> Result<()> {
    let made = match arguments.path {
        PathName::Durations => Made::Base,
        PathName::Attention => Made::Attention,
    };
    output::check(&arguments.out, made, console)?;
    let trained = arguments.ranks.train(arguments.device, ranks, |ranks, device| {
        // One rank speaks for all.
        let report: &dyn Report = if ranks.is_first() { console } else { &() };
        pipeline::pretrain(&config(arguments, ranks, device)?, report)
    })?;
    print(&trained, console);
    Ok(())
}

fn config(arguments: &PretrainArguments, ranks: &Ranks, device: &Device) -> Result<PretrainConfig> {
    let usual = PretrainConfig::new(arguments.data.clone(), arguments.out.clone(), device.clone());
    Ok(PretrainConfig {
        preset: match arguments.preset {
            PresetName::Small => Preset::Small,
            PresetName::Tacotron2 => Preset::Tacotron2,
            PresetName::Tiny => Preset::Tiny,
        },
        path: match arguments.path {
            PathName::Durations => AlignmentPath::Durations,
            PathName::Attention => AlignmentPath::Attention,
        },
        recipe: Recipe {
            steps: arguments.steps,
            batch: arguments.batch,
            seed: arguments.seed,
            compute: arguments.plan.get()?,
            rate_start: arguments.rate,
            rate_end: arguments.rate / 20.0,
            ..Recipe::base()
        },
        from: arguments.from.clone(),
        resume: arguments.resume,
        run: arguments.run.clone().unwrap_or(usual.run),
        feeder: arguments.feeder.get(),
        ranks: ranks.clone(),
        watch: WatchConfig { statistics_every: arguments.statistics_every, ..usual.watch },
        ..usual
    })
}

/// What a training came to.
pub fn print(trained: &Trained, console: &Console) {
    let Trained { path, bytes, held_out_loss } = trained;
    console.result(
        &json!({"path": path, "bytes": bytes, "held_out_loss": held_out_loss}),
        format!("{}: {:.1} MB, held-out loss {held_out_loss:.4}", path.display(), *bytes as f32 / 1e6),
    );
}
