//! Pseudorehearsal against catastrophic forgetting (Robins 1995, "Catastrophic forgetting, rehearsal and pseudorehearsal"): part of each batch is what the
//! base synthesises in its own speakers' voices before training.
//!
//! A minute of speech covers few of a language's pairs of phones. Trained on it alone, a model adopts the speaker and blurs the other pairs.

use burn::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{
    super::clip::AlignedClip,
    frame_store::{FrameStore, WindowBatch, assemble, draw},
};
use crate::{
    Result,
    synth::speak::say_symbols,
    voice::{Base, Voice},
};

/// Each is synthesised with another speaker of the base. They cover rare pairs of phones.
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

/// The sentences as the base synthesises them before training, on the device.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    pub store: FrameStore,
    /// The speaker vector of each sentence, `[S, V]`
    pub speakers: Tensor<2>,
}

/// A window of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnWindow {
    /// Its first frame in the store.
    pub start: usize,
    pub sentence: usize,
}

impl Rehearsal {
    pub async fn of(base: &Base, window: usize) -> Result<Self> {
        let count = base.manifest.speakers.len();
        let (mut clips, mut speakers) =
            (Vec::with_capacity(SENTENCES.len()), Vec::with_capacity(SENTENCES.len()));
        for (number, sentence) in SENTENCES.iter().enumerate() {
            // Evenly over the table, in which related speakers are neighbours.
            let voice = Voice::of_base_speaker(base, number * count / SENTENCES.len());
            let (symbols, durations, mel, f0_hz) = say_symbols(base, &voice, sentence).await?;
            clips.push(AlignedClip { symbols, durations, mel: mel.data, f0_hz, foreign: false });
            speakers.push(voice.timing_speaker);
        }
        Ok(Self { store: assemble(base, &clips, window), speakers: Tensor::cat(speakers, 0) })
    }

    /// So many windows, each of a random sentence.
    pub fn draw(&self, count: usize, window: usize, rng: &mut ChaCha8Rng) -> Vec<DrawnWindow> {
        let one = |_| {
            let sentence = rng.random_range(0..self.store.clips.len());
            DrawnWindow { start: draw(&self.store.clips[sentence..=sentence], window, rng), sentence }
        };
        (0..count).map(one).collect()
    }

    /// The windows as a batch, with their speakers.
    pub fn gather(&self, drawn: &[DrawnWindow], window: usize, reduction: usize) -> WindowBatch {
        let (starts, sentences): (Vec<usize>, Vec<i32>) =
            drawn.iter().map(|drawn| (drawn.start, drawn.sentence as i32)).unzip();
        let count = sentences.len();
        let rows = Tensor::<1, Int>::from_data(TensorData::new(sentences, [count]), &self.speakers.device());
        WindowBatch {
            others: Some(self.speakers.clone().select(0, rows)),
            ..self.store.gather(&starts, window, reduction)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Phonemizer, symbols};
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
}
