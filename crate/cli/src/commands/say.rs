//! `ownvoice say`.

use clap::{Args, ValueEnum};
use serde_json::json;
use std::{path::PathBuf, sync::Arc};

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, Made},
};
use ownvoice::{
    Error, Result,
    audio::wav,
    files,
    model::StopReason,
    synth::{SpeakOptions, Speech, speak_async, speak_attentive_async},
    text::{Phonemizer, language},
    vocoder::{GriffinLim, Vocoder},
    voice::{
        AttentiveVoice, Base,
        folder::{self, MANIFEST},
        sha256_hex,
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VocoderName {
    GriffinLim,
    Neural,
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice say --voice me.ownvoice --text \"Anything at all.\" --out say.wav
  ownvoice say --base models/base --text \"Slowly, please.\" --speed 0.8 --out slowly.wav")]
pub struct SayArguments {
    /// Voice file [default: the base itself]
    #[arg(long)]
    voice: Option<PathBuf>,
    /// Folder of the base voice, or of an attention model
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Text to speak
    #[arg(long)]
    text: String,
    /// WAV file to write
    #[arg(long)]
    out: PathBuf,
    /// Vocoder [default: that of the base]
    #[arg(long, value_enum)]
    vocoder: Option<VocoderName>,
    /// Speed relative to the learned speed, 0.25 to 4
    #[arg(long, default_value_t = SpeakOptions::default().speed)]
    speed: f32,
    /// Pitch in semitones above the learned pitch, -12 to 12; needs a base with pitch
    #[arg(long, default_value_t = SpeakOptions::default().pitch, allow_negative_numbers = true)]
    pitch: f32,
    /// Pitch range relative to the learned one, 0 (monotone) to 3; needs a base with pitch
    #[arg(long, default_value_t = SpeakOptions::default().pitch_range)]
    liveliness: f32,
    /// Seed of the random numbers; the same seed, input and device give the same result
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Returns the vocoder with this name, or that of the base.
pub fn choose(base: &Base, name: Option<VocoderName>) -> Result<Arc<dyn Vocoder>> {
    match name {
        Some(VocoderName::GriffinLim) => Ok(Arc::new(GriffinLim::new(base.mel_config().clone()))),
        Some(VocoderName::Neural) if base.manifest.files.vocoder.is_none() => {
            Err(Error::option_invalid("this base has no neural vocoder; --vocoder griffin-lim needs none"))
        }
        Some(VocoderName::Neural) | None => Ok(base.vocoder.clone()),
    }
}

pub fn say(arguments: &SayArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::Wav, console)?;
    let options = SpeakOptions {
        speed: arguments.speed,
        pitch: arguments.pitch,
        pitch_range: arguments.liveliness,
        seed: arguments.seed,
    };
    for doubt in language::doubts(&arguments.text) {
        console.warn(doubt);
    }
    let device = arguments.device.open()?;
    let imported = arguments.base.join(AttentiveVoice::FILE);
    if imported.exists() && !arguments.base.join(MANIFEST).exists() {
        let model = files::read(&imported)?;
        return say_attentive(
            arguments,
            &AttentiveVoice::load(&model, &device)?,
            &sha256_hex(&model),
            &options,
            console,
        );
    }
    let base = Base::open(&arguments.base, &device)?;
    let voice = folder::voice(&base, arguments.voice.as_deref())?;
    let vocoder = choose(&base, arguments.vocoder)?;
    let speech =
        pollster::block_on(speak_async(&voice, &arguments.text, &options, &*vocoder, async |_, _| true))?;
    let hash = match &arguments.voice {
        Some(path) => sha256_hex(&files::read(path)?),
        None => base.hash().to_owned(),
    };
    write(arguments, &speech, &hash, &*vocoder, console)
}

/// Synthesises speech with an attention model and Griffin-Lim.
fn say_attentive(
    arguments: &SayArguments,
    voice: &AttentiveVoice,
    hash: &str,
    options: &SpeakOptions,
    console: &Console,
) -> Result<()> {
    if arguments.voice.is_some() {
        return Err(Error::option_invalid(
            "a voice needs the base that it was cloned from, not an attention model",
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
    write(arguments, &speech, hash, &vocoder, console)
}

/// Writes the speech to a WAV file that is marked as synthetic and names the voice by its hash.
fn write(
    arguments: &SayArguments,
    speech: &Speech,
    hash: &str,
    vocoder: &dyn Vocoder,
    console: &Console,
) -> Result<()> {
    let voice_id = wav::voice_id(hash);
    files::write(&arguments.out, speech.to_wav(voice_id))?;
    let seconds = speech.seconds();
    if speech.stop == StopReason::MaxFrames {
        console.warn(format!("a sentence was cut off, because it did not end within {} s", seconds.round()));
    }
    let json = json!({
        "path": arguments.out,
        "seconds": seconds,
        "sample_rate_hz": speech.sample_rate_hz,
        "voice": voice_id,
        "vocoder": vocoder.name(),
        "stop": speech.stop.name(),
    });
    let text = format!(
        "{}: {seconds:.2} s through {}, ended by {}",
        arguments.out.display(),
        vocoder.name(),
        speech.stop.name()
    );
    console.result(&json, text);
    Ok(())
}
