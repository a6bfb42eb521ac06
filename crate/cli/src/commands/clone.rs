//! `ownvoice clone`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{
    console::Console,
    device::{DeviceArguments, PlanArguments},
    output::{self, Made},
};
use crate::clone::{learn, read_clips};
use ownvoice::{
    Result, clone::options::CloneOptions, files, model::pitch::Intonation, report::Report, voice::Base,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice clone --clips recordings --out me.ownvoice
  ownvoice clone --clips minute.m4a --out me.ownvoice
  ownvoice clone --clips recordings --out me.ownvoice --iterations 100 --seconds 30 --json")]
pub struct CloneArguments {
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Recordings in any common format: `metadata.csv` of `id|text` and `wavs/id.wav`; or one, with its text beside it as `.txt`
    #[arg(long)]
    clips: PathBuf,
    /// The voice file to write
    #[arg(long)]
    out: PathBuf,
    /// Iterations of the training
    ///
    /// At most: it ends early where it no longer gains.
    #[arg(long, default_value_t = CloneOptions::default().iterations)]
    iterations: usize,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    plan: PlanArguments,
    /// The same seed, input and device give the same result
    #[arg(long, default_value_t = CloneOptions::default().seed)]
    seed: u64,
    /// Use no more speech than this
    #[arg(long)]
    seconds: Option<f32>,
    /// Learning rate at the start
    ///
    /// Of the postnet; the decoder's is a fifth of it.
    #[arg(long, default_value_t = CloneOptions::default().rate)]
    rate: f64,
    /// How much sentences that the base says in the new voice count beside half a minute of clips, against forgetting; 0: no rehearsal
    ///
    /// Beside twice as much speech they count half, beside that of a voice twice as far from the base four times as much; 2.5 times as much at most.
    #[arg(long, default_value_t = CloneOptions::default().rehearsal)]
    rehearsal: f32,
}

pub fn clone(arguments: &CloneArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::Voice, console)?;
    let base = Base::open(&arguments.base, &arguments.device.open()?)?;
    let clips = read_clips(&arguments.clips, arguments.seconds)?;
    let plan = arguments.plan.get()?;
    let options = CloneOptions {
        iterations: arguments.iterations,
        seed: arguments.seed,
        rate: arguments.rate,
        rehearsal: arguments.rehearsal,
        precision: plan.precision,
        half: plan.half,
        plain: plan.plain,
        ..CloneOptions::default()
    };
    console.note(&format!("aligning {} clips", clips.len()));
    let voice = learn(&base, &clips, options, console)?;
    let bytes = voice.save(&base)?;
    files::write(&arguments.out, &bytes)?;
    let mut text = format!(
        "{}: {:.1} MB, duration scale {:.2}",
        arguments.out.display(),
        bytes.len() as f32 / 1e6,
        voice.duration_scale
    );
    if let Some(Intonation { mean_hz, spread }) = voice.intonation {
        text += &format!("\nmean pitch {mean_hz:.0} Hz, its spread {spread:.2} times the base's");
    }
    let info = voice.info();
    let json = json!({
        "path": arguments.out,
        "bytes": bytes.len(),
        "clips": clips.len(),
        "seconds": info.seconds,
        "iterations": info.iterations,
        "held_out_loss": info.held_out_loss,
        "duration_scale": voice.duration_scale,
        "variance_scale": voice.global_variance_scale,
        "mean_pitch_hz": voice.intonation.map(|intonation| intonation.mean_hz),
        "pitch_spread": voice.intonation.map(|intonation| intonation.spread),
    });
    console.result(&json, text);
    Ok(())
}
