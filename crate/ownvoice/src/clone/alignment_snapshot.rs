//! A view of a training: the recorded and the predicted spectrogram of one clip, and the recogniser's posteriors of its symbols in the prediction.

use super::clip::AlignedClip;
use crate::{Result, align::ForcedAligner, audio::mel::Mel, text::symbols::Symbol};

/// The clip of a snapshot.
#[derive(Debug, Clone)]
pub struct SnapshotClip {
    pub symbols: Vec<Symbol>,
    pub durations: Vec<u32>,
    recorded: Mel,
}

/// One clip as it was recorded and as the model predicts it.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignmentSnapshot {
    pub symbols: Vec<Symbol>,
    /// The frames of each symbol, which are the same in the recording and in the prediction.
    pub durations: Vec<u32>,
    pub recorded: Mel,
    pub predicted: Mel,
    /// The recogniser's posterior of each symbol in each frame of the prediction, `[T, L]`; zero more than 0.3 s away from the symbol.
    pub alignment: Vec<f32>,
}

/// The frames around a symbol in which its posterior is shown, 0.3 s: the same phone elsewhere in the sentence is another symbol.
const REACH_FRAMES: i64 = 24;

impl SnapshotClip {
    /// Creates the snapshot of an aligned clip with `mels` bands.
    pub fn new(clip: &AlignedClip, mels: usize) -> Self {
        Self {
            symbols: clip.symbols.clone(),
            durations: clip.durations.clone(),
            recorded: Mel { mels, data: clip.mel.clone() },
        }
    }

    /// Adds the current prediction to the recording.
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
