//! The symbols of NVIDIA's Tacotron 2, which its public checkpoint was trained with: characters, and ARPAbet phones marked by `@`
//! (`text/symbols.py` and `text/cmudict.py` of github.com/NVIDIA/tacotron2).
//!
//! The checkpoint was trained on a mixture of letters and phones (issue 329 there), and also speaks phones alone. It expects a space between words, for
//! which our own table has no symbol, so texts are spelled in NVIDIA's table.

use super::{
    Word,
    symbols::{self, SILENCE, Symbol},
};

/// Identifies this table in files with an embedding of its symbols.
pub const VERSION: &str = "nvidia";

/// The first symbols: padding, a hyphen, punctuation and letters.
const CHARACTERS: &str = "_-!'(),.:;? ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The phones of CMUdict: vowels without stress and with each stress.
#[rustfmt::skip]
const PHONES: [&str; 84] = [
    "AA", "AA0", "AA1", "AA2", "AE", "AE0", "AE1", "AE2", "AH", "AH0", "AH1", "AH2", "AO", "AO0", "AO1", "AO2", "AW", "AW0", "AW1", "AW2",
    "AY", "AY0", "AY1", "AY2", "B", "CH", "D", "DH", "EH", "EH0", "EH1", "EH2", "ER", "ER0", "ER1", "ER2", "EY", "EY0", "EY1", "EY2", "F", "G", "HH",
    "IH", "IH0", "IH1", "IH2", "IY", "IY0", "IY1", "IY2", "JH", "K", "L", "M", "N", "NG", "OW", "OW0", "OW1", "OW2", "OY", "OY0", "OY1", "OY2",
    "P", "R", "S", "SH", "T", "TH", "UH", "UH0", "UH1", "UH2", "UW", "UW0", "UW1", "UW2", "V", "W", "Y", "Z", "ZH",
];

/// The number of symbols in NVIDIA's table.
pub const SYMBOL_COUNT: usize = CHARACTERS.len() + PHONES.len();

/// Returns the index of a character.
fn character(wanted: &str) -> Option<u8> {
    CHARACTERS.find(wanted).map(|index| index as u8)
}

/// Returns the index of a phone.
fn phone(wanted: &str) -> Option<u8> {
    PHONES.iter().position(|name| *name == wanted).map(|index| (CHARACTERS.len() + index) as u8)
}

/// Spells words with a space before each but the first; punctuation follows its word without a space. No silence is added at the ends.
///
/// Returns for each symbol its index in NVIDIA's table, and the symbol of [`symbols`] that it stands for: [`SILENCE`] for a space.
pub fn to_symbols(words: &[Word]) -> Vec<(u8, Symbol)> {
    let mut spelled = Vec::new();
    for word in words {
        if !spelled.is_empty() && !word.is_pause() {
            spelled.extend(character(" ").map(|space| (space, SILENCE)));
        }
        spelled.extend(word.symbols.iter().map(|&symbol| {
            let name = symbol.name();
            let index = if symbols::is_phone(symbol) { phone(name) } else { character(name) };
            (index.expect("NVIDIA's table has all of our symbols but padding"), symbol)
        }));
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Phonemizer;

    #[test]
    fn the_table_equals_nvidias() {
        // These are indices into `symbols` of its `text/symbols.py`.
        assert_eq!(SYMBOL_COUNT, 148);
        let characters = ["_", "-", "!", ",", ".", "?", " ", "A", "a"].map(|name| character(name).unwrap());
        assert_eq!(characters, [0, 1, 2, 6, 7, 10, 11, 12, 38]);
        assert_eq!(
            ["AA", "AA0", "B", "HH", "UW2", "ZH"].map(|name| phone(name).unwrap()),
            [64, 65, 88, 106, 142, 147]
        );
    }

    #[test]
    fn each_of_our_symbols_has_one_of_nvidias() {
        for symbol in Symbol::all().skip(1) {
            let word = Word { text: String::new(), symbols: vec![symbol] };
            assert_eq!(to_symbols(&[word]).len(), 1, "{}", symbol.name());
        }
    }

    #[test]
    fn spaces_separate_words_but_not_punctuation() {
        let spelled = to_symbols(&Phonemizer::embedded().words("Go, a bee!").unwrap());
        let names = ["@G", "@OW1", ",", " ", "@AH0", " ", "@B", "@IY1", "!"];
        let expected =
            names.map(|name| name.strip_prefix('@').map_or_else(|| character(name), phone).unwrap());
        assert_eq!(spelled.iter().map(|(index, _)| *index).collect::<Vec<_>>(), expected);
        assert_eq!((spelled[3].1, spelled[4].1.name()), (SILENCE, "AH0"));
    }
}
