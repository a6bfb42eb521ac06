//! A recording of a corpus and its samples.

use std::path::{Path, PathBuf};

use super::phones::EnginePhone;
use ownvoice::{
    Result,
    audio::{SPEECH_LEVEL_DB, level::normalize, resample::resample},
    files::read_audio,
};

/// One recording and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    pub speaker: String,
    pub id: String,
    pub text: String,
    /// A WAV file, or one of [`EXTENSIONS`](super::recordings::EXTENSIONS).
    pub path: PathBuf,
    /// The phones with their end times, if the corpus has them.
    pub phones: Option<Vec<EnginePhone>>,
}

impl Recording {
    /// Returns the samples at the given rate, normalised to the level of speech.
    pub fn samples(&self, sample_rate_hz: u32) -> Result<Vec<f32>> {
        self.samples_at_speed(1.0, sample_rate_hz)
    }

    /// Returns the same, played at `speed` times the speed, which also scales pitch and formants.
    pub fn samples_at_speed(&self, speed: f32, sample_rate_hz: u32) -> Result<Vec<f32>> {
        read_speech(&self.path, speed, sample_rate_hz)
    }
}

/// Reads a recording, played at `speed` times the speed, at the given rate and normalised to the level of speech.
pub fn read_speech(path: &Path, speed: f32, sample_rate_hz: u32) -> Result<Vec<f32>> {
    let clip = read_audio(path)?;
    let samples = resample(&clip.samples, (clip.sample_rate_hz as f32 * speed) as u32, sample_rate_hz)?;
    Ok(normalize(&samples, SPEECH_LEVEL_DB))
}
