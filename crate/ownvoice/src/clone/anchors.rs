//! The similarity of a voice to its speaker between two anchors: the base voice below, the speaker's own other recordings above.

use super::clip::Clip;
use crate::{
    Error, Result,
    audio::{
        prepare_clip,
        speaker::{SpeakerStats, similarity},
    },
    synth::{SpeakOptions, speak_async},
    voice::{Base, Voice},
};

/// The most recordings that are resynthesised, and at most half of them: the measure is stable from twenty seconds of speech.
const SAID: usize = 4;

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
    base: &Base,
    voice: &Voice,
    clips: &[Clip],
    mut progress: impl AsyncFnMut(usize, usize) -> bool,
) -> Result<Anchors> {
    if clips.len() < 2 {
        return Err(Error::option_invalid("a similarity needs at least two recordings"));
    }
    let said = SAID.min(clips.len() / 2);
    let (others, said) = clips.split_at(clips.len() - said);
    let target = recorded(base, said)?;
    let unadapted = Voice::unadapted(base);
    let (mut done, total) = (0, 2 * said.len());
    let mut stats = [SpeakerStats::default(), SpeakerStats::default()];
    for (stats, voice) in stats.iter_mut().zip([&unadapted, voice]) {
        for clip in said {
            if !progress(done, total).await {
                return Err(Error::cancelled());
            }
            let speech = speak_async(
                base,
                voice,
                &clip.text,
                &SpeakOptions::default(),
                &*base.vocoder,
                async |_, _| true,
            )
            .await?;
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
