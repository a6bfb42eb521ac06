//! One recording against its text: level checked, phones aligned. Cloning starts with this for each clip; a page runs it after each recording.

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

/// A recording and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    pub audio: Audio,
    pub text: String,
}

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

/// Aligns a clip with its text. Fails with the codes of [`level::check_clip`], or with `clip-mismatch` where another text is spoken.
pub async fn align_clip(base: &Base, clip: &Clip) -> Result<AlignedClip> {
    let mel = MelExtractor::new(base.mel_config().clone()).extract(&prepare_clip(&clip.audio, base.mel_config())?);
    let (symbols, word_ends) = text::spell(&base.phonemizer.words(&clip.text)?);
    let alignment = base.aligner.align(&mel, &symbols, &word_ends).await?;
    Ok(AlignedClip { symbols: alignment.symbols, durations: alignment.durations, mel: mel.data, score: alignment.score })
}

/// The level report of a clip, and the score of its alignment, see [`AlignedClip::score`].
pub async fn check_clip(base: &Base, clip: &Clip) -> Result<(ClipReport, f32)> {
    let report = level::check_clip(&clip.audio)?;
    Ok((report, align_clip(base, clip).await?.score))
}

/// Aligns all clips; an error carries the index of its clip.
pub async fn align_clips(base: &Base, clips: &[Clip]) -> Result<Vec<AlignedClip>> {
    let mut aligned = Vec::with_capacity(clips.len());
    for (index, clip) in clips.iter().enumerate() {
        aligned.push(align_clip(base, clip).await.map_err(|source| Error::InClip { index, source: source.into() })?);
    }
    Ok(aligned)
}
