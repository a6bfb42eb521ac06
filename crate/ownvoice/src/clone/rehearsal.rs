//! Pseudorehearsal against catastrophic forgetting (Robins 1995, "Catastrophic forgetting, rehearsal and pseudorehearsal"), in the clone's own voice: part of
//! each batch is what the base synthesised before training, converted to the speaker of the clips.
//!
//! A minute of speech covers few of a language's pairs of phones. Trained on it alone, a model adopts the speaker and blurs the other pairs.

use super::{
    clip::AlignedClip,
    conversion::PhoneOffsets,
    frame_store::{FrameStore, assemble},
    prosody::Prosody,
};
use crate::{Result, synth::speak::decode, voice::Base};

/// They cover rare pairs of phones.
const SENTENCES: [&str; 24] = [
    "Both judges gave the younger of the two boys five points.",
    "A thin layer of ash covered the churchyard by four.",
    "Why would anyone measure a garage with a piece of rope?",
    "The oyster shells were thrown down the long hill at dusk.",
    "She hummed an old tune while the kettle began to boil.",
    "Which of these maps shows the path through the gorge?",
    "Our neighbour's goose chased the postman up the lane again.",
    "He vowed to polish the brass doorknobs every other Thursday.",
    "Huge waves broke over the edge of the southern pier.",
    "Nothing pleases that cat but a cushion by the fire.",
    "Five quick foxes jumped zigzag across the frozen marsh.",
    "Could you lend me a yard of rough brown cloth?",
    "The choir's last song was loud, joyful and rather long.",
    "Usually the bus is empty when I board it near the zoo.",
    "They beg us to pull harder, but the wheel will not budge.",
    "Earth, air and water: what else does a young oak need?",
    "Strange lights glimmered above the castle until midnight.",
    "A dozen eggs, half a pound of butter, and some thyme.",
    "The voyage home took them past an unknown southern shore.",
    "Ask George whether his cousin owns the green caravan.",
    "Push the lever slowly, then watch the gauge on your left.",
    "I bathe in the mornings, though the bath is small.",
    "Genuine leather boots cost twice as much as they should.",
    "How far away did you hear the owl hoot?",
];

/// The sentences, on the device: the speaker of the base says them in the clips' prosody, and their spectra are moved by what separates the clips from the
/// same speaker's rendition of them.
///
/// * `store`: of the clips
/// * `speaker`: of the base
pub async fn rehearsal(
    base: &Base,
    clips: &[AlignedClip],
    store: &FrameStore,
    speaker: usize,
    prosody: &Prosody,
    window: usize,
) -> Result<FrameStore> {
    let voice = prosody.base_speaker_voice(base, speaker);
    let mut pairs = Vec::with_capacity(clips.len());
    for (clip, &span) in clips.iter().zip(&store.clips) {
        let context = store.context_of(span, base.config().reduction);
        let said = decode(base, &voice, context, span.frames).await?;
        pairs.push((clip.phones(), clip.mel.as_slice(), said.data));
    }
    let differences = PhoneOffsets::from_pairs(&pairs, base.config().mels);
    let mut sentences = Vec::with_capacity(SENTENCES.len());
    for sentence in SENTENCES {
        let mut clip = AlignedClip::said(base, &voice, sentence).await?;
        let phones = clip.phones();
        differences.convert(&mut clip.mel, &phones);
        sentences.push(clip);
    }
    Ok(assemble(base, &sentences, window))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clone::frame_store::Span;
    use crate::text::{Phonemizer, symbols};
    use burn::prelude::Device;
    use std::collections::BTreeSet;

    #[test]
    fn the_sentences_hold_every_phone() {
        let phonemizer = Phonemizer::embedded();
        let written =
            SENTENCES.map(|sentence| symbols::format(&phonemizer.symbols(sentence).unwrap())).join(" ");
        let phones: BTreeSet<&str> = written
            .split_whitespace()
            .map(|symbol| symbol.trim_end_matches(|c: char| c.is_ascii_digit()))
            .filter(|symbol| symbol.chars().all(|c| c.is_ascii_uppercase()))
            .collect();
        assert_eq!(phones.len(), 39, "{phones:?}");
    }

    /// Clips of a speaker of the base, brighter than the base says them: so are the sentences.
    #[test]
    fn the_sentences_are_in_the_voice_of_the_clips() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let speaker = base.default_speaker();
        let plain = Prosody { intonation: base.intonation(speaker), ..Prosody::default() };
        let voice = plain.base_speaker_voice(&base, speaker);
        let mels = base.config().mels;
        let clips: Vec<AlignedClip> = SENTENCES[..6]
            .iter()
            .map(|sentence| {
                let mut clip = pollster::block_on(AlignedClip::said(&base, &voice, sentence)).unwrap();
                let brighter = |(at, value): (usize, &mut f32)| *value += 0.02 * (at % mels) as f32;
                clip.mel.iter_mut().enumerate().for_each(brighter);
                clip
            })
            .collect();
        let of_clips = assemble(&base, &clips, 64);
        let store = pollster::block_on(rehearsal(&base, &clips, &of_clips, speaker, &plain, 64)).unwrap();
        assert_eq!(store.clips.len(), SENTENCES.len());
        let Span { first, frames } = store.clips[SENTENCES.len() - 1];
        let targets = store.targets.clone().narrow(1, first, frames).into_data().try_to_vec::<f32>().unwrap();
        let last = SENTENCES[SENTENCES.len() - 1];
        let said = pollster::block_on(AlignedClip::said(&base, &voice, last)).unwrap().mel;
        let config = base.config();
        let errors = targets.iter().zip(&said).enumerate().map(|(at, (target, said))| {
            let target = target * config.mel_scale + config.mel_mean;
            (target - said - 0.02 * (at % mels) as f32).abs()
        });
        let mean = errors.sum::<f32>() / said.len() as f32;
        assert!(mean < 0.1, "{mean} beside a mean difference of {}", 0.01 * mels as f32);
    }
}
