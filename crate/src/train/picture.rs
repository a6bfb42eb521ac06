//! What can be seen of a training: one clip as it was recorded and as the model makes it now, and where its sounds are heard in the latter.

use super::clip::AlignedClip;
use crate::{
    Result,
    align::ForcedAligner,
    audio::mel::Mel,
    text::symbols::Symbol,
};

/// The clip that is shown: its symbols and when they were spoken.
#[derive(Debug, Clone)]
pub struct Shown {
    pub symbols: Vec<Symbol>,
    pub durations: Vec<u32>,
    recorded: Mel,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub symbols: Vec<Symbol>,
    /// Frames of each symbol, in the recording and in the prediction alike.
    pub durations: Vec<u32>,
    pub recorded: Mel,
    pub predicted: Mel,
    /// How surely each symbol is heard in each frame of the prediction, near where it belongs: `[T, L]`, 0 to 1.
    pub alignment: Vec<f32>,
}

/// A sound is looked for this far from its place, 0.3 s: the same sound elsewhere in the sentence says nothing of this one.
const REACH_FRAMES: i64 = 24;

impl Shown {
    pub fn new(clip: &AlignedClip, mels: usize) -> Self {
        Self { symbols: clip.symbols.clone(), durations: clip.durations.clone(), recorded: Mel { mels, data: clip.mel.clone() } }
    }

    /// Beside what the model makes of it now.
    pub async fn beside(&self, predicted: Mel, aligner: &ForcedAligner) -> Result<Picture> {
        let Self { symbols, durations, recorded } = self.clone();
        let mut alignment = aligner.heard(&predicted, &symbols).await?;
        for (time, row) in alignment.chunks_exact_mut(symbols.len()).enumerate() {
            let mut begin = 0;
            for (heard, &frames) in row.iter_mut().zip(&durations) {
                let place = begin - REACH_FRAMES..begin + i64::from(frames) + REACH_FRAMES;
                if !place.contains(&(time as i64)) {
                    *heard = 0.0;
                }
                begin += i64::from(frames);
            }
        }
        Ok(Picture { symbols, durations, recorded, predicted, alignment })
    }
}
