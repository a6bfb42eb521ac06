//! From written English to speech symbols: [`normalize()`] writes out everything that is not a word, [`Phonemizer`] looks words up in a dictionary, and
//! derives the pronunciation of unknown words from their parts or from their letters.

pub mod affixes;
pub mod alternatives;
pub mod fold;
mod grammar;
mod heteronyms;
pub mod language;
pub mod letters;
mod letters_fit;
pub mod lexicon;
pub mod normalize;
pub mod numbers;
pub mod nvidia;
mod phonemizer;
pub mod pronounce;
pub mod supplement;
pub mod symbols;

pub use normalize::{NormalizedSentence, normalize, normalized_sentences, sentences};
pub use phonemizer::Phonemizer;

use symbols::{SILENCE, Symbol};

/// A word or a pause, with its pronunciation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The normalised word: lower case unless it is an abbreviation. The punctuation mark of a pause.
    pub text: String,
    pub symbols: Vec<Symbol>,
}

impl Word {
    /// Whether it is a pause.
    pub fn is_pause(&self) -> bool {
        self.symbols.iter().all(|symbol| symbols::is_pause(*symbol))
    }
}

/// Joins the symbols of words, with silence at both ends. Returns the symbols, and for each whether a word ends with it.
pub fn to_symbols(words: &[Word]) -> (Vec<Symbol>, Vec<bool>) {
    let (mut symbols, mut word_ends) = (vec![SILENCE], vec![false]);
    for word in words {
        symbols.extend_from_slice(&word.symbols);
        word_ends.resize(symbols.len() - 1, false);
        word_ends.push(!word.is_pause());
    }
    symbols.push(SILENCE);
    word_ends.push(false);
    (symbols, word_ends)
}
