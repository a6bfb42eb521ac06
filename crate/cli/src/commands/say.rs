//! `ownvoice say`.

use clap::{Args, ValueEnum};
use serde_json::json;
use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    console::Console,
    device::DeviceArguments,
    output::{self, OutputKind},
};
use crate::corpus::list::decoded;
use ownvoice::{
    Error, ErrorKind, Result,
    audio::wav,
    digest::sha256_hex,
    files,
    model::StopReason,
    report::{Progress, Report},
    synth::{SpeakOptions, Speech, speak::MAX_CHARACTERS, speak_async, speak_attentive_async},
    text::{Phonemizer, language},
    vocoder::{GriffinLim, Vocoder},
    voice::{
        AttentiveVoice, Base,
        folder::{self, MANIFEST},
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
  ownvoice say --base models/base --text \"Slowly, please.\" --speed 0.8 --out slowly.wav
  ownvoice say --text-file story.txt --out story.wav
  ownvoice say --text-file - --out - | aplay")]
pub struct SayArguments {
    /// Voice file [default: the base itself]
    #[arg(long)]
    voice: Option<PathBuf>,
    /// Folder of the base voice, or of an attention model
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Text to speak
    #[arg(
        long,
        allow_hyphen_values = true,
        required_unless_present = "text_file",
        conflicts_with = "text_file"
    )]
    text: Option<String>,
    /// File with the text to speak, of any length; - for standard input
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    /// WAV file to write; - for standard output
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
    output::check(&arguments.out, OutputKind::Wav, console)?;
    let options = SpeakOptions {
        speed: arguments.speed,
        pitch: arguments.pitch,
        pitch_range: arguments.liveliness,
        seed: arguments.seed,
    };
    let text = text(arguments)?;
    for doubt in language::doubts(&text) {
        console.warn(doubt);
    }
    let device = arguments.device.open()?;
    let imported = arguments.base.join(AttentiveVoice::FILE);
    if imported.exists() && !arguments.base.join(MANIFEST).exists() {
        let model = files::read(&imported)?;
        return say_attentive(
            arguments,
            &text,
            &AttentiveVoice::load(&model, &device)?,
            &sha256_hex(&model),
            &options,
            console,
        );
    }
    let base = Base::open(&arguments.base, &device)?;
    let voice = folder::voice(&base, arguments.voice.as_deref())?;
    let vocoder = choose(&base, arguments.vocoder)?;
    let speech = speak_pieces(&text, console, |piece| {
        pollster::block_on(speak_async(&voice, piece, &options, &*vocoder, async |_, _| true))
    })?;
    let hash = match &arguments.voice {
        Some(path) => sha256_hex(&files::read(path)?),
        None => base.hash().to_owned(),
    };
    write(arguments, &speech, &hash, &*vocoder, console)
}

/// Synthesises speech with an attention model and Griffin-Lim.
fn say_attentive(
    arguments: &SayArguments,
    text: &str,
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
    let speech = speak_pieces(text, console, |piece| {
        pollster::block_on(speak_attentive_async(
            voice,
            &phonemizer,
            piece,
            options,
            &vocoder,
            async |_, _| true,
        ))
    })?;
    write(arguments, &speech, hash, &vocoder, console)
}

/// Returns the text to speak, from the option, a file or standard input.
fn text(SayArguments { text, text_file, .. }: &SayArguments) -> Result<String> {
    let bytes = match text_file {
        None => return Ok(text.clone().unwrap_or_default()),
        Some(path) if path == Path::new("-") => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(Error::io(path))?;
            bytes
        }
        Some(path) => files::read(path)?,
    };
    let name = text_file.iter().map(|path| path.display().to_string()).collect::<String>();
    decoded(&bytes).map_err(|what| Error::option_invalid(format!("{name}{what}; save it as UTF-8")))
}

/// The silence between two pieces of a long text, in seconds, as between sentences.
const PAUSE_SECONDS: f32 = 0.15;

/// Speaks a text of any length, in pieces that can be spoken at once.
fn speak_pieces(
    text: &str,
    console: &Console,
    mut speak: impl FnMut(&str) -> Result<Speech>,
) -> Result<Speech> {
    let pieces = pieces(text, MAX_CHARACTERS);
    let mut whole: Option<Speech> = None;
    for (index, piece) in pieces.iter().enumerate() {
        let spoken = match speak(piece) {
            // A piece between others may hold only signs that are not spoken.
            Err(error) if pieces.len() > 1 && is_unspoken(&error) => continue,
            spoken => spoken?,
        };
        match &mut whole {
            None => whole = Some(spoken),
            Some(whole) => {
                let pause = (PAUSE_SECONDS * whole.sample_rate_hz as f32) as usize;
                whole.samples.extend(std::iter::repeat_n(0.0, pause));
                whole.samples.extend(spoken.samples);
                if spoken.stop == StopReason::MaxFrames {
                    whole.stop = spoken.stop;
                }
            }
        }
        if pieces.len() > 1 {
            console.progress(&Progress {
                done: index + 1,
                of: Some(pieces.len()),
                message: "pieces of the text",
            });
        }
    }
    whole.ok_or_else(|| Error::text_unsupported(text))
}

fn is_unspoken(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::TextEmpty | ErrorKind::TextUnsupported)
}

/// Splits a text into pieces of at most some characters: at a blank line, else at the end of a line or of a sentence, else at a space.
fn pieces(text: &str, most: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((end, _)) = rest.char_indices().nth(most) {
        // The separator belongs to the piece before it.
        let cut = ["\n\n", "\n", ". ", "? ", "! ", " "]
            .into_iter()
            .find_map(|end_of| rest[..end].rfind(end_of).filter(|&at| at > 0).map(|at| at + end_of.len()));
        let (piece, after) = rest.split_at(cut.unwrap_or(end));
        pieces.push(piece);
        rest = after;
    }
    if pieces.is_empty() || !rest.trim().is_empty() {
        pieces.push(rest);
    }
    pieces
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
    output::write(&arguments.out, &speech.to_wav(voice_id))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_where_it_pauses() {
        for (text, expected) in [
            ("Short.", &["Short."][..]),
            ("", &[""]),
            ("One. Two. Three.", &["One. Two. ", "Three."]),
            ("One.\n\nTwo. Three", &["One.\n\n", "Two. Three"]),
            ("One. Two\nThree", &["One. Two\n", "Three"]),
            ("one two three", &["one two ", "three"]),
            ("aaaaaaaaaaaaaa", &["aaaaaaaaaa", "aaaa"]),
            ("ääääääääääöö", &["ääääääääää", "öö"]),
            ("One two. \n", &["One two. \n"]),
        ] {
            let found = pieces(text, 10);
            assert_eq!(found, expected, "{text:?}");
            assert_eq!(found.concat(), text);
        }
        // Each character is in one piece.
        let long = "It goes on, and on. ".repeat(5000);
        let found = pieces(&long, MAX_CHARACTERS);
        assert!(
            found.len() == 5 && found.concat() == long && found.iter().all(|piece| piece.ends_with(". "))
        );
    }
}
