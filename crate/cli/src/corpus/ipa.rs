//! Maps the IPA that espeak-ng prints for other languages to the nearest ARPAbet phones.
//!
//! The result is a text that [`ownvoice::text::Phonemizer`] accepts: words of ARPAbet in braces with punctuation between them.

use std::process::Command;

use super::program::run;
use ownvoice::{
    Error, Result,
    text::symbols::{self, Symbol, is_vowel, with_stress},
};

/// IPA as espeak-ng spells it, without stress, length and palatalisation, with the nearest phones of American English.
#[rustfmt::skip]
const NEAREST: &[(&str, &str)] = &[
    ("a", "AA"), ("ɑ", "AA"), ("ɐ", "AH"), ("ʌ", "AH"), ("ə", "AH"), ("æ", "AE"), ("ɒ", "AA"),
    ("e", "EH"), ("eː", "EY"), ("ɛ", "EH"), ("ɛɪ", "EY"), ("eɪ", "EY"), ("eʊ", "EH UW"), ("œ", "ER"), ("ø", "ER"), ("ɜ", "ER"), ("ε", "EH"),
    ("i", "IY"), ("ɪ", "IH"), ("ɪ^", "IH"), ("ɨ", "IH"), ("y", "IH"), ("yː", "UW"), ("yʊ", "IY UW"), ("œy", "AW"), ("ʏ", "IH"),
    ("o", "AO"), ("oː", "OW"), ("ɔ", "AO"), ("oʊ", "OW"), ("ɔɪ", "OY"), ("ʌʊ", "AW"), ("aʊ", "AW"), ("aɪ", "AY"),
    ("u", "UW"), ("u\"", "UW"), ("ʊ", "UH"), ("ɵ", "UH"), ("ʉ", "UW"), ("ja", "Y AA"), ("əʊ", "OW"), ("oɪ", "OY"), ("ɒɒ", "AA"), ("ɑɑ", "AA"), ("aa", "AA"), ("əl", "AH L"), ("ju", "Y UW"),
    ("ɑ̃", "AA N"), ("ɛ̃", "AE N"), ("ɔ̃", "AO N"), ("œ̃", "AH N"), ("r̩", "ER"), ("l̩", "AH L"),
    ("p", "P"), ("b", "B"), ("t", "T"), ("d", "D"), ("k", "K"), ("ɡ", "G"), ("g", "G"), ("c", "T Y"), ("ɟ", "D Y"),
    ("m", "M"), ("n", "N"), ("ŋ", "NG"), ("ɲ", "N Y"),
    ("f", "F"), ("v", "V"), ("ʋ", "V"), ("β", "V"), ("w", "W"), ("θ", "TH"), ("ð", "DH"), ("s", "S"), ("ss", "S"), ("z", "Z"),
    ("ʃ", "SH"), ("ʂ", "SH"), ("ɕ", "SH"), ("ʒ", "ZH"), ("ʐ", "ZH"), ("ʑ", "ZH"), ("x", "HH"), ("ç", "HH"), ("χ", "HH"), ("ɣ", "HH"), ("h", "HH"), ("ɦ", "HH"),
    ("ts", "T S"), ("dz", "D Z"), ("tʃ", "CH"), ("tɕ", "CH"), ("dʒ", "JH"), ("dʑ", "JH"), ("ʈʂ", "CH"), ("tsts", "T S"), ("dzdz", "D Z"),
    ("l", "L"), ("ɭ", "L"), ("ɫ", "L"), ("ʎ", "L Y"), ("r", "R"), ("ɾ", "R"), ("ɹ", "R"), ("ʁ", "R"), ("r̝", "R ZH"), ("r̝̊", "R SH"),
    ("j", "Y"), ("ʝ", "Y"), ("ɥ", "W"),
];

/// Marks that are ignored: stress, palatalisation, ties, dental and laminal articulation, Danish stød and the glottal stop.
const MARKS: &[char] = &['ˈ', 'ˌ', 'ʲ', '\u{361}', '\u{32a}', '\u{33b}', '\u{32f}', 'ʔ', '?', '-'];

/// Converts one IPA phone to our symbols. Returns `None` if the table lacks it.
pub fn nearest(phone: &str) -> Option<Vec<Symbol>> {
    let stress = if phone.contains('ˈ') {
        1
    } else if phone.contains('ˌ') {
        2
    } else {
        0
    };
    let plain: String = phone.chars().filter(|c| !MARKS.contains(c)).collect();
    if plain.is_empty() {
        return Some(Vec::new());
    }
    let entry = |name: &str| NEAREST.iter().find(|(ipa, _)| *ipa == name);
    let (_, phones) = entry(&plain).or_else(|| entry(&plain.replace('ː', "")))?;
    let symbol = |name: &str| {
        Symbol::from_name(name)
            .or_else(|| Symbol::from_name(&format!("{name}0")))
            .expect("the table holds ARPAbet")
    };
    Some(
        phones
            .split(' ')
            .filter(|name| !name.is_empty())
            .map(symbol)
            .map(|one| if is_vowel(one) { with_stress(one, stress) } else { one })
            .collect(),
    )
}

/// Transcribes a text of another language in braces: `Kde je?` becomes `{G D EH1} {Y EH0}?`.
///
/// * `language`: espeak-ng's name of the language, e.g. `cs`
pub fn transcribe(text: &str, language: &str) -> Result<String> {
    let mut written = String::new();
    for clause in text.split_inclusive([',', '.', '?', '!', ';', ':', '…']) {
        let end = clause.chars().next_back().filter(|c| !c.is_alphanumeric());
        if !clause.chars().any(char::is_alphanumeric) {
            continue;
        }
        for word in espeak(clause, language)?.split_whitespace() {
            let phones: Vec<Symbol> = phones(word).into_iter().flatten().flatten().collect();
            if !phones.is_empty() {
                written += if written.is_empty() { "" } else { " " };
                written += &format!("{{{}}}", symbols::format(&phones));
            }
        }
        written.push(match end {
            Some('?') => '?',
            Some('!') => '!',
            Some('.' | '…') => '.',
            _ => ',',
        });
    }
    let written = written.trim_end_matches(',').to_string();
    let last = if written.ends_with(['.', '?', '!']) { "" } else { "." };
    if written.is_empty() { Err(Error::text_unsupported(text)) } else { Ok(written + last) }
}

/// Converts one word as espeak-ng prints it. `(en)` marks a word of another language and is not a phone.
fn phones(word: &str) -> Vec<Option<Vec<Symbol>>> {
    word.split('_').filter(|phone| !phone.is_empty() && !phone.starts_with('(')).map(nearest).collect()
}

/// Returns espeak-ng's IPA of a text.
fn espeak(text: &str, language: &str) -> Result<String> {
    let output = run(Command::new("espeak-ng").args(["-v", language, "-q", "--ipa", "--sep=_", "--", text]))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(word: &str) -> String {
        let phones: Vec<Symbol> =
            phones(word).into_iter().flat_map(|phone| phone.expect("in the table")).collect();
        symbols::format(&phones)
    }

    #[test]
    fn phones_of_other_languages_become_the_nearest_ones() {
        assert_eq!(written("z_ˈa_ɟ_i_v_n_oʊ"), "Z AA1 D Y IY0 V N OW0");
        assert_eq!(
            written("p_ˈɑ_s_aː_ɣ_ˌi_r_s_f_l_i_x_t_ˌœy_x"),
            "P AA1 S AA0 HH IY2 R S F L IY0 HH T AW2 HH"
        );
        assert_eq!(written("bʲ_i_z_ˈu_m_n_ʌ_m"), "B IY0 Z UW1 M N AH0 M");
        assert_eq!(written("(en)_ts_r̝̊_ɲ_eː_dʒʲ"), "T S R SH N Y EY0 JH");
        assert_eq!(written("t̻͡s_ˈɑ_ʈ͡ʂ"), "T S AA1 CH");
        assert_eq!(written("ʔˈi_ʔ_ɐ̯"), "IY1 AH0");
        assert_eq!(nearest("!"), None);
    }

    #[test]
    fn the_table_is_valid_and_without_duplicates() {
        for (index, (ipa, phones)) in NEAREST.iter().enumerate() {
            assert!(nearest(ipa).is_some(), "{ipa}: {phones} is not ARPAbet");
            assert!(NEAREST[..index].iter().all(|(other, _)| other != ipa), "{ipa} is listed twice");
        }
    }
}
