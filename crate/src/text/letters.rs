//! Letter-to-sound rules for words that no dictionary holds, fitted on the dictionary.
//!
//! Each letter is read as none, one or two phones, by the widest known context around it (Torkkola 1993, "An efficient way to learn English
//! grapheme-to-phoneme rules automatically"): a wider rule is kept only where it corrects the narrower ones. Fitting first aligns letters with phones by
//! a few rounds of Viterbi training.
//!
//! One long file: fitting, packing and reading of the same rules.

use std::collections::HashMap;

use super::symbols::{self, Symbol};
use crate::{Error, Result};

/// Letters to the left and right that each level of rules sees, from narrow to wide.
const LEVELS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 5)];
/// Words that a rule must put right, less those it gets wrong, to be kept.
const MIN_GAIN: i32 = 1;
/// A rule's output is one byte.
const MAX_OUTPUTS: usize = 255;
const ROUNDS: usize = 6;

/// What a letter is read as: at most two phones.
type Output = Vec<Symbol>;

/// A letter and its context, five bits a letter, the letter itself in the highest.
type Key = u64;

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Letters {
    outputs: Vec<Output>,
    /// By level, sorted by key: which output.
    rules: Vec<Vec<(Key, u8)>>,
}

/// 1 to 26 for letters, 0 beyond the ends of the word; apostrophes and all else are not read.
fn codes(word: &str) -> Vec<u8> {
    word.bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .filter(u8::is_ascii_lowercase)
        .map(|byte| byte - b'a' + 1)
        .collect()
}

fn key(codes: &[u8], at: usize, (left, right): (usize, usize)) -> Key {
    let code =
        |index: Option<usize>| Key::from(index.and_then(|index| codes.get(index)).copied().unwrap_or(0));
    let mut key = code(Some(at));
    // Outwards from the letter, so that keys of alike contexts are neighbours.
    for distance in 1..=left.max(right) {
        if distance <= right {
            key = key << 5 | code(Some(at + distance));
        }
        if distance <= left {
            key = key << 5 | code(at.checked_sub(distance));
        }
    }
    key
}

impl Letters {
    /// How a word of letters is said. One vowel carries the primary stress.
    pub fn read(&self, word: &str) -> Vec<Symbol> {
        let codes = codes(word);
        let mut symbols = Vec::new();
        for at in 0..codes.len() {
            // The second of a doubled consonant is silent more often than a rule sees.
            symbols.extend_from_slice(
                self.output(&codes, at, LEVELS.len())
                    .map_or(&[][..], |output| &self.outputs[output as usize]),
            );
        }
        stress_once(&mut symbols);
        symbols
    }

    /// The output of the widest rule among the narrowest `levels`.
    fn output(&self, codes: &[u8], at: usize, levels: usize) -> Option<u8> {
        LEVELS.iter().zip(&self.rules).take(levels).rev().find_map(|(level, rules)| {
            let key = key(codes, at, *level);
            rules.binary_search_by_key(&key, |rule| rule.0).ok().map(|index| rules[index].1)
        })
    }

    /// Fits rules on words and their phones.
    pub fn fit(entries: &[(String, Vec<Symbol>)]) -> Self {
        let words: Vec<(Vec<u8>, &[Symbol])> =
            entries.iter().map(|(word, phones)| (codes(word), phones.as_slice())).collect();
        let aligned = align(&words);
        let mut counts: HashMap<&Output, usize> = HashMap::new();
        aligned.iter().flatten().for_each(|output| *counts.entry(output).or_default() += 1);
        let mut by_count: Vec<_> = counts.into_iter().collect();
        by_count.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let outputs: Vec<Output> =
            by_count.into_iter().take(MAX_OUTPUTS).map(|(output, _)| output.clone()).collect();
        let number: HashMap<&Output, u8> =
            outputs.iter().enumerate().map(|(index, output)| (output, index as u8)).collect();

        let mut letters = Self { outputs: outputs.clone(), rules: Vec::new() };
        for (index, level) in LEVELS.iter().enumerate() {
            // By context: how often each output, and how often what the narrower rules say.
            let mut seen: HashMap<Key, HashMap<u8, i32>> = HashMap::new();
            let mut inherited: HashMap<Key, HashMap<Option<u8>, i32>> = HashMap::new();
            for ((codes, _), aligned) in words.iter().zip(&aligned) {
                for (at, output) in aligned.iter().enumerate() {
                    let Some(output) = number.get(output) else { continue };
                    let key = key(codes, at, *level);
                    *seen.entry(key).or_default().entry(*output).or_default() += 1;
                    let says = letters.output(codes, at, index).filter(|says| says == output);
                    *inherited.entry(key).or_default().entry(says).or_default() += 1;
                }
            }
            let rules = seen.into_iter().filter_map(|(key, outputs)| {
                let (output, right) =
                    outputs.into_iter().max_by_key(|(output, count)| (*count, std::cmp::Reverse(*output)))?;
                let right_already: i32 =
                    inherited[&key].iter().filter(|(says, _)| says.is_some()).map(|(_, count)| count).sum();
                (index == 0 || right - right_already >= MIN_GAIN).then_some((key, output))
            });
            let mut rules: Vec<_> = rules.collect();
            rules.sort_unstable();
            letters.rules.push(rules);
        }
        letters
    }

    pub fn save(&self) -> Vec<u8> {
        let mut bytes = vec![self.outputs.len() as u8];
        for output in &self.outputs {
            bytes.push(output.len() as u8);
            bytes.extend_from_slice(output);
        }
        for rules in &self.rules {
            bytes.extend_from_slice(&(rules.len() as u32).to_le_bytes());
            let mut previous = 0;
            for (key, _) in rules {
                let mut delta = key - previous;
                while delta >= 0x80 {
                    bytes.push(delta as u8 | 0x80);
                    delta >>= 7;
                }
                bytes.push(delta as u8);
                previous = *key;
            }
            bytes.extend(rules.iter().map(|(_, output)| *output));
        }
        bytes
    }

    pub fn load(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes);
        let count = reader.byte()?;
        let mut letters = Self::default();
        for _ in 0..count {
            let length = reader.byte()? as usize;
            let output = reader.take(length)?;
            if !output.iter().all(|symbol| symbols::is_phone(*symbol)) {
                return Err(Error::lexicon_corrupt("the sound of a letter"));
            }
            letters.outputs.push(output.to_vec());
        }
        for _ in LEVELS {
            let count = u32::from_le_bytes(reader.take(4)?.try_into().expect("four bytes")) as usize;
            // Each rule takes two bytes at least.
            if count > reader.0.len() / 2 {
                return Err(Error::lexicon_corrupt("more rules than bytes"));
            }
            let mut keys = Vec::with_capacity(count);
            for index in 0..count {
                let delta = reader.varint()?;
                let key: Key = keys
                    .last()
                    .copied()
                    .unwrap_or(0u64)
                    .checked_add(delta)
                    .ok_or_else(|| Error::lexicon_corrupt("a rule"))?;
                if delta == 0 && index > 0 {
                    return Err(Error::lexicon_corrupt("rules out of order"));
                }
                keys.push(key);
            }
            let outputs = reader.take(count)?;
            if outputs.iter().any(|output| *output as usize >= letters.outputs.len()) {
                return Err(Error::lexicon_corrupt("a rule without a sound"));
            }
            letters.rules.push(keys.into_iter().zip(outputs.iter().copied()).collect());
        }
        if reader.0.is_empty() { Ok(letters) } else { Err(Error::lexicon_corrupt("bytes behind the rules")) }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (head, tail) =
            self.0.split_at_checked(count).ok_or_else(|| Error::lexicon_corrupt("rules cut short"))?;
        self.0 = tail;
        Ok(head)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::lexicon_corrupt("a number"))
    }
}

/// Keeps the first primary stress, or puts one on the first full vowel.
fn stress_once(symbols: &mut [Symbol]) {
    let mut vowels: Vec<&mut Symbol> =
        symbols.iter_mut().filter(|symbol| symbols::is_vowel(**symbol)).collect();
    let is_full =
        |symbol: &Symbol| symbols::name(*symbol) != Some("AH0") && symbols::name(*symbol) != Some("ER0");
    let first = vowels.iter().position(|symbol| symbols::stress(**symbol) == Some(1));
    let first = first.or_else(|| vowels.iter().position(|symbol| is_full(symbol))).unwrap_or(0);
    for (index, symbol) in vowels.iter_mut().enumerate() {
        if index == first {
            **symbol = symbols::with_stress(**symbol, 1);
        } else if symbols::stress(**symbol) == Some(1) {
            **symbol = symbols::with_stress(**symbol, 2);
        }
    }
}

/// For each word the output of each of its letters; words that cannot be aligned (more than two phones a letter) get none.
fn align(words: &[(Vec<u8>, &[Symbol])]) -> Vec<Vec<Output>> {
    // Cost of an output by letter; before the first round by kind alone.
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

/// A vowel letter is a vowel, a consonant letter a consonant; alike names are alike sounds.
fn first_cost(letter: u8, output: &[Symbol]) -> f32 {
    let letter = (letter + b'a' - 1) as char;
    let written_vowel = "aeiouy".contains(letter);
    let fits = |symbol: Symbol| {
        let named = symbols::name(symbol).is_some_and(|name| name.starts_with(letter.to_ascii_uppercase()));
        if named {
            0.2
        } else if symbols::is_vowel(symbol) == written_vowel {
            1.0
        } else {
            4.0
        }
    };
    match output {
        [] => {
            if written_vowel {
                2.0
            } else {
                2.5
            }
        }
        [one] => fits(*one),
        [one, two] => fits(*one) + fits(*two) + 2.0,
        _ => 20.0,
    }
}

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

/// Edits from `said` to `meant` (phones put in, left out or exchanged).
pub fn edits(said: &[Symbol], meant: &[Symbol]) -> usize {
    let mut row: Vec<usize> = (0..=meant.len()).collect();
    for (i, a) in said.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in meant.iter().enumerate() {
            let cost = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[meant.len()]
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
    fn rules_see_their_context() {
        let letters = Letters::fit(&entries());
        let read = |word: &str| symbols::format(&letters.read(word));
        assert_eq!(read("can"), "K AE1 N");
        assert_eq!(read("cin"), "S IH1 N");
        assert_eq!(read("bax"), "B AE1 K S");
        assert_eq!(read(""), "");
    }

    #[test]
    fn saved_rules_load_and_damaged_ones_do_not() {
        let letters = Letters::fit(&entries());
        let bytes = letters.save();
        assert_eq!(Letters::load(&bytes).unwrap(), letters);
        for end in 0..bytes.len() {
            assert_eq!(Letters::load(&bytes[..end]).unwrap_err().code(), "base-corrupt");
        }
    }

    #[test]
    fn one_vowel_is_stressed() {
        let mut symbols = symbols::parse("B AH0 N AE1 N AA1").unwrap();
        stress_once(&mut symbols);
        assert_eq!(symbols::format(&symbols), "B AH0 N AE1 N AA2");
        let mut symbols = symbols::parse("B AH0 N AE0").unwrap();
        stress_once(&mut symbols);
        assert_eq!(symbols::format(&symbols), "B AH0 N AE1");
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!((edits(&[1, 2, 3], &[1, 3]), edits(&[], &[1]), edits(&[1, 2], &[2, 1])), (1, 1, 2));
    }
}
