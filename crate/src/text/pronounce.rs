//! Pronunciations that depend on the neighbours: reduced function words, and words that are spelled alike and spoken differently.
//!
//! One long file: much of it are tables of words.

use super::affixes;
use super::normalize::place::is_plural;
use super::symbols::{self, Symbol};

/// The words around a word, up to the next pause on either side. All are lower case but for abbreviations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neighbours<'a> {
    /// The nearest is the last.
    pub before: &'a [&'a str],
    /// The nearest is the first.
    pub after: &'a [&'a str],
    /// Whether the next word begins with a vowel.
    pub vowel_follows: bool,
    /// Whether a pause follows.
    pub last: bool,
}

/// Words in ARPAbet as a noun or adjective, and as a verb.
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
/// Of these, verbs more often than not.
const MOSTLY_VERBS: &[&str] =
    &["combine", "excuse", "initiate", "produce", "recall", "refuse", "resume", "reuse", "use"];

const BE: &[&str] = &["am", "are", "be", "been", "being", "i'm", "is", "it's", "was", "we're", "were"];
#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "a", "an", "another", "any", "each", "every", "her", "his", "its", "much", "my", "no", "our", "some", "that", "the", "their", "these", "this", "those", "what", "your",
];
const PREPOSITIONS: &[&str] = &["by", "for", "from", "in", "of", "on", "with", "without"];
const SUBJECTS: &[&str] = &["i", "people", "they", "we", "who", "you"];
const SINGULAR_SUBJECTS: &[&str] = &["he", "it", "she", "which", "who"];
const OBJECTS: &[&str] = &["all", "everything", "him", "it", "me", "them", "themselves", "us", "yourself"];
/// A bare verb follows these.
#[rustfmt::skip]
const VERBALS: &[&str] = &[
    "always", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "don't", "he'd", "he'll", "help", "helped", "i'd", "i'll", "it'll", "let", "let's", "may",
    "might", "must", "never", "not", "often", "please", "shall", "she'd", "she'll", "should", "shouldn't", "they'd", "they'll", "to", "usually", "we'd", "we'll", "will", "won't", "would",
    "wouldn't", "you'd", "you'll",
];
/// "made me wind it", "saw him tear it"
const CAUSES: &[&str] = &[
    "hear", "heard", "help", "helped", "helps", "let", "lets", "letting", "made", "make", "makes", "making",
    "saw", "see", "watch", "watched",
];
/// Verbs that end like plurals.
const SINGULAR_VERBS: &[&str] = &[
    "feels", "gets", "gives", "goes", "helps", "keeps", "likes", "looks", "makes", "needs", "news", "plays",
    "sales", "seems", "sets", "shows", "sports", "takes", "wants",
];

/// Pronunciation of a word in lower case among its neighbours, where it is not simply the dictionary's.
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
    alone(word, around).and_then(symbols::parse)
}

/// Names that are other words in lower case; the normaliser keeps their capital where they are meant.
pub const NAMESAKES: &[(&str, &str)] = &[
    ("Mobile", "M OW0 B IY1 L"),
    ("Nice", "N IY1 S"),
    ("Polish", "P OW1 L IH0 SH"),
    ("Reading", "R EH1 D IH0 NG"),
];

/// Behind lead, the metal.
#[rustfmt::skip]
const METAL: &[&str] = &[
    "acid", "apron", "based", "batteries", "battery", "bullet", "bullets", "contamination", "exposure", "free", "levels", "lined", "mine", "mines", "paint", "pencil", "pipe", "pipes",
    "poisoning", "shot", "solder", "weight", "weights"
];
/// Behind "live", not recorded.
#[rustfmt::skip]
const SHOWN: &[&str] = &[
    "audience", "band", "broadcast", "chat", "concert", "coverage", "event", "events", "music", "performance", "show", "shows", "stream", "tv", "wire"
];
/// Before it.
#[rustfmt::skip]
const AIRED: &[&str] = &[
    "air", "aired", "airs", "broadcast", "captured", "filmed", "go", "goes", "going", "perform", "performed", "play", "played", "record", "recorded", "reporting", "stream", "streamed",
    "streaming", "went"
];
/// Before "lives", more than one life.
#[rustfmt::skip]
const COUNTED: &[&str] = &[
    "black", "daily", "human", "many", "nine", "other", "own", "past", "private", "save", "saved", "saves", "several", "three", "two", "young"
];
/// Near bass, the fish.
#[rustfmt::skip]
const FISHING: &[&str] = &[
    "catch", "catches", "caught", "fish", "fished", "fisherman", "fishes", "fishing", "fried", "grilled", "hooked", "lake", "largemouth", "lemon", "river", "sea", "smallmouth", "striped",
    "trout"
];
/// Behind "minute", very small.
#[rustfmt::skip]
const TINY: &[&str] = &[
    "amount", "amounts", "change", "changes", "detail", "details", "difference", "differences", "particles", "quantities", "traces"
];

/// Words of which each has rules of its own.
fn alone(word: &str, around: Neighbours) -> Option<&'static str> {
    let Neighbours { before: all_before, after: all_after, vowel_follows, last } = around;
    let before = all_before.last().copied().unwrap_or("");
    let after = all_after.first().copied().unwrap_or("");
    let determined = is_determiner(before);
    let verbal = || is_verb(word, around);
    let either = |first: bool, one: &'static str, other: &'static str| if first { one } else { other };
    let goes_on = |words: &[&str]| words.contains(&after);
    let follows = |words: &[&str]| words.contains(&before);
    Some(match word {
        "the" => either(vowel_follows, "DH IY0", "DH AH0"),
        "a" => either(last, "EY1", "AH0"),
        "an" => "AE1 N",
        "to" => either(vowel_follows || last, "T UW1", "T AH0"),
        "of" => "AH1 V",
        "and" => "AH0 N D",
        "in" => "IH1 N",
        "read" => either(is_past_of_read(around), "R EH1 D", "R IY1 D"),
        "lead" => {
            let metal = goes_on(METAL)
                || follows(&["contain", "contains", "contained", "containing", "of"]) && !goes_on(&["the"])
                || before.is_empty() && goes_on(&["is", "was"]);
            let found = after == "in"
                && all_after.iter().any(|word| {
                    ["air", "blood", "gasoline", "paint", "soil", "toys", "water"].contains(word)
                });
            let exposed = before == "to" && all_before.iter().any(|word| word.starts_with("expos"));
            either(metal || found || exposed, "L EH1 D", "L IY1 D")
        }
        "live" => either(determined || goes_on(SHOWN) || follows(AIRED) || follows(BE), "L AY1 V", "L IH1 V"),
        "lives" => either(determined && before != "that" || follows(COUNTED), "L AY1 V Z", "L IH1 V Z"),
        "used" => either(
            after == "to" && !follows(&["are", "be", "been", "being", "is", "it's", "was", "were"]),
            "Y UW1 S T",
            "Y UW1 Z D",
        ),
        "close" => {
            let shuts = verbal() && after != "to"
                || before.is_empty() && after == "of"
                || determined && (after == "of" || last);
            either(shuts, "K L OW1 Z", "K L OW1 S")
        }
        "wind" => either(
            verbal() && before != "will" || !determined && goes_on(&["down", "up"]),
            "W AY1 N D",
            "W IH1 N D",
        ),
        "wound" => {
            let turned = follows(BE) && goes_on(&["around", "tight", "tightly", "up", "with"])
                || follows(SUBJECTS)
                || follows(SINGULAR_SUBJECTS)
                || !determined
                    && (goes_on(&["around", "down", "through", "up"])
                        || is_determiner(after) && !before.is_empty());
            either(turned, "W AW1 N D", "W UW1 N D")
        }
        "tear" => {
            let torn = verbal()
                || goes_on(&["apart", "down", "off", "up"])
                || before == "and" && all_before.contains(&"wear")
                || determined && after == "in";
            either(torn, "T EH1 R", "T IH1 R")
        }
        "tears" => either(
            follows(&["he", "it", "she"]) || goes_on(&["apart", "down", "up"]) && !follows(&["her", "his"]),
            "T EH1 R Z",
            "T IH1 R Z",
        ),
        "bow" => {
            let bent = verbal()
                || goes_on(&["down", "to"])
                || determined
                    && all_before.iter().any(|word| ["take", "takes", "taking", "took"].contains(word));
            let ship = all_before.iter().chain(all_after).any(|word| {
                ["boat", "boat's", "ship", "ship's", "stern", "vessel", "vessel's", "yacht"].contains(word)
            });
            either(bent || ship || after == "of", "B AW1", "B OW1")
        }
        "row" => "R OW1",
        "bass" => {
            let fish = all_before.iter().chain(all_after).any(|word| FISHING.contains(word));
            either(fish && !follows(&["play", "played", "playing", "plays", "the"]), "B AE1 S", "B EY1 S")
        }
        "dove" => {
            let jumped = !determined
                && (follows(SUBJECTS)
                    || follows(SINGULAR_SUBJECTS)
                    || goes_on(&["in", "into", "off", "under"]));
            either(jumped, "D OW1 V", "D AH1 V")
        }
        "minute" => either(goes_on(TINY), "M AY0 N UW1 T", "M IH1 N AH0 T"),
        "content" => {
            let pleased = follows(BE) && (last || goes_on(&["to", "with"]))
                || follows(&["feel", "feels", "felt", "seemed"]);
            either(pleased, "K AH0 N T EH1 N T", "K AA1 N T EH0 N T")
        }
        "invalid" => either(
            determined && (last || goes_on(&["had", "has", "in", "is", "was", "who"])),
            "IH1 N V AH0 L AH0 D",
            "IH0 N V AE1 L AH0 D",
        ),
        "polish" => "P AA1 L IH0 SH",
        "winds" => {
            let turns = follows(SINGULAR_SUBJECTS)
                || follows(&[
                    "highway", "path", "river", "road", "route", "stream", "street", "trail", "way",
                ]);
            either(turns, "W AY1 N D Z", "W IH1 N D Z")
        }
        "moped" => either(determined || follows(&["by", "electric", "rented"]), "M OW1 P EH2 D", "M OW1 P T"),
        "proceeds" => either(is_singular_verb(around), "P R AH0 S IY1 D Z", "P R OW1 S IY2 D Z"),
        "aged" => either(
            follows(&["an", "the"]) && !goes_on(&["beef", "cheese", "wine"]),
            "EY1 JH AH0 D",
            "EY1 JH D",
        ),
        "learned" => either(
            follows(&["a", "most", "the", "very"]) && !last && after != "to" && !is_determiner(after),
            "L ER1 N AH0 D",
            "L ER1 N D",
        ),
        "blessed" => {
            either(follows(&["a", "every", "the", "this"]) && !last, "B L EH1 S AH0 D", "B L EH1 S T")
        }
        "bases" => {
            let basis = follows(&["legal", "theoretical", "scientific"]);
            either(basis, "B EY1 S IY0 Z", "B EY1 S AH0 Z")
        }
        "axes" => either(
            follows(&["both", "coordinate", "three", "two", "x", "y"]),
            "AE1 K S IY0 Z",
            "AE1 K S AH0 Z",
        ),
        "analyses" => either(is_singular_verb(around), "AE1 N AH0 L AY2 Z AH0 Z", "AH0 N AE1 L AH0 S IY2 Z"),
        "putting" => either(goes_on(&["green", "greens", "stroke"]), "P AH1 T IH0 NG", "P UH1 T IH0 NG"),
        "sewer" => either(follows(&["skilled", "expert"]), "S OW1 ER0", "S UW1 ER0"),
        _ => return None,
    })
}

/// Whether a word that may be a noun or an adjective as well is a verb in its base form.
fn is_verb(word: &str, around: Neighbours) -> bool {
    let [before, second] =
        [1, 2].map(|back| around.before.len().checked_sub(back).map_or("", |at| around.before[at]));
    let after = around.after.first().copied().unwrap_or("");
    let governs = is_determiner(after) && after != "no" || OBJECTS.contains(&after);
    if VERBALS.contains(&before) || SUBJECTS.contains(&before) {
        return true;
    }
    if (OBJECTS.contains(&before) || before == "you" || before == "her") && CAUSES.contains(&second) {
        return true;
    }
    // "strongly object", after what could be a subject
    if before.len() > 4 && before.ends_with("ly") && (SUBJECTS.contains(&second) || VERBALS.contains(&second))
    {
        return true;
    }
    // "buildings that house families"
    if ["that", "which", "who"].contains(&before) && is_plural(second) {
        return true;
    }
    if is_determiner(before) || BE.contains(&before) {
        return false;
    }
    // A request: "record your voice", "read and record it"
    if governs && ["", "and", "or", "then"].contains(&before) {
        return true;
    }
    // "stores close at five"
    if is_plural(before) && !SINGULAR_VERBS.contains(&before) {
        return true;
    }
    let noun = after == "of"
        || PREPOSITIONS.contains(&before)
        || PREPOSITIONS.contains(&second)
        || is_determiner(second)
        || before.is_empty() && ["is", "was"].contains(&after);
    MOSTLY_VERBS.contains(&word) && !noun && !around.last && before != "fresh" && before != "and"
}

/// Whether a word is the third person of a verb and not the plural of a noun.
fn is_singular_verb(around: Neighbours) -> bool {
    let before = around.before.last().copied().unwrap_or("");
    let after = around.after.first().copied().unwrap_or("");
    SINGULAR_SUBJECTS.contains(&before)
        || OBJECTS.contains(&after)
        || is_determiner(after) && !before.is_empty() && !is_determiner(before)
}

/// The past and the participle: "have you read", "she read", "i read it yesterday".
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
    // "my mother read it", "the sign read stop": no present has this form behind a singular.
    let governs = around.after.first().is_some_and(|after| is_determiner(after) || OBJECTS.contains(after));
    let person = !before.is_empty()
        && !is_plural(before)
        && !is_determiner(before)
        && !SUBJECTS.contains(&before)
        && !["and", "or", "then", "now", "never"].contains(&before);
    let second = around.before.len().checked_sub(2).map_or("", |at| around.before[at]);
    person && (governs || is_determiner(second) && !around.after.is_empty())
}

fn is_determiner(word: &str) -> bool {
    DETERMINERS.contains(&word)
        || word.ends_with("'s")
            && !["it's", "let's", "that's", "he's", "she's", "there's", "here's", "what's"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn every_word_parses_among_any_neighbours() {
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
