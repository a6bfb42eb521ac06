//! Recordings with the spectrograms that a vocoder is to make them from, in a file of the run: more of them than memory holds.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use ownvoice::{
    Error, Result,
    audio::{
        mel::{Mel, MelExtractor},
        pitch,
    },
    files,
};

/// A recording, and a spectrogram to make it from.
pub struct VocoderClip {
    samples: Vec<f32>,
    f0_hz: Vec<f32>,
    mel: Mel,
}

impl VocoderClip {
    /// * `samples`: at the rate of `extractor`
    /// * `mel`:     of another origin, with the recording's frames; `None` takes the recording's own
    pub fn new(samples: Vec<f32>, mel: Option<Mel>, extractor: &MelExtractor) -> Self {
        let config = extractor.config();
        let f0_hz = pitch::track(&samples, config.sample_rate_hz, config.hop_length).f0_hz;
        let mel = mel.unwrap_or_else(|| extractor.extract(&samples));
        assert_eq!(mel.frames(), f0_hz.len(), "a frame a hop");
        Self { samples, f0_hz, mel }
    }
}

/// VocoderDataset on disk. Their file goes when they do.
pub struct VocoderDataset {
    path: PathBuf,
    file: File,
    /// Values so far.
    end: u64,
    spans: Vec<Span>,
    names: Vec<String>,
    mels: usize,
}

/// Where a take lies: samples, then pitches, then its spectrogram.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// The first of its values.
    begin: u64,
    samples: usize,
    frames: usize,
}

impl VocoderDataset {
    /// * `directory`: of the run
    /// * `mels`:      channels of the spectrograms
    pub fn create(directory: &Path, mels: usize) -> Result<Self> {
        fs::create_dir_all(directory).map_err(Error::io(directory))?;
        // Ranks of one process have a file each.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let path = files::partial(&directory.join(format!("takes-{}", NUMBER.fetch_add(1, Relaxed))))?;
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        Ok(Self {
            file: file.map_err(Error::io(&path))?,
            path,
            end: 0,
            spans: Vec::new(),
            names: Vec::new(),
            mels,
        })
    }

    pub fn push(&mut self, name: String, take: &VocoderClip) -> Result<()> {
        let VocoderClip { samples, f0_hz, mel } = take;
        let bytes: Vec<u8> =
            [samples, f0_hz, &mel.data].into_iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        self.file.write_all(&bytes).map_err(Error::io(&self.path))?;
        self.spans.push(Span { begin: self.end, samples: samples.len(), frames: mel.frames() });
        self.names.push(name);
        self.end += bytes.len() as u64 / VALUE;
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// As it was pushed under.
    pub fn name(&self, take: usize) -> &str {
        &self.names[take]
    }

    /// Frames of a take.
    pub fn frames(&self, take: usize) -> usize {
        self.spans[take].frames
    }

    /// Pitches of some frames in Hz, 0 where unvoiced and beyond the ends.
    ///
    /// * `first`: may lie before the take
    pub fn f0_hz(&self, take: usize, first: isize, count: usize) -> Result<Vec<f32>> {
        let Span { begin, samples, frames } = self.spans[take];
        self.padded(begin + samples as u64, frames, first, count)
    }

    /// Samples from one on, 0 beyond the ends.
    pub fn samples(&self, take: usize, first: isize, count: usize) -> Result<Vec<f32>> {
        let Span { begin, samples, .. } = self.spans[take];
        self.padded(begin, samples, first, count)
    }

    /// Frames of the spectrogram, which must be there.
    pub fn mel(&self, take: usize, first: usize, count: usize) -> Result<Mel> {
        let Span { begin, samples, frames } = self.spans[take];
        let data = self.values(begin + (samples + frames + first * self.mels) as u64, count * self.mels)?;
        Ok(Mel { mels: self.mels, data })
    }

    /// Of `length` values that begin at `begin`, those from `first` on, and zeros beyond both ends.
    fn padded(&self, begin: u64, length: usize, first: isize, count: usize) -> Result<Vec<f32>> {
        let inside = |at: isize| at.clamp(0, length as isize) as usize;
        let (from, to) = (inside(first), inside(first + count as isize));
        let mut values = vec![0.0; count];
        let there = (from as isize - first) as usize;
        if from < to {
            values[there..there + to - from].copy_from_slice(&self.values(begin + from as u64, to - from)?);
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
        let _ = fs::remove_file(&self.path); // Left behind it would only take room.
    }
}

/// Bytes of a value.
const VALUE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_comes_back_with_silence_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut takes = VocoderDataset::create(folder.path(), 2).unwrap();
        for offset in [0.0, 10.0] {
            let take = VocoderClip {
                samples: (0..6).map(|at| offset + at as f32).collect(),
                f0_hz: vec![offset + 1.0, offset + 2.0, offset + 3.0],
                mel: Mel { mels: 2, data: (0..6).map(|at| -offset - at as f32).collect() },
            };
            takes.push(format!("from {offset}"), &take).unwrap();
        }
        assert_eq!((takes.len(), takes.frames(1), takes.name(1)), (2, 3, "from 10"));
        assert_eq!(
            takes.samples(1, -2, 10).unwrap(),
            [0.0, 0.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 0.0, 0.0]
        );
        assert_eq!(takes.f0_hz(0, 2, 3).unwrap(), [3.0, 0.0, 0.0]);
        assert_eq!(takes.f0_hz(0, -5, 3).unwrap(), [0.0; 3], "all of it is before");
        assert_eq!(takes.mel(1, 1, 2).unwrap().data, [-12.0, -13.0, -14.0, -15.0]);
        drop(takes);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
