//! Words that are spelled alike and pronounced differently, of which each has rules of its own.

use super::grammar::{
    BE, Neighbours, OBJECTS, SINGULAR_SUBJECTS, SUBJECTS, VERBALS, is_determiner, is_singular_verb, is_verb,
};
use crate::text::normalize::place::is_plural;

/// Words after "lead", the metal.
#[rustfmt::skip]
const METAL: &[&str] = &[
    "acid", "apron", "based", "batteries", "battery", "bullet", "bullets", "contamination", "exposure", "free", "levels", "lined", "mine", "mines", "paint", "pencil", "pipe", "pipes",
    "poisoning", "shot", "solder", "weight", "weights"
];
/// Words after "live" in the sense of "not recorded".
#[rustfmt::skip]
const SHOWN: &[&str] = &[
    "audience", "band", "broadcast", "chat", "concert", "coverage", "event", "events", "music", "performance", "show", "shows", "stream", "tv", "wire"
];
/// Words before it.
#[rustfmt::skip]
const AIRED: &[&str] = &[
    "air", "aired", "airs", "broadcast", "captured", "filmed", "go", "goes", "going", "perform", "performed", "play", "played", "record", "recorded", "reporting", "stream", "streamed",
    "streaming", "went"
];
/// Words before "lives", the plural of "life".
#[rustfmt::skip]
const COUNTED: &[&str] = &[
    "black", "daily", "human", "many", "nine", "other", "own", "past", "private", "save", "saved", "saves", "several", "three", "two", "young"
];
/// Words near "bass", the fish.
#[rustfmt::skip]
const FISHING: &[&str] = &[
    "catch", "catches", "caught", "fish", "fished", "fisherman", "fishes", "fishing", "fried", "grilled", "hooked", "lake", "largemouth", "lemon", "river", "sea", "smallmouth", "striped",
    "trout"
];
/// Words after "minute" in the sense of "very small".
#[rustfmt::skip]
const TINY: &[&str] = &[
    "amount", "amounts", "change", "changes", "detail", "details", "difference", "differences", "particles", "quantities", "traces"
];

/// A word and its neighbours.
struct Heteronym<'a> {
    word: &'a str,
    around: Neighbours<'a>,
    /// The word before, empty after a pause.
    before: &'a str,
    /// The word after, empty before a pause.
    after: &'a str,
}

impl Heteronym<'_> {
    fn follows(&self, words: &[&str]) -> bool {
        words.contains(&self.before)
    }

    fn precedes(&self, words: &[&str]) -> bool {
        words.contains(&self.after)
    }

    /// Whether one of the words is anywhere before it, up to a pause.
    fn is_anywhere_after(&self, words: &[&str]) -> bool {
        self.around.before.iter().any(|word| words.contains(word))
    }

    /// Whether one of the words is anywhere around it.
    fn is_near(&self, words: &[&str]) -> bool {
        self.is_anywhere_after(words) || self.around.after.iter().any(|word| words.contains(word))
    }

    /// Whether a determiner is before it, so that it is a noun or an adjective.
    fn is_determined(&self) -> bool {
        is_determiner(self.before)
    }

    fn is_verb(&self) -> bool {
        is_verb(self.word, self.around)
    }
}

fn either(condition: bool, one: &'static str, other: &'static str) -> &'static str {
    if condition { one } else { other }
}

/// Returns the ARPAbet phones of a word that has rules of its own.
pub fn phones(word: &str, around: Neighbours) -> Option<&'static str> {
    let before = around.before.last().copied().unwrap_or("");
    let after = around.after.first().copied().unwrap_or("");
    let word = Heteronym { word, around, before, after };
    function_word(&word)
        .or_else(|| vowel_of_verb(&word))
        .or_else(|| vowel_of_noun(&word))
        .or_else(|| ending_changes(&word))
        .or_else(|| stress_changes(&word))
}

/// Pronounces articles, prepositions and conjunctions in their reduced or full form.
fn function_word(word: &Heteronym) -> Option<&'static str> {
    Some(match word.word {
        "the" => either(word.around.vowel_follows, "DH IY0", "DH AH0"),
        "a" => either(word.around.last, "EY1", "AH0"),
        "an" => "AE1 N",
        "to" => either(word.around.vowel_follows || word.around.last, "T UW1", "T AH0"),
        "of" => "AH1 V",
        "and" => "AH0 N D",
        "in" => "IH1 N",
        _ => return None,
    })
}

/// Pronounces verbs, and nouns spelled like them, that differ in a vowel.
fn vowel_of_verb(word: &Heteronym) -> Option<&'static str> {
    Some(match word.word {
        "read" => either(is_past_of_read(word.around), "R EH1 D", "R IY1 D"),
        "lead" => {
            let metal = word.precedes(METAL)
                || word.follows(&["contain", "contains", "contained", "containing", "of"])
                    && !word.precedes(&["the"])
                || word.before.is_empty() && word.precedes(&["is", "was"]);
            let found = word.after == "in"
                && word.around.after.iter().any(|word| {
                    ["air", "blood", "gasoline", "paint", "soil", "toys", "water"].contains(word)
                });
            let exposed =
                word.before == "to" && word.around.before.iter().any(|word| word.starts_with("expos"));
            either(metal || found || exposed, "L EH1 D", "L IY1 D")
        }
        "live" => either(
            word.is_determined() || word.precedes(SHOWN) || word.follows(AIRED) || word.follows(BE),
            "L AY1 V",
            "L IH1 V",
        ),
        "lives" => either(
            word.is_determined() && word.before != "that" || word.follows(COUNTED),
            "L AY1 V Z",
            "L IH1 V Z",
        ),
        "wind" => either(
            word.is_verb() && word.before != "will"
                || !word.is_determined() && word.precedes(&["down", "up"]),
            "W AY1 N D",
            "W IH1 N D",
        ),
        "winds" => {
            let turns = word.follows(SINGULAR_SUBJECTS)
                || word.follows(&[
                    "highway", "path", "river", "road", "route", "stream", "street", "trail", "way",
                ]);
            either(turns, "W AY1 N D Z", "W IH1 N D Z")
        }
        "wound" => {
            let turned = word.follows(BE) && word.precedes(&["around", "tight", "tightly", "up", "with"])
                || word.follows(SUBJECTS)
                || word.follows(SINGULAR_SUBJECTS)
                || !word.is_determined()
                    && (word.precedes(&["around", "down", "through", "up"])
                        || is_determiner(word.after) && !word.before.is_empty());
            either(turned, "W AW1 N D", "W UW1 N D")
        }
        "tear" => {
            let torn = word.is_verb()
                || word.precedes(&["apart", "down", "off", "up"])
                || word.before == "and" && word.is_anywhere_after(&["wear"])
                || word.is_determined() && word.after == "in";
            either(torn, "T EH1 R", "T IH1 R")
        }
        "tears" => either(
            word.follows(&["he", "it", "she"])
                || word.precedes(&["apart", "down", "up"]) && !word.follows(&["her", "his"]),
            "T EH1 R Z",
            "T IH1 R Z",
        ),
        _ => return None,
    })
}

/// Pronounces nouns and adjectives of which one meaning has another vowel.
fn vowel_of_noun(word: &Heteronym) -> Option<&'static str> {
    Some(match word.word {
        "bow" => {
            let bent = word.is_verb()
                || word.precedes(&["down", "to"])
                || word.is_determined() && word.is_anywhere_after(&["take", "takes", "taking", "took"]);
            let ship =
                word.is_near(&["boat", "boat's", "ship", "ship's", "stern", "vessel", "vessel's", "yacht"]);
            either(bent || ship || word.after == "of", "B AW1", "B OW1")
        }
        "row" => "R OW1",
        "bass" => {
            let fish = word.is_near(FISHING);
            either(
                fish && !word.follows(&["play", "played", "playing", "plays", "the"]),
                "B AE1 S",
                "B EY1 S",
            )
        }
        "dove" => {
            let jumped = !word.is_determined()
                && (word.follows(SUBJECTS)
                    || word.follows(SINGULAR_SUBJECTS)
                    || word.precedes(&["in", "into", "off", "under"]));
            either(jumped, "D OW1 V", "D AH1 V")
        }
        "putting" => {
            either(word.precedes(&["green", "greens", "stroke"]), "P AH1 T IH0 NG", "P UH1 T IH0 NG")
        }
        "sewer" => either(word.follows(&["skilled", "expert"]), "S OW1 ER0", "S UW1 ER0"),
        "polish" => "P AA1 L IH0 SH",
        _ => return None,
    })
}

/// Pronounces words of which one meaning has another consonant or another ending.
fn ending_changes(word: &Heteronym) -> Option<&'static str> {
    Some(match word.word {
        "used" => either(
            word.after == "to" && !word.follows(&["are", "be", "been", "being", "is", "it's", "was", "were"]),
            "Y UW1 S T",
            "Y UW1 Z D",
        ),
        "close" => {
            let shuts = word.is_verb() && word.after != "to"
                || word.before.is_empty() && word.after == "of"
                || word.is_determined() && (word.after == "of" || word.around.last);
            either(shuts, "K L OW1 Z", "K L OW1 S")
        }
        "aged" => either(
            word.follows(&["an", "the"]) && !word.precedes(&["beef", "cheese", "wine"]),
            "EY1 JH AH0 D",
            "EY1 JH D",
        ),
        "learned" => either(
            word.follows(&["a", "most", "the", "very"])
                && !word.around.last
                && word.after != "to"
                && !is_determiner(word.after),
            "L ER1 N AH0 D",
            "L ER1 N D",
        ),
        "blessed" => either(
            word.follows(&["a", "every", "the", "this"]) && !word.around.last,
            "B L EH1 S AH0 D",
            "B L EH1 S T",
        ),
        "bases" => {
            let basis = word.follows(&["legal", "theoretical", "scientific"]);
            either(basis, "B EY1 S IY0 Z", "B EY1 S AH0 Z")
        }
        "axes" => either(
            word.follows(&["both", "coordinate", "three", "two", "x", "y"]),
            "AE1 K S IY0 Z",
            "AE1 K S AH0 Z",
        ),
        "analyses" => {
            either(is_singular_verb(word.around), "AE1 N AH0 L AY2 Z AH0 Z", "AH0 N AE1 L AH0 S IY2 Z")
        }
        "moped" => either(
            word.is_determined() || word.follows(&["by", "electric", "rented"]),
            "M OW1 P EH2 D",
            "M OW1 P T",
        ),
        _ => return None,
    })
}

/// Pronounces words of which one meaning has another stress.
fn stress_changes(word: &Heteronym) -> Option<&'static str> {
    Some(match word.word {
        "minute" => either(word.precedes(TINY), "M AY0 N UW1 T", "M IH1 N AH0 T"),
        "content" => {
            let pleased = word.follows(BE) && (word.around.last || word.precedes(&["to", "with"]))
                || word.follows(&["feel", "feels", "felt", "seemed"]);
            either(pleased, "K AH0 N T EH1 N T", "K AA1 N T EH0 N T")
        }
        "invalid" => either(
            word.is_determined()
                && (word.around.last || word.precedes(&["had", "has", "in", "is", "was", "who"])),
            "IH1 N V AH0 L AH0 D",
            "IH0 N V AE1 L AH0 D",
        ),
        "proceeds" => either(is_singular_verb(word.around), "P R AH0 S IY1 D Z", "P R OW1 S IY2 D Z"),
        _ => return None,
    })
}

/// Whether "read" is in the past tense or a participle: "have you read", "she read", "i read it yesterday".
fn is_past_of_read(around: Neighbours) -> bool {
    const PERFECT: &[&str] = &[
        "had", "has", "have", "having", "he'd", "he's", "i've", "she's", "they've", "we've", "well", "you've",
    ];
    const PAST_TIMES: &[&str] =
        &["ago", "already", "earlier", "last", "once", "recently", "twice", "yesterday"];
    let before = around.before.last().copied().unwrap_or("");
    if before == "to"
        || VERBALS.contains(&before) && before != "never" && before != "always" && before != "often"
    {
        return false;
    }
    if BE.contains(&before) || PERFECT.iter().any(|word| around.before.contains(word)) {
        return true;
    }
    if ["did", "do", "does", "can", "could", "will", "would", "should"]
        .iter()
        .any(|word| around.before.contains(word))
    {
        return false;
    }
    if ["he", "she"].contains(&before) || around.after.iter().any(|word| PAST_TIMES.contains(word)) {
        return true;
    }
    // The present after a singular would be "reads": "my mother read it", "the sign read stop".
    let governs = around.after.first().is_some_and(|after| is_determiner(after) || OBJECTS.contains(after));
    let person = !before.is_empty()
        && !is_plural(before)
        && !is_determiner(before)
        && !SUBJECTS.contains(&before)
        && !["and", "or", "then", "now", "never"].contains(&before);
    let second = around.before.len().checked_sub(2).map_or("", |at| around.before[at]);
    person && (governs || is_determiner(second) && !around.after.is_empty())
}
