//! Predicts the duration of a text from a speaker's rate, with which a synthesised sentence is compared to detect runaways.

use std::ops::Range;

use ownvoice::text::symbols::{self, Symbol};

/// The classes of sounds with similar durations: consonants, vowels, both in the last syllable before a pause, where speakers slow down, and pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Consonant,
    Vowel,
    LastConsonant,
    LastVowel,
    Pause,
}

const KINDS: usize = 5;

/// The mean duration of each kind, in frames.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SpeakingRate([f32; KINDS]);

impl SpeakingRate {
    /// Computes the rate of utterances.
    ///
    /// * `spoken`: symbols and the frames of each
    pub fn measure<'a>(spoken: impl IntoIterator<Item = (&'a [Symbol], &'a [u32])>) -> Self {
        let (mut frames, mut count) = ([0; KINDS], [0; KINDS]);
        for (symbols, durations) in spoken {
            for (kind, range) in units(symbols) {
                frames[kind as usize] += durations[range].iter().sum::<u32>();
                count[kind as usize] += 1;
            }
        }
        let mean = |frames: &[u32], count: &[u32]| {
            frames.iter().sum::<u32>() as f32 / count.iter().sum::<u32>().max(1) as f32
        };
        // A kind without occurrences takes the mean of all phones.
        let phones = mean(&frames[..Kind::Pause as usize], &count[..Kind::Pause as usize]);
        Self(std::array::from_fn(|kind| {
            if count[kind] > 0 { mean(&frames[kind..=kind], &count[kind..=kind]) } else { phones }
        }))
    }

    /// Returns the frames that a text should take.
    pub fn expects(self, symbols: &[Symbol]) -> f32 {
        units(symbols).into_iter().map(|(kind, _)| self.0[kind as usize]).sum()
    }
}

/// Divides a text into single phones and pauses: a comma and the silence after it are one pause.
fn units(symbols: &[Symbol]) -> Vec<(Kind, Range<usize>)> {
    let mut units = Vec::new();
    let mut first = 0;
    for run in symbols.chunk_by(|a, b| symbols::is_phone(*a) == symbols::is_phone(*b)) {
        if symbols::is_phone(run[0]) {
            let last_vowel = run.iter().rposition(|&symbol| symbols::is_vowel(symbol)).unwrap_or(run.len());
            for (index, &symbol) in run.iter().enumerate() {
                let kind = match (symbols::is_vowel(symbol), index >= last_vowel) {
                    (false, false) => Kind::Consonant,
                    (true, false) => Kind::Vowel,
                    (false, true) => Kind::LastConsonant,
                    (true, true) => Kind::LastVowel,
                };
                units.push((kind, first + index..first + index + 1));
            }
        } else {
            units.push((Kind::Pause, first..first + run.len()));
        }
        first += run.len();
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_duration_is_the_sum_over_sounds_and_pauses() {
        let symbols = symbols::parse("_ K AE1 T , _ AE1 T AE1 . _").unwrap();
        let speaking_rate =
            SpeakingRate::measure([(symbols.as_slice(), [9, 4, 6, 5, 1, 20, 7, 4, 10, 1, 29].as_slice())]);
        assert_eq!(
            speaking_rate,
            SpeakingRate([4.0, 7.0, 5.0, 8.0, 20.0]),
            "both consonants before the last vowel, the vowel before it, the consonant after it, the last vowels, three pauses"
        );
        assert_eq!(
            speaking_rate.expects(&symbols::parse("_ T AE1 , _ AE1 T _").unwrap()),
            3.0 * 20.0 + 4.0 + 2.0 * 8.0 + 5.0
        );
    }

    #[test]
    fn kinds_without_occurrences_take_the_mean_of_all_phones() {
        let speaking_rate =
            SpeakingRate::measure([(symbols::parse("T AE1 T").unwrap().as_slice(), [4, 6, 5].as_slice())]);
        assert_eq!(speaking_rate, SpeakingRate([4.0, 5.0, 5.0, 6.0, 5.0]));
        assert_eq!(SpeakingRate::measure([]).expects(&symbols::parse("T AE1").unwrap()), 0.0);
    }
}
