//! Words whose reading depends on their capitals: initials, acronyms, names with a capital inside, names that are words in lower case.

use super::{
    place::{Reading, TokenContext, starts_with_digit},
    short_forms::is_initials,
};

/// Abbreviations that are read letter by letter although they are words in lower case.
const SPELLED: &[&str] = &[
    "ACA", "ACC", "ADA", "ADD", "AD", "AFT", "ALS", "BCE", "BIS", "BOE", "CGI", "CIS", "COB", "COD", "COO",
    "CST", "DEA", "DOB", "DOE", "DOT", "EEG", "ERA", "EST", "GAO", "GED", "GMT", "INS", "KOH", "IRA", "LAX",
    "LED", "MGM", "MIA", "MIT", "MST", "NGO", "OTT", "POW", "PST", "RAF", "SAT", "SEC", "SEO", "SOP", "TIL",
    "UPS", "US", "USS", "UTC", "UVA", "WHO",
];

/// Words of two letters that are written in capitals for emphasis. Other pairs of capitals are read letter by letter.
const SHORT_WORDS: &[&str] = &[
    "AH", "AM", "AN", "AS", "AT", "BE", "BY", "DO", "DR", "EX", "GO", "HA", "HE", "HI", "HO", "IF", "IN",
    "IS", "IT", "JR", "ME", "MR", "MY", "NO", "OF", "OH", "ON", "OR", "SO", "SR", "TO", "UH", "UM", "UP",
    "WE", "YO",
];

/// Prefixes of names that are one word in spite of a capital inside.
const NAME_PREFIXES: &[&str] = &["Mc", "Mac", "De", "Di", "Du", "La", "Le", "Van", "Von", "Fitz", "O"];

/// Reads initials and single letters: "U.S.", "F." of a name, "IT" after an article.
pub fn initials(context: &TokenContext, body: &str) -> Reading {
    if is_initials(body) {
        return Some((spelled(&body.to_ascii_uppercase()), 1));
    }
    let chunk = context.chunk(0)?;
    // "SR 520" is a road.
    if body == "SR" && context.body(1).is_some_and(starts_with_digit) {
        return Some((spelled(body), 1));
    }
    let initial = chunk.close == "."
        && body.len() == 1
        && body.bytes().all(|byte| byte.is_ascii_uppercase())
        && body != "I";
    let department = body == "IT"
        && !context.shouted
        && ["the", "our", "an", "in", "their", "your", "my"].contains(&context.word_before().as_str());
    let before_operator = |operators: &[&str]| context.raw(1).is_some_and(|next| operators.contains(&next));
    let variable = body.eq_ignore_ascii_case("a")
        && before_operator(&["+", "*", "/", "×", "->", "=", "<", ">", "≈", "≠", "≤", "≥"])
        || body == "A" && before_operator(&["+", "&"]);
    (initial || department || variable).then(|| (spelled(&body.to_ascii_uppercase()), 1))
}

/// Keeps the capital of a name that is another word in lower case: "Polish food", "in Nice".
pub fn namesake(context: &TokenContext, body: &str) -> Reading {
    let before = context.word_before();
    let meant = match body {
        "Polish" => {
            !context.begins()
                || context
                    .body(1)
                    .is_some_and(|next| !["a", "it", "my", "the", "them", "up", "your"].contains(&next))
        }
        "Mobile" | "Nice" | "Reading" => {
            ["from", "in", "near", "of", "to"].contains(&before.as_str())
                || context.chunk(0)?.close == ","
                    && context.body_after_period(1).starts_with(|c: char| c.is_ascii_uppercase())
                    && !context.begins()
        }
        _ => false,
    };
    (meant && !context.shouted).then(|| (body.to_string(), 1))
}

/// Reads "the ACT", the test, letter by letter.
pub fn test(context: &TokenContext) -> Reading {
    let near = ["a", "an", "and", "or", "sat", "score", "scores", "test", "the"];
    let next = context.body_after_period(1).to_ascii_lowercase();
    (!context.shouted && (near.contains(&context.word_before().as_str()) || near.contains(&next.as_str())))
        .then(|| ("A C T".into(), 1))
}

/// Splits "OwnVoice" and "SpaceX" into words. Names like "McDonald" are not split.
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

/// Splits "JPMorgan" into letters and a word, and "IMDb" into letters alone.
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

/// Whether a word in capitals is a common short word.
pub fn is_short_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "ALL", "AND", "ANY", "ARE", "BUT", "CAN", "DAY", "FOR", "GET", "HIS", "HER", "HOW", "NEW", "NOT",
        "NOW", "OFF", "ONE", "OUR", "OUT", "THE", "TWO", "WAS", "YES", "YOU",
    ];
    SHORT_WORDS.contains(&word) || WORDS.contains(&word)
}

/// Whether a word in capitals is read letter by letter although the dictionary may have it, unless the whole text is in capitals.
pub fn is_spelled(capitals: &str) -> bool {
    SPELLED.contains(&capitals)
        || capitals.len() == 2
            && capitals.bytes().all(|byte| byte.is_ascii_uppercase())
            && !SHORT_WORDS.contains(&capitals)
}

/// Returns the letters of an abbreviation, separated by spaces.
pub fn spelled(word: &str) -> String {
    let letters = word.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_uppercase().to_string()).collect::<Vec<_>>().join(" ")
}
