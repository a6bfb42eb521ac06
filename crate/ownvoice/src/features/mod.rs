//! A prepared corpus: log-mels in half precision, symbols and durations. `ownvoice prepare` writes it and training reads it.
//!
//! ```text
//! features.json       the index, with an entry for each utterance
//! mels.safetensors    `mel` [total frames, M] and `f0_hz` [total frames], f16
//! ```
//!
//! The index, a fiftieth of the whole, is held in memory; frames are read when they are drawn, see [`frames`].

pub mod frames;
mod writer;

use half::f16;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    ops::Range,
    path::Path,
    sync::{Arc, OnceLock},
};

use crate::{
    Error, Result,
    audio::{
        excitation::Excitation,
        mel::{Mel, MelConfig},
    },
    text::symbols::Symbol,
};
use frames::{FrameFile, Frames};
pub use writer::FeatureWriter;
use writer::{INDEX_FILE, MELS_FILE};

/// An entry of the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Utterance {
    pub id: String,
    /// An index into [`Features::speakers`].
    pub speaker: usize,
    pub text: String,
    pub first_frame: usize,
    pub frames: usize,
    pub symbols: Vec<Symbol>,
    /// The frames of each symbol; `None` before alignment.
    pub durations: Option<Vec<u32>>,
}

/// An utterance that is added to features.
#[derive(Debug, Clone)]
pub struct NewUtterance<'a> {
    pub speaker: &'a str,
    pub id: String,
    pub text: String,
    pub symbols: Vec<Symbol>,
    /// The frames of each symbol. Where they are known, pauses at both ends are cut to `EDGE_FRAMES`, so that the model does not learn long silence.
    pub durations: Option<Vec<u32>>,
    pub mel: &'a Mel,
    /// The pitch of each frame of `mel`, `[T]`; empty where no pitch was tracked.
    pub f0_hz: &'a [f32],
}

/// A prepared corpus.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Features {
    pub mel: MelConfig,
    pub symbols_hash: String,
    pub speakers: Vec<String>,
    pub utterances: Vec<Utterance>,
    #[serde(skip)]
    frames: Frames,
    #[serde(skip)]
    excitation: OnceLock<Excitation>,
    #[serde(skip)]
    mean_pitches_hz: OnceLock<Vec<f32>>,
}

impl Features {
    pub fn new(mel: MelConfig) -> Self {
        Self {
            mel,
            symbols_hash: crate::text::symbols::version(),
            speakers: Vec::new(),
            utterances: Vec::new(),
            frames: Frames::default(),
            excitation: OnceLock::new(),
            mean_pitches_hz: OnceLock::new(),
        }
    }

    /// Appends one utterance in memory. [`FeatureWriter`] does the same on disk.
    pub fn push(&mut self, utterance: NewUtterance) {
        let first_frame = self.frames.count(self.mel.mels);
        let (values, pitches) = self.enter(utterance, first_frame);
        let Frames::Memory { mels, f0_hz } = &mut self.frames else {
            panic!("features from a file cannot be extended")
        };
        mels.extend(values.iter().map(|&value| f16::from_f32(value)));
        f0_hz.extend(pitches.iter().map(|&value| f16::from_f32(value)));
    }

    /// Adds an utterance to the index. Returns its log-mels and pitches without the silence that is cut.
    fn enter<'a>(&mut self, utterance: NewUtterance<'a>, first_frame: usize) -> (&'a [f32], &'a [f32]) {
        let NewUtterance { speaker, id, text, symbols, durations, mel, f0_hz } = utterance;
        let (durations, frames) = match durations {
            Some(mut durations) => {
                let before = cut(durations.first_mut());
                let after = cut(durations.last_mut());
                (Some(durations), before..mel.frames() - after)
            }
            None => (None, 0..mel.frames()),
        };
        let speaker = self.speakers.iter().position(|name| name == speaker).unwrap_or_else(|| {
            self.speakers.push(speaker.to_string());
            self.speakers.len() - 1
        });
        self.utterances.push(Utterance {
            id,
            speaker,
            text,
            first_frame,
            frames: frames.len(),
            symbols,
            durations,
        });
        (&mel.data[frames.start * mel.mels..frames.end * mel.mels], f0_hz.get(frames).unwrap_or_default())
    }

    /// Reads log-mels of an utterance, `[frames, M]`. Fails with `corpus-invalid` where a value is non-finite or the file was truncated.
    pub fn log_mels(&self, utterance: &Utterance, frames: Range<usize>) -> Result<Vec<f32>> {
        let first = utterance.first_frame;
        self.checked(utterance, self.frames.mels(first + frames.start..first + frames.end, self.mel.mels))
    }

    /// Reads pitches of an utterance in Hz, `[frames]`, 0 where unvoiced. Fails as [`Self::log_mels`] does.
    pub fn pitches_hz(&self, utterance: &Utterance, frames: Range<usize>) -> Result<Vec<f32>> {
        let first = utterance.first_frame;
        self.checked(utterance, self.frames.f0_hz(first + frames.start..first + frames.end))
    }

    fn checked(&self, utterance: &Utterance, values: std::io::Result<Vec<f32>>) -> Result<Vec<f32>> {
        let id = &utterance.id;
        let values = values.map_err(|error| {
            Error::corpus_invalid(format!("the frames of utterance {id} cannot be read: {error}"))
        })?;
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(Error::corpus_invalid(format!("a value of utterance {id} is non-finite")))
        }
    }

    /// Whether each frame has a pitch.
    pub fn have_pitch(&self) -> bool {
        self.frames.have_pitch(self.mel.mels)
    }

    /// Returns the excitation of the spectrograms' configuration.
    pub fn excitation(&self) -> &Excitation {
        self.excitation.get_or_init(|| Excitation::new(&self.mel))
    }

    /// Returns the geometric mean of each speaker's F0 in voiced frames, in Hz; 0 for a speaker without any. The first call reads all pitches.
    pub fn mean_pitches_hz(&self) -> Result<&[f32]> {
        if self.mean_pitches_hz.get().is_none() {
            let means = self.measure_mean_pitches()?;
            let _ = self.mean_pitches_hz.set(means); // Another thread may have set the same values.
        }
        Ok(self.mean_pitches_hz.get().expect("they were set"))
    }

    fn measure_mean_pitches(&self) -> Result<Vec<f32>> {
        let mut sums = vec![(0.0f64, 0usize); self.speakers.len()];
        for utterance in self.utterances.iter().filter(|_| self.have_pitch()) {
            let (sum, count) = &mut sums[utterance.speaker];
            for hz in self.pitches_hz(utterance, 0..utterance.frames)?.into_iter().filter(|hz| *hz > 0.0) {
                *sum += f64::from(hz.ln());
                *count += 1;
            }
        }
        let mean = |(sum, count): (f64, usize)| match count {
            0 => 0.0,
            _ => (sum / count as f64).exp() as f32,
        };
        Ok(sums.into_iter().map(mean).collect())
    }

    /// Returns the length of the corpus.
    pub fn seconds(&self) -> f32 {
        self.frames.count(self.mel.mels) as f32 * self.mel.frame_seconds()
    }

    /// Opens features. The index is checked against the file of frames; the values of the frames are checked when they are drawn.
    pub fn load(directory: &Path) -> Result<Self> {
        let invalid = |what: &str| {
            Error::corpus_invalid(format!("{}: {what}; run `ownvoice prepare` again", directory.display()))
        };
        let path = directory.join(INDEX_FILE);
        let json = fs::read(&path).map_err(Error::io(path))?;
        let mut features: Self =
            serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
        drop(json);
        if features.symbols_hash != crate::text::symbols::version() {
            return Err(invalid("they were made with another symbol table"));
        }
        if features.mel.check().is_err() {
            return Err(invalid("the settings of the spectrograms are invalid"));
        }
        let path = directory.join(MELS_FILE);
        let file = FrameFile::open(&path, features.mel.mels).map_err(Error::io(path))?;
        features.frames = Frames::File(Arc::new(file.map_err(|reason| invalid(&reason))?));
        let total = features.frames.count(features.mel.mels);
        let fits = |item: &Utterance| {
            item.speaker < features.speakers.len()
                && item.frames > 0
                && item.first_frame.checked_add(item.frames).is_some_and(|end| end <= total)
                && item.durations.as_ref().is_none_or(|durations| {
                    durations.len() == item.symbols.len()
                        && durations.iter().map(|&frames| u64::from(frames)).sum::<u64>()
                            == item.frames as u64
                })
        };
        match features.utterances.iter().find(|item| !fits(item)) {
            Some(item) => Err(invalid(&format!("utterance {} does not fit its spectrogram", item.id))),
            None => Ok(features),
        }
    }
}

/// The silence that is kept at either end of an utterance, 100 ms at 16 kHz.
const EDGE_FRAMES: u32 = 8;

/// Shortens a duration to `EDGE_FRAMES` and returns the number of frames that were cut.
fn cut(duration: Option<&mut u32>) -> usize {
    let Some(duration) = duration else { return 0 };
    let excess = duration.saturating_sub(EDGE_FRAMES);
    *duration -= excess;
    excess as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns features of two utterances by two speakers.
    fn two_utterances() -> Features {
        let mel = Mel { mels: 80, data: (0..30 * 80).map(|index| (index / 80) as f32).collect() };
        let mut features = Features::new(MelConfig::speech_16k());
        for (id, hz) in [("x", 100.0), ("y", 200.0)] {
            features.push(NewUtterance {
                speaker: id,
                id: id.into(),
                text: "hello".into(),
                symbols: crate::text::symbols::parse("_ DH _").unwrap(),
                durations: Some(vec![12, 8, 10]),
                mel: &mel,
                f0_hz: &[hz; 30],
            });
        }
        features
    }

    #[test]
    fn edges_are_cut_and_saved_features_load_unchanged() {
        let features = two_utterances();
        assert_eq!(features.utterances[0].durations, Some(vec![8, 8, 8]));
        assert_eq!((features.utterances[0].frames, features.utterances[1].first_frame), (24, 24));
        assert_eq!(features.log_mels(&features.utterances[0], 0..1).unwrap()[0], 4.0);
        let directory = tempfile::tempdir().unwrap();
        features.save(directory.path()).unwrap();
        let loaded = Features::load(directory.path()).unwrap();
        assert_eq!(loaded.utterances, features.utterances);
        for utterance in &loaded.utterances {
            let mels = |from: &Features| from.log_mels(utterance, 3..9).unwrap();
            assert_eq!(mels(&loaded), mels(&features));
            let pitches = |from: &Features| from.pitches_hz(utterance, 3..9).unwrap();
            assert_eq!(pitches(&loaded), pitches(&features));
        }
        assert!(loaded.have_pitch());
        let means = loaded.mean_pitches_hz().unwrap();
        assert!((means[0] - 100.0).abs() < 0.1 && (means[1] - 200.0).abs() < 0.1, "{means:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no partial file is left");
    }

    #[test]
    fn a_truncated_file_is_an_error_before_and_during_training() {
        let directory = tempfile::tempdir().unwrap();
        two_utterances().save(directory.path()).unwrap();
        let path = directory.path().join(MELS_FILE);
        let whole = fs::read(&path).unwrap();
        let loaded = Features::load(directory.path()).unwrap();
        for size in [whole.len() - 1, 300, 100, 5, 0] {
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(size as u64).unwrap();
            let error = Features::load(directory.path()).unwrap_err();
            assert_eq!(error.code(), "corpus-invalid", "{size} bytes: {error}");
        }
        let error = loaded.log_mels(&loaded.utterances[1], 0..24).unwrap_err();
        assert!(error.code() == "corpus-invalid" && error.to_string().contains("utterance y"), "{error}");
    }

    #[test]
    fn the_error_of_a_non_finite_value_names_its_utterance() {
        let directory = tempfile::tempdir().unwrap();
        two_utterances().save(directory.path()).unwrap();
        let path = directory.path().join(MELS_FILE);
        let mut bytes = fs::read(&path).unwrap();
        let place = bytes.len() - 2 * 48 - 2 * 80;
        bytes[place..place + 2].copy_from_slice(&f16::NAN.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        let loaded = Features::load(directory.path()).unwrap();
        assert!(loaded.log_mels(&loaded.utterances[0], 0..24).is_ok());
        let error = loaded.log_mels(&loaded.utterances[1], 0..24).unwrap_err();
        assert!(error.code() == "corpus-invalid" && error.to_string().contains("utterance y"), "{error}");
    }
}
