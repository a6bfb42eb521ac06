//! Sentences of a fixed grammar with few words, as in lip-reading corpora since GRID (Cooke et al. 2006). /p/ and /b/ look alike on the lips, so that
//! without sound only the grammar distinguishes them.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The choices of each slot, in the order of the sentence.
const SLOTS: [[&str; 8]; 6] = [
    ["bring", "carry", "drop", "find", "hide", "keep", "move", "watch"],
    ["the black", "the brown", "the four", "the green", "the red", "the soft", "the white", "the yellow"],
    ["apples", "boxes", "chairs", "doors", "flowers", "lamps", "shoes", "tables"],
    ["above", "behind", "for", "from", "near", "over", "through", "with"],
    [
        "my brother",
        "the captain",
        "the farmer",
        "the girl",
        "your mother",
        "the old man",
        "the teacher",
        "the woman",
    ],
    ["again", "at noon", "before five", "if you like", "now", "on Sunday", "this year", "tomorrow"],
];

/// Every n-th sentence is held out.
const HELD_OUT_EVERY: usize = 10;

/// The part of the sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Sentences for training.
    Train,
    /// Sentences that are never trained on.
    HeldOut,
}

/// An endless iterator over uniformly distributed sentences of one part.
#[derive(Debug)]
pub struct Commands {
    random: ChaCha8Rng,
    part: Part,
}

impl Commands {
    /// Creates the iterator of a speaker.
    pub fn new(seed: u64, speaker: usize, part: Part) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(speaker as u64);
        Self { random, part }
    }
}

impl Iterator for Commands {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let choices = SLOTS.map(|slot| self.random.random_range(0..slot.len()));
            // The sum of the choices decides, so that held-out sentences contain all words and differ from each training sentence in at least one.
            let held_out = choices.iter().sum::<usize>() % HELD_OUT_EVERY == 0;
            if held_out == (self.part == Part::HeldOut) {
                let words: Vec<&str> = SLOTS.iter().zip(choices).map(|(slot, choice)| slot[choice]).collect();
                let sentence = words.join(" ");
                let (first, rest) = sentence.split_at(1);
                return Some(format!("{}{rest}.", first.to_uppercase()));
            }
        }
    }
}

/// Returns the grammar for a speech recogniser, in JSGF.
pub fn grammar() -> String {
    let slots = SLOTS.map(|slot| format!("({})", slot.join(" | ").to_lowercase()));
    format!("#JSGF V1.0;\ngrammar commands;\npublic <command> = {};\n", slots.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn parts_are_disjoint_and_share_all_words() {
        let of = |part| Commands::new(1, 0, part).take(2000).collect::<HashSet<String>>();
        let (train, held_out) = (of(Part::Train), of(Part::HeldOut));
        assert!(train.is_disjoint(&held_out) && held_out.len() > 1500);
        for word in SLOTS.iter().flatten() {
            let has = |sentences: &HashSet<String>| {
                sentences.iter().any(|one| one.to_lowercase().contains(&word.to_lowercase()))
            };
            assert!(has(&train) && has(&held_out), "{word}");
        }
        assert!(train.iter().all(|one| one.ends_with('.') && one.starts_with(char::is_uppercase)));
    }

    #[test]
    fn sentences_depend_on_seed_and_speaker() {
        let first = |seed, speaker| Commands::new(seed, speaker, Part::Train).take(3).collect::<Vec<_>>();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }

    #[test]
    fn the_grammar_has_a_group_for_each_slot() {
        let grammar = grammar();
        assert!(
            grammar.starts_with("#JSGF V1.0;\ngrammar commands;\npublic <command> = (bring | carry |"),
            "{grammar}"
        );
        assert_eq!(grammar.matches('(').count(), SLOTS.len());
    }
}
