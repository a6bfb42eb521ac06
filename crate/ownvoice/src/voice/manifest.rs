//! `manifest.json` of a base, which names its files and describes the model.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    audio::{
        mel::MelConfig,
        pitch::{MAX_PITCH_HZ, MIN_PITCH_HZ},
    },
    digest::sha256_hex,
    model::TacotronConfig,
    text::symbols,
};

/// A file of a base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The path relative to the manifest.
    pub path: String,
    pub bytes: usize,
    pub sha256: String,
}

impl FileEntry {
    /// Creates the entry of a file with this content.
    pub fn new(path: &str, content: &[u8]) -> Self {
        Self { path: path.to_string(), bytes: content.len(), sha256: sha256_hex(content) }
    }

    /// Fails with `base-corrupt` where the content has another hash. `name` is a plural noun for the message.
    pub fn verify(&self, name: &str, content: &[u8]) -> Result<()> {
        if sha256_hex(content) != self.sha256 {
            return Err(Error::base_corrupt(format!("the {name} are not those that the manifest names")));
        }
        Ok(())
    }
}

/// The files of a base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Files {
    pub weights: FileEntry,
    pub lexicon: FileEntry,
    pub aligner: FileEntry,
    /// The neural vocoder; a base without one speaks with Griffin-Lim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocoder: Option<FileEntry>,
    /// The speaker encoder of `ownvoice evaluate`; synthesis and cloning do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker_encoder: Option<FileEntry>,
}

/// The description of a base: its files and sizes, how it was made, and its measured quality.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub name: String,
    pub licence: String,
    pub files: Files,
    pub model: TacotronConfig,
    pub mel: MelConfig,
    /// The version of the symbol table that the model was trained with.
    pub symbols: String,
    /// The names of the rows of the speaker table.
    pub speakers: Vec<String>,
    /// The geometric mean of each speaker's F0; empty where the model has no pitch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean_pitches_hz: Vec<f32>,
    /// The speaker of the unadapted voice.
    pub default_speaker: String,
    /// The speakers on whom the base is measured, whom nothing was trained on.
    pub held_out: Vec<String>,
    /// The recipe and the data of the training.
    pub recipe: serde_json::Value,
    /// The measured quality, by name.
    pub quality: serde_json::Value,
}

/// Checks that the entries of a manifest agree with each other. The error is a sentence.
pub(super) fn check(manifest: &Manifest) -> Result<(), String> {
    let model = &manifest.model;
    model.check()?;
    if model.autoregressive {
        return Err(
            "its decoder is autoregressive (\"feedback\": true), which the duration path does not support"
                .into(),
        );
    }
    if model.symbols != symbols::SYMBOL_COUNT || manifest.symbols != symbols::version() {
        return Err("it was trained with another symbol table".into());
    }
    if model.speakers != manifest.speakers.len() || model.mels != manifest.mel.mels {
        return Err("the numbers of speakers or bands differ between manifest and model".into());
    }
    let hertz = |hz: &f32| (MIN_PITCH_HZ..=MAX_PITCH_HZ).contains(hz);
    if model.pitch
        && !(manifest.mean_pitches_hz.len() == model.speakers && manifest.mean_pitches_hz.iter().all(hertz))
    {
        return Err("the mean pitches of its speakers are missing or out of range".into());
    }
    manifest.mel.check().map_err(|error| error.to_string())
}
