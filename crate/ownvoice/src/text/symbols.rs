//! The table of speech symbols: pauses, ARPAbet consonants, and ARPAbet vowels with their stress.
//!
//! Trained weights depend on the order of the table, so every file that holds symbols also holds [`version`], a hash of the table.

use serde::{Deserialize, Serialize};

use crate::digest::sha256_hex;

/// A speech symbol: an index into [`SYMBOLS`] that is known to be in range. Files store it as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub struct Symbol(u8);

impl Symbol {
    /// The symbol at an index of [`SYMBOLS`].
    pub fn from_index(index: usize) -> Option<Self> {
        (index < SYMBOL_COUNT).then_some(Self(index as u8))
    }

    /// The symbol of a name, e.g. `"AH0"`.
    pub fn from_name(name: &str) -> Option<Self> {
        SYMBOLS.iter().position(|other| *other == name).and_then(Self::from_index)
    }

    /// All symbols in the order of the table, padding first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SYMBOL_COUNT).filter_map(Self::from_index)
    }

    /// Its index in [`SYMBOLS`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Its name in [`SYMBOLS`], e.g. `"AH0"`.
    pub fn name(self) -> &'static str {
        SYMBOLS[self.index()]
    }
}

impl From<Symbol> for u8 {
    fn from(symbol: Symbol) -> Self {
        symbol.0
    }
}

impl From<Symbol> for i32 {
    fn from(symbol: Symbol) -> Self {
        symbol.0.into()
    }
}

impl TryFrom<u8> for Symbol {
    type Error = String;

    fn try_from(index: u8) -> Result<Self, String> {
        Self::from_index(index.into())
            .ok_or_else(|| format!("symbol {index} is not one of the {SYMBOL_COUNT} of the table"))
    }
}

/// Fills the end of a batch; never spoken.
pub const PAD: Symbol = Symbol(0);
/// A pause without punctuation, and the silence at both ends of an utterance.
pub const SILENCE: Symbol = Symbol(1);
pub const COMMA: Symbol = Symbol(2);
pub const PERIOD: Symbol = Symbol(3);
pub const QUESTION: Symbol = Symbol(4);
pub const EXCLAMATION: Symbol = Symbol(5);

const FIRST_CONSONANT: u8 = 6;
const FIRST_VOWEL: u8 = 30;

/// The number of symbols in the table.
pub const SYMBOL_COUNT: usize = SYMBOLS.len();

/// The names of the symbols by index.
#[rustfmt::skip]
pub const SYMBOLS: [&str; 75] = [
    "<pad>", "_", ",", ".", "?", "!",
    "B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG", "P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH",
    "AA0", "AA1", "AA2", "AE0", "AE1", "AE2", "AH0", "AH1", "AH2", "AO0", "AO1", "AO2", "AW0", "AW1", "AW2",
    "AY0", "AY1", "AY2", "EH0", "EH1", "EH2", "ER0", "ER1", "ER2", "EY0", "EY1", "EY2", "IH0", "IH1", "IH2",
    "IY0", "IY1", "IY2", "OW0", "OW1", "OW2", "OY0", "OY1", "OY2", "UH0", "UH1", "UH2", "UW0", "UW1", "UW2",
];

/// The kinds of symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    Pad,
    Pause,
    Consonant,
    Vowel,
}

/// Returns the class of a symbol.
pub fn class(symbol: Symbol) -> Class {
    match symbol {
        PAD => Class::Pad,
        Symbol(..FIRST_CONSONANT) => Class::Pause,
        Symbol(..FIRST_VOWEL) => Class::Consonant,
        _ => Class::Vowel,
    }
}

/// Whether a symbol is silence or punctuation.
pub fn is_pause(symbol: Symbol) -> bool {
    class(symbol) == Class::Pause
}

/// Whether a symbol is a vowel of any stress.
pub fn is_vowel(symbol: Symbol) -> bool {
    class(symbol) == Class::Vowel
}

/// Whether a symbol is a consonant or a vowel.
pub fn is_phone(symbol: Symbol) -> bool {
    matches!(class(symbol), Class::Consonant | Class::Vowel)
}

/// Repeats each symbol for the frames of its duration.
pub fn by_frame(symbols: &[Symbol], durations: &[u32]) -> Vec<Symbol> {
    let frames = |(&symbol, &frames): (&Symbol, &u32)| std::iter::repeat_n(symbol, frames as usize);
    symbols.iter().zip(durations).flat_map(frames).collect()
}

/// Returns the stress of a vowel: 0 none, 1 primary, 2 secondary.
pub fn stress(symbol: Symbol) -> Option<u8> {
    is_vowel(symbol).then(|| (symbol.0 - FIRST_VOWEL) % 3)
}

/// Returns the same vowel with another stress; any other symbol is returned unchanged.
pub fn with_stress(symbol: Symbol, wanted: u8) -> Symbol {
    match stress(symbol) {
        Some(present) => Symbol(symbol.0 - present + wanted.min(2)),
        None => symbol,
    }
}

/// Returns a vowel without its stress; any other symbol is returned unchanged.
pub fn without_stress(symbol: Symbol) -> Symbol {
    with_stress(symbol, 0)
}

/// Parses names separated by spaces, e.g. `"HH AH0 L OW1"`. Returns `None` if a name is unknown.
pub fn parse(names: &str) -> Option<Vec<Symbol>> {
    names.split_ascii_whitespace().map(Symbol::from_name).collect()
}

/// Converts bytes of a lexicon file to symbols. Returns `None` unless all of them are phones.
pub(super) fn parse_phone_bytes(bytes: &[u8]) -> Option<Vec<Symbol>> {
    let phone = |&byte: &u8| Symbol::from_index(byte.into()).filter(|symbol| is_phone(*symbol));
    bytes.iter().map(phone).collect()
}

/// Joins the names of symbols with spaces.
pub fn format(symbols: &[Symbol]) -> String {
    symbols.iter().map(|symbol| symbol.name()).collect::<Vec<_>>().join(" ")
}

/// Returns 16 hexadecimal digits that change with any change of the table.
pub fn version() -> String {
    sha256_hex(SYMBOLS.join(" "))[..16].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str) -> Symbol {
        Symbol::from_name(name).unwrap()
    }

    #[test]
    fn table_is_the_one_that_weights_were_trained_with() {
        assert_eq!(SYMBOL_COUNT, 75);
        assert_eq!(version(), "6fba3ec95027d19d");
        assert_eq!(["_", "B", "ZH", "AA0", "UW2"].map(|name| symbol(name).index()), [1, 6, 29, 30, 74]);
        assert_eq!(Symbol::from_name("XX"), None);
    }

    #[test]
    fn names_are_distinct() {
        let distinct: std::collections::HashSet<_> = SYMBOLS.iter().collect();
        assert_eq!(distinct.len(), SYMBOL_COUNT);
    }

    #[test]
    fn indices_outside_the_table_are_not_symbols() {
        assert_eq!(Symbol::from_index(75), None);
        assert_eq!(serde_json::to_string(&[symbol("UW2"), PAD]).unwrap(), "[74,0]");
        assert_eq!(serde_json::from_str::<[Symbol; 2]>("[74,0]").unwrap(), [symbol("UW2"), PAD]);
        assert!(serde_json::from_str::<Symbol>("75").is_err());
    }

    #[test]
    fn classes_and_stress() {
        let classes = ["<pad>", "_", "!", "B", "ZH", "AA0", "UW2"].map(|name| class(symbol(name)));
        use Class::*;
        assert_eq!(classes, [Pad, Pause, Pause, Consonant, Consonant, Vowel, Vowel]);
        assert_eq!(["ER2", "AA0", "T"].map(|name| stress(symbol(name))), [Some(2), Some(0), None]);
        assert_eq!(with_stress(symbol("ER2"), 1).name(), "ER1");
        assert_eq!(with_stress(symbol("T"), 1), symbol("T"));
    }

    #[test]
    fn parse_and_format_are_inverse() {
        let symbols = parse("HH AH0 L OW1").unwrap();
        assert_eq!(symbols.iter().map(|symbol| symbol.index()).collect::<Vec<_>>(), [12, 36, 15, 64]);
        assert_eq!(format(&symbols), "HH AH0 L OW1");
        assert_eq!(parse("HH XX"), None);
    }
}
