//! A corpus of drawn faces that speak with the voices of a base, for where there is no public set.
//!
//! ```text
//! DIR/corpus.json                  how it was made
//! DIR/<speaker>/metadata.csv       video|text
//! DIR/<speaker>/<video>.mp4        H.264 and AAC; a speaker's videos are of one size and rate
//! DIR/<speaker>/phones/<video>.csv phone,end_seconds
//! ```
//!
//! Nothing in it is a person: it shows that the parts work together, and what a model can learn of lips alone. Figures of it are not figures of people.

use std::{fmt::Write, fs, path::PathBuf};

use burn::prelude::Device;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    clock::FRAMES_PER_SECOND,
    commands::{Commands, Part},
    drawing::Face,
    video,
    visemes::Movement,
};
use crate::{
    Error, Result,
    corpus::{
        phones::{EnginePhone, to_csv},
        sentences::Sentences,
    },
    files,
    report::{Progress, Report},
    synth::speak::say_symbols,
    text::symbols::{Symbol, name},
    voice::{Base, Voice},
};

/// How a corpus is drawn.
#[derive(Debug, Clone)]
pub struct LipCorpusConfig {
    /// Folder to make it in.
    pub out: PathBuf,
    /// Folder of the base voice.
    pub base: PathBuf,
    pub voices: LipVoices,
    /// Of each speaker.
    pub sentences: usize,
    /// That a speaker has, one after the other: what is learned of many is not learned by heart.
    pub faces: usize,
    pub texts: LipTexts,
    pub seed: u64,
}

/// Who speaks: voices of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LipVoices {
    /// So many, from all over the base's table.
    Spread(usize),
    Named(Vec<String>),
}

impl LipVoices {
    /// Rows of the base's table. Fails with `option-invalid` where there is none, too many or no such voice.
    fn rows(&self, base: &Base) -> Result<Vec<usize>> {
        let table = base.speakers();
        let rows: Vec<usize> = match self {
            &Self::Spread(count) if count <= table.len() => {
                (0..count).map(|index| index * table.len() / count).collect()
            }
            Self::Spread(count) => {
                let has = table.len();
                return Err(Error::option_invalid(format!("{count} speakers: the base has {has} voices")));
            }
            Self::Named(names) => {
                let row = |name: &String| {
                    table.iter().position(|one| one == name).ok_or_else(|| {
                        Error::option_invalid(format!(
                            "no voice is called {name}: there are {}",
                            table.join(", ")
                        ))
                    })
                };
                names.iter().map(row).collect::<Result<_>>()?
            }
        };
        if rows.is_empty() {
            return Err(Error::option_invalid("a corpus has a speaker"));
        }
        Ok(rows)
    }
}

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LipTexts {
    /// [`Commands`] that are trained on.
    Commands,
    /// Those that are not.
    HeldOutCommands,
    /// Sentences of the lexicon's words.
    Sentences,
}

/// `corpus.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipCorpusSummary {
    pub base: String,
    pub texts: LipTexts,
    pub seed: u64,
    pub speakers: Vec<DrawnSpeaker>,
    pub seconds: f32,
}

/// One speaker: a voice, and the faces it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawnSpeaker {
    /// Of the voice in the base's table, and of the folder.
    pub name: String,
    pub videos: usize,
    /// Of the pictures.
    pub width: usize,
    pub height: usize,
}

/// Sizes of the videos, by speaker: landscape, square, portrait.
const SIZES: [(usize, usize); 3] = [(320, 240), (256, 256), (240, 320)];
/// Videos that are drawn at once.
const CHUNK: usize = 8;
/// No two of which have the same face.
const MAX_SPEAKERS: usize = 1000;

/// One sentence, before it is drawn.
struct Scene {
    id: String,
    text: String,
    phones: Vec<(Symbol, f32)>,
    samples: Vec<f32>,
    /// Where in the head's sway it begins.
    start_seconds: f32,
}

/// Draws a corpus: the same seed and base give the same pictures and texts.
///
/// # Errors
/// `option-invalid`, `program-missing`, those of opening the base, `io`.
pub fn make_lip_corpus(config: &LipCorpusConfig, report: &dyn Report) -> Result<LipCorpusSummary> {
    let LipCorpusConfig { out, sentences, faces, texts, seed, .. } = config;
    if *sentences == 0 || *faces == 0 {
        return Err(Error::option_invalid("a corpus has a face and a sentence of each speaker"));
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
        let voice = Voice::of_base_speaker(&base, row);
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
            // Speaking is one at a time, drawing as many as there are cores.
            let mut scenes = Vec::new();
            while scenes.len() < CHUNK.min(*sentences - number) {
                let text = texts.next().expect("there is no last sentence");
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

/// Speaks a sentence.
fn scene(base: &Base, voice: &Voice, id: String, text: String) -> Result<Scene> {
    let (symbols, durations, mel, _) = pollster::block_on(say_symbols(base, voice, &text))?;
    let seconds = base.mel_config().frame_seconds();
    let phones =
        symbols.iter().zip(&durations).map(|(&symbol, &frames)| (symbol, frames as f32 * seconds)).collect();
    let start_seconds =
        id.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % 997;
    Ok(Scene { id, text, phones, samples: base.vocoder.vocode(&mel), start_seconds: start_seconds as f32 })
}

impl Scene {
    fn engine_phones(&self) -> Vec<EnginePhone> {
        let mut end = 0.0;
        let phone = |&(symbol, seconds): &(Symbol, f32)| {
            end += seconds;
            EnginePhone::new(name(symbol).unwrap_or("<unknown>"), end)
        };
        self.phones.iter().map(phone).collect()
    }
}

/// Draws a sentence and writes its video.
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
        // A picture shows what is at its middle.
        let seconds = (frame as f32 + 0.5) / FRAMES_PER_SECOND as f32;
        let pose = face.pose(scene.start_seconds + seconds);
        face.draw(width, height, &pose, &movement.at(seconds), frame as u64)
    });
    video::write(path, pictures, FRAMES_PER_SECOND, &samples, rate_hz)
}
