//! A corpus of drawn faces that speak with the voices of a base, for use where there is no public corpus.
//!
//! ```text
//! DIR/corpus.json                  the configuration of the corpus
//! DIR/<speaker>/metadata.csv       video|text
//! DIR/<speaker>/<video>.mp4        H.264 and AAC; all videos of a speaker have the same size and rate
//! DIR/<speaker>/phones/<video>.csv phone,end_seconds
//! ```
//!
//! No people are shown: the corpus tests that the parts work together, and what a model can learn from lips alone. Results on it do not carry over to
//! people.

use std::{fmt::Write, fs, path::PathBuf};

use burn::prelude::Device;
use clap::ValueEnum;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    commands::{Commands, Part},
    drawing::Face,
    video,
    visemes::Movement,
};
use crate::corpus::{
    phones::{EnginePhone, to_csv},
    sentences::Sentences,
};
use ownvoice::{
    Error, Result, files,
    lips::clock::FRAMES_PER_SECOND,
    report::{Progress, Report},
    synth::sentence::{SentenceProsody, synthesise_sentence},
    text::symbols::Symbol,
    voice::{Base, Voice},
};

/// The configuration of a corpus.
#[derive(Debug, Clone)]
pub struct LipCorpusConfig {
    /// The folder of the corpus.
    pub out: PathBuf,
    /// The folder of the base voice.
    pub base: PathBuf,
    pub voices: LipVoices,
    /// The number of sentences of each speaker.
    pub sentences: usize,
    /// The number of faces of each speaker, used in turn: several faces prevent overfitting to one.
    pub faces: usize,
    pub texts: LipTexts,
    pub seed: u64,
}

/// The selection of voices of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LipVoices {
    /// This many voices, spread evenly over the base's table.
    Spread(usize),
    /// Voices by name.
    Named(Vec<String>),
}

impl LipVoices {
    /// Returns the rows of the base's table. Fails with `option-invalid` if there are none or too many, or if a name is unknown.
    fn rows(&self, base: &Base) -> Result<Vec<usize>> {
        let table = base.speakers();
        let rows: Vec<usize> = match self {
            &Self::Spread(count) if count <= table.len() => {
                (0..count).map(|index| index * table.len() / count).collect()
            }
            Self::Spread(count) => {
                let has = table.len();
                return Err(Error::option_invalid(format!(
                    "{count} speakers were asked for, but the base has {has} voices"
                )));
            }
            Self::Named(names) => {
                let row = |name: &String| {
                    table.iter().position(|one| one == name).ok_or_else(|| {
                        Error::option_invalid(format!(
                            "there is no voice {name}: the voices are {}",
                            table.join(", ")
                        ))
                    })
                };
                names.iter().map(row).collect::<Result<_>>()?
            }
        };
        if rows.is_empty() {
            return Err(Error::option_invalid("a corpus needs at least one speaker"));
        }
        Ok(rows)
    }
}

/// The kind of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LipTexts {
    /// Training sentences of a few words in a fixed order.
    Commands,
    /// Held-out sentences of the same form.
    HeldOutCommands,
    /// Sentences of the lexicon's words.
    Sentences,
}

/// The contents of `corpus.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipCorpusSummary {
    pub base: String,
    pub texts: LipTexts,
    pub seed: u64,
    pub speakers: Vec<DrawnSpeaker>,
    pub seconds: f32,
}

/// A speaker: a voice and the size of its videos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawnSpeaker {
    /// The name of the voice in the base's table, and of the folder.
    pub name: String,
    pub videos: usize,
    /// The size of the pictures.
    pub width: usize,
    pub height: usize,
}

/// The sizes of the videos, in turn by speaker: landscape, square, portrait.
const SIZES: [(usize, usize); 3] = [(320, 240), (256, 256), (240, 320)];
/// The number of videos that are drawn in parallel.
const CHUNK: usize = 8;
/// The most speakers with different faces.
const MAX_SPEAKERS: usize = 1000;

/// A spoken sentence, before it is drawn.
struct Scene {
    id: String,
    text: String,
    phones: Vec<(Symbol, f32)>,
    samples: Vec<f32>,
    /// The time offset of the head's motion.
    start_seconds: f32,
}

/// Draws a corpus. The same seed and base give the same pictures and texts.
///
/// # Errors
/// Fails with `option-invalid`, `program-missing`, `io`, or an error of opening the base.
pub fn make_lip_corpus(config: &LipCorpusConfig, report: &dyn Report) -> Result<LipCorpusSummary> {
    let LipCorpusConfig { out, sentences, faces, texts, seed, .. } = config;
    if *sentences == 0 || *faces == 0 {
        return Err(Error::option_invalid(
            "a corpus needs at least one face and one sentence for each speaker",
        ));
    }
    let base = Base::open(&config.base, &Device::flex())?;
    let speakers = config.voices.rows(&base)?;
    let mut summary = LipCorpusSummary {
        base: base.name().into(),
        texts: *texts,
        seed: *seed,
        speakers: Vec::new(),
        seconds: 0.0,
    };
    let all_texts = Sentences::new(base.phonemizer.lexicon(), *seed);
    let rate_hz = base.sample_rate_hz();
    let mut done = 0;
    for (index, &row) in speakers.iter().enumerate() {
        let voice = Voice::from_base_speaker(&base, row).expect("the row is one of the base");
        let face = |number: usize| {
            let face = (number % faces) * MAX_SPEAKERS + index;
            Face::new(seed.wrapping_mul(1_000_003).wrapping_add(face as u64))
        };
        let (width, height) = SIZES[index % SIZES.len()];
        let name = base.speakers()[row].clone();
        let folder = out.join(&name);
        let phones = folder.join("phones");
        fs::create_dir_all(&phones).map_err(Error::io(&phones))?;
        let mut texts: Box<dyn Iterator<Item = String>> = match texts {
            LipTexts::Commands => Box::new(Commands::new(*seed, index, Part::Train)),
            LipTexts::HeldOutCommands => Box::new(Commands::new(*seed, index, Part::HeldOut)),
            LipTexts::Sentences => Box::new(all_texts.branch(index)),
        };
        let (mut metadata, mut number) = (String::new(), 0);
        while number < *sentences {
            // Speech is synthesised one sentence at a time, videos are drawn in parallel.
            let mut scenes = Vec::new();
            while scenes.len() < CHUNK.min(*sentences - number) {
                let text = texts.next().expect("the iterator is endless");
                let id = format!("{name}-{:04}", number + scenes.len());
                scenes.push(scene(&base, &voice, id, text)?);
            }
            scenes.par_iter().enumerate().try_for_each(|(place, scene)| {
                let path = folder.join(format!("{}.mp4", scene.id));
                film(scene, &face(number + place), (width, height), rate_hz, &path)
            })?;
            for scene in &scenes {
                let path = phones.join(format!("{}.csv", scene.id));
                files::write(&path, to_csv(&scene.engine_phones()))?;
                let _ = writeln!(metadata, "{}|{}", scene.id, scene.text);
                summary.seconds += scene.samples.len() as f32 / base.sample_rate_hz() as f32;
            }
            number += scenes.len();
            done += scenes.len();
            report.progress(&Progress { done, of: Some(speakers.len() * sentences), message: "videos" });
        }
        files::write(&folder.join("metadata.csv"), metadata)?;
        summary.speakers.push(DrawnSpeaker { name, videos: number, width, height });
    }
    files::write(&out.join("corpus.json"), serde_json::to_string_pretty(&summary).expect("plain data"))?;
    Ok(summary)
}

/// Synthesises a sentence.
fn scene(base: &Base, voice: &Voice, id: String, text: String) -> Result<Scene> {
    let spoken = pollster::block_on(synthesise_sentence(voice, &text))?;
    let SentenceProsody { symbols, durations, .. } = spoken.prosody;
    let seconds = base.mel_config().frame_seconds();
    let phones =
        symbols.iter().zip(&durations).map(|(&symbol, &frames)| (symbol, frames as f32 * seconds)).collect();
    let start_seconds =
        id.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % 997;
    Ok(Scene {
        id,
        text,
        phones,
        samples: base.vocoder.vocode(&spoken.mel),
        start_seconds: start_seconds as f32,
    })
}

impl Scene {
    fn engine_phones(&self) -> Vec<EnginePhone> {
        let mut end = 0.0;
        let phone = |&(symbol, seconds): &(Symbol, f32)| {
            end += seconds;
            EnginePhone::new(symbol.name(), end)
        };
        self.phones.iter().map(phone).collect()
    }
}

/// Draws and writes the video of a sentence.
fn film(
    scene: &Scene,
    face: &Face,
    (width, height): (usize, usize),
    rate_hz: u32,
    path: &std::path::Path,
) -> Result<()> {
    let movement = Movement::new(scene.phones.iter().copied());
    let hop = rate_hz as usize / FRAMES_PER_SECOND;
    let frames = scene.samples.len().div_ceil(hop);
    let mut samples = scene.samples.clone();
    samples.resize(frames * hop, 0.0);
    let pictures = (0..frames).map(|frame| {
        // A picture shows the posture at its middle.
        let seconds = (frame as f32 + 0.5) / FRAMES_PER_SECOND as f32;
        let pose = face.pose(scene.start_seconds + seconds);
        face.draw(width, height, &pose, &movement.at(seconds), frame as u64)
    });
    video::write(path, pictures, FRAMES_PER_SECOND, &samples, rate_hz)
}
