//! A writer of features, which keeps no frames in memory.

use half::f16;
use serde_json::json;
use std::{
    fs::{self, File},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::{
    Features, NewUtterance,
    frames::{F0_HZ, Frames, MEL},
};
use crate::{Error, Result, audio::mel::MelConfig, files};

/// The bytes that are reserved for the header of `mels.safetensors`, which is known only at the end.
const HEADER: usize = 256;

/// Writes utterances one by one. Only their index and two bytes of pitch per frame stay in memory.
pub struct FeatureWriter {
    directory: PathBuf,
    partial: PathBuf,
    mels: BufWriter<File>,
    f0_hz: Vec<f16>,
    index: Features,
    frames: usize,
}

impl FeatureWriter {
    /// Creates the folder and an empty file of frames in it.
    pub fn create(directory: &Path, mel: MelConfig) -> Result<Self> {
        fs::create_dir_all(directory).map_err(Error::io(directory))?;
        let partial = files::partial(&directory.join(MELS_FILE))?;
        let mut mels = BufWriter::new(File::create(&partial).map_err(Error::io(&partial))?);
        mels.write_all(&[0; 8 + HEADER]).map_err(Error::io(&partial))?;
        let directory = directory.to_owned();
        Ok(Self { directory, partial, mels, f0_hz: Vec::new(), index: Features::new(mel), frames: 0 })
    }

    /// Appends one utterance, as [`Features::push`] does.
    pub fn push(&mut self, utterance: NewUtterance) -> Result<()> {
        let (mels, f0_hz) = self.index.enter(utterance, self.frames);
        self.frames += mels.len() / self.index.mel.mels;
        self.f0_hz.extend(f0_hz.iter().map(|&value| f16::from_f32(value)));
        halves(mels).try_for_each(|two| self.mels.write_all(&two)).map_err(Error::io(&self.partial))
    }

    /// Writes pitches, header and index, and loads the features. After an interruption the folder holds the old features, or files that [`Features::load`]
    /// rejects.
    pub fn finish(mut self) -> Result<Features> {
        self.complete().map_err(Error::io(&self.partial))?;
        let (mels, index) = (self.directory.join(MELS_FILE), self.directory.join(INDEX_FILE));
        fs::rename(&self.partial, &mels).map_err(Error::io(&mels))?;
        files::write(&index, serde_json::to_string(&self.index).expect("plain data"))?;
        Features::load(&self.directory)
    }

    fn complete(&mut self) -> io::Result<()> {
        for value in &self.f0_hz {
            self.mels.write_all(&value.to_le_bytes())?;
        }
        let (mels, f0_hz) = (2 * self.frames * self.index.mel.mels, 2 * self.f0_hz.len());
        let header = json!({
            MEL: {"dtype": "F16", "shape": [self.frames, self.index.mel.mels], "data_offsets": [0, mels]},
            F0_HZ: {"dtype": "F16", "shape": [self.f0_hz.len()], "data_offsets": [mels, mels + f0_hz]},
        });
        self.mels.seek(SeekFrom::Start(0))?;
        self.mels.write_all(&(HEADER as u64).to_le_bytes())?;
        write!(self.mels, "{:<HEADER$}", header.to_string())?;
        self.mels.flush()
    }
}

impl Drop for FeatureWriter {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.partial); // The file was renamed, or is incomplete.
    }
}

/// Encodes values as the file stores them.
fn halves(values: &[f32]) -> impl Iterator<Item = [u8; 2]> {
    values.iter().map(|&value| f16::from_f32(value).to_le_bytes())
}

pub const INDEX_FILE: &str = "features.json";
pub const MELS_FILE: &str = "mels.safetensors";

impl Features {
    /// Writes features that were made in memory.
    pub fn save(&self, directory: &Path) -> Result<()> {
        let mut writer = FeatureWriter::create(directory, self.mel.clone())?;
        writer.index = Self { frames: Frames::default(), ..self.clone() };
        for utterance in &self.utterances {
            writer.frames += utterance.frames;
            let mels = self.log_mels(utterance, 0..utterance.frames)?;
            halves(&mels).try_for_each(|two| writer.mels.write_all(&two)).map_err(Error::io(directory))?;
            if self.have_pitch() {
                let f0_hz = self.pitches_hz(utterance, 0..utterance.frames)?;
                writer.f0_hz.extend(f0_hz.into_iter().map(f16::from_f32));
            }
        }
        writer.finish().map(drop)
    }
}
