//! Pronounces words that consist of a known word and an affix, or of two known words.

use super::symbols::{self, Symbol};

/// Looks a word up in the dictionary.
pub type Lookup<'a> = dyn Fn(&str) -> Option<Vec<Symbol>> + 'a;

const ENDINGS: &[(&str, &str)] = &[
    ("ly", "L IY0"),
    ("ness", "N AH0 S"),
    ("less", "L AH0 S"),
    ("ful", "F AH0 L"),
    ("ment", "M AH0 N T"),
    ("ish", "IH0 SH"),
    ("able", "AH0 B AH0 L"),
    ("ship", "SH IH2 P"),
    ("hood", "HH UH2 D"),
    ("like", "L AY2 K"),
    ("wise", "W AY2 Z"),
    ("er", "ER0"),
    ("ers", "ER0 Z"),
    ("est", "AH0 S T"),
    ("ism", "IH2 Z AH0 M"),
    ("ist", "AH0 S T"),
    ("ists", "AH0 S T S"),
    ("ize", "AY2 Z"),
    ("y", "IY0"),
];
const BEGINNINGS: &[(&str, &str)] = &[
    ("anti", "AE2 N T IY0"),
    ("counter", "K AW2 N T ER0"),
    ("dis", "D IH0 S"),
    ("hyper", "HH AY2 P ER0"),
    ("inter", "IH2 N T ER0"),
    ("micro", "M AY2 K R OW0"),
    ("mini", "M IH2 N IY0"),
    ("mis", "M IH0 S"),
    ("multi", "M AH2 L T IY0"),
    ("non", "N AA2 N"),
    ("out", "AW2 T"),
    ("over", "OW2 V ER0"),
    ("pre", "P R IY0"),
    ("post", "P OW2 S T"),
    ("re", "R IY0"),
    ("semi", "S EH2 M IY0"),
    ("sub", "S AH0 B"),
    ("super", "S UW2 P ER0"),
    ("trans", "T R AE0 N Z"),
    ("un", "AH0 N"),
    ("under", "AH2 N D ER0"),
];

/// Appends -s or -'s: AH0 Z after a sibilant, S after another voiceless consonant, Z otherwise.
pub fn plural(stem: &[Symbol]) -> Vec<Symbol> {
    let ending = match last(stem) {
        "S" | "Z" | "SH" | "ZH" | "CH" | "JH" => "AH0 Z",
        "P" | "T" | "K" | "F" | "TH" => "S",
        _ => "Z",
    };
    join(stem, ending)
}

/// Appends -ed: AH0 D after T or D, T after another voiceless consonant, D otherwise.
fn past(stem: &[Symbol]) -> Vec<Symbol> {
    let ending = match last(stem) {
        "T" | "D" => "AH0 D",
        "P" | "K" | "F" | "TH" | "S" | "SH" | "CH" => "T",
        _ => "D",
    };
    join(stem, ending)
}

/// Returns the name of the last phone.
fn last(stem: &[Symbol]) -> &'static str {
    stem.last().map_or("", |symbol| symbol.name())
}

/// Appends the phones of an ending.
fn join(stem: &[Symbol], ending: &str) -> Vec<Symbol> {
    [stem, &symbols::parse(ending).expect("phones")].concat()
}

/// Pronounces a word by its parts. Returns `None` unless all parts are known.
pub fn take_apart(word: &str, lookup: &Lookup) -> Option<Vec<Symbol>> {
    ending(word, lookup).or_else(|| beginning(word, lookup)).or_else(|| compound(word, lookup))
}

/// Pronounces a known word with a clitic or an ending.
fn ending(word: &str, lookup: &Lookup) -> Option<Vec<Symbol>> {
    let clitics = [
        ("'s", ""),
        ("s'", ""),
        ("'ll", "AH0 L"),
        ("'d", "D"),
        ("'ve", "AH0 V"),
        ("'re", "ER0"),
        ("n't", "AH0 N T"),
        ("'m", "M"),
    ];
    for (clitic, sound) in clitics {
        let Some(stem) = word.strip_suffix(clitic) else { continue };
        if let Some(stem) = lookup(stem).or_else(|| take_apart(stem, lookup)) {
            return Some(if sound.is_empty() { plural(&stem) } else { join(&stem, sound) });
        }
    }
    if word.len() < 4 {
        return None;
    }
    if let Some(stem) = word.strip_suffix("s").filter(|stem| !stem.ends_with(['s', 'u'])) {
        let stems = [
            stem.to_string(),
            stem.strip_suffix('e').unwrap_or("").to_string(),
            stem.strip_suffix("ie").map(|s| format!("{s}y")).unwrap_or_default(),
        ];
        if let Some(sound) = stems.iter().filter(|stem| stem.len() > 2).find_map(|stem| lookup(stem)) {
            return Some(plural(&sound));
        }
    }
    if let Some(stem) = word.strip_suffix("ed")
        && let Some(sound) = inflected(stem, lookup)
    {
        return Some(past(&sound));
    }
    if let Some(stem) = word.strip_suffix("ing")
        && let Some(sound) = inflected(stem, lookup)
    {
        return Some(join(&sound, "IH0 NG"));
    }
    ENDINGS.iter().find_map(|(ending, sound)| {
        inflected(word.strip_suffix(ending)?, lookup).map(|stem| join(&stem, sound))
    })
}

/// Looks up the stem of an inflected word: as it is, with a dropped e restored, with i changed back to y, or without a doubled consonant.
fn inflected(stem: &str, lookup: &Lookup) -> Option<Vec<Symbol>> {
    if stem.len() < 3 {
        return None;
    }
    let bytes = stem.as_bytes();
    let doubled = bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && stem.len() > 3;
    lookup(stem)
        .or_else(|| lookup(&format!("{stem}e")))
        .or_else(|| stem.strip_suffix('i').and_then(|stem| lookup(&format!("{stem}y"))))
        .or_else(|| doubled.then(|| lookup(&stem[..stem.len() - 1])).flatten())
}

/// Pronounces a known word with a prefix.
fn beginning(word: &str, lookup: &Lookup) -> Option<Vec<Symbol>> {
    BEGINNINGS.iter().find_map(|(beginning, sound)| {
        let rest = word.strip_prefix(beginning).filter(|rest| rest.len() >= 4)?;
        let rest = lookup(rest).or_else(|| ending(rest, lookup))?;
        Some([symbols::parse(sound)?, rest].concat())
    })
}

/// Pronounces a compound of two known words of at least three letters, the first as long as possible. The primary stress of the second becomes secondary.
fn compound(word: &str, lookup: &Lookup) -> Option<Vec<Symbol>> {
    (3..=word.len().checked_sub(3)?).rev().filter(|split| word.is_char_boundary(*split)).find_map(|split| {
        let (first, second) = word.split_at(split);
        let (first, second) = (lookup(first)?, lookup(second).or_else(|| ending(second, lookup))?);
        let second = second.iter().map(|symbol| {
            if symbols::stress(*symbol) == Some(1) { symbols::with_stress(*symbol, 2) } else { *symbol }
        });
        Some(first.into_iter().chain(second).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary of a few words.
    fn lookup(word: &str) -> Option<Vec<Symbol>> {
        let phones = match word {
            "dog" => "D AO1 G",
            "house" => "HH AW1 S",
            "bake" => "B EY1 K",
            "stop" => "S T AA1 P",
            "happy" => "HH AE1 P IY0",
            "want" => "W AA1 N T",
            "pack" => "P AE1 K",
            _ => return None,
        };
        symbols::parse(phones)
    }

    #[test]
    fn words_are_pronounced_by_their_parts() {
        let said = |word: &str| {
            take_apart(word, &lookup).map(|symbols| symbols::format(&symbols)).unwrap_or_default()
        };
        assert_eq!(said("dogs"), "D AO1 G Z");
        assert_eq!(said("house's"), "HH AW1 S AH0 Z");
        assert_eq!(said("houses"), "HH AW1 S AH0 Z");
        assert_eq!(said("packs"), "P AE1 K S");
        assert_eq!(said("wanted"), "W AA1 N T AH0 D");
        assert_eq!(said("baked"), "B EY1 K T");
        assert_eq!(said("stopping"), "S T AA1 P IH0 NG");
        assert_eq!(said("happiness"), "HH AE1 P IY0 N AH0 S");
        assert_eq!(said("unhappily"), "AH0 N HH AE1 P IY0 L IY0");
        assert_eq!(said("repack"), "R IY0 P AE1 K");
        assert_eq!(said("doghouse"), "D AO1 G HH AW2 S");
        assert_eq!(said("doghouses"), "D AO1 G HH AW2 S AH0 Z");
        assert_eq!(said("xyzzy"), "");
    }
}
