//! Amounts: numbers, mixed numbers, fractions and ranges of them, and whether an amount modifies a noun.

use super::{
    numerals::{self, Number, integer},
    place::Match,
    units,
    words::FUNCTION_WORDS,
};
use crate::text::numbers::cardinal;

/// Returns the words of a number, a mixed number or a fraction, and whether a singular follows: "2.5", "2 1/2", "1-1/2", "3/4".
fn single(text: &str) -> Option<(String, bool)> {
    let Some((front, bottom)) = text.split_once('/') else {
        let (number, rest) = Number::scan(text)?;
        return rest.is_empty().then(|| (number.count(), number.is_one()));
    };
    let (whole, top) = front.rsplit_once([' ', '-']).map_or((None, front), |(whole, top)| (Some(whole), top));
    let (top, bottom) = (integer(top)?, integer(bottom)?);
    let parts = numerals::fraction(top, bottom).filter(|_| top < bottom)?;
    Some(match whole {
        Some(whole) => (format!("{} and {parts}", cardinal(integer(whole)?)), false),
        None => (parts, true),
    })
}

/// Returns the words of an amount or of a range of amounts: "10-20", "1-1 1/2", "20°-25".
pub fn quantity(text: &str) -> Option<(String, bool)> {
    single(text).or_else(|| {
        text.char_indices().filter(|(_, mark)| matches!(mark, '-' | '–')).find_map(|(at, mark)| {
            let (from, to) =
                (text[..at].trim_end_matches(['°', '%', ' ']), text[at + mark.len_utf8()..].trim_start());
            let plain = Number::scan(from)
                .zip(Number::scan(to))
                .filter(|((_, rest), (_, more))| rest.is_empty() && more.is_empty());
            Some((
                match plain {
                    Some(((from, _), (to, _))) => numerals::range(&from, &to),
                    None => format!("{} to {}", single(from)?.0, single(to)?.0),
                },
                false,
            ))
        })
    })
}

/// Whether an amount modifies a noun, because an article is before and a noun after it: "a twenty dollar bill", "1 (15 oz) can".
pub fn is_adjective(found: &Match) -> bool {
    const CONTAINERS: &[&str] = &[
        "bag",
        "block",
        "bottle",
        "box",
        "can",
        "cans",
        "carton",
        "container",
        "jar",
        "package",
        "packages",
        "pkg",
        "pkgs",
        "stick",
        "tin",
        "tub",
    ];
    #[rustfmt::skip]
    const DETERMINERS: &[&str] = &["a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their", "another", "every", "each", "per"];
    let next = |after: &str| after.split(' ').nth(1).unwrap_or("").to_string();
    let noun = next(found.after);
    if found.after.starts_with(')') || !found.after.starts_with(' ') && !found.after.starts_with('.') {
        return found.before.ends_with('(') && CONTAINERS.contains(&noun.trim_end_matches(['.', ',']));
    }
    let bare = noun.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    // "85 dB can hurt"
    let ends = bare.len() < noun.len()
        || found.after.ends_with(bare)
        || found.after.contains(&format!("{bare} of "));
    if CONTAINERS.contains(&bare) && (ends || bare != "can") {
        return true;
    }
    let short = found.groups.last().is_some_and(|unit| units::is_short_unit(unit) && !unit.ends_with('s'));
    if !matches!(found.after.bytes().next(), Some(b' ' | b'.'))
        || !noun.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        return false;
    }
    // "twenty pound weights", but "two pounds apples"
    #[rustfmt::skip]
    const MEASURED: &[&str] = &[
        "weights", "dumbbells", "plates", "steaks", "bags", "bottles", "boxes", "jars", "tins", "packs", "balls", "cables", "batteries", "screws", "nails", "pipes", "winds", "speeds", "races", "runs",
    ];
    if short && MEASURED.contains(&bare) {
        return true;
    }
    // "a 4-year, $92M deal"
    let mut back = found.before.trim_end().rsplit(' ');
    let before = back.next().unwrap_or("");
    let before =
        if before.ends_with(',') && before.contains('-') { back.next().unwrap_or("") } else { before };
    DETERMINERS.contains(&before.to_ascii_lowercase().as_str()) && !FUNCTION_WORDS.contains(&noun.as_str())
}
