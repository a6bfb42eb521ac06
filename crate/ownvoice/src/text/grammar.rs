//! Guesses the part of speech of a word from its neighbours.

use crate::text::normalize::place::is_plural;

/// The words around a word, up to the next pause on either side. All but abbreviations are in lower case.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neighbours<'a> {
    /// The words before; the nearest is the last.
    pub before: &'a [&'a str],
    /// The words after; the nearest is the first.
    pub after: &'a [&'a str],
    /// Whether the next word begins with a vowel.
    pub vowel_follows: bool,
    /// Whether a pause follows.
    pub last: bool,
}

/// Words that are verbs more often than nouns or adjectives.
pub(super) const MOSTLY_VERBS: &[&str] =
    &["combine", "excuse", "initiate", "produce", "recall", "refuse", "resume", "reuse", "use"];

pub(super) const BE: &[&str] =
    &["am", "are", "be", "been", "being", "i'm", "is", "it's", "was", "we're", "were"];
#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "a", "an", "another", "any", "each", "every", "her", "his", "its", "much", "my", "no", "our", "some", "that", "the", "their", "these", "this", "those", "what", "your",
];
const PREPOSITIONS: &[&str] = &["by", "for", "from", "in", "of", "on", "with", "without"];
pub(super) const SUBJECTS: &[&str] = &["i", "people", "they", "we", "who", "you"];
pub(super) const SINGULAR_SUBJECTS: &[&str] = &["he", "it", "she", "which", "who"];
pub(super) const OBJECTS: &[&str] =
    &["all", "everything", "him", "it", "me", "them", "themselves", "us", "yourself"];
/// Words that are followed by an infinitive.
#[rustfmt::skip]
pub(super) const VERBALS: &[&str] = &[
    "always", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "don't", "he'd", "he'll", "help", "helped", "i'd", "i'll", "it'll", "let", "let's", "may",
    "might", "must", "never", "not", "often", "please", "shall", "she'd", "she'll", "should", "shouldn't", "they'd", "they'll", "to", "usually", "we'd", "we'll", "will", "won't", "would",
    "wouldn't", "you'd", "you'll",
];
/// Verbs that take an object and an infinitive: "made me wind it", "saw him tear it".
const CAUSES: &[&str] = &[
    "hear", "heard", "help", "helped", "helps", "let", "lets", "letting", "made", "make", "makes", "making",
    "saw", "see", "watch", "watched",
];
/// Words, mostly verbs, that look like plurals of nouns.
const SINGULAR_VERBS: &[&str] = &[
    "feels", "gets", "gives", "goes", "helps", "keeps", "likes", "looks", "makes", "needs", "news", "plays",
    "sales", "seems", "sets", "shows", "sports", "takes", "wants",
];

/// Whether a word that may also be a noun or an adjective is a verb in its base form.
pub(super) fn is_verb(word: &str, around: Neighbours) -> bool {
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
    // "we strongly object"
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
    // An imperative: "record your voice", "read and record it"
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

/// Whether a word is the third person of a verb rather than the plural of a noun.
pub(super) fn is_singular_verb(around: Neighbours) -> bool {
    let before = around.before.last().copied().unwrap_or("");
    let after = around.after.first().copied().unwrap_or("");
    SINGULAR_SUBJECTS.contains(&before)
        || OBJECTS.contains(&after)
        || is_determiner(after) && !before.is_empty() && !is_determiner(before)
}

/// Whether a word is a determiner, or a possessive such as "dog's".
pub(super) fn is_determiner(word: &str) -> bool {
    DETERMINERS.contains(&word)
        || word.ends_with("'s")
            && !["it's", "let's", "that's", "he's", "she's", "there's", "here's", "what's"].contains(&word)
}
