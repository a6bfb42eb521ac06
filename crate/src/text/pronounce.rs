//! Pronunciations that depend on the neighbours: reduced function words, and words that are spelled alike and spoken differently.

/// Pronunciation of a word among its neighbours, where it is not simply the dictionary's. All words are lower case.
///
/// `vowel_follows` is whether the next word begins with a vowel sound; `last` whether a pause follows.
pub fn in_context(before: Option<&str>, word: &str, after: Option<&str>, vowel_follows: bool, last: bool) -> Option<&'static str> {
    let before = before.unwrap_or("");
    let after = after.unwrap_or("");
    Some(match word {
        "the" => {
            if vowel_follows {
                "DH IY0"
            } else {
                "DH AH0"
            }
        }
        "a" => {
            if last {
                "EY1"
            } else {
                "AH0"
            }
        }
        "an" => "AE1 N",
        "to" => {
            if vowel_follows || last {
                "T UW1"
            } else {
                "T AH0"
            }
        }
        "of" => "AH1 V",
        "and" => "AH0 N D",
        "in" => "IH1 N",
        "read" => {
            if has_past(before) {
                "R EH1 D"
            } else {
                "R IY1 D"
            }
        }
        "lead" => {
            if is_verbal(before) {
                "L IY1 D"
            } else if is_determiner(before) && ["pipe", "pencil", "paint"].contains(&after) {
                "L EH1 D"
            } else {
                "L IY1 D"
            }
        }
        "live" => {
            if is_determiner(before) || ["is", "was", "are", "were"].contains(&before) {
                "L AY1 V"
            } else {
                "L IH1 V"
            }
        }
        "lives" => {
            if is_determiner(before) || ["their", "our", "many", "save", "saved", "two", "three", "nine"].contains(&before) {
                "L AY1 V Z"
            } else {
                "L IH1 V Z"
            }
        }
        "use" => {
            if is_determiner(before) || ["of", "no", "in", "any"].contains(&before) {
                "Y UW1 S"
            } else {
                "Y UW1 Z"
            }
        }
        "used" => {
            if after == "to" {
                "Y UW1 S T"
            } else {
                "Y UW1 Z D"
            }
        }
        "close" => {
            if is_verbal(before) || before.is_empty() || ["please", "they", "we", "i", "you"].contains(&before) {
                "K L OW1 Z"
            } else {
                "K L OW1 S"
            }
        }
        "wind" => {
            if is_verbal(before) && before != "will" {
                "W AY1 N D"
            } else {
                "W IH1 N D"
            }
        }
        "wound" => {
            if ["was", "he", "she", "it", "they", "i"].contains(&before) {
                "W AW1 N D"
            } else {
                "W UW1 N D"
            }
        }
        "tear" => {
            if is_verbal(before) || ["wear"].contains(&before) {
                "T EH1 R"
            } else {
                "T IH1 R"
            }
        }
        "tears" => {
            if ["he", "she", "it"].contains(&before) {
                "T EH1 R Z"
            } else {
                "T IH1 R Z"
            }
        }
        "bow" => {
            if ["the", "his", "her"].contains(&before) && ["of", "wave"].contains(&after) || is_verbal(before) {
                "B AW1"
            } else {
                "B OW1"
            }
        }
        "row" => "R OW1",
        "sow" => {
            if is_verbal(before) {
                "S OW1"
            } else {
                "S AW1"
            }
        }
        "bass" => {
            if ["caught", "catch", "fish", "sea"].contains(&before) || after == "fishing" {
                "B AE1 S"
            } else {
                "B EY1 S"
            }
        }
        "dove" => {
            if ["he", "she", "they", "we", "i"].contains(&before) {
                "D OW1 V"
            } else {
                "D AH1 V"
            }
        }
        "minute" => {
            if after == "details" || after == "detail" {
                "M AY0 N UW1 T"
            } else {
                "M IH1 N AH0 T"
            }
        }
        "house" => {
            if is_verbal(before) {
                "HH AW1 Z"
            } else {
                "HH AW1 S"
            }
        }
        "excuse" => {
            if is_determiner(before) || ["no", "poor"].contains(&before) {
                "IH0 K S K Y UW1 S"
            } else {
                "IH0 K S K Y UW1 Z"
            }
        }
        "abuse" => {
            if is_verbal(before) {
                "AH0 B Y UW1 Z"
            } else {
                "AH0 B Y UW1 S"
            }
        }
        "separate" => {
            if is_verbal(before) {
                "S EH1 P ER0 EY2 T"
            } else {
                "S EH1 P ER0 AH0 T"
            }
        }
        "estimate" => {
            if is_verbal(before) {
                "EH1 S T AH0 M EY2 T"
            } else {
                "EH1 S T AH0 M AH0 T"
            }
        }
        "graduate" => {
            if is_verbal(before) {
                "G R AE1 JH AH0 W EY2 T"
            } else {
                "G R AE1 JH AH0 W AH0 T"
            }
        }
        "record" => noun_or_verb(before, "R EH1 K ER0 D", "R AH0 K AO1 R D"),
        "records" => {
            if ["he", "she", "it"].contains(&before) {
                "R AH0 K AO1 R D Z"
            } else {
                "R EH1 K ER0 D Z"
            }
        }
        "present" => {
            if is_verbal(before) {
                "P R IY0 Z EH1 N T"
            } else {
                "P R EH1 Z AH0 N T"
            }
        }
        "object" => noun_or_verb(before, "AA1 B JH EH0 K T", "AH0 B JH EH1 K T"),
        "subject" => noun_or_verb(before, "S AH1 B JH IH0 K T", "S AH0 B JH EH1 K T"),
        "project" => noun_or_verb(before, "P R AA1 JH EH0 K T", "P R AH0 JH EH1 K T"),
        "produce" => {
            if is_determiner(before) || before == "fresh" {
                "P R OW1 D UW0 S"
            } else {
                "P R AH0 D UW1 S"
            }
        }
        "content" => {
            if ["am", "is", "are", "was", "were", "be", "feel", "felt", "seemed"].contains(&before) {
                "K AH0 N T EH1 N T"
            } else {
                "K AA1 N T EH0 N T"
            }
        }
        "contract" => noun_or_verb(before, "K AA1 N T R AE2 K T", "K AH0 N T R AE1 K T"),
        "contrast" => noun_or_verb(before, "K AA1 N T R AE0 S T", "K AH0 N T R AE1 S T"),
        "conduct" => noun_or_verb(before, "K AA1 N D AH0 K T", "K AH0 N D AH1 K T"),
        "conflict" => noun_or_verb(before, "K AA1 N F L IH0 K T", "K AH0 N F L IH1 K T"),
        "convict" => noun_or_verb(before, "K AA1 N V IH0 K T", "K AH0 N V IH1 K T"),
        "desert" => {
            if is_verbal(before) {
                "D IH0 Z ER1 T"
            } else {
                "D EH1 Z ER0 T"
            }
        }
        "export" => noun_or_verb(before, "EH1 K S P AO0 R T", "IH0 K S P AO1 R T"),
        "import" => noun_or_verb(before, "IH1 M P AO2 R T", "IH2 M P AO1 R T"),
        "increase" => noun_or_verb(before, "IH1 N K R IY2 S", "IH0 N K R IY1 S"),
        "insult" => noun_or_verb(before, "IH1 N S AH2 L T", "IH2 N S AH1 L T"),
        "invalid" => {
            if is_determiner(before) && after.is_empty() {
                "IH1 N V AH0 L AH0 D"
            } else {
                "IH0 N V AE1 L AH0 D"
            }
        }
        "permit" => noun_or_verb(before, "P ER1 M IH2 T", "P ER0 M IH1 T"),
        "progress" => noun_or_verb(before, "P R AA1 G R EH2 S", "P R AH0 G R EH1 S"),
        "protest" => noun_or_verb(before, "P R OW1 T EH2 S T", "P R AH0 T EH1 S T"),
        "rebel" => noun_or_verb(before, "R EH1 B AH0 L", "R IH0 B EH1 L"),
        "refuse" => noun_or_verb(before, "R EH1 F Y UW2 Z", "R AH0 F Y UW1 Z"),
        "suspect" => noun_or_verb(before, "S AH1 S P EH2 K T", "S AH0 S P EH1 K T"),
        "perfect" => {
            if is_verbal(before) {
                "P ER0 F EH1 K T"
            } else {
                "P ER1 F IH2 K T"
            }
        }
        "polish" => "P AA1 L IH0 SH",
        _ => return None,
    })
}

/// A noun after a determiner or a preposition, a verb otherwise.
fn noun_or_verb(before: &str, noun: &'static str, verb: &'static str) -> &'static str {
    if is_verbal(before) || ["i", "you", "we", "they", "who", "please", "and"].contains(&before) { verb } else { noun }
}

fn is_determiner(word: &str) -> bool {
    [
        "a", "an", "the", "this", "that", "these", "my", "your", "his", "her", "its", "our", "their", "some", "every", "each", "no",
        "much", "good",
    ]
    .contains(&word)
        || word.ends_with("'s")
}

/// Words that a bare verb follows.
fn is_verbal(word: &str) -> bool {
    let verbal = [
        "to", "will", "would", "can", "could", "should", "shall", "may", "might", "must", "do", "does", "did", "let", "don't", "didn't",
        "doesn't", "can't",
    ];
    verbal.contains(&word)
        || ["won't", "wouldn't", "couldn't", "shouldn't", "cannot", "never", "i'll", "you'll", "we'll", "they'll", "he'll", "she'll"]
            .contains(&word)
}

/// Words after which "read" is past.
fn has_past(word: &str) -> bool {
    ["have", "has", "had", "was", "were", "been", "be", "is", "he", "she", "i've", "you've", "we've", "they've", "well", "having", "never"]
        .contains(&word)
}
