//! Makes a corpus of the recordings of [`PEOPLE`].
//!
//! ```text
//! DIR/held-out/<person>/..   the recordings, in the layout of LJSpeech
//! DIR/people.json            package, licence, credit and seconds of each person
//! ```
//!
//! Texts of other languages are written as phones in braces, see [`super::ipa`].

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{fmt::Write, fs, path::Path, process::Command};

use super::{
    engines::SAMPLE_RATE_HZ,
    ipa,
    make::begin,
    packages::{SpokenText, recordings},
    people::{PEOPLE, Person},
    program::run,
};
use ownvoice::{
    Error, Result,
    audio::{
        Audio,
        level::{check_clip, trim_silence},
        mel::MelConfig,
        prepare_clip, wav,
    },
    files,
};

/// Shorter recordings are single words; longer ones are longer than the clips of a visitor.
const SECONDS: std::ops::RangeInclusive<f32> = 1.2..=12.0;
/// Recordings of single words are joined to clips of this length, that of a sentence.
const JOINED_SECONDS: f32 = 4.0;
/// The silence kept between two words, in addition to the margin of [`trim_silence`].
const PAUSE_SECONDS: f32 = 0.2;

/// One entry of `people.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonSummary {
    pub name: String,
    pub package: String,
    pub licence: String,
    pub credit: String,
    pub language: String,
    pub utterances: usize,
    pub seconds: f32,
}

/// Makes the corpus of all people.
///
/// # Errors
/// Names the packages that are not installed.
pub fn make_people(out: &Path, progress: &(dyn Fn(&PersonSummary) + Sync)) -> Result<Vec<PersonSummary>> {
    let index = out.join("people.json");
    begin(out, &index)?;
    let mut people = Vec::new();
    for person in &PEOPLE {
        let recordings = recordings(person)?;
        let summary = make_person(&person.folder(out), person, recordings)?;
        progress(&summary);
        people.push(summary);
    }
    files::write(&index, serde_json::to_string_pretty(&people).expect("plain data"))?;
    Ok(people)
}

/// Makes the corpus of one person.
fn make_person(folder: &Path, person: &Person, recordings: Vec<SpokenText>) -> Result<PersonSummary> {
    let wavs = folder.join("wavs");
    begin(folder, &folder.join("metadata.csv"))?;
    fs::create_dir_all(&wavs).map_err(Error::io(&wavs))?;
    let decoded = recordings
        .into_par_iter()
        .map(|SpokenText { path, text }| Ok(Utterance { samples: decode(&path)?, text }))
        .collect::<Result<Vec<_>>>()?;
    let utterances = if person.source.is_joined() { join(decoded) } else { decoded };
    let made: Vec<Option<(String, f32)>> = utterances
        .par_iter()
        .enumerate()
        .map(|(index, utterance)| {
            let Some(samples) = utterance.prepared() else { return Ok(None) };
            let seconds = seconds(&samples);
            if !SECONDS.contains(&seconds) {
                return Ok(None);
            }
            let id = format!("{}-{index:05}", person.name);
            let text = match person.language.starts_with("en") {
                true => utterance.text.clone(),
                false => ipa::transcribe(&utterance.text, person.language)?,
            };
            files::write(&wavs.join(format!("{id}.wav")), wav::write(&samples, SAMPLE_RATE_HZ))?;
            Ok(Some((format!("{id}|{text}"), seconds)))
        })
        .collect::<Result<_>>()?;
    let metadata = made.iter().flatten().fold(String::new(), |mut lines, (line, _)| {
        let _ = writeln!(lines, "{line}");
        lines
    });
    files::write(&folder.join("metadata.csv"), metadata)?;
    Ok(PersonSummary {
        name: person.name.into(),
        package: person.package.into(),
        licence: person.licence.into(),
        credit: person.credit.into(),
        language: person.language.into(),
        utterances: made.iter().flatten().count(),
        seconds: made.iter().flatten().map(|(_, seconds)| seconds).sum(),
    })
}

/// The duration of samples at [`SAMPLE_RATE_HZ`].
fn seconds(samples: &[f32]) -> f32 {
    samples.len() as f32 / SAMPLE_RATE_HZ as f32
}

/// A recording at [`SAMPLE_RATE_HZ`], with its text.
struct Utterance {
    samples: Vec<f32>,
    text: String,
}

impl Utterance {
    /// Prepares the samples like a visitor's clip. Returns `None` if they are too quiet, too noisy or too short.
    fn prepared(&self) -> Option<Vec<f32>> {
        let config = MelConfig { sample_rate_hz: SAMPLE_RATE_HZ, ..MelConfig::speech_16k() };
        let audio = Audio { samples: self.samples.clone(), sample_rate_hz: SAMPLE_RATE_HZ };
        let audio = Audio { samples: prepare_clip(&audio, &config).ok()?, sample_rate_hz: SAMPLE_RATE_HZ };
        check_clip(&audio).is_ok().then_some(audio.samples)
    }
}

/// Joins recordings of words or phrases to clips of [`JOINED_SECONDS`]: `A`, `ball` and `coat` become `A, ball, coat.`.
fn join(recordings: Vec<Utterance>) -> Vec<Utterance> {
    let mut clips: Vec<(Vec<f32>, String)> = Vec::new();
    for Utterance { samples, text } in recordings {
        let speech = trim_silence(&samples, SAMPLE_RATE_HZ);
        if speech.is_empty() {
            continue;
        }
        let pause = (PAUSE_SECONDS / 2.0 * SAMPLE_RATE_HZ as f32) as usize;
        let speech = &samples[speech.start.saturating_sub(pause)..(speech.end + pause).min(samples.len())];
        let text = text.trim_end_matches(['.', ' ']);
        match clips.last_mut() {
            Some((clip, texts)) if seconds(clip).max(seconds(speech)) < JOINED_SECONDS => {
                clip.extend_from_slice(speech);
                *texts += &format!(", {text}");
            }
            _ => clips.push((speech.to_vec(), text.to_string())),
        }
    }
    let utterance = |(samples, text)| Utterance { samples, text: format!("{text}.") };
    clips.into_iter().map(utterance).collect()
}

/// Decodes a recording of any format with ffmpeg, at [`SAMPLE_RATE_HZ`].
fn decode(path: &Path) -> Result<Vec<f32>> {
    let rate = SAMPLE_RATE_HZ.to_string();
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-i"]).arg(path).args(["-f", "wav", "-ac", "1", "-ar", &rate, "-"]);
    Ok(wav::read(&run(&mut ffmpeg)?.stdout)?.samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_to_clips_with_some_of_their_silence() {
        let silence = vec![0.0; 8_000];
        let word = |length: usize| (0..length).map(|n| (n as f32 * 0.1).sin() * 0.3).collect::<Vec<_>>();
        let recording = |length: usize, text: &str| Utterance {
            samples: [silence.clone(), word(length), silence.clone()].concat(),
            text: text.to_string(),
        };
        let empty = Utterance { samples: silence.clone(), text: "nothing".into() };
        let recordings =
            vec![recording(8_000, "A"), empty, recording(50_000, "ball."), recording(70_000, "a long one")];
        let clips: Vec<(f32, String)> = join(recordings)
            .into_iter()
            .map(|Utterance { samples, text }| (seconds(&samples), text))
            .collect();
        assert_eq!(
            clips.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["A, ball.", "a long one."]
        );
        // Each word keeps 0.15 s of the silence on either side.
        assert!((clips[0].0 - (58_000.0 / 16_000.0 + 0.6)).abs() < 0.1, "{clips:?}");
    }
}
