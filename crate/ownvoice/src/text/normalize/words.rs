//! Words by their role in a sentence.

use super::place::is_capitalized;

/// Words that cannot be part of a noun phrase: "a 5 km and a 10 km run".
#[rustfmt::skip]
pub const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "away", "but", "by", "came", "can", "each", "for", "from", "goes", "had", "has", "have", "he", "i", "if", "in", "is", "it", "of", "off", "on",
    "or", "paid", "per", "she", "should", "so", "spent", "than", "that", "the", "they", "this", "to", "was", "we", "went", "were", "when", "which", "will", "thru", "through", "until", "before", "after", "while", "between", "into", "during", "with", "would", "you",
];

/// Words that, with a capital after an abbreviation, almost always begin a sentence.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "a", "after", "all", "also", "although", "an", "and", "are", "as", "at", "because", "before", "but", "by", "can", "could", "did", "do", "does", "each", "every",
    "everyone", "everything", "few", "for", "from", "had", "has", "have", "he", "her", "here", "his", "how", "however", "i", "i'm", "i've", "i'll", "i'd", "if", "in", "is",
    "it", "it's", "its", "later", "let", "let's", "many", "maybe", "meanwhile", "most", "my", "never", "no", "nobody", "not", "nothing", "now", "of", "on", "once", "one",
    "our", "perhaps", "please", "she", "should", "since", "so", "some", "someone", "soon", "still", "that", "that's", "the", "their", "then", "there", "there's", "these",
    "they", "they're", "this", "those", "though", "to", "today", "was", "we", "we're", "we'll", "were", "what", "when", "where", "which", "while", "who", "why", "will",
    "with", "would", "yes", "yet", "you", "you're", "your",
    // Imperatives.
    "add", "ask", "bring", "call", "come", "get", "give", "go", "keep", "leave", "look", "make", "meet", "mix", "put", "read", "see", "send", "stir", "stop", "take", "tell", "try",
    "turn", "use", "wait", "write",
];

/// Whether a capitalized word begins a sentence rather than being part of a name.
pub fn is_starter(word: &str) -> bool {
    let bare = word
        .trim_start_matches(['"', '\'', '(', '[', '“', '‘'])
        .trim_end_matches(|c: char| !c.is_alphanumeric());
    // An initial does not begin a sentence: "A. B. Lee".
    let initial = bare.len() == 1 && bare != "I" && word.ends_with('.');
    is_capitalized(bare)
        && !initial
        && STARTERS.contains(&bare.replace('’', "'").to_ascii_lowercase().as_str())
}
