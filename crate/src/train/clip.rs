//! One recording against its text: checked, heard and aligned. Cloning begins with it for every clip, and a page asks it right after each recording.

use super::finetune::Clip;
use crate::{
    Error, Result,
    audio::{
        Audio,
        level::{self, ClipReport},
        mel::MelExtractor,
        prepare_clip,
    },
    text,
    voice::Base,
};

/// A clip with the frames of each symbol.
pub struct AlignedClip {
    pub symbols: Vec<u8>,
    pub durations: Vec<u32>,
    /// `[T, M]`
    pub mel: Vec<f32>,
    /// Mean log posterior of the phones, see [`crate::align::MISMATCH_SCORE`].
    pub score: f32,
}

impl AlignedClip {
    pub fn frames(&self) -> usize {
        self.durations.iter().sum::<u32>() as usize
    }
}

/// Fails as the clip's own check does, or with `clip-mismatch` where it says something other than its text.
pub async fn align_clip(base: &Base, clip: &Clip) -> Result<AlignedClip> {
    let audio = Audio { samples: clip.samples.clone(), sample_rate_hz: clip.sample_rate_hz };
    let mel = MelExtractor::new(base.mel_config().clone()).extract(&prepare_clip(&audio, base.mel_config())?);
    let (symbols, word_ends) = text::spell(&base.phonemizer.words(&clip.text)?);
    let alignment = base.aligner.align(&mel, &symbols, &word_ends).await?;
    Ok(AlignedClip { symbols: alignment.symbols, durations: alignment.durations, mel: mel.data, score: alignment.score })
}

/// What a clip holds, and the score of its alignment.
pub async fn check_clip(base: &Base, clip: &Clip) -> Result<(ClipReport, f32)> {
    let report = level::check_clip(&Audio { samples: clip.samples.clone(), sample_rate_hz: clip.sample_rate_hz })?;
    Ok((report, align_clip(base, clip).await?.score))
}

/// Each clip aligned; an error names the clip that it is about.
pub async fn align_clips(base: &Base, clips: &[Clip]) -> Result<Vec<AlignedClip>> {
    let mut aligned = Vec::with_capacity(clips.len());
    for (index, clip) in clips.iter().enumerate() {
        aligned.push(align_clip(base, clip).await.map_err(|source| Error::InClip { index, source: source.into() })?);
    }
    Ok(aligned)
}
