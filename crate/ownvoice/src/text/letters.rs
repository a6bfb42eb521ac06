//! Letter-to-sound rules for words that no dictionary holds.
//!
//! Each letter is read as zero, one or two phones, by the rule with the widest context that matches (Torkkola 1993, "An efficient way to learn English
//! grapheme-to-phoneme rules automatically"). [`fit`](LetterToSound::fit) learns the rules from a dictionary.

use super::symbols::{self, Symbol};
use crate::{Error, Result};

/// Letters to the left and right that the rules of each level see, from narrow to wide.
pub(super) const LEVELS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 5)];

/// The phones of a letter: at most two.
pub(super) type Output = Vec<Symbol>;

/// A letter and its context at five bits a letter, the letter itself in the highest bits.
pub(super) type Key = u64;

/// Letter-to-sound rules.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct LetterToSound {
    /// The distinct outputs of all rules, at most 255.
    pub(super) outputs: Vec<Output>,
    /// The rules of each level, sorted by key; the value is an index into `outputs`.
    pub(super) rules: Vec<Vec<(Key, u8)>>,
}

/// Returns 1 to 26 for each letter of a word; other characters are left out.
pub(super) fn codes(word: &str) -> Vec<u8> {
    word.bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .filter(u8::is_ascii_lowercase)
        .map(|byte| byte - b'a' + 1)
        .collect()
}

/// Returns the key of the letter at `at` in a context of `left` and `right` letters. FlatLayout outside the word have code 0.
pub(super) fn key(codes: &[u8], at: usize, (left, right): (usize, usize)) -> Key {
    let code =
        |index: Option<usize>| Key::from(index.and_then(|index| codes.get(index)).copied().unwrap_or(0));
    let mut key = code(Some(at));
    // The nearest letters come first, so that similar contexts have neighbouring keys, whose differences pack well.
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

impl LetterToSound {
    /// Returns the phones of a word. Exactly one vowel, if there is one, has primary stress.
    pub fn read(&self, word: &str) -> Vec<Symbol> {
        let codes = codes(word);
        let outputs = (0..codes.len()).filter_map(|at| self.output(&codes, at, LEVELS.len()));
        let mut symbols: Vec<Symbol> =
            outputs.flat_map(|output| self.outputs[output as usize].iter().copied()).collect();
        stress_once(&mut symbols);
        symbols
    }

    /// Returns the output of the widest matching rule among the narrowest `levels`.
    pub(super) fn output(&self, codes: &[u8], at: usize, levels: usize) -> Option<u8> {
        LEVELS.iter().zip(&self.rules).take(levels).rev().find_map(|(level, rules)| {
            let key = key(codes, at, *level);
            rules.binary_search_by_key(&key, |rule| rule.0).ok().map(|index| rules[index].1)
        })
    }

    /// Serialises the rules: the outputs, then for each level the differences between keys as variable-length integers, and the outputs' indices.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = vec![self.outputs.len() as u8];
        for output in &self.outputs {
            bytes.push(output.len() as u8);
            bytes.extend(output.iter().map(|&symbol| u8::from(symbol)));
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

    /// Parses the bytes that [`LetterToSound::save`] returned. They are untrusted.
    pub fn load(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes);
        let count = reader.byte()?;
        let mut letters = Self::default();
        for _ in 0..count {
            let length = reader.byte()? as usize;
            let output = symbols::parse_phone_bytes(reader.take(length)?)
                .ok_or_else(|| Error::lexicon_corrupt("the phones of a letter are invalid"))?;
            letters.outputs.push(output);
        }
        for _ in LEVELS {
            let count = u32::from_le_bytes(reader.take(4)?.try_into().expect("four bytes")) as usize;
            // A rule takes at least two bytes.
            if count > reader.0.len() / 2 {
                return Err(Error::lexicon_corrupt("it states more rules than it has bytes for"));
            }
            let keys = reader.keys(count)?;
            let outputs = reader.take(count)?;
            if outputs.iter().any(|output| *output as usize >= letters.outputs.len()) {
                return Err(Error::lexicon_corrupt("a rule has no phones"));
            }
            letters.rules.push(keys.into_iter().zip(outputs.iter().copied()).collect());
        }
        if reader.0.is_empty() {
            Ok(letters)
        } else {
            Err(Error::lexicon_corrupt("there are bytes after the rules"))
        }
    }
}

/// The bytes that are still to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (head, tail) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| Error::lexicon_corrupt("the rules are cut short"))?;
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
        Err(Error::lexicon_corrupt("an integer is too long"))
    }

    /// Reads the strictly ascending keys of `count` rules.
    fn keys(&mut self, count: usize) -> Result<Vec<Key>> {
        let mut keys = Vec::with_capacity(count);
        for index in 0..count {
            let delta = self.varint()?;
            let previous = keys.last().copied().unwrap_or(0);
            if delta == 0 && index > 0 {
                return Err(Error::lexicon_corrupt("the rules are not sorted"));
            }
            keys.push(
                Key::checked_add(previous, delta)
                    .ok_or_else(|| Error::lexicon_corrupt("the context of a rule is invalid"))?,
            );
        }
        Ok(keys)
    }
}

/// Keeps the first primary stress and makes later ones secondary; without any, stresses the first vowel that is not reduced.
fn stress_once(symbols: &mut [Symbol]) {
    let mut vowels: Vec<&mut Symbol> =
        symbols.iter_mut().filter(|symbol| symbols::is_vowel(**symbol)).collect();
    let is_full = |symbol: &Symbol| !["AH0", "ER0"].contains(&symbol.name());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_vowel_is_stressed() {
        let mut symbols = symbols::parse("B AH0 N AE1 N AA1").unwrap();
        stress_once(&mut symbols);
        assert_eq!(symbols::format(&symbols), "B AH0 N AE1 N AA2");
        let mut symbols = symbols::parse("B AH0 N AE0").unwrap();
        stress_once(&mut symbols);
        assert_eq!(symbols::format(&symbols), "B AH0 N AE1");
    }
}
