//! Pronunciations of words that the dictionary lacks or has wrong, and that neither their parts nor the letter-to-sound rules give, in ARPAbet.

/// Words in lower case with their phones.
#[rustfmt::skip]
const WORDS: &[(&str, &str)] = &[
    // Abbreviations that are spelled; the dictionary has them wrong, or has their full form.
    ("gps", "JH IY2 P IY2 EH1 S"), ("gdp", "JH IY2 D IY2 P IY1"), ("jfk", "JH EY2 EH2 F K EY1"), ("fyi", "EH2 F W AY2 AY1"), ("ios", "AY2 OW2 EH1 S"),
    ("diy", "D IY2 AY2 W AY1"), ("aka", "EY2 K EY2 EY1"), ("imo", "AY2 EH2 M OW1"), ("roi", "AA2 R OW2 AY1"), ("ide", "AY2 D IY2 IY1"),
    // Abbreviations that are read as words.
    ("covid", "K OW1 V IH0 D"), ("gif", "G IH1 F"), ("jpeg", "JH EY1 P EH2 G"), ("json", "JH EY1 S AH0 N"), ("yaml", "Y AE1 M AH0 L"),
    ("potus", "P OW1 T AH0 S"), ("fomo", "F OW1 M OW0"), ("crispr", "K R IH1 S P ER0"), ("lsat", "EH1 L S AE2 T"), ("mcat", "EH1 M K AE2 T"),
    ("mrna", "EH2 M AA2 R EH2 N EY1"), ("chatgpt", "CH AE2 T JH IY2 P IY2 T IY1"), ("openai", "OW2 P AH0 N EY2 AY1"), ("airbnb", "EH1 R B IY2 AH0 N B IY2"),
    ("brca", "B R AE1 K AH0"), ("gmat", "JH IY1 M AE2 T"), ("cern", "S ER1 N"), ("fisa", "F AY1 Z AH0"), ("usaid", "Y UW2 EH2 S EY1 D"), ("sos", "EH2 S OW2 EH1 S"), ("creme", "K R EH1 M"), ("fraiche", "F R EH1 SH"), ("brics", "B R IH1 K S"), ("isil", "AY1 S AH0 L"), ("pina", "P IY1 N Y AH0"), ("fafsa", "F AE1 F S AH0"), ("hipaa", "HH IH1 P AH0"), ("ftse", "F UH1 T S IY0"), ("uefa", "Y UW0 EY1 F AH0"), ("norad", "N AO1 R AE2 D"), ("maga", "M AA1 G AH0"), ("libor", "L AY1 B AO2 R"),
    ("voip", "V OY1 P"), ("cov", "K OW1 V"), ("wifi", "W AY1 F AY2"), ("daca", "D AA1 K AH0"), ("noaa", "N OW1 AH0"), ("nimby", "N IH1 M B IY0"), ("imac", "AY1 M AE2 K"), ("unrwa", "AH1 N R AH0"),
    ("ebitda", "IY1 B IH0 T D AA2"), ("fico", "F AY1 K OW0"), ("icu", "AY2 S IY2 Y UW1"),
    // Words that are newer than the dictionary, or borrowed.
    ("acai", "AH0 S AY2 IY1"), ("baklava", "B AA2 K L AH0 V AA1"), ("bruschetta", "B R UW0 S K EH1 T AH0"), ("cannabidiol", "K AE2 N AH0 B IH0 D AY1 AO2 L"),
    ("coronavirus", "K ER0 OW1 N AH0 V AY2 R AH0 S"), ("cryptocurrency", "K R IH1 P T OW0 K ER2 AH0 N S IY0"), ("elon", "IY1 L AA0 N"),
    ("emoji", "IH0 M OW1 JH IY0"), ("esports", "IY1 S P AO2 R T S"), ("ethereum", "IH0 TH IH1 R IY0 AH0 M"), ("fentanyl", "F EH1 N T AH0 N IH0 L"),
    ("hydroxychloroquine", "HH AY0 D R AA2 K S IY0 K L AO1 R AH0 K W IH0 N"), ("huawei", "W AA1 W EY2"), ("influencer", "IH1 N F L UW0 AH0 N S ER0"),
    ("kamala", "K AA1 M AH0 L AH0"), ("kombucha", "K AH0 M B UW1 CH AH0"), ("kubernetes", "K UW2 B ER0 N EH1 T IY0 Z"), ("kyiv", "K IY1 V"),
    ("linux", "L IH1 N AH0 K S"), ("macchiato", "M AA2 K IY0 AA1 T OW0"), ("macos", "M AE1 K OW2 EH1 S"), ("metaverse", "M EH1 T AH0 V ER2 S"),
    ("omicron", "AA1 M AH0 K R AA2 N"), ("opioid", "OW1 P IY0 OY2 D"), ("ozempic", "OW0 Z EH1 M P IH0 K"), ("quesadilla", "K EY2 S AH0 D IY1 AH0"),
    ("ramen", "R AA1 M AH0 N"), ("sashimi", "S AH0 SH IY1 M IY0"), ("sriracha", "S IH0 R AA1 CH AH0"), ("staycation", "S T EY0 K EY1 SH AH0 N"),
    ("sudoku", "S UW0 D OW1 K UW0"), ("tahini", "T AH0 HH IY1 N IY0"), ("tiktok", "T IH1 K T AA2 K"), ("xiaomi", "SH AW1 M IY0"), ("zelensky", "Z EH0 L EH1 N S K IY0"),
    ("miz", "M IH1 Z"), ("saoirse", "S ER1 SH AH0"), ("sian", "SH AA1 N"),
];

/// Returns the phones of a word in lower case.
pub fn phones(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, phones)| *phones)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols;

    #[test]
    fn words_are_distinct_and_parse() {
        let distinct: std::collections::HashSet<_> = WORDS.iter().map(|(word, _)| word).collect();
        assert_eq!(distinct.len(), WORDS.len());
        for (word, phones) in WORDS {
            assert!(
                symbols::parse(phones)
                    .is_some_and(|symbols| symbols.iter().all(|symbol| symbols::is_phone(*symbol))),
                "{word}"
            );
        }
    }

    #[test]
    fn only_whole_words_are_found() {
        assert_eq!((phones("covid"), phones("covi"), phones("")), (Some("K OW1 V IH0 D"), None, None));
    }
}
