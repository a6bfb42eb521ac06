//! Fits letter-to-sound rules on a dictionary, when the lexicon is packed.
//!
//! First the letters of each word are aligned with its phones by a few rounds of Viterbi training. Then the rules of each level are counted, from narrow
//! contexts to wide ones; a wider rule is kept only where it corrects the narrower ones.

use std::collections::HashMap;

use super::{
    letters::{Key, LEVELS, LetterToSound, Output, codes, key},
    symbols::{self, Symbol},
};

/// A rule is kept if it corrects at least this many letters more than it spoils.
const MIN_GAIN: i32 = 1;
/// The index of an output is stored as one byte.
const MAX_OUTPUTS: usize = 255;
/// Rounds of Viterbi training.
const ROUNDS: usize = 6;

impl LetterToSound {
    /// Fits rules on words and their phones.
    pub fn fit(entries: &[(String, Vec<Symbol>)]) -> Self {
        let words: Vec<(Vec<u8>, &[Symbol])> =
            entries.iter().map(|(word, phones)| (codes(word), phones.as_slice())).collect();
        let aligned = align(&words);
        let outputs = most_frequent(&aligned);
        let index_of: HashMap<&Output, u8> =
            outputs.iter().enumerate().map(|(index, output)| (output, index as u8)).collect();
        let mut letters = Self { outputs: outputs.clone(), rules: Vec::new() };
        for (number, level) in LEVELS.iter().enumerate() {
            // For each context, the counts of the outputs, and how often the narrower rules are right already.
            let mut seen: HashMap<Key, HashMap<u8, i32>> = HashMap::new();
            let mut right_already: HashMap<Key, i32> = HashMap::new();
            for ((codes, _), aligned) in words.iter().zip(&aligned) {
                for (at, output) in aligned.iter().enumerate() {
                    let Some(output) = index_of.get(output) else { continue };
                    let key = key(codes, at, *level);
                    *seen.entry(key).or_default().entry(*output).or_default() += 1;
                    if letters.output(codes, at, number) == Some(*output) {
                        *right_already.entry(key).or_default() += 1;
                    }
                }
            }
            let rules = seen.into_iter().filter_map(|(key, outputs)| {
                let (output, right) =
                    outputs.into_iter().max_by_key(|(output, count)| (*count, std::cmp::Reverse(*output)))?;
                let gain = right - right_already.get(&key).copied().unwrap_or(0);
                (number == 0 || gain >= MIN_GAIN).then_some((key, output))
            });
            let mut rules: Vec<_> = rules.collect();
            rules.sort_unstable();
            letters.rules.push(rules);
        }
        letters
    }
}

/// Returns the outputs by descending frequency, as many as a byte can index.
fn most_frequent(aligned: &[Vec<Output>]) -> Vec<Output> {
    let mut counts: HashMap<&Output, usize> = HashMap::new();
    aligned.iter().flatten().for_each(|output| *counts.entry(output).or_default() += 1);
    let mut by_count: Vec<_> = counts.into_iter().collect();
    by_count.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    by_count.into_iter().take(MAX_OUTPUTS).map(|(output, _)| output.clone()).collect()
}

/// Returns the output of each letter of each word. A word that cannot be aligned, because it has more than two phones a letter, gets an empty list.
fn align(words: &[(Vec<u8>, &[Symbol])]) -> Vec<Vec<Output>> {
    // The negative log-probability of an output given its letter; the first round uses `first_cost` instead.
    let mut costs: HashMap<(u8, Output), f32> = HashMap::new();
    let mut aligned = Vec::new();
    for round in 0..ROUNDS {
        let cost = |letter: u8, output: &[Symbol]| match round {
            0 => first_cost(letter, output),
            _ => costs.get(&(letter, output.to_vec())).copied().unwrap_or(12.0),
        };
        aligned = words
            .iter()
            .map(|(codes, phones)| align_word(codes, phones, &cost).unwrap_or_default())
            .collect::<Vec<_>>();
        let mut counts: HashMap<(u8, Output), f32> = HashMap::new();
        let mut totals = [0.0f32; 27];
        for ((codes, _), outputs) in words.iter().zip(&aligned) {
            for (letter, output) in codes.iter().zip(outputs) {
                *counts.entry((*letter, output.clone())).or_default() += 1.0;
                totals[*letter as usize] += 1.0;
            }
        }
        costs = counts
            .into_iter()
            .map(|((letter, output), count)| ((letter, output), -(count / totals[letter as usize]).ln()))
            .collect();
    }
    aligned
}

/// The cost of an output in the first round: low if the phone's name begins with the letter, high if one is a vowel and the other a consonant.
fn first_cost(letter: u8, output: &[Symbol]) -> f32 {
    let letter = (letter + b'a' - 1) as char;
    let written_vowel = "aeiouy".contains(letter);
    let fits = |symbol: Symbol| {
        if symbol.name().starts_with(letter.to_ascii_uppercase()) {
            0.2
        } else if symbols::is_vowel(symbol) == written_vowel {
            1.0
        } else {
            4.0
        }
    };
    match output {
        [] if written_vowel => 2.0,
        [] => 2.5,
        [one] => fits(*one),
        [one, two] => fits(*one) + fits(*two) + 2.0,
        _ => 20.0,
    }
}

/// Aligns the letters of a word with its phones at the lowest total cost, each letter with at most two phones.
fn align_word(codes: &[u8], phones: &[Symbol], cost: &dyn Fn(u8, &[Symbol]) -> f32) -> Option<Vec<Output>> {
    let width = phones.len() + 1;
    let mut table = vec![(f32::INFINITY, 0usize); (codes.len() + 1) * width];
    table[0].0 = 0.0;
    for (at, letter) in codes.iter().enumerate() {
        for done in 0..width {
            let so_far = table[at * width + done].0;
            if so_far.is_infinite() {
                continue;
            }
            for take in 0..=2.min(phones.len() - done) {
                let offer = so_far + cost(*letter, &phones[done..done + take]);
                let cell = &mut table[(at + 1) * width + done + take];
                if offer < cell.0 {
                    *cell = (offer, take);
                }
            }
        }
    }
    if table[codes.len() * width + phones.len()].0.is_infinite() {
        return None;
    }
    let mut outputs = Vec::with_capacity(codes.len());
    let mut done = phones.len();
    for at in (0..codes.len()).rev() {
        let take = table[(at + 1) * width + done].1;
        outputs.push(phones[done - take..done].to_vec());
        done -= take;
    }
    outputs.reverse();
    Some(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<(String, Vec<Symbol>)> {
        let words = [
            ("cat", "K AE1 T"),
            ("city", "S IH1 T IY0"),
            ("cut", "K AH1 T"),
            ("cell", "S EH1 L"),
            ("call", "K AO1 L"),
            ("cent", "S EH1 N T"),
            ("cot", "K AA1 T"),
            ("cite", "S AY1 T"),
            ("cider", "S AY1 D ER0"),
            ("can", "K AE1 N"),
            ("bat", "B AE1 T"),
            ("bet", "B EH1 T"),
            ("bit", "B IH1 T"),
            ("box", "B AA1 K S"),
            ("fox", "F AA1 K S"),
            ("fix", "F IH1 K S"),
            ("tax", "T AE1 K S"),
            ("ten", "T EH1 N"),
            ("tin", "T IH1 N"),
            ("cap", "K AE1 P"),
            ("cup", "K AH1 P"),
            ("cinch", "S IH1 N CH"),
        ];
        words.iter().map(|(word, phones)| (word.to_string(), symbols::parse(phones).unwrap())).collect()
    }

    #[test]
    fn rules_depend_on_the_context() {
        let letters = LetterToSound::fit(&entries());
        let read = |word: &str| symbols::format(&letters.read(word));
        assert_eq!(read("can"), "K AE1 N");
        assert_eq!(read("cin"), "S IH1 N");
        assert_eq!(read("bax"), "B AE1 K S");
        assert_eq!(read(""), "");
    }

    #[test]
    fn saved_rules_load_and_truncated_ones_fail() {
        let letters = LetterToSound::fit(&entries());
        let bytes = letters.save();
        assert_eq!(LetterToSound::load(&bytes).unwrap(), letters);
        for end in 0..bytes.len() {
            assert_eq!(LetterToSound::load(&bytes[..end]).unwrap_err().code(), "base-corrupt");
        }
    }
}
