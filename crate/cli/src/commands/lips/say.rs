//! `ownvoice lips say` and `ownvoice lips evaluate`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
};
use crate::{
    evaluate::intelligibility::Intelligibility,
    lips::{
        evaluate::{LipEvaluateConfig, evaluate_lips},
        say_video::speak_video,
    },
};
use ownvoice::{Result, audio::wav, lips::LipBase};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips say silent.mp4 --base models/lips --out speech.wav
  ownvoice lips say silent.mp4 --base models/lips --speaker drawn-003 --out speech.wav --json")]
pub struct SayArguments {
    /// Video, whose sound is ignored
    video: PathBuf,
    /// Folder of the lip-to-speech base
    #[arg(long)]
    base: PathBuf,
    /// Speaker of the base whose voice is used [default: the first]
    #[arg(long)]
    speaker: Option<String>,
    /// WAV file to write
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn say(arguments: &SayArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Wav, console)?;
    let base = LipBase::open(&arguments.base, &arguments.device.open()?)?;
    let speaker = base.speaker(arguments.speaker.as_deref())?;
    let speech = speak_video(&base, &arguments.video, speaker, &*base.vocoder)?;
    for (error, _) in &speech.left_out {
        console.warn(format!("left silent: {error} ({})", error.code()));
    }
    let voice_id = wav::voice_id(&base.manifest.files.weights.sha256);
    output::write(&arguments.out, &speech.to_wav(voice_id))?;
    let left_out: Vec<_> = speech
        .left_out
        .iter()
        .map(|(error, seconds)| json!({"code": error.code(), "seconds": seconds}))
        .collect();
    let json = json!({
        "path": arguments.out,
        "seconds": speech.seconds(),
        "sample_rate_hz": speech.sample_rate_hz,
        "speaker": base.manifest.speakers[speaker],
        "voice": voice_id,
        "vocoder": base.vocoder.name(),
        "tracks": speech.tracks,
        "left_out": left_out,
    });
    let text = format!(
        "{}: {:.2} s through {}, of {} stretches with a face",
        arguments.out.display(),
        speech.seconds(),
        base.vocoder.name(),
        speech.tracks
    );
    console.result(&json, text);
    Ok(())
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice lips evaluate drawn-held-out --base models/lips --wavs spoken
  ownvoice lips evaluate Lip2Wav/Dataset --base models/lips --wavs spoken --json")]
pub struct EvaluateArguments {
    /// Folder of videos in the layout that `lips prepare` reads, which the base was not trained on
    videos: PathBuf,
    /// Folder of the lip-to-speech base
    #[arg(long)]
    base: PathBuf,
    /// Folder for the compared speech as WAV files: from the videos, from still faces and from other videos
    #[arg(long)]
    wavs: PathBuf,
    #[command(flatten)]
    device: DeviceArguments,
}

pub fn evaluate(arguments: &EvaluateArguments, console: &Console) -> Result<()> {
    output::check(&arguments.wavs, OutputKind::Files, console)?;
    let base = LipBase::open(&arguments.base, &arguments.device.open()?)?;
    let config = LipEvaluateConfig { videos: arguments.videos.clone(), out: arguments.wavs.clone() };
    let evaluation = evaluate_lips(&base, &config, console)?;
    let rows = evaluation.conditions.iter().map(|row| {
        let Intelligibility { stoi, estoi } = row.intelligibility;
        format!("  {:8} STOI {stoi:.3}, ESTOI {estoi:.3}\n", row.condition.name())
    });
    let text = format!(
        "{} videos, {:.1} min\n{}attention is monotonic in {:.1} % of them; a second of speech takes {:.2} s",
        evaluation.videos,
        evaluation.seconds / 60.0,
        rows.collect::<String>(),
        100.0 * evaluation.monotonic,
        evaluation.real_time_factor
    );
    console.result(&evaluation, text);
    Ok(())
}
