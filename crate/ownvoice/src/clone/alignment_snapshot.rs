//! A view of a training: the spectrogram of one clip, recorded and predicted, and the recogniser's posteriors of its symbols in the prediction.

use super::clip::AlignedClip;
use crate::{Result, align::ForcedAligner, audio::mel::Mel, text::symbols::Symbol};

/// The clip that is shown: its symbols and their durations.
#[derive(Debug, Clone)]
pub struct SnapshotClip {
    pub symbols: Vec<Symbol>,
    pub durations: Vec<u32>,
    recorded: Mel,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlignmentSnapshot {
    pub symbols: Vec<Symbol>,
    /// Frames of each symbol, in the recording and in the prediction alike.
    pub durations: Vec<u32>,
    pub recorded: Mel,
    pub predicted: Mel,
    /// The recogniser's posterior of each symbol in each frame of the prediction, `[T, L]`; zero further than 0.3 s from the symbol's place.
    pub alignment: Vec<f32>,
}

/// Frames around a symbol's place in which its posterior counts, 0.3 s: the same phone elsewhere in the sentence is another symbol.
const REACH_FRAMES: i64 = 24;

impl SnapshotClip {
    pub fn new(clip: &AlignedClip, mels: usize) -> Self {
        Self {
            symbols: clip.symbols.clone(),
            durations: clip.durations.clone(),
            recorded: Mel { mels, data: clip.mel.clone() },
        }
    }

    /// With the current prediction beside the recording.
    pub async fn beside(&self, predicted: Mel, aligner: &ForcedAligner) -> Result<AlignmentSnapshot> {
        let Self { symbols, durations, recorded } = self.clone();
        let mut alignment = aligner.symbol_posteriors(&predicted, &symbols).await?;
        for (time, row) in alignment.chunks_exact_mut(symbols.len()).enumerate() {
            let mut begin = 0;
            for (posterior, &frames) in row.iter_mut().zip(&durations) {
                let place = begin - REACH_FRAMES..begin + i64::from(frames) + REACH_FRAMES;
                if !place.contains(&(time as i64)) {
                    *posterior = 0.0;
                }
                begin += i64::from(frames);
            }
        }
        Ok(AlignmentSnapshot { symbols, durations, recorded, predicted, alignment })
    }
}
