//! Where the frames of a corpus lie: in memory while they are made, in a file while they are trained on.
//!
//! The file is read at a position, window by window, and never held as a whole: a corpus may be larger than memory, and what the system keeps of it
//! counts for nobody. A file that is cut short under a run is an error of that run.

use half::f16;
use safetensors::{Dtype, tensor::Metadata};
use std::{fs::File, io, ops::Range, path::Path, sync::Arc};

use crate::files::read_at;

/// Log-mels and pitches, frame by frame.
#[derive(Debug, Clone)]
pub enum Frames {
    Memory {
        /// `[frames, M]`
        mels: Vec<f16>,
        /// `[frames]` in Hz, or empty where no pitch was tracked
        f0_hz: Vec<f16>,
    },
    File(Arc<FrameFile>),
}

impl Default for Frames {
    fn default() -> Self {
        Self::Memory { mels: Vec::new(), f0_hz: Vec::new() }
    }
}

/// `mels.safetensors`, open.
#[derive(Debug)]
pub struct FrameFile {
    file: File,
    mels: Tensor,
    f0_hz: Option<Tensor>,
}

/// A tensor of half floats in the file.
#[derive(Debug)]
struct Tensor {
    /// Of its first byte.
    offset: u64,
    shape: Vec<usize>,
}

/// Names of the tensors.
pub const MEL: &str = "mel";
pub const F0_HZ: &str = "f0_hz";

/// A header of two tensors is a hundred bytes long.
const MAX_HEADER: u64 = 1 << 16;

impl FrameFile {
    /// Opens the file and checks its header against its size; no frame is read. Errors are in words.
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
            return Err("its header is no header".into());
        }
        let mut header = vec![0; length as usize];
        read_at(&file, &mut header, 8).map_err(|error| error.to_string())?;
        let header: Metadata = serde_json::from_slice(&header).map_err(|error| error.to_string())?;
        let end = header.tensors().values().map(|tensor| tensor.data_offsets.1).max().unwrap_or(0);
        if (end as u64).checked_add(8 + length) != Some(size) {
            return Err("the spectrograms are cut short, or longer than they say".into());
        }
        let tensor = |name: &str| {
            let info = header.info(name)?;
            let offset = 8 + length + info.data_offsets.0 as u64;
            Some((info.dtype == Dtype::F16, Tensor { offset, shape: info.shape.clone() }))
        };
        let mels = match tensor(MEL) {
            Some((true, mels)) if mels.shape.len() == 2 && mels.shape[1] == width => mels,
            _ => return Err("the spectrograms have another shape than features.json has".into()),
        };
        // Features that were prepared without pitch have none, or an empty one.
        let f0_hz = match tensor(F0_HZ) {
            None => None,
            Some((true, f0_hz)) if f0_hz.shape == [0] => None,
            Some((true, f0_hz)) if f0_hz.shape == [mels.shape[0]] => Some(f0_hz),
            Some(_) => return Err("the pitches do not fit the spectrograms".into()),
        };
        Ok(Self { file, mels, f0_hz })
    }

    /// Half floats from the `first` on.
    fn halves(&self, tensor: &Tensor, range: Range<usize>) -> io::Result<Vec<f32>> {
        let mut bytes = vec![0; 2 * range.len()];
        read_at(&self.file, &mut bytes, tensor.offset + 2 * range.start as u64)?;
        Ok(bytes.chunks_exact(2).map(|two| f16::from_le_bytes([two[0], two[1]]).to_f32()).collect())
    }
}

impl Frames {
    /// How many there are, of `width` channels each.
    pub fn count(&self, width: usize) -> usize {
        match self {
            Self::Memory { mels, .. } => mels.len() / width,
            Self::File(file) => file.mels.shape[0],
        }
    }

    /// Whether each has its pitch.
    pub fn have_pitch(&self, width: usize) -> bool {
        match self {
            Self::Memory { mels, f0_hz } => f0_hz.len() * width == mels.len(),
            Self::File(file) => file.f0_hz.is_some() || file.mels.shape[0] == 0,
        }
    }

    /// `[frames, width]`; the frames must be there.
    pub fn mels(&self, frames: Range<usize>, width: usize) -> io::Result<Vec<f32>> {
        let range = frames.start * width..frames.end * width;
        match self {
            Self::Memory { mels, .. } => Ok(mels[range].iter().map(|value| value.to_f32()).collect()),
            Self::File(file) => file.halves(&file.mels, range),
        }
    }

    /// `[frames]` in Hz, 0 where unvoiced; the frames and their pitches must be there.
    pub fn f0_hz(&self, frames: Range<usize>) -> io::Result<Vec<f32>> {
        match self {
            Self::Memory { f0_hz, .. } => Ok(f0_hz[frames].iter().map(|value| value.to_f32()).collect()),
            Self::File(file) => file.halves(file.f0_hz.as_ref().expect("pitches were asked for"), frames),
        }
    }
}
