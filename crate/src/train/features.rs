//! A prepared corpus: log-mels in half precision, symbols and durations. `ownvoice prepare` writes it, training reads it.
//!
//! ```text
//! features.json       what is in it, an entry an utterance
//! mels.safetensors    `mel` [total frames, M], f16
//! ```

use half::f16;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path, sync::OnceLock};

use crate::{
    Error, Result,
    audio::{
        excitation::Excitation,
        mel::{Mel, MelConfig},
    },
    files,
    text::symbols::SYMBOL_COUNT,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Utterance {
    pub id: String,
    /// Index into [`Features::speakers`].
    pub speaker: usize,
    pub text: String,
    pub first_frame: usize,
    pub frames: usize,
    pub symbols: Vec<u8>,
    /// Frames of each symbol; absent until aligned.
    pub durations: Option<Vec<u32>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Features {
    pub mel: MelConfig,
    pub symbols_hash: String,
    pub speakers: Vec<String>,
    pub utterances: Vec<Utterance>,
    /// `[total frames, M]`
    #[serde(skip)]
    pub mels: Vec<f16>,
    /// `[total frames]`, 0 where unvoiced; empty in features that were prepared without
    #[serde(skip)]
    pub f0_hz: Vec<f16>,
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
            mels: Vec::new(),
            f0_hz: Vec::new(),
            excitation: OnceLock::new(),
            mean_pitches_hz: OnceLock::new(),
        }
    }

    /// Appends one utterance. With durations, pauses at both ends are cut to `EDGE_FRAMES`: a model need not learn long silence.
    ///
    /// * `f0_hz`: `[T]` as the mel's frames, or empty where no pitch was tracked
    #[allow(clippy::too_many_arguments)] // A row of a table.
    pub fn push(
        &mut self,
        speaker: &str,
        id: String,
        text: String,
        symbols: Vec<u8>,
        durations: Option<Vec<u32>>,
        mel: &Mel,
        f0_hz: &[f32],
    ) {
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
        let first_frame = self.mels.len() / self.mel.mels;
        let values = &mel.data[frames.start * mel.mels..frames.end * mel.mels];
        self.mels.extend(values.iter().map(|&value| f16::from_f32(value)));
        self.f0_hz
            .extend(f0_hz.get(frames.clone()).unwrap_or_default().iter().map(|&value| f16::from_f32(value)));
        self.utterances.push(Utterance {
            id,
            speaker,
            text,
            first_frame,
            frames: frames.len(),
            symbols,
            durations,
        });
    }

    /// One frame of an utterance, `[M]`.
    pub fn frame(&self, utterance: &Utterance, frame: usize) -> &[f16] {
        let mels = self.mel.mels;
        &self.mels[(utterance.first_frame + frame) * mels..][..mels]
    }

    /// Pitch of one frame of an utterance in Hz, 0 where unvoiced.
    pub fn pitch_hz(&self, utterance: &Utterance, frame: usize) -> f32 {
        self.f0_hz[utterance.first_frame + frame].to_f32()
    }

    /// Whether each frame has its pitch.
    pub fn have_pitch(&self) -> bool {
        self.f0_hz.len() * self.mel.mels == self.mels.len()
    }

    pub fn excitation(&self) -> &Excitation {
        self.excitation.get_or_init(|| Excitation::new(&self.mel))
    }

    /// The geometric mean of each speaker's voiced frames in Hz; 0 for one without any.
    pub fn mean_pitches_hz(&self) -> &[f32] {
        self.mean_pitches_hz.get_or_init(|| self.measure_mean_pitches())
    }

    fn measure_mean_pitches(&self) -> Vec<f32> {
        let mut sums = vec![(0.0f64, 0usize); self.speakers.len()];
        for utterance in &self.utterances {
            let (sum, count) = &mut sums[utterance.speaker];
            for hz in self
                .f0_hz
                .iter()
                .skip(utterance.first_frame)
                .take(utterance.frames)
                .map(|hz| hz.to_f32())
                .filter(|hz| *hz > 0.0)
            {
                *sum += f64::from(hz.ln());
                *count += 1;
            }
        }
        sums.into_iter()
            .map(|(sum, count)| if count == 0 { 0.0 } else { (sum / count as f64).exp() as f32 })
            .collect()
    }

    pub fn seconds(&self) -> f32 {
        (self.mels.len() / self.mel.mels) as f32 * self.mel.frame_seconds()
    }

    pub fn save(&self, directory: &Path) -> Result<()> {
        fs::create_dir_all(directory).map_err(Error::io(directory))?;
        let bytes: Vec<u8> = self.mels.iter().flat_map(|value| value.to_le_bytes()).collect();
        let view = TensorView::new(Dtype::F16, vec![self.mels.len() / self.mel.mels, self.mel.mels], &bytes)
            .expect("shape fits");
        let path = directory.join("mels.safetensors");
        let pitches: Vec<u8> = self.f0_hz.iter().flat_map(|value| value.to_le_bytes()).collect();
        let pitches = TensorView::new(Dtype::F16, vec![self.f0_hz.len()], &pitches).expect("shape fits");
        let file =
            safetensors::serialize([("mel", view), ("f0_hz", pitches)], None).expect("two named tensors");
        files::write(&path, file)?;
        let path = directory.join("features.json");
        files::write(&path, serde_json::to_string(self).expect("plain data"))
    }

    pub fn load(directory: &Path) -> Result<Self> {
        let invalid = |what: &str| {
            Error::corpus_invalid(format!("{}: {what}; run `ownvoice prepare` again", directory.display()))
        };
        let path = directory.join("features.json");
        let json = fs::read(&path).map_err(Error::io(path))?;
        let mut features: Self =
            serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
        let path = directory.join("mels.safetensors");
        let bytes = fs::read(&path).map_err(Error::io(path))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|error| invalid(&error.to_string()))?;
        let mel = file.tensor("mel").map_err(|error| invalid(&error.to_string()))?;
        if mel.dtype() != Dtype::F16 || mel.shape().len() != 2 || mel.shape()[1] != features.mel.mels {
            return Err(invalid("the spectrograms have another shape than features.json says"));
        }
        if features.symbols_hash != crate::text::symbols::version() {
            return Err(invalid("made with another symbol table"));
        }
        let halves = |data: &[u8]| {
            data.chunks_exact(2).map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]])).collect()
        };
        features.mels = halves(mel.data());
        features.f0_hz = match file.tensor("f0_hz") {
            Ok(pitches) if pitches.dtype() != Dtype::F16 => return Err(invalid("pitches have another type")),
            Ok(pitches) => halves(pitches.data()),
            Err(_) => Vec::new(),
        };
        let total = mel.shape()[0];
        if features.mel.check().is_err() || !(features.f0_hz.is_empty() || features.f0_hz.len() == total) {
            return Err(invalid("settings or pitches do not fit the spectrograms"));
        }
        if features.mels.iter().chain(&features.f0_hz).any(|value| !value.is_finite()) {
            return Err(invalid("a value is not a number"));
        }
        let fits = |item: &Utterance| {
            item.speaker < features.speakers.len()
                && item.frames > 0
                && item.first_frame.checked_add(item.frames).is_some_and(|end| end <= total)
                && item.symbols.iter().all(|&symbol| usize::from(symbol) < SYMBOL_COUNT)
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

/// Silence kept at either end of an utterance, 100 ms at 16 kHz.
const EDGE_FRAMES: u32 = 8;

/// Shortens a duration to the edge and returns what was cut.
fn cut(duration: Option<&mut u32>) -> usize {
    let Some(duration) = duration else { return 0 };
    let excess = duration.saturating_sub(EDGE_FRAMES);
    *duration -= excess;
    excess as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_the_edges_and_survives_the_disk() {
        let config = MelConfig::speech_16k();
        let mel = Mel { mels: 80, data: (0..30 * 80).map(|index| (index / 80) as f32).collect() };
        let mut features = Features::new(config);
        features.push(
            "a",
            "x".into(),
            "hello".into(),
            vec![1, 9, 1],
            Some(vec![12, 8, 10]),
            &mel,
            &[100.0; 30],
        );
        assert_eq!(features.utterances[0].durations, Some(vec![8, 8, 8]));
        assert_eq!(features.utterances[0].frames, 24);
        assert_eq!(features.frame(&features.utterances[0], 0)[0].to_f32(), 4.0);
        let directory = tempfile::tempdir().unwrap();
        features.save(directory.path()).unwrap();
        let loaded = Features::load(directory.path()).unwrap();
        assert_eq!(loaded.utterances, features.utterances);
        assert_eq!(loaded.mels, features.mels);
        assert!(loaded.have_pitch());
        assert!((loaded.mean_pitches_hz()[0] - 100.0).abs() < 0.1);
        // What would be drawn from past the end, or through it.
        for (from, to) in [
            ("\"frames\":24", "\"frames\":0"),
            ("\"first_frame\":0", "\"first_frame\":18446744073709551600"),
            ("[8,8,8]", "[8,8,4294967295]"),
            ("[1,9,1]", "[1,255,1]"),
        ] {
            let path = directory.path().join("features.json");
            let json = std::fs::read_to_string(&path).unwrap();
            assert!(json.contains(from), "{json}");
            std::fs::write(&path, json.replace(from, to)).unwrap();
            assert_eq!(
                Features::load(directory.path()).map(drop).unwrap_err().code(),
                "corpus-invalid",
                "{to}"
            );
            std::fs::write(&path, json).unwrap();
        }
        std::fs::write(directory.path().join("mels.safetensors"), b"short").unwrap();
        assert_eq!(Features::load(directory.path()).unwrap_err().code(), "corpus-invalid");
    }
}
