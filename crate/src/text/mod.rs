//! From written English to speech symbols: [`normalize()`] writes out what is not a word, [`Phonemizer`] looks words up, and what the dictionary lacks
//! is taken apart or read letter by letter.

pub mod affixes;
pub mod fold;
pub mod letters;
pub mod lexicon;
pub mod normalize;
pub mod pronounce;
pub mod symbols;

pub use normalize::{normalize, sentences};

use crate::{Error, Result};
use lexicon::Lexicon;
use symbols::{COMMA, EXCLAMATION, PERIOD, QUESTION, SILENCE, Symbol};

/// Longer unknown words are no words; they are read letter by letter in the dictionary's manner, without looking for parts.
const MAX_PARTS: usize = 40;

/// A word, or a pause, and how it is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As normalised: lower case unless it is an abbreviation; punctuation for a pause.
    pub text: String,
    pub symbols: Vec<Symbol>,
}

impl Word {
    pub fn is_pause(&self) -> bool {
        self.symbols.iter().all(|symbol| symbols::is_pause(*symbol))
    }
}

/// American English text to symbols. Deterministic.
#[derive(Debug)]
pub struct Phonemizer {
    lexicon: Lexicon,
}

impl Phonemizer {
    /// From the bytes of `models/lexicon/en.lex`.
    pub fn new(lexicon: &[u8]) -> Result<Self> {
        Ok(Self { lexicon: Lexicon::load(lexicon)? })
    }

    /// With the lexicon built in; a page fetches it instead.
    #[cfg(not(target_family = "wasm"))]
    pub fn embedded() -> Self {
        Self::new(include_bytes!("../../../models/lexicon/en.lex")).expect("the lexicon in the repository is whole")
    }

    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// All symbols of a text: silence at both ends, punctuation as pauses between.
    pub fn symbols(&self, text: &str) -> Result<Vec<Symbol>> {
        let words = self.words(text)?;
        let mut symbols = vec![SILENCE];
        words.iter().for_each(|word| symbols.extend_from_slice(&word.symbols));
        symbols.push(SILENCE);
        Ok(symbols)
    }

    /// The words and pauses of a text, without the silences at its ends. Fails where nothing can be spoken.
    pub fn words(&self, text: &str) -> Result<Vec<Word>> {
        let normal = normalize(text)?;
        let mut tokens: Vec<&str> = Vec::new();
        for chunk in normal.split(' ').filter(|chunk| !chunk.is_empty()) {
            let word = chunk.trim_end_matches([',', '.', '?', '!']);
            tokens.extend([word, &chunk[word.len()..]].into_iter().filter(|token| !token.is_empty()));
        }
        // Backwards, since "the" and "to" depend on the sound that follows.
        let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate().rev() {
            let next = words.last();
            let symbols = match pause(token) {
                Some(symbol) => vec![symbol],
                None => {
                    let neighbour =
                        |index: Option<usize>| index.and_then(|index| tokens.get(index)).copied().filter(|token| pause(token).is_none());
                    let last = next.is_none_or(Word::is_pause);
                    let vowel_follows = next.and_then(|word| word.symbols.first()).is_some_and(|symbol| symbols::is_vowel(*symbol));
                    self.word(neighbour(index.checked_sub(1)), token, neighbour(Some(index + 1)), vowel_follows, last)
                }
            };
            words.push(Word { text: token.to_string(), symbols });
        }
        words.retain(|word| !word.symbols.is_empty());
        words.reverse();
        if words.iter().all(Word::is_pause) {
            return Err(Error::TextUnsupported(text.chars().take(40).collect()));
        }
        Ok(words)
    }

    fn word(&self, before: Option<&str>, word: &str, after: Option<&str>, vowel_follows: bool, last: bool) -> Vec<Symbol> {
        // A capital that is kept is an abbreviation or the letter itself.
        if word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.spelled(word);
        }
        let lower = word.to_ascii_lowercase();
        let known = pronounce::in_context(before, &lower, after, vowel_follows, last).and_then(symbols::parse);
        if let Some(symbols) = known.or_else(|| self.lexicon.get(&lower).map(<[Symbol]>::to_vec)) {
            return symbols;
        }
        let upper = word.chars().all(|c| c.is_ascii_uppercase());
        let no_vowel = !lower.contains(['a', 'e', 'i', 'o', 'u', 'y']);
        if upper && word.len() <= 5 || no_vowel && word.len() <= 6 {
            return self.spelled(&lower);
        }
        if lower.len() <= MAX_PARTS
            && let Some(symbols) = affixes::take_apart(&lower, &|stem| self.lexicon.get(stem).map(<[Symbol]>::to_vec))
        {
            return symbols;
        }
        match lower.strip_suffix("'s") {
            Some(stem) => affixes::plural(&self.lexicon.letters.read(stem)),
            None => self.lexicon.letters.read(&lower),
        }
    }

    /// The names of the letters, one after another.
    fn spelled(&self, word: &str) -> Vec<Symbol> {
        let letters = word.bytes().map(|letter| letter.to_ascii_lowercase()).filter(u8::is_ascii_lowercase);
        letters
            .flat_map(|letter| match letter {
                b'a' => symbols::parse("EY1").unwrap_or_default(),
                letter => self.lexicon.get(&(letter as char).to_string()).map(<[Symbol]>::to_vec).unwrap_or_default(),
            })
            .collect()
    }
}

/// The symbol of a punctuation token.
fn pause(token: &str) -> Option<Symbol> {
    match token.as_bytes().first()? {
        b',' => Some(COMMA),
        b'.' => Some(PERIOD),
        b'?' => Some(QUESTION),
        b'!' => Some(EXCLAMATION),
        _ => None,
    }
}
