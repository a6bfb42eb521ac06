//! `ownvoice say`.

use clap::{Args, ValueEnum};
use std::{fs, path::PathBuf, rc::Rc};

use super::{base, device::DeviceName};
use crate::{
    Error, Result,
    audio::wav::{self, Origin},
    files,
    model::StopReason,
    synth::{SpeakOptions, Speech, speak_async, speak_attentive_async},
    text::{Phonemizer, language},
    vocoder::{GriffinLim, Vocoder},
    voice::{AttentiveVoice, Base, sha256_hex},
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
    /// Folder of the base voice, or of an attention model
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
    /// Times the learned speed, 0.25 to 4
    #[arg(long, default_value_t = SpeakOptions::default().speed)]
    speed: f32,
    /// Semitones above the learned pitch, -12 to 12; needs a base with pitch
    #[arg(long, default_value_t = SpeakOptions::default().pitch, allow_negative_numbers = true)]
    pitch: f32,
    /// Times the learned liveliness of the melody: 0 (monotone) to 3; likewise
    #[arg(long, default_value_t = SpeakOptions::default().liveliness)]
    liveliness: f32,
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
            Err(Error::option_invalid("this base has no neural vocoder; --vocoder griffin-lim needs none"))
        }
        Some(VocoderName::Neural) | None => Ok(base.vocoder.clone()),
    }
}

pub fn say(arguments: &SayArguments) -> Result<()> {
    files::check_writable(&arguments.out)?;
    let options = SpeakOptions {
        speed: arguments.speed,
        pitch: arguments.pitch,
        liveliness: arguments.liveliness,
        seed: arguments.seed,
        ..SpeakOptions::default()
    };
    for doubt in language::doubts(&arguments.text) {
        eprintln!("warning: {doubt}");
    }
    let device = arguments.device.open()?;
    let imported = arguments.base.join(AttentiveVoice::FILE);
    if imported.exists() && !arguments.base.join(base::MANIFEST).exists() {
        let model = fs::read(&imported).map_err(Error::io(&imported))?;
        return say_attentive(
            arguments,
            &AttentiveVoice::load(&model, &device)?,
            &sha256_hex(&model),
            &options,
        );
    }
    let base = base::load(&arguments.base, &device)?;
    let voice = base::voice(&base, arguments.voice.as_deref())?;
    let vocoder = choose(&base, arguments.vocoder)?;
    let speech = pollster::block_on(speak_async(
        &base,
        &voice,
        &arguments.text,
        &options,
        &*vocoder,
        async |_, _| true,
    ))?;
    let hash = match &arguments.voice {
        Some(path) => sha256_hex(&fs::read(path).map_err(Error::io(path))?),
        None => base.hash().to_owned(),
    };
    write(arguments, &speech, &hash, &*vocoder)
}

/// An attention model speaks as itself, through Griffin-Lim.
fn say_attentive(
    arguments: &SayArguments,
    voice: &AttentiveVoice,
    hash: &str,
    options: &SpeakOptions,
) -> Result<()> {
    if arguments.voice.is_some() {
        return Err(Error::option_invalid(
            "a voice speaks on the base it was learned from, not on an attention model",
        ));
    }
    if arguments.vocoder == Some(VocoderName::Neural) {
        return Err(Error::option_invalid(
            "an attention model has no neural vocoder; --vocoder griffin-lim needs none",
        ));
    }
    let vocoder = GriffinLim::new(voice.mel.clone());
    let phonemizer = Phonemizer::embedded();
    let speech = pollster::block_on(speak_attentive_async(
        voice,
        &phonemizer,
        &arguments.text,
        options,
        &vocoder,
        async |_, _| true,
    ))?;
    write(arguments, &speech, hash, &vocoder)
}

/// The file is marked as synthetic, with the hash of its voice.
fn write(arguments: &SayArguments, speech: &Speech, hash: &str, vocoder: &dyn Vocoder) -> Result<()> {
    let file = wav::write_with_origin(
        &speech.samples,
        speech.sample_rate_hz,
        &Origin::synthetic(wav::voice_id(hash)),
    );
    files::write(&arguments.out, file)?;
    let seconds = speech.samples.len() as f32 / speech.sample_rate_hz as f32;
    if speech.stop == StopReason::MaxFrames {
        eprintln!("warning: a sentence was cut off, since it came to no end within {} s", seconds.round());
    }
    println!(
        "{}: {seconds:.2} s through {}, ended by {}",
        arguments.out.display(),
        vocoder.name(),
        speech.stop.name()
    );
    Ok(())
}
