//! Signs before numbers and between blanks: "~5", "-40", "5 < 6", "File > Save As".

use super::place::{Place, Reading, is_capitalized, starts_with_digit};
use super::{dates, digits, mathematics, money, numerals, quantity};
use crate::text::numbers::cardinal;

/// What begins like a number, perhaps behind a sign.
pub fn numeric(place: &Place, body: &str) -> Reading {
    const SIGNS: [(&str, &str); 12] = [
        ("+/-", "plus or minus"),
        ("≤", "at most"),
        ("≥", "at least"),
        ("≈", "about"),
        ("-", "minus"),
        ("+", "plus"),
        ("#", "number"),
        ("~", "about"),
        ("<", "less than"),
        (">", "more than"),
        ("@", "at"),
        ("=", "equals"),
    ];
    if let Some(reading) = dates::decades(place, body).or_else(|| digits::version(place, body)) {
        return Some(reading);
    }
    for (mark, sign) in SIGNS {
        if let Some(rest) = body
            .strip_prefix(mark)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "$£€¥.".contains(c)))
        {
            let (words, used) = numeric(place, rest)?;
            return Some((format!("{sign} {words}"), used));
        }
    }
    if let Some(reading) = money::read(place, body) {
        return Some(reading);
    }
    if !starts_with_digit(body.trim_start_matches('.')) {
        return None;
    }
    let reading = dates::clock(place).or_else(|| digits::slashed(place, body));
    reading.or_else(|| ratio(body)).or_else(|| quantity::number(place, body))
}

/// "2:1", "16:9"
pub fn ratio(body: &str) -> Reading {
    let (a, b) = body.split_once(':')?;
    let seconds = b.len() == 2;
    let (a, b) = numerals::integer(a).zip(numerals::integer(b))?;
    // "45:00" of a game
    if seconds && a > 24 && b < 60 {
        let minutes = cardinal(a);
        return Some((
            match b {
                0 => format!("{minutes} minutes"),
                1..10 => format!("{minutes} oh {}", cardinal(b)),
                _ => format!("{minutes} {}", cardinal(b)),
            },
            1,
        ));
    }
    Some((format!("{} to {}", cardinal(a), cardinal(b)), 1))
}

/// A sign between blanks. Nothing to say is a pause.
pub fn operator(place: &Place) -> Option<&'static str> {
    let digit_before = place
        .before()
        .is_some_and(|before| before.trim_end_matches(['\'', '"']).ends_with(|c: char| c.is_ascii_digit()));
    let digit_after =
        place.raw(1).is_some_and(|next| starts_with_digit(next.trim_start_matches(['$', '£', '€'])));
    let between = digit_before && digit_after;
    let measured =
        place.back(2).is_some_and(starts_with_digit) && place.before().is_some_and(|unit| unit.len() <= 3);
    let compares = place.before().is_some() && place.raw(1).is_some();
    Some(match place.raw(0)? {
        "<" if compares => "is less than",
        // "File > Save As"
        ">" if [place.before(), place.raw(1)]
            .into_iter()
            .flatten()
            .all(|word| word.len() > 1 && is_capitalized(word)) =>
        {
            ""
        }
        ">" if compares => "is greater than",
        "≤" if compares => "is less than or equal to",
        "≥" if compares => "is greater than or equal to",
        "≠" if compares => "is not equal to",
        "=" | "==" => "equals",
        "+" => "plus",
        "+/-" => "plus or minus",
        "#" => "number",
        "*" if between => "times",
        "/" if between => "divided by",
        "-" if between || mathematics::is_equation(place) => "minus",
        "–" if between => "to",
        "->" | "=>" if compares => "to",
        "-" | "--" | "–" | "—" => "",
        "≈" if compares => "is about",
        "~" | "≈" => "about",
        "×" if compares => "times",
        // "I ♥ NY"
        "♥" if place.before().is_some_and(|who| ["I", "we", "We", "they", "They"].contains(&who))
            && place.raw(1).is_some() =>
        {
            "love"
        }
        "♥" => "",
        "x" | "X" if digit_after && (digit_before || measured) => {
            if place.raw(2) == Some("=") {
                "times"
            } else {
                "by"
            }
        }
        _ => return None,
    })
}
