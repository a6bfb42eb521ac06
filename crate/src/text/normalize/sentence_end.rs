//! Where a period ends a sentence. [`super::sentences`] and the pauses of the normaliser share it.

use super::abbreviations::{is_initials, is_label};
use super::place::{Chunk, is_capitalized, starts_with_digit};
use super::short_forms::When::{Always, Capital, Counting, Inside, MayEnd};
use super::short_forms::{SHORT_BEFORE_WORDS, SHORTENED_STATES, calendar_name, find};
use super::units::is_short_unit;

/// Words that begin a sentence far more often than they follow an abbreviation with a capital.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "a", "after", "all", "also", "although", "an", "and", "are", "as", "at", "because", "before", "but", "by", "can", "could", "did", "do", "does", "each", "every",
    "everyone", "everything", "few", "for", "from", "had", "has", "have", "he", "her", "here", "his", "how", "however", "i", "i'm", "i've", "i'll", "i'd", "if", "in", "is",
    "it", "it's", "its", "later", "let", "let's", "many", "maybe", "meanwhile", "most", "my", "never", "no", "nobody", "not", "nothing", "now", "of", "on", "once", "one",
    "our", "perhaps", "please", "she", "should", "since", "so", "some", "someone", "soon", "still", "that", "that's", "the", "their", "then", "there", "there's", "these",
    "they", "they're", "this", "those", "though", "to", "today", "was", "we", "we're", "we'll", "were", "what", "when", "where", "which", "while", "who", "why", "will",
    "with", "would", "yes", "yet", "you", "you're", "your",
    // Requests.
    "add", "ask", "bring", "call", "come", "get", "give", "go", "keep", "leave", "look", "make", "meet", "mix", "put", "read", "see", "send", "stir", "stop", "take", "tell", "try",
    "turn", "use", "wait", "write",
];

/// Whether a capitalized word begins a sentence rather than going on with a name.
pub fn is_starter(word: &str) -> bool {
    let bare = word
        .trim_start_matches(['"', '\'', '(', '[', '“', '‘'])
        .trim_end_matches(|c: char| !c.is_alphanumeric());
    // An initial is none: "A. B. Lee".
    let initial = bare.len() == 1 && bare != "I" && word.ends_with('.');
    is_capitalized(bare)
        && !initial
        && STARTERS.contains(&bare.replace('’', "'").to_ascii_lowercase().as_str())
}

/// Whether a sentence ends behind `chunk`, seen from its punctuation and the word that follows.
pub fn ends_sentence(chunk: &str, next: Option<&str>) -> bool {
    let bare = chunk.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '*']);
    // "3! = 6"
    if next == Some("=") {
        return false;
    }
    if bare.ends_with(['?', '!', '。', '？', '！', '…']) || bare.ends_with("..") {
        return true;
    }
    let Some(word) = bare.strip_suffix('.') else { return false };
    let Some(next) = next.filter(|next| *next != "\n") else { return true };
    let word = Chunk::new(word.trim_start_matches(['“', '‘', '\''])).body;
    // "Feb. 28–Mar. 3"
    let word = match word.rsplit_once(['–', '-']) {
        Some((_, last)) if calendar_name(last).is_some() => last,
        // "a 6-in. pipe"
        Some((_, last)) if (is_short_unit(last) || last == "in") && next.starts_with(char::is_lowercase) => {
            return false;
        }
        _ => word,
    };
    if next.starts_with('$') && ["lg", "med", "sm"].contains(&word.to_ascii_lowercase().as_str()) {
        return false;
    }
    if super::citations::is_book(word) && starts_with_digit(next) {
        return false;
    }
    let lower = word.to_ascii_lowercase();
    let goes_on = next.starts_with(char::is_lowercase);
    let next_word = next.trim_start_matches(['"', '\'', '(', '“', '#', '+']);
    if is_short_unit(&lower) && starts_with_digit(next_word) {
        return false;
    }
    if goes_on
        && (is_short_unit(&lower)
            || find(&lower).is_some_and(|(.., when)| *when == Inside)
            || SHORTENED_STATES.iter().any(|(short, _)| *short == lower)
            || SHORT_BEFORE_WORDS.iter().any(|(short, _)| *short == lower)
            || matches!(lower.as_str(), "apt" | "no" | "tel"))
    {
        return false;
    }
    // "9 a.m. Bring snacks.", not "9 a.m. Monday", "9 a.m. Eastern", "9 a.m. EST".
    if matches!(lower.as_str(), "a.m" | "p.m") {
        const ZONES: [&str; 5] = ["Eastern", "Central", "Mountain", "Pacific", "Greenwich"];
        let bare = next_word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let capitals = bare.len() > 1 && !bare.contains(|c: char| c.is_ascii_lowercase());
        return is_capitalized(bare) && !capitals && calendar_name(bare).is_none() && !ZONES.contains(&bare);
    }
    if super::abbreviations::is_state_of(word, next_word) {
        return false;
    }
    if super::abbreviations::is_office(word, next_word) {
        return false;
    }
    if matches!(lower.as_str(), "st" | "dr") || is_initials(word) && !matches!(lower.as_str(), "e.g" | "i.e")
    {
        return is_starter(next);
    }
    if word.len() == 1
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !(lower == "p" && starts_with_digit(next_word))
    {
        return word == "I" || is_starter(next);
    }
    match find(&lower) {
        Some((.., Always)) => false,
        Some((.., Inside)) if next == "&" => false,
        Some((.., Inside)) => !is_capitalized(next_word) || is_starter(next),
        Some((.., MayEnd)) => is_starter(next),
        Some((.., Capital)) if is_capitalized(word) => is_starter(next),
        Some((.., Counting)) => !starts_with_digit(next_word) && !is_label(word, next_word),
        _ => true,
    }
}
