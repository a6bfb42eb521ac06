//! The one table of speech symbols: pauses, ARPAbet consonants, and ARPAbet vowels with their stress. A symbol is its index in the table.
//!
//! Trained weights depend on the order, so [`version`] hashes the table and every file that holds symbols repeats the hash.

use sha2::{Digest, Sha256};

/// An index into [`SYMBOLS`].
pub type Symbol = u8;

/// Fills the end of a batch; never spoken.
pub const PAD: Symbol = 0;
/// A pause that no punctuation asks for, and the silence at both ends of an utterance.
pub const SILENCE: Symbol = 1;
pub const COMMA: Symbol = 2;
pub const PERIOD: Symbol = 3;
pub const QUESTION: Symbol = 4;
pub const EXCLAMATION: Symbol = 5;

const FIRST_CONSONANT: Symbol = 6;
const FIRST_VOWEL: Symbol = 30;

pub const SYMBOL_COUNT: usize = SYMBOLS.len();

/// Names by index.
#[rustfmt::skip]
pub const SYMBOLS: [&str; 75] = [
    "<pad>", "_", ",", ".", "?", "!",
    "B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG", "P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH",
    "AA0", "AA1", "AA2", "AE0", "AE1", "AE2", "AH0", "AH1", "AH2", "AO0", "AO1", "AO2", "AW0", "AW1", "AW2",
    "AY0", "AY1", "AY2", "EH0", "EH1", "EH2", "ER0", "ER1", "ER2", "EY0", "EY1", "EY2", "IH0", "IH1", "IH2",
    "IY0", "IY1", "IY2", "OW0", "OW1", "OW2", "OY0", "OY1", "OY2", "UH0", "UH1", "UH2", "UW0", "UW1", "UW2",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    Pad,
    Pause,
    Consonant,
    Vowel,
}

/// The class of a symbol, or `None` for a number outside the table.
pub fn class(symbol: Symbol) -> Option<Class> {
    match symbol {
        PAD => Some(Class::Pad),
        SILENCE..FIRST_CONSONANT => Some(Class::Pause),
        FIRST_CONSONANT..FIRST_VOWEL => Some(Class::Consonant),
        _ => ((symbol as usize) < SYMBOL_COUNT).then_some(Class::Vowel),
    }
}

pub fn is_pause(symbol: Symbol) -> bool {
    class(symbol) == Some(Class::Pause)
}

pub fn is_vowel(symbol: Symbol) -> bool {
    class(symbol) == Some(Class::Vowel)
}

/// The symbol of each frame.
pub fn by_frame(symbols: &[Symbol], durations: &[u32]) -> Vec<Symbol> {
    let frames = |(&symbol, &frames): (&Symbol, &u32)| std::iter::repeat_n(symbol, frames as usize);
    symbols.iter().zip(durations).flat_map(frames).collect()
}

/// A consonant or a vowel.
pub fn is_phone(symbol: Symbol) -> bool {
    symbol >= FIRST_CONSONANT && (symbol as usize) < SYMBOL_COUNT
}

/// A consonant that is voiced from end to end, as vowels are.
pub fn is_sonorant(symbol: Symbol) -> bool {
    const SONORANTS: [&str; 7] = ["L", "M", "N", "NG", "R", "W", "Y"];
    name(symbol).is_some_and(|name| SONORANTS.contains(&name))
}

/// Stress of a vowel: 0 none, 1 primary, 2 secondary.
pub fn stress(symbol: Symbol) -> Option<u8> {
    is_vowel(symbol).then(|| (symbol - FIRST_VOWEL) % 3)
}

/// The same vowel with another stress; any other symbol stays as it is.
pub fn with_stress(symbol: Symbol, stress: u8) -> Symbol {
    if is_vowel(symbol) { symbol - (symbol - FIRST_VOWEL) % 3 + stress.min(2) } else { symbol }
}

/// A vowel as if it were unstressed; any other symbol stays as it is.
pub fn without_stress(symbol: Symbol) -> Symbol {
    with_stress(symbol, 0)
}

pub fn name(symbol: Symbol) -> Option<&'static str> {
    SYMBOLS.get(symbol as usize).copied()
}

pub fn id(name: &str) -> Option<Symbol> {
    SYMBOLS.iter().position(|other| *other == name).map(|index| index as Symbol)
}

/// Symbols of names separated by spaces, e.g. `"HH AH0 L OW1"`; `None` where a name is unknown.
pub fn parse(names: &str) -> Option<Vec<Symbol>> {
    names.split_ascii_whitespace().map(id).collect()
}

/// The names of symbols, separated by spaces.
pub fn format(symbols: &[Symbol]) -> String {
    symbols.iter().map(|symbol| name(*symbol).unwrap_or("<unknown>")).collect::<Vec<_>>().join(" ")
}

/// 16 hexadecimal digits that change with any change of the table.
pub fn version() -> String {
    Sha256::digest(SYMBOLS.join(" ")).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_what_weights_were_trained_with() {
        assert_eq!(SYMBOL_COUNT, 75);
        assert_eq!(version(), "6fba3ec95027d19d");
        assert_eq!(
            (id("_"), id("B"), id("ZH"), id("AA0"), id("UW2"), id("XX")),
            (Some(1), Some(6), Some(29), Some(30), Some(74), None)
        );
    }

    #[test]
    fn names_are_distinct() {
        let distinct: std::collections::HashSet<_> = SYMBOLS.iter().collect();
        assert_eq!(distinct.len(), SYMBOL_COUNT);
    }

    #[test]
    fn classes_and_stress() {
        let classes: Vec<_> = ["<pad>", "_", "!", "B", "ZH", "AA0", "UW2"]
            .iter()
            .map(|name| class(id(name).unwrap()).unwrap())
            .collect();
        use Class::*;
        assert_eq!(classes, [Pad, Pause, Pause, Consonant, Consonant, Vowel, Vowel]);
        assert_eq!(class(75), None);
        assert_eq!(
            (stress(id("ER2").unwrap()), stress(id("AA0").unwrap()), stress(id("T").unwrap())),
            (Some(2), Some(0), None)
        );
        assert_eq!(name(with_stress(id("ER2").unwrap(), 1)), Some("ER1"));
        assert_eq!(with_stress(id("T").unwrap(), 1), id("T").unwrap());
    }

    #[test]
    fn parse_and_format_are_inverse() {
        let symbols = parse("HH AH0 L OW1").unwrap();
        assert_eq!(symbols, [12, 36, 15, 64]);
        assert_eq!(format(&symbols), "HH AH0 L OW1");
        assert_eq!(parse("HH XX"), None);
    }
}
