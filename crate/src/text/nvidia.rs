//! The symbols of NVIDIA's Tacotron 2, which its public checkpoint was trained with: characters, and ARPAbet phones marked by `@`
//! (`text/symbols.py` and `text/cmudict.py` of github.com/NVIDIA/tacotron2).
//!
//! It was trained on letters and phones mixed (issue 329 there), and speaks phones alone. Between words it expects a space, which our own
//! table has no symbol for: so its table stays as it is, and texts are spelled in it.

use super::{Word, symbols};

/// A file that holds an embedding of these symbols is marked by this name.
pub const VERSION: &str = "nvidia";

/// Padding, a hyphen, punctuation and letters.
const CHARACTERS: &str = "_-!'(),.:;? ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// CMUdict's: vowels without stress and with each.
#[rustfmt::skip]
const PHONES: [&str; 84] = [
    "AA", "AA0", "AA1", "AA2", "AE", "AE0", "AE1", "AE2", "AH", "AH0", "AH1", "AH2", "AO", "AO0", "AO1", "AO2", "AW", "AW0", "AW1", "AW2",
    "AY", "AY0", "AY1", "AY2", "B", "CH", "D", "DH", "EH", "EH0", "EH1", "EH2", "ER", "ER0", "ER1", "ER2", "EY", "EY0", "EY1", "EY2", "F", "G", "HH",
    "IH", "IH0", "IH1", "IH2", "IY", "IY0", "IY1", "IY2", "JH", "K", "L", "M", "N", "NG", "OW", "OW0", "OW1", "OW2", "OY", "OY0", "OY1", "OY2",
    "P", "R", "S", "SH", "T", "TH", "UH", "UH0", "UH1", "UH2", "UW", "UW0", "UW1", "UW2", "V", "W", "Y", "Z", "ZH",
];

pub const SYMBOL_COUNT: usize = CHARACTERS.len() + PHONES.len();

fn character(wanted: &str) -> Option<u8> {
    CHARACTERS.find(wanted).map(|index| index as u8)
}

fn phone(wanted: &str) -> Option<u8> {
    PHONES.iter().position(|name| *name == wanted).map(|index| (CHARACTERS.len() + index) as u8)
}

/// Words as phones with a space before each but the first; punctuation follows its word at once. Nothing stands at the ends.
pub fn spell(words: &[Word]) -> Vec<u8> {
    let mut spelled = Vec::new();
    for word in words {
        if !spelled.is_empty() && !word.is_pause() {
            spelled.extend(character(" "));
        }
        spelled.extend(word.symbols.iter().map(|&symbol| {
            let name = symbols::name(symbol).expect("words hold symbols of the table");
            let there = if symbols::is_phone(symbol) { phone(name) } else { character(name) };
            there.expect("NVIDIA's table has all of ours but padding")
        }));
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Phonemizer;

    #[test]
    fn the_table_is_nvidias() {
        // Of `symbols` in its `text/symbols.py`.
        assert_eq!(SYMBOL_COUNT, 148);
        let characters = ["_", "-", "!", ",", ".", "?", " ", "A", "a"].map(|name| character(name).unwrap());
        assert_eq!(characters, [0, 1, 2, 6, 7, 10, 11, 12, 38]);
        assert_eq!(
            ["AA", "AA0", "B", "HH", "UW2", "ZH"].map(|name| phone(name).unwrap()),
            [64, 65, 88, 106, 142, 147]
        );
    }

    #[test]
    fn every_symbol_of_ours_has_one_there() {
        for symbol in 1..symbols::SYMBOL_COUNT as u8 {
            let word = Word { text: String::new(), symbols: vec![symbol] };
            assert_eq!(spell(&[word]).len(), 1, "{:?}", symbols::name(symbol));
        }
    }

    #[test]
    fn words_are_parted_by_spaces_and_punctuation_follows_its_word() {
        let spelled = spell(&Phonemizer::embedded().words("Go, a bee!").unwrap());
        let names = ["@G", "@OW1", ",", " ", "@AH0", " ", "@B", "@IY1", "!"];
        let expected =
            names.map(|name| name.strip_prefix('@').map_or_else(|| character(name), phone).unwrap());
        assert_eq!(spelled, expected);
    }
}
