//! Signs before numbers, and signs with spaces around them: "~5", "-40", "5 < 6", "File > Save As".

use super::{
    dates, digits, mathematics, money, numerals,
    place::{Reading, TokenContext, is_capitalized, starts_with_digit},
    quantity,
};
use crate::text::numbers::cardinal;

/// Reads a chunk that begins like a number, perhaps after a sign.
pub fn numeric(context: &TokenContext, body: &str) -> Reading {
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
    if let Some(reading) = dates::decades(context, body).or_else(|| digits::version(context, body)) {
        return Some(reading);
    }
    for (mark, sign) in SIGNS {
        if let Some(rest) = body
            .strip_prefix(mark)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "$£€¥.".contains(c)))
        {
            let (words, used) = numeric(context, rest)?;
            return Some((format!("{sign} {words}"), used));
        }
    }
    if let Some(reading) = money::read(context, body) {
        return Some(reading);
    }
    if !starts_with_digit(body.trim_start_matches('.')) {
        return None;
    }
    let reading = dates::clock(context).or_else(|| digits::slashed(context, body));
    reading.or_else(|| ratio(body)).or_else(|| quantity::number(context, body))
}

/// Reads a ratio or a time of a game: "2:1", "16:9", "45:00".
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

/// Returns the words of a sign with spaces around it. An empty string is a pause.
pub fn operator(context: &TokenContext) -> Option<&'static str> {
    let digit_before = context
        .before()
        .is_some_and(|before| before.trim_end_matches(['\'', '"']).ends_with(|c: char| c.is_ascii_digit()));
    let digit_after =
        context.raw(1).is_some_and(|next| starts_with_digit(next.trim_start_matches(['$', '£', '€'])));
    let between = digit_before && digit_after;
    let measured = context.back(2).is_some_and(starts_with_digit)
        && context.before().is_some_and(|unit| unit.len() <= 3);
    let compares = context.before().is_some() && context.raw(1).is_some();
    Some(match context.raw(0)? {
        "<" if compares => "is less than",
        // "File > Save As"
        ">" if [context.before(), context.raw(1)]
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
        "-" if between || mathematics::is_equation(context) => "minus",
        "–" if between => "to",
        "->" | "=>" if compares => "to",
        "-" | "--" | "–" | "—" => "",
        "≈" if compares => "is about",
        "~" | "≈" => "about",
        "×" if compares => "times",
        // "I ♥ NY"
        "♥" if context.before().is_some_and(|who| ["I", "we", "We", "they", "They"].contains(&who))
            && context.raw(1).is_some() =>
        {
            "love"
        }
        "♥" => "",
        "x" | "X" if digit_after && (digit_before || measured) => {
            if context.raw(2) == Some("=") {
                "times"
            } else {
                "by"
            }
        }
        _ => return None,
    })
}
