//! Pseudorehearsal against catastrophic forgetting (Robins 1995, "Catastrophic forgetting, rehearsal and pseudorehearsal"): part of each batch is speech that
//! the base synthesised before training, converted to the speaker of the clips.
//!
//! A minute of speech covers few of the diphones of a language. A model that is trained on it alone adopts the speaker and forgets the other diphones.

use super::{
    clip::AlignedClip,
    conversion::PhoneDifferences,
    frame_store::{FrameStore, assemble},
};
use crate::{Result, synth::sentence::decode, voice::Voice};

/// The sentences, which cover rare diphones.
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

/// Synthesises the sentences and moves them to the device. Their spectra are converted by the differences between the clips and the same voice's prediction of
/// the clips.
///
/// * `voice`: the nearest speaker of the base, with the prosody of the clips
/// * `clips`: their spectrograms are released one by one, since the differences take as much memory
/// * `store`: the frames of the clips
pub async fn rehearsal(
    voice: &Voice,
    clips: Vec<AlignedClip>,
    store: &FrameStore,
    window: usize,
) -> Result<FrameStore> {
    let base = voice.base();
    let (mels, mut differences) = (base.config().mels, PhoneDifferences::default());
    for (clip, &span) in clips.into_iter().zip(&store.clips) {
        let context = store.context_of(span, base.config().reduction);
        let predicted = decode(voice, context, span.frames).await?;
        differences.add(&clip.phones(), &clip.mel, &predicted.data, mels);
    }
    let offsets = differences.offsets(mels);
    let mut sentences = Vec::with_capacity(SENTENCES.len());
    for sentence in SENTENCES {
        let mut clip = AlignedClip::synthesise(voice, sentence).await?;
        let phones = clip.phones();
        offsets.convert(&mut clip.mel, &phones);
        sentences.push(clip);
    }
    Ok(assemble(base, &sentences, window))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clone::frame_store::Span,
        text::{Phonemizer, symbols},
        voice::Base,
    };
    use burn::prelude::Device;
    use std::collections::BTreeSet;

    #[test]
    fn the_sentences_contain_every_phone() {
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

    /// If the clips of a speaker of the base are brighter than predicted, the sentences become brighter too.
    #[test]
    fn the_sentences_have_the_spectra_of_the_clips() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let voice = Voice::unadapted(&base);
        let mels = base.config().mels;
        let clips: Vec<AlignedClip> = SENTENCES[..6]
            .iter()
            .map(|sentence| {
                let mut clip = pollster::block_on(AlignedClip::synthesise(&voice, sentence)).unwrap();
                let brighter = |(at, value): (usize, &mut f32)| *value += 0.02 * (at % mels) as f32;
                clip.mel.iter_mut().enumerate().for_each(brighter);
                clip
            })
            .collect();
        let of_clips = assemble(&base, &clips, 64);
        let store = pollster::block_on(rehearsal(&voice, clips, &of_clips, 64)).unwrap();
        assert_eq!(store.clips.len(), SENTENCES.len());
        let Span { first, frames } = store.clips[SENTENCES.len() - 1];
        let targets = store.targets.clone().narrow(1, first, frames).into_data().try_to_vec::<f32>().unwrap();
        let last = SENTENCES[SENTENCES.len() - 1];
        let said = pollster::block_on(AlignedClip::synthesise(&voice, last)).unwrap().mel;
        let config = base.config();
        let errors = targets.iter().zip(&said).enumerate().map(|(at, (target, said))| {
            let target = target * config.mel_scale + config.mel_mean;
            (target - said - 0.02 * (at % mels) as f32).abs()
        });
        let mean = errors.sum::<f32>() / said.len() as f32;
        assert!(mean < 0.1, "{mean} beside a mean difference of {}", 0.01 * mels as f32);
    }
}
