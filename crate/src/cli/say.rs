//! `ownvoice say`.

use clap::{Args, ValueEnum};
use std::{fs, path::PathBuf, rc::Rc};

use super::{base, device::DeviceName};
use crate::{
    Error, Result,
    audio::wav,
    synth::{SpeakOptions, speak_async},
    vocoder::{GriffinLim, Vocoder},
    voice::Base,
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
    /// [default: the base's own]
    #[arg(long, value_enum)]
    vocoder: Option<VocoderName>,
    #[arg(long, default_value_t = 1.0)]
    speed: f32,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

/// The vocoder of that name, or the base's own.
pub fn choose(base: &Base, name: Option<VocoderName>) -> Result<Rc<dyn Vocoder>> {
    match name {
        Some(VocoderName::GriffinLim) => Ok(Rc::new(GriffinLim::new(base.mel_config().clone()))),
        Some(VocoderName::Neural) if base.manifest.files.vocoder.is_none() => {
            Err(Error::OptionInvalid("this base has no neural vocoder; --vocoder griffin-lim needs none".into()))
        }
        Some(VocoderName::Neural) | None => Ok(base.vocoder.clone()),
    }
}

pub fn say(arguments: &SayArguments) -> Result<()> {
    let device = arguments.device.open()?;
    let base = base::load(&arguments.base, &device)?;
    let voice = base::voice(&base, arguments.voice.as_deref())?;
    let options = SpeakOptions { speed: arguments.speed, seed: arguments.seed, ..SpeakOptions::default() };
    let vocoder = choose(&base, arguments.vocoder)?;
    let speech = pollster::block_on(speak_async(&base, &voice, &arguments.text, &options, &*vocoder, async |_, _| true))?;
    fs::write(&arguments.out, wav::write(&speech.samples, speech.sample_rate_hz)).map_err(Error::io(&arguments.out))?;
    let seconds = speech.samples.len() as f32 / speech.sample_rate_hz as f32;
    println!("{}: {seconds:.2} s through {}, ended by {}", arguments.out.display(), vocoder.name(), speech.stop.name());
    Ok(())
}
