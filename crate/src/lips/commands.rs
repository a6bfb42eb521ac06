//! Sentences of few words in a fixed order, as lip-reading corpora have them since GRID (Cooke et al. 2006): mouths look alike in /p/ and
//! /b/, so that without sound only the grammar separates them.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One of each slot, in this order.
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

/// One sentence in so many is kept from training.
const HELD_OUT_EVERY: usize = 10;

/// Which of the sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Train,
    HeldOut,
}

/// Sentences without end: each of a part is as likely as any other.
#[derive(Debug)]
pub struct Commands {
    random: ChaCha8Rng,
    part: Part,
}

impl Commands {
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
            // Every choice counts, so that held-out sentences have all words, and differ from any other by one word at least.
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

/// The grammar, for a recogniser: JSGF.
pub fn grammar() -> String {
    let slots = SLOTS.map(|slot| format!("({})", slot.join(" | ").to_lowercase()));
    format!("#JSGF V1.0;\ngrammar commands;\npublic <command> = {};\n", slots.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_held_out_sentence_is_trained_on_and_every_word_is_in_both() {
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
    fn a_seed_and_a_speaker_have_their_own_sentences() {
        let first = |seed, speaker| Commands::new(seed, speaker, Part::Train).take(3).collect::<Vec<_>>();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }

    #[test]
    fn the_grammar_has_a_group_a_slot() {
        let grammar = grammar();
        assert!(
            grammar.starts_with("#JSGF V1.0;\ngrammar commands;\npublic <command> = (bring | carry |"),
            "{grammar}"
        );
        assert_eq!(grammar.matches('(').count(), SLOTS.len());
    }
}
