//! What capitals tell: initials, acronyms, names with a capital inside, names that are words in lower case.

use super::abbreviations::is_initials;
use super::place::{Place, Reading, starts_with_digit};

/// Read letter by letter although they are words in lower case too.
const SPELLED: &[&str] = &[
    "ACA", "ACC", "ADA", "ADD", "AD", "AFT", "ALS", "BCE", "BIS", "BOE", "CGI", "CIS", "COB", "COD", "COO",
    "CST", "DEA", "DOB", "DOE", "DOT", "EEG", "ERA", "EST", "GAO", "GED", "GMT", "INS", "KOH", "IRA", "LAX",
    "LED", "MGM", "MIA", "MIT", "MST", "NGO", "OTT", "POW", "PST", "RAF", "SAT", "SEC", "SEO", "SOP", "TIL",
    "UPS", "US", "USS", "UTC", "UVA", "WHO",
];

/// Two capitals that are a word, in capitals for emphasis; others are letters.
const SHORT_WORDS: &[&str] = &[
    "AH", "AM", "AN", "AS", "AT", "BE", "BY", "DO", "DR", "EX", "GO", "HA", "HE", "HI", "HO", "IF", "IN",
    "IS", "IT", "JR", "ME", "MR", "MY", "NO", "OF", "OH", "ON", "OR", "SO", "SR", "TO", "UH", "UM", "UP",
    "WE", "YO",
];

/// What names with a capital inside begin with; they are one word.
const NAME_PREFIXES: &[&str] = &["Mc", "Mac", "De", "Di", "Du", "La", "Le", "Van", "Von", "Fitz", "O"];

/// "U.S.", "F." of a name, "IT" behind an article.
pub fn initials(place: &Place, body: &str) -> Reading {
    if is_initials(body) {
        return Some((spelled(&body.to_ascii_uppercase()), 1));
    }
    let chunk = place.chunk(0)?;
    // "SR 520" is a road.
    if body == "SR" && place.body(1).is_some_and(starts_with_digit) {
        return Some((spelled(body), 1));
    }
    let initial = chunk.close == "."
        && body.len() == 1
        && body.bytes().all(|byte| byte.is_ascii_uppercase())
        && body != "I";
    let department = body == "IT"
        && !place.shouted
        && ["the", "our", "an", "in", "their", "your", "my"].contains(&place.word_before().as_str());
    let before_operator = |operators: &[&str]| place.raw(1).is_some_and(|next| operators.contains(&next));
    let variable = body.eq_ignore_ascii_case("a")
        && before_operator(&["+", "*", "/", "×", "->", "=", "<", ">", "≈", "≠", "≤", "≥"])
        || body == "A" && before_operator(&["+", "&"]);
    (initial || department || variable).then(|| (spelled(&body.to_ascii_uppercase()), 1))
}

/// "Polish food", "in Nice": a capital that tells a name from a word.
pub fn namesake(place: &Place, body: &str) -> Reading {
    let before = place.word_before();
    let meant = match body {
        "Polish" => {
            !place.begins()
                || place
                    .body(1)
                    .is_some_and(|next| !["a", "it", "my", "the", "them", "up", "your"].contains(&next))
        }
        "Mobile" | "Nice" | "Reading" => {
            ["from", "in", "near", "of", "to"].contains(&before.as_str())
                || place.chunk(0)?.close == ","
                    && place.body_behind_period(1).starts_with(|c: char| c.is_ascii_uppercase())
                    && !place.begins()
        }
        _ => false,
    };
    (meant && !place.shouted).then(|| (body.to_string(), 1))
}

/// "the ACT", which is "act" in other capitals.
pub fn test(place: &Place) -> Reading {
    let near = ["a", "an", "and", "or", "sat", "score", "scores", "test", "the"];
    let next = place.body_behind_period(1).to_ascii_lowercase();
    (!place.shouted && (near.contains(&place.word_before().as_str()) || near.contains(&next.as_str())))
        .then(|| ("A C T".into(), 1))
}

/// The words of "OwnVoice" and "SpaceX"; names like "McDonald" are one.
pub fn camel_case(word: &str) -> Option<(&str, &str)> {
    let at = word
        .bytes()
        .zip(word.bytes().skip(1))
        .position(|(before, here)| before.is_ascii_lowercase() && here.is_ascii_uppercase())?
        + 1;
    let (first, second) = word.split_at(at);
    let is_word = |part: &str| part.len() > 1 && part.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    let goes_on = second.as_bytes().get(1).copied().is_some_and(|next| next.is_ascii_lowercase())
        || second.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_word(first) && goes_on && !NAME_PREFIXES.contains(&first)).then_some((first, second))
}

/// "JPMorgan", and "IMDb" as letters alone.
pub fn capitals_and_word(word: &str) -> Option<(&str, &str)> {
    let capitals = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let small = word[capitals..].bytes().all(|byte| byte.is_ascii_lowercase());
    match word.len() - capitals {
        1 if capitals > 1 && small && !word.ends_with('s') => Some((word, "")),
        3.. if (3..=4).contains(&capitals) && small && !word.ends_with("ers") => {
            Some(word.split_at(capitals - 1))
        }
        _ => None,
    }
}

/// Whether capitals, in a text that has small letters too, are read as letters although the dictionary may have a word of them.
pub fn is_spelled(capitals: &str) -> bool {
    SPELLED.contains(&capitals)
        || capitals.len() == 2
            && capitals.bytes().all(|byte| byte.is_ascii_uppercase())
            && !SHORT_WORDS.contains(&capitals)
}

/// The letters of an abbreviation, one by one.
pub fn spelled(word: &str) -> String {
    let letters = word.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_uppercase().to_string()).collect::<Vec<_>>().join(" ")
}
