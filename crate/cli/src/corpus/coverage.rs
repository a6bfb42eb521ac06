//! The coverage of the phones of English and of their pairs by a corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ownvoice::{
    align::recogniser::class,
    text::{
        Phonemizer,
        symbols::{self, Symbol},
    },
};

/// Counts of phones without stress, and of pairs of neighbouring phones without a pause in between.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// The occurrences of each phone.
    pub phones: BTreeMap<usize, usize>,
    /// The occurrences of each pair.
    pub pairs: BTreeMap<(usize, usize), usize>,
    /// The pairs that occur in words of the dictionary.
    pub known_pairs: BTreeSet<(usize, usize)>,
}

/// A pair with fewer occurrences can hardly be learned.
const OFTEN: usize = 10;

impl Coverage {
    /// Counts the phones and pairs of utterances.
    pub fn count<'a>(utterances: impl Iterator<Item = &'a [Symbol]>, phonemizer: &Phonemizer) -> Self {
        let lexicon = phonemizer.lexicon();
        let mut coverage =
            Self { phones: BTreeMap::new(), pairs: BTreeMap::new(), known_pairs: BTreeSet::new() };
        (0..lexicon.len()).for_each(|word| coverage.known_pairs.extend(pairs(lexicon.phones(word))));
        for symbols in utterances {
            for &phone in symbols.iter().filter(|symbol| symbols::is_phone(**symbol)) {
                *coverage.phones.entry(class(phone)).or_default() += 1;
            }
            for pair in pairs(symbols) {
                *coverage.pairs.entry(pair).or_default() += 1;
            }
        }
        coverage
    }

    /// Returns the number of pairs of the dictionary with at least `times` occurrences.
    pub fn covered(&self, times: usize) -> usize {
        self.known_pairs
            .iter()
            .filter(|pair| self.pairs.get(pair).is_some_and(|&count| count >= times))
            .count()
    }
}

/// Returns the pairs of neighbouring phones.
fn pairs(symbols: &[Symbol]) -> impl Iterator<Item = (usize, usize)> {
    symbols
        .windows(2)
        .filter(|pair| pair.iter().all(|symbol| symbols::is_phone(*symbol)))
        .map(|pair| (class(pair[0]), class(pair[1])))
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let total: usize = self.phones.values().sum();
        let least = self.phones.values().min().copied().unwrap_or(0);
        let known = self.known_pairs.len().max(1) as f32;
        let [once, often] = [1, OFTEN].map(|times| 100.0 * self.covered(times) as f32 / known);
        write!(
            f,
            "{} phones, the rarest {least} times of {total}; of the dictionary's {} pairs of phones {once:.0} % occur, {often:.0} % at least {OFTEN} times",
            self.phones.len(),
            self.known_pairs.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::symbols::parse;

    #[test]
    fn pauses_part_pairs_and_stress_does_not_count() {
        let said = parse("_ K AE1 T . _ AE0 T _").unwrap();
        let coverage = Coverage::count([said.as_slice()].into_iter(), &Phonemizer::embedded());
        let class = |name: &str| class(parse(name).unwrap()[0]);
        assert_eq!(coverage.phones[&class("AE1")], 2);
        assert_eq!(
            coverage.pairs.iter().map(|(pair, count)| (*pair, *count)).collect::<BTreeMap<_, _>>(),
            [((class("K"), class("AE1")), 1), ((class("AE1"), class("T")), 2),].into()
        );
        assert_eq!((coverage.covered(1), coverage.covered(2)), (2, 1));
        assert!(coverage.known_pairs.len() > 900, "{}", coverage.known_pairs.len());
        assert!(coverage.to_string().starts_with("3 phones, the rarest 1 times of 5; "), "{coverage}");
    }
}
