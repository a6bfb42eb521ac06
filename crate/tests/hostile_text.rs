//! Random and hostile texts: only known symbols come out, not many more than went in, in a bounded time.

use ownvoice::text::{Phonemizer, sentences, symbols};
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

const READINGS: &str = include_str!("data/readings.tsv");
/// Marks, scripts, invisible characters and cut words to put between the words of real texts.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    " ", " ", " ", "", "\n", "\n\n", "\t", "\0", "'", "\"", "(", ")", "[", "{", "}", "{AH0}", "{AH0", "-", "--", "–", "—", "/", ":", ",", ".", "...", "!", "?", "$", "€", "%", "°", "#", "@",
    "&", "+", "=", "<", ">=", "×", "½", "²", "\u{301}", "\u{200d}", "\u{202e}", "\u{feff}", "你好", "Привет", "שלום", "مرحبا", "ไทย", "हिन्दी", "😀", "👩‍👩‍👧", "🇺🇸", "𝐇", "ﬁ", "Å", "ǆ", "İ",
    "1", "0", "9,", "1.", "12:", "St.", "a.m.", "U.S", "IV", "I", "A", "mc", "x",
];
/// Symbols for one character of text, at most: "%" and digits are words.
const MAX_SYMBOLS: usize = 40;
/// For each of the tests: some ten times what it takes beside other work.
const MAX_TIME: Duration = Duration::from_secs(120);

fn texts() -> Vec<&'static str> {
    READINGS
        .lines()
        .filter(|line| !line.starts_with("# "))
        .filter_map(|line| line.split('\t').nth(1))
        .collect()
}

fn check(phonemizer: &Phonemizer, text: &str) {
    for sentence in sentences(text) {
        let Ok(spoken) = phonemizer.symbols(&sentence) else { continue };
        assert!(
            spoken.iter().all(|symbol| (1..symbols::SYMBOL_COUNT as u8).contains(symbol)),
            "{sentence:?}"
        );
        assert!(
            spoken.len() <= MAX_SYMBOLS * (sentence.chars().count() + 1),
            "{} symbols of {sentence:?}",
            spoken.len()
        );
    }
}

/// Words of the readings in random order, with pieces between and inside them.
#[test]
fn texts_that_are_spliced_at_random() {
    let phonemizer = Phonemizer::embedded();
    let texts = texts();
    let words: Vec<&str> = texts.iter().flat_map(|text| text.split(' ')).collect();
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let start = Instant::now();
    for _ in 0..30_000 {
        let mut text = String::new();
        for _ in 0..random.random_range(1..12) {
            let word: Vec<char> = words.choose(&mut random).unwrap().chars().collect();
            let (first, last) = (random.random_range(0..=word.len()), random.random_range(0..=word.len()));
            match random.random_range(0..3) {
                0 => text.extend(&word[first.min(last)..first.max(last)]),
                _ => text.extend(&word),
            }
            text.push_str(PIECES.choose(&mut random).unwrap());
        }
        check(&phonemizer, &text);
        assert!(start.elapsed() < MAX_TIME, "{:?}", start.elapsed());
    }
}

/// What takes more than linear time shows when a text is repeated.
#[test]
fn texts_that_repeat() {
    let phonemizer = Phonemizer::embedded();
    let start = Instant::now();
    for text in texts().into_iter().chain(PIECES.iter().copied()).filter(|text| !text.is_empty()) {
        for separator in ["", " "] {
            let repeated = format!("{text}{separator}").repeat((1 << 13) / text.len());
            // Whole, not in sentences: a text may be one.
            let _ = phonemizer.symbols(&repeated);
            assert!(start.elapsed() < MAX_TIME, "{:?} at {text:?}", start.elapsed());
        }
    }
}
