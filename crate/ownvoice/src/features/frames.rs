//! Storage of a corpus's frames: in memory while a corpus is prepared, in a file during training.
//!
//! Windows are read from the file by position and the file is never held as a whole, because a corpus may be larger than memory. Truncating the file during a
//! run makes that run fail.

use half::f16;
use safetensors::{Dtype, tensor::Metadata};
use std::{fs::File, io, ops::Range, path::Path, sync::Arc};

use crate::files::read_at;

/// The log-mels and pitches of all frames.
#[derive(Debug, Clone)]
pub enum Frames {
    Memory {
        /// `[frames, M]`
        mels: Vec<f16>,
        /// `[frames]` in Hz; empty where no pitch was tracked
        f0_hz: Vec<f16>,
    },
    File(Arc<FrameFile>),
}

impl Default for Frames {
    fn default() -> Self {
        Self::Memory { mels: Vec::new(), f0_hz: Vec::new() }
    }
}

/// An open `mels.safetensors`.
#[derive(Debug)]
pub struct FrameFile {
    file: File,
    mels: Tensor,
    f0_hz: Option<Tensor>,
}

/// A tensor of half-precision values in the file.
#[derive(Debug)]
struct Tensor {
    /// The offset of its first byte.
    offset: u64,
    shape: Vec<usize>,
}

/// The name of the tensor of log-mels.
pub const MEL: &str = "mel";
/// The name of the tensor of pitches.
pub const F0_HZ: &str = "f0_hz";

/// The largest header that is read; that of two tensors has about a hundred bytes.
const MAX_HEADER: u64 = 1 << 16;

impl FrameFile {
    /// Opens the file and checks its header against its size; no frame is read. The inner error is a sentence.
    pub fn open(path: &Path, width: usize) -> io::Result<Result<Self, String>> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Self::read_header(file, size, width))
    }

    fn read_header(file: File, size: u64, width: usize) -> Result<Self, String> {
        let mut length = [0; 8];
        read_at(&file, &mut length, 0).map_err(|error| error.to_string())?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER.min(size) {
            return Err("its header has no valid size".into());
        }
        let mut header = vec![0; length as usize];
        read_at(&file, &mut header, 8).map_err(|error| error.to_string())?;
        let header: Metadata = serde_json::from_slice(&header).map_err(|error| error.to_string())?;
        let end = header.tensors().values().map(|tensor| tensor.data_offsets.1).max().unwrap_or(0);
        if (end as u64).checked_add(8 + length) != Some(size) {
            return Err("the size of the spectrograms differs from that in their header".into());
        }
        let tensor = |name: &str| {
            let info = header.info(name)?;
            let offset = 8 + length + info.data_offsets.0 as u64;
            Some((info.dtype == Dtype::F16, Tensor { offset, shape: info.shape.clone() }))
        };
        let mels = match tensor(MEL) {
            Some((true, mels)) if mels.shape.len() == 2 && mels.shape[1] == width => mels,
            _ => return Err("the shape of the spectrograms differs from that in features.json".into()),
        };
        // Features that were prepared without pitch lack this tensor, or it is empty.
        let f0_hz = match tensor(F0_HZ) {
            None => None,
            Some((true, f0_hz)) if f0_hz.shape == [0] => None,
            Some((true, f0_hz)) if f0_hz.shape == [mels.shape[0]] => Some(f0_hz),
            Some(_) => {
                return Err("the number of pitches differs from that of the spectrograms' frames".into());
            }
        };
        Ok(Self { file, mels, f0_hz })
    }

    /// Reads a range of a tensor's values.
    fn halves(&self, tensor: &Tensor, range: Range<usize>) -> io::Result<Vec<f32>> {
        let mut bytes = vec![0; 2 * range.len()];
        read_at(&self.file, &mut bytes, tensor.offset + 2 * range.start as u64)?;
        Ok(bytes.chunks_exact(2).map(|two| f16::from_le_bytes([two[0], two[1]]).to_f32()).collect())
    }
}

impl Frames {
    /// Returns the number of frames, each of `width` channels.
    pub fn count(&self, width: usize) -> usize {
        match self {
            Self::Memory { mels, .. } => mels.len() / width,
            Self::File(file) => file.mels.shape[0],
        }
    }

    /// Whether each frame has a pitch.
    pub fn have_pitch(&self, width: usize) -> bool {
        match self {
            Self::Memory { mels, f0_hz } => f0_hz.len() * width == mels.len(),
            Self::File(file) => file.f0_hz.is_some() || file.mels.shape[0] == 0,
        }
    }

    /// Reads log-mels, `[frames, width]`. The frames must exist.
    pub fn mels(&self, frames: Range<usize>, width: usize) -> io::Result<Vec<f32>> {
        let range = frames.start * width..frames.end * width;
        match self {
            Self::Memory { mels, .. } => Ok(mels[range].iter().map(|value| value.to_f32()).collect()),
            Self::File(file) => file.halves(&file.mels, range),
        }
    }

    /// Reads pitches in Hz, `[frames]`, 0 where unvoiced. The frames and their pitches must exist.
    pub fn f0_hz(&self, frames: Range<usize>) -> io::Result<Vec<f32>> {
        match self {
            Self::Memory { f0_hz, .. } => Ok(f0_hz[frames].iter().map(|value| value.to_f32()).collect()),
            Self::File(file) => file.halves(file.f0_hz.as_ref().expect("the features have pitches"), frames),
        }
    }
}
