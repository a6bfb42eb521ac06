//! Pronunciations that depend on the neighbouring words.

use super::{
    affixes,
    grammar::{Neighbours, is_singular_verb, is_verb},
    heteronyms,
    symbols::{self, Symbol},
};

/// Words with their pronunciation as a noun or adjective, and as a verb.
#[rustfmt::skip]
const NOUNS_AND_VERBS: &[(&str, &str, &str)] = &[
    ("abuse", "AH0 B Y UW1 S", "AH0 B Y UW1 Z"), ("advocate", "AE1 D V AH0 K AH0 T", "AE1 D V AH0 K EY2 T"), ("alternate", "AO1 L T ER0 N AH0 T", "AO1 L T ER0 N EY2 T"),
    ("appropriate", "AH0 P R OW1 P R IY0 AH0 T", "AH0 P R OW1 P R IY0 EY2 T"), ("approximate", "AH0 P R AA1 K S AH0 M AH0 T", "AH0 P R AA1 K S AH0 M EY2 T"),
    ("articulate", "AA0 R T IH1 K Y AH0 L AH0 T", "AA0 R T IH1 K Y AH0 L EY2 T"), ("associate", "AH0 S OW1 S IY0 AH0 T", "AH0 S OW1 S IY0 EY2 T"),
    ("attribute", "AE1 T R IH0 B Y UW2 T", "AH0 T R IH1 B Y UW2 T"), ("combine", "K AA1 M B AY0 N", "K AH0 M B AY1 N"), ("compact", "K AA1 M P AE0 K T", "K AH0 M P AE1 K T"),
    ("compound", "K AA1 M P AW0 N D", "K AH0 M P AW1 N D"), ("compress", "K AA1 M P R EH0 S", "K AH0 M P R EH1 S"), ("conduct", "K AA1 N D AH0 K T", "K AH0 N D AH1 K T"),
    ("conflict", "K AA1 N F L IH0 K T", "K AH0 N F L IH1 K T"), ("console", "K AA1 N S OW0 L", "K AH0 N S OW1 L"), ("construct", "K AA1 N S T R AH0 K T", "K AH0 N S T R AH1 K T"),
    ("contest", "K AA1 N T EH0 S T", "K AH0 N T EH1 S T"), ("contract", "K AA1 N T R AE2 K T", "K AH0 N T R AE1 K T"), ("contrast", "K AA1 N T R AE0 S T", "K AH0 N T R AE1 S T"),
    ("converse", "K AA1 N V ER0 S", "K AH0 N V ER1 S"), ("convert", "K AA1 N V ER0 T", "K AH0 N V ER1 T"), ("convict", "K AA1 N V IH0 K T", "K AH0 N V IH1 K T"),
    ("coordinate", "K OW0 AO1 R D AH0 N AH0 T", "K OW0 AO1 R D AH0 N EY2 T"), ("decrease", "D IY1 K R IY2 S", "D IH0 K R IY1 S"), ("delegate", "D EH1 L AH0 G AH0 T", "D EH1 L AH0 G EY2 T"),
    ("deliberate", "D IH0 L IH1 B ER0 AH0 T", "D IH0 L IH1 B ER0 EY2 T"), ("desert", "D EH1 Z ER0 T", "D IH0 Z ER1 T"), ("digest", "D AY1 JH EH0 S T", "D AY0 JH EH1 S T"),
    ("discount", "D IH1 S K AW0 N T", "D IH0 S K AW1 N T"), ("duplicate", "D UW1 P L AH0 K AH0 T", "D UW1 P L AH0 K EY2 T"), ("elaborate", "IH0 L AE1 B R AH0 T", "IH0 L AE1 B ER0 EY2 T"),
    ("escort", "EH1 S K AO0 R T", "EH0 S K AO1 R T"), ("estimate", "EH1 S T AH0 M AH0 T", "EH1 S T AH0 M EY2 T"), ("excuse", "IH0 K S K Y UW1 S", "IH0 K S K Y UW1 Z"),
    ("export", "EH1 K S P AO0 R T", "IH0 K S P AO1 R T"), ("extract", "EH1 K S T R AE2 K T", "IH0 K S T R AE1 K T"), ("graduate", "G R AE1 JH AH0 W AH0 T", "G R AE1 JH AH0 W EY2 T"),
    ("house", "HH AW1 S", "HH AW1 Z"), ("import", "IH1 M P AO2 R T", "IH2 M P AO1 R T"), ("increase", "IH1 N K R IY2 S", "IH0 N K R IY1 S"), ("insert", "IH1 N S ER0 T", "IH0 N S ER1 T"),
    ("insult", "IH1 N S AH2 L T", "IH2 N S AH1 L T"), ("intimate", "IH1 N T AH0 M AH0 T", "IH1 N T AH0 M EY2 T"), ("moderate", "M AA1 D ER0 AH0 T", "M AA1 D ER0 EY2 T"),
    ("object", "AA1 B JH EH0 K T", "AH0 B JH EH1 K T"), ("perfect", "P ER1 F IH2 K T", "P ER0 F EH1 K T"), ("permit", "P ER1 M IH2 T", "P ER0 M IH1 T"),
    ("present", "P R EH1 Z AH0 N T", "P R IY0 Z EH1 N T"), ("produce", "P R OW1 D UW0 S", "P R AH0 D UW1 S"), ("progress", "P R AA1 G R EH2 S", "P R AH0 G R EH1 S"),
    ("project", "P R AA1 JH EH0 K T", "P R AH0 JH EH1 K T"), ("protest", "P R OW1 T EH2 S T", "P R AH0 T EH1 S T"), ("rebel", "R EH1 B AH0 L", "R IH0 B EH1 L"),
    ("record", "R EH1 K ER0 D", "R AH0 K AO1 R D"), ("refuse", "R EH1 F Y UW2 Z", "R AH0 F Y UW1 Z"), ("reject", "R IY1 JH EH0 K T", "R IH0 JH EH1 K T"),
    ("resume", "R EH1 Z AH0 M EY2", "R IH0 Z UW1 M"), ("separate", "S EH1 P ER0 AH0 T", "S EH1 P ER0 EY2 T"), ("sow", "S AW1", "S OW1"), ("subject", "S AH1 B JH IH0 K T", "S AH0 B JH EH1 K T"),
    ("suspect", "S AH1 S P EH2 K T", "S AH0 S P EH1 K T"), ("transfer", "T R AE1 N S F ER0", "T R AE0 N S F ER1"), ("transport", "T R AE1 N S P AO2 R T", "T R AE0 N S P AO1 R T"),
    ("addict", "AE1 D IH2 K T", "AH0 D IH1 K T"), ("affiliate", "AH0 F IH1 L IY0 AH0 T", "AH0 F IH1 L IY0 EY2 T"), ("aggregate", "AE1 G R AH0 G AH0 T", "AE1 G R AH0 G EY2 T"),
    ("animate", "AE1 N AH0 M AH0 T", "AE1 N AH0 M EY2 T"), ("defect", "D IY1 F EH0 K T", "D IH0 F EH1 K T"), ("degenerate", "D IH0 JH EH1 N ER0 AH0 T", "D IH0 JH EH1 N ER0 EY2 T"),
    ("diffuse", "D IH0 F Y UW1 S", "D IH0 F Y UW1 Z"), ("document", "D AA1 K Y AH0 M AH0 N T", "D AA1 K Y AH0 M EH2 N T"), ("exploit", "EH1 K S P L OY2 T", "IH0 K S P L OY1 T"),
    ("implement", "IH1 M P L AH0 M AH0 N T", "IH1 M P L AH0 M EH2 N T"), ("initiate", "IH0 N IH1 SH IY0 AH0 T", "IH0 N IH1 SH IY0 EY2 T"), ("laminate", "L AE1 M AH0 N AH0 T", "L AE1 M AH0 N EY2 T"),
    ("misuse", "M IH0 S Y UW1 S", "M IH0 S Y UW1 Z"), ("predicate", "P R EH1 D AH0 K AH0 T", "P R EH1 D AH0 K EY2 T"), ("rebound", "R IY1 B AW2 N D", "R IH0 B AW1 N D"),
    ("recall", "R IY1 K AO2 L", "R IH0 K AO1 L"), ("refund", "R IY1 F AH2 N D", "R IH0 F AH1 N D"), ("relay", "R IY1 L EY2", "R IH0 L EY1"), ("reuse", "R IY0 Y UW1 S", "R IY0 Y UW1 Z"),
    ("segment", "S EH1 G M AH0 N T", "S EH1 G M EH2 N T"), ("subordinate", "S AH0 B AO1 R D AH0 N AH0 T", "S AH0 B AO1 R D AH0 N EY2 T"), ("supplement", "S AH1 P L AH0 M AH0 N T", "S AH1 P L AH0 M EH2 N T"),
    ("survey", "S ER1 V EY2", "S ER0 V EY1"), ("torment", "T AO1 R M EH2 N T", "T AO0 R M EH1 N T"),
    ("upset", "AH1 P S EH2 T", "AH0 P S EH1 T"), ("use", "Y UW1 S", "Y UW1 Z"),
];
/// Returns the pronunciation of a word in lower case if it depends on its neighbours.
pub fn in_context(word: &str, around: Neighbours) -> Option<Vec<Symbol>> {
    if word == "houses" {
        return symbols::parse("HH AW1 Z AH0 Z");
    }
    let stem = word.strip_suffix('s').unwrap_or(word);
    if let Some((_, noun, verb)) = NOUNS_AND_VERBS.iter().find(|(known, ..)| *known == word) {
        return symbols::parse(if is_verb(word, around) { verb } else { noun });
    }
    if let Some((_, noun, verb)) = NOUNS_AND_VERBS.iter().find(|(known, ..)| *known == stem) {
        return symbols::parse(if is_singular_verb(around) { verb } else { noun })
            .map(|stem| affixes::plural(&stem));
    }
    heteronyms::phones(word, around).and_then(symbols::parse)
}

/// Names that are other words in lower case. The normaliser keeps the capital of a name.
pub const NAMESAKES: &[(&str, &str)] = &[
    ("Mobile", "M OW0 B IY1 L"),
    ("Nice", "N IY1 S"),
    ("Polish", "P OW1 L IH0 SH"),
    ("Reading", "R EH1 D IH0 NG"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::grammar::MOSTLY_VERBS;

    #[test]
    fn tables_are_distinct_and_parse() {
        let distinct: std::collections::HashSet<_> = NOUNS_AND_VERBS.iter().map(|(word, ..)| word).collect();
        assert_eq!(distinct.len(), NOUNS_AND_VERBS.len());
        for (word, noun, verb) in NOUNS_AND_VERBS {
            assert!(
                symbols::parse(noun).is_some() && symbols::parse(verb).is_some() && noun != verb,
                "{word}"
            );
        }
        for word in MOSTLY_VERBS {
            assert!(distinct.contains(word), "{word}");
        }
    }

    #[test]
    fn every_word_parses_between_any_neighbours() {
        let words = [
            "the", "a", "an", "to", "of", "and", "in", "read", "lead", "live", "lives", "used", "close",
            "wind", "wound", "tear", "tears", "bow", "row", "bass", "dove", "minute", "content", "invalid",
            "polish", "records", "uses",
        ];
        let near: [&[&str]; 8] =
            [&[], &["the"], &["to"], &["have", "you"], &["i"], &["of"], &["stores"], &["a", "good"]];
        for word in words {
            for before in near {
                for after in near {
                    let around = Neighbours { before, after, vowel_follows: false, last: after.is_empty() };
                    assert!(in_context(word, around).is_some(), "{before:?} {word} {after:?}");
                }
            }
        }
    }
}
