//! Decides whether a period ends a sentence, for [`super::sentences`] and for the pauses of the normaliser.

use super::{
    place::{Chunk, is_capitalized, starts_with_digit},
    short_forms::{
        SHORT_BEFORE_WORDS, SHORTENED_STATES,
        When::{Always, Capital, Counting, Inside, MayEnd},
        calendar_name, find, is_initials, is_label,
    },
    units::{is_short_unit, unit},
    words::is_starter,
};

/// Whether a sentence ends after `chunk`, judged by its punctuation and by the next word.
pub fn ends_sentence(chunk: &str, next: Option<&str>) -> bool {
    let bare = chunk.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '*']);
    // "3! = 6"
    if next.is_some_and(|next| ["=", "+", "&", "@", "/", "×"].contains(&next)) {
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
        Some((_, last)) if unit(last).is_some() && next.starts_with(char::is_lowercase) => {
            return false;
        }
        _ => word,
    };
    if next.starts_with('$') && SHORT_BEFORE_WORDS.iter().any(|(short, _)| word.eq_ignore_ascii_case(short)) {
        return false;
    }
    // "Model no. XR-200"
    if word.eq_ignore_ascii_case("no")
        && next.starts_with(|c: char| c.is_ascii_uppercase())
        && next.ends_with(|c: char| c.is_ascii_digit())
    {
        return false;
    }
    // "Matt. 5:3"
    if is_capitalized(word) && starts_with_digit(next) && next.contains(':') || word == "Ps" {
        return false;
    }
    // "2 mi. N on the highway"
    if word == "mi" && matches!(next, "N" | "S" | "E" | "W") {
        return false;
    }
    // "long. 74° W"
    if matches!(word, "long" | "Long" | "lat" | "Lat") && next.contains('°') {
        return false;
    }
    // "INT. KITCHEN"
    if matches!(word, "INT" | "EXT") {
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
            || find(&lower).is_some_and(|(.., when)| *when == Inside || *when == Counting && lower.len() > 2)
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
    if super::geography::is_state_of(word, next_word) {
        return false;
    }
    if super::short_forms::is_office(word, next_word) {
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
