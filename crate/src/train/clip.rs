//! One recording against its text: level checked, phones aligned. Cloning starts with this for each clip; a page runs it after each recording.

use crate::{
    Error, Result,
    audio::{
        Audio,
        level::{self, ClipReport},
        mel::MelExtractor,
        pitch, prepare_clip,
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
    /// `[T]`, 0 where unvoiced
    pub f0_hz: Vec<f32>,
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
    let config = base.mel_config();
    let samples = prepare_clip(&clip.audio, config)?;
    let mel = MelExtractor::new(config.clone()).extract(&samples);
    let f0_hz = pitch::track(&samples, config.sample_rate_hz, config.hop_length).f0_hz;
    let (symbols, word_ends) = text::spell(&base.phonemizer.words(&clip.text)?);
    // A text given as phones is of a language that the recogniser never learned: it is taken at its word.
    let alignment = match clip.text.contains('{') {
        true => base.aligner.align_anyway(&mel, &symbols, &word_ends).await?,
        false => base.aligner.align(&mel, &symbols, &word_ends).await?,
    };
    Ok(AlignedClip { symbols: alignment.symbols, durations: alignment.durations, mel: mel.data, f0_hz, score: alignment.score })
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
