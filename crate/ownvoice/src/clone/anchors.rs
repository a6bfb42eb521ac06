//! The similarity of a voice to its speaker between two anchors: the base voice below, the speaker's own other recordings above.

use super::clip::Clip;
use crate::{
    Error, Result,
    audio::{
        prepare_clip,
        speaker::{SpeakerStats, similarity},
    },
    synth::SpeakOptions,
    voice::{Base, Voice},
};

/// The most recordings whose texts are synthesised; at most half of the recordings are. The similarity is stable from 20 s of speech.
const MAX_SYNTHESISED: usize = 4;

/// Similarities to the speaker, 0 to 1 (see [`similarity`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchors {
    /// The similarity of the base voice.
    pub base: f32,
    /// The similarity of the clone.
    pub clone: f32,
    /// The similarity of the speaker's other recordings, an upper bound.
    pub same_speaker: f32,
}

/// Synthesises the texts of the last recordings with the base and with `voice`, and compares both with those recordings. `progress(done, total)` is called
/// before each sentence; returning `false` cancels.
pub async fn anchors(
    voice: &Voice,
    clips: &[Clip],
    mut progress: impl AsyncFnMut(usize, usize) -> bool,
) -> Result<Anchors> {
    if clips.len() < 2 {
        return Err(Error::option_invalid("a similarity needs at least two recordings"));
    }
    let base = voice.base();
    let count = MAX_SYNTHESISED.min(clips.len() / 2);
    let (others, reference) = clips.split_at(clips.len() - count);
    let target = recorded(base, reference)?;
    let unadapted = Voice::unadapted(base);
    let (mut done, total) = (0, 2 * reference.len());
    let mut stats = [SpeakerStats::default(), SpeakerStats::default()];
    for (stats, voice) in stats.iter_mut().zip([&unadapted, voice]) {
        for clip in reference {
            if !progress(done, total).await {
                return Err(Error::cancelled());
            }
            let speech = voice.speak_async(&clip.text, &SpeakOptions::default(), async |_, _| true).await?;
            stats.merge(&SpeakerStats::from_audio(&speech.samples, speech.sample_rate_hz)?);
            done += 1;
        }
    }
    let [base_stats, clone] = stats.map(|stats| similarity(&stats, &target));
    Ok(Anchors { base: base_stats, clone, same_speaker: similarity(&recorded(base, others)?, &target) })
}

/// Computes the statistics of recordings, which are prepared as for training.
pub fn recorded(base: &Base, clips: &[Clip]) -> Result<SpeakerStats> {
    let mut stats = SpeakerStats::default();
    for clip in clips {
        let samples = prepare_clip(&clip.audio, base.mel_config())?;
        stats.merge(&SpeakerStats::from_audio(&samples, base.mel_config().sample_rate_hz)?);
    }
    Ok(stats)
}
