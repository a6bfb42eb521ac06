//! `ownvoice say`.

use clap::{Args, ValueEnum};
use std::{fs, path::PathBuf};

use super::{base, device::DeviceName};
use crate::{
    Error, Result,
    audio::wav,
    synth::{GriffinLim, SpeakOptions, speak_async},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VocoderName {
    GriffinLim,
    Neural,
}

#[derive(Args)]
pub struct SayArguments {
    /// A voice file; without it the base itself speaks
    #[arg(long)]
    voice: Option<PathBuf>,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    #[arg(long)]
    text: String,
    /// The WAV file to write
    #[arg(long)]
    out: PathBuf,
    #[arg(long, value_enum, default_value = "griffin-lim")]
    vocoder: VocoderName,
    #[arg(long, default_value_t = 1.0)]
    speed: f32,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

pub fn say(arguments: &SayArguments) -> Result<()> {
    if arguments.vocoder == VocoderName::Neural {
        return Err(Error::OptionInvalid("this base has no neural vocoder; --vocoder griffin-lim needs none".into()));
    }
    let device = arguments.device.open()?;
    let base = base::load(&arguments.base, &device)?;
    let voice = base::voice(&base, arguments.voice.as_deref())?;
    let options = SpeakOptions { speed: arguments.speed, seed: arguments.seed, ..SpeakOptions::default() };
    let vocoder = GriffinLim::new(base.mel_config().clone());
    let speech = pollster::block_on(speak_async(&base, &voice, &arguments.text, &options, &vocoder, async |_, _| true))?;
    fs::write(&arguments.out, wav::write(&speech.samples, speech.sample_rate_hz)).map_err(Error::io(&arguments.out))?;
    let seconds = speech.samples.len() as f32 / speech.sample_rate_hz as f32;
    println!("{}: {seconds:.2} s, ended by {}", arguments.out.display(), speech.stop.name());
    Ok(())
}
