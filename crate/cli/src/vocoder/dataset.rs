//! The recordings that a vocoder is trained on, with their spectrograms. They are stored in a temporary file, because they may exceed the memory.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use ownvoice::{
    Error, Result,
    audio::{
        Audio,
        mel::{Mel, MelConfig, MelExtractor},
        pitch,
        resample::resample,
    },
    files,
};

/// A recording with its pitch and a spectrogram.
pub struct VocoderClip {
    samples: Vec<f32>,
    f0_hz: Vec<f32>,
    mel: Mel,
    band_hz: f32,
}

impl VocoderClip {
    /// Creates a clip and computes its pitch.
    ///
    /// * `recording`: at the sample rate of the vocoder
    /// * `band_hz`:   the highest frequency that it contains
    /// * `mel`:       a synthesised spectrogram with as many frames; `None` extracts that of the recording
    pub fn new(recording: Audio, band_hz: f32, mel: Option<Mel>, extractor: &MelExtractor) -> Result<Self> {
        let (config, Audio { samples, sample_rate_hz }) = (extractor.config(), recording);
        let heard = resample(&samples, sample_rate_hz, config.sample_rate_hz)?;
        let f0_hz = pitch::track(&heard, config.sample_rate_hz, config.hop_length).f0_hz;
        let mel = mel.unwrap_or_else(|| extractor.extract(&heard));
        assert_eq!(mel.frames(), f0_hz.len(), "one frame per hop");
        Ok(Self { samples, f0_hz, mel, band_hz })
    }
}

/// The clips of a training, in a file that is removed when this value is dropped.
pub struct VocoderDataset {
    path: PathBuf,
    file: File,
    /// The number of values in the file.
    end: u64,
    spans: Vec<Span>,
    names: Vec<String>,
    mel: MelConfig,
}

/// The position of a clip in the file: samples, then pitches, then the spectrogram.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// The index of its first value.
    begin: u64,
    samples: usize,
    frames: usize,
    band_hz: f32,
}

impl VocoderDataset {
    /// Creates an empty dataset.
    ///
    /// * `directory`: the folder of the run
    /// * `mel`:       the configuration of the spectrograms
    pub fn create(directory: &Path, mel: MelConfig) -> Result<Self> {
        fs::create_dir_all(directory).map_err(Error::io(directory))?;
        // Each rank of a process has its own file.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let path = files::partial(&directory.join(format!("clips-{}", NUMBER.fetch_add(1, Relaxed))))?;
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        Ok(Self {
            file: file.map_err(Error::io(&path))?,
            path,
            end: 0,
            spans: Vec::new(),
            names: Vec::new(),
            mel,
        })
    }

    /// Appends a clip.
    pub fn push(&mut self, name: String, clip: &VocoderClip) -> Result<()> {
        let VocoderClip { samples, f0_hz, mel, band_hz } = clip;
        let bytes: Vec<u8> =
            [samples, f0_hz, &mel.data].into_iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        self.file.write_all(&bytes).map_err(Error::io(&self.path))?;
        let (samples, frames) = (samples.len(), mel.frames());
        self.spans.push(Span { begin: self.end, samples, frames, band_hz: *band_hz });
        self.names.push(name);
        self.end += bytes.len() as u64 / VALUE;
        Ok(())
    }

    /// Returns the configuration of the spectrograms.
    pub fn mel_config(&self) -> &MelConfig {
        &self.mel
    }

    /// Returns the number of clips.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns the name of a clip.
    pub fn name(&self, clip: usize) -> &str {
        &self.names[clip]
    }

    /// Returns the number of frames of a clip.
    pub fn frames(&self, clip: usize) -> usize {
        self.spans[clip].frames
    }

    /// Returns the highest frequency that a clip contains.
    pub fn band_hz(&self, clip: usize) -> f32 {
        self.spans[clip].band_hz
    }

    /// Returns the pitches of `count` frames in Hz, with 0 in unvoiced frames and outside the clip.
    ///
    /// * `first`: the first frame, which may be before the clip
    pub fn f0_hz(&self, clip: usize, first: isize, count: usize) -> Result<Vec<f32>> {
        let Span { begin, samples, frames, .. } = self.spans[clip];
        self.padded(begin + samples as u64, frames, first, count)
    }

    /// Returns `count` samples, with 0 outside the clip.
    ///
    /// * `first`: the first sample, which may be before the clip
    pub fn samples(&self, clip: usize, first: isize, count: usize) -> Result<Vec<f32>> {
        let Span { begin, samples, .. } = self.spans[clip];
        self.padded(begin, samples, first, count)
    }

    /// Returns `count` frames of the spectrogram, which must be within the clip.
    pub fn mel(&self, clip: usize, first: usize, count: usize) -> Result<Mel> {
        let (Span { begin, samples, frames, .. }, mels) = (self.spans[clip], self.mel.mels);
        let data = self.values(begin + (samples + frames + first * mels) as u64, count * mels)?;
        Ok(Mel { mels, data })
    }

    /// Reads `count` values from the index `first` of a sequence, with zeros outside the sequence.
    ///
    /// * `begin`:  the position of the sequence in the file
    /// * `length`: the length of the sequence
    fn padded(&self, begin: u64, length: usize, first: isize, count: usize) -> Result<Vec<f32>> {
        let inside = |at: isize| at.clamp(0, length as isize) as usize;
        let (from, to) = (inside(first), inside(first + count as isize));
        let mut values = vec![0.0; count];
        let offset = (from as isize - first) as usize;
        if from < to {
            values[offset..offset + to - from].copy_from_slice(&self.values(begin + from as u64, to - from)?);
        }
        Ok(values)
    }

    fn values(&self, begin: u64, count: usize) -> Result<Vec<f32>> {
        let mut bytes = vec![0; count * VALUE as usize];
        files::read_at(&self.file, &mut bytes, begin * VALUE).map_err(Error::io(&self.path))?;
        Ok(bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect())
    }
}

impl Drop for VocoderDataset {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // A remaining file only wastes space.
    }
}

/// The size of a value in bytes.
const VALUE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_is_read_back_with_silence_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut dataset =
            VocoderDataset::create(folder.path(), MelConfig { mels: 2, ..MelConfig::speech_16k() }).unwrap();
        for offset in [0.0, 10.0] {
            let clip = VocoderClip {
                samples: (0..6).map(|at| offset + at as f32).collect(),
                f0_hz: vec![offset + 1.0, offset + 2.0, offset + 3.0],
                mel: Mel { mels: 2, data: (0..6).map(|at| -offset - at as f32).collect() },
                band_hz: 8000.0 + offset,
            };
            dataset.push(format!("from {offset}"), &clip).unwrap();
        }
        assert_eq!((dataset.len(), dataset.frames(1), dataset.name(1)), (2, 3, "from 10"));
        assert_eq!(dataset.band_hz(1), 8010.0);
        assert_eq!(
            dataset.samples(1, -2, 10).unwrap(),
            [0.0, 0.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 0.0, 0.0]
        );
        assert_eq!(dataset.f0_hz(0, 2, 3).unwrap(), [3.0, 0.0, 0.0]);
        assert_eq!(dataset.f0_hz(0, -5, 3).unwrap(), [0.0; 3], "all frames are before the clip");
        assert_eq!(dataset.mel(1, 1, 2).unwrap().data, [-12.0, -13.0, -14.0, -15.0]);
        drop(dataset);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
