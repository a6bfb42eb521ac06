//! Runs of digits: cardinals, years, ranges, fractions and versions.

use super::place::{Place, Reading, is_capitalized};
use super::short_forms::calendar_name;
use crate::text::numbers::{self, cardinal, one_by_one, ordinal};

/// A number as written: `1,234.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'a> {
    pub whole: &'a str,
    pub decimals: &'a str,
}

impl<'a> Number<'a> {
    /// The number that a text begins with, and what follows. Commas belong to it where three digits follow each.
    pub fn scan(text: &'a str) -> Option<(Self, &'a str)> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut end = digits(text);
        while end > 0 && text[end..].starts_with(',') && matches!(digits(&text[end + 1..]), 2 | 3) {
            let group = digits(&text[end + 1..]);
            let more = text[end + 1 + group..].starts_with(',')
                && digits(&text[(end + 2 + group).min(text.len())..]) > 1;
            if group == 2 && !more {
                break;
            }
            end += 1 + group;
        }
        let (whole, rest) = text.split_at(end);
        let fraction = rest.strip_prefix('.').map_or(0, digits);
        if end == 0 && fraction == 0 {
            return None;
        }
        let decimals = if fraction > 0 { &rest[1..1 + fraction] } else { "" };
        let rest = if fraction > 0 { &rest[1 + fraction..] } else { rest };
        Some((Self { whole, decimals }, rest))
    }

    /// The value of a whole number of at most 15 digits.
    pub fn value(&self) -> Option<u64> {
        if self.decimals.is_empty() { integer(&self.whole.replace(',', "")) } else { None }
    }

    pub fn is_one(&self) -> bool {
        self.value() == Some(1)
    }

    pub fn is_year(&self) -> bool {
        self.decimals.is_empty() && is_year(self.whole)
    }

    /// As a count: "one thousand nine hundred".
    pub fn count(&self) -> String {
        let plain = self.whole.replace(',', "");
        let whole = match integer(&plain) {
            Some(_) if plain.len() > 1 && plain.starts_with('0') => one_by_one(&plain),
            Some(value) => cardinal(value),
            None if plain.is_empty() => "zero".to_string(),
            None => one_by_one(&plain),
        };
        if self.decimals.is_empty() { whole } else { format!("{whole} point {}", one_by_one(self.decimals)) }
    }

    /// Four digits from 1100 to 2099 as a year, else as a count.
    pub fn words(&self) -> String {
        if self.is_year() { number_or_year(self.whole) } else { self.count() }
    }
}

/// A whole number of at most 15 digits.
pub fn integer(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 15 || !is_digits(digits) { None } else { digits.parse().ok() }
}

pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(digits: &str) -> bool {
    digits.len() == 4 && integer(digits).is_some_and(|value| (1100..2100).contains(&value))
}

/// Four digits from 1100 to 2099 are read as a year; what begins with a zero or is too long, digit by digit.
pub fn number_or_year(digits: &str) -> String {
    match integer(digits) {
        Some(value) if is_year(digits) => numbers::year(value),
        Some(value) if digits.len() == 1 || !digits.starts_with('0') => cardinal(value),
        _ => one_by_one(digits),
    }
}

/// Two digits of a year: "ninety one", "oh five".
pub fn short_year(digits: &str) -> String {
    match digits.strip_prefix('0') {
        Some(last) if last != "0" => format!("oh {}", number_or_year(last)),
        _ => number_or_year(digits),
    }
}

/// "737" as "seven thirty seven", "101" as "one oh one".
pub fn in_pairs(digits: &str) -> String {
    match (digits.len(), integer(digits)) {
        (3, Some(value)) if value % 100 != 0 && value > 99 => {
            format!("{} {}", cardinal(value / 100), short_year(&digits[1..]))
        }
        (4, Some(value)) if value > 999 => numbers::year(value),
        _ => number_or_year(digits),
    }
}

/// Two numbers joined by a dash: "ten to twenty", "nineteen ninety to ninety one".
pub fn range(from: &Number, to: &Number) -> String {
    // "0900-1700"
    if from.whole.starts_with('0')
        && let Some((from, to)) =
            super::labels::military_time(from.whole).zip(super::labels::military_time(to.whole))
    {
        return format!("{from} to {to}");
    }
    if from.is_year() && to.decimals.is_empty() && (to.whole.len() == 2 || to.is_year()) {
        return format!(
            "{} to {}",
            from.words(),
            if to.whole.len() == 2 { short_year(to.whole) } else { to.words() }
        );
    }
    // "a fifty fifty chance"
    format!("{}{}{}", from.count(), if from == to { " " } else { " to " }, to.count())
}

/// Parts of a whole; `None` where the denominator is none: "one half", "three quarters".
pub fn fraction(top: u64, bottom: u64) -> Option<String> {
    let name = match bottom {
        2 => "half".to_string(),
        4 => "quarter".to_string(),
        3..=100 => ordinal(bottom),
        _ => return None,
    };
    let many = if top == 1 { "" } else { "s" };
    let name = if top != 1 && bottom == 2 { "halve".to_string() } else { name };
    Some(format!("{} {name}{many}", cardinal(top)))
}

/// Two whole numbers around a slash.
pub fn split_fraction(text: &str) -> Option<(u64, u64)> {
    let (top, bottom) = text.split_once('/')?;
    integer(top).zip(integer(bottom)).filter(|_| top.len() <= 4 && bottom.len() <= 4)
}

/// What looks like a fraction or a date and is a name.
pub fn idiom(body: &str) -> Reading {
    const IDIOMS: &[(&str, &str)] = &[
        ("24/7", "twenty four seven"),
        ("24/7/365", "twenty four seven three sixty five"),
        ("9/11", "nine eleven"),
        ("7/11", "seven eleven"),
        ("20/20", "twenty twenty"),
        ("1-2-3", "one two three"),
        ("50-50", "fifty fifty"),
    ];
    // The wireless standard: "802.11ac".
    if let Some(letters) =
        body.strip_prefix("802.11").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase()))
    {
        return Some((
            format!("eight oh two dot eleven {}", super::spelled(&letters.to_ascii_uppercase())),
            1,
        ));
    }
    IDIOMS.iter().find(|(idiom, _)| *idiom == body).map(|(_, words)| (words.to_string(), 1))
}

/// "3/4", "8/10", "50/50", "120/80"; what follows a hyphen is a word: "3/4-inch".
pub fn slashed(place: &Place, body: &str) -> Reading {
    // "4.5/5"
    if let Some((score, best)) = body.split_once('/')
        && let (Some((score, "")), Some((best, ""))) = (Number::scan(score), Number::scan(best))
        && !score.decimals.is_empty()
    {
        return Some((format!("{} out of {}", score.count(), best.count()), 1));
    }
    // "1/10th", "2/3rds"
    if let Some((top, bottom)) = body.split_once('/')
        && let end = bottom.trim_start_matches(|c: char| c.is_ascii_digit())
        && ["nd", "rd", "rds", "th", "ths"].contains(&end)
        && let Some((top, bottom)) = integer(top).zip(integer(&bottom[..bottom.len() - end.len()]))
    {
        return Some((fraction(top, bottom)?, 1));
    }
    let (top, bottom) = split_fraction(body)?;
    let rated = place.body(1).is_some_and(|next| ["stars", "points", "rating"].contains(&next));
    // "the 80/20 rule"
    let split = top + bottom == 100 && top >= bottom;
    let words = if split {
        format!("{} {}", cardinal(top), cardinal(bottom))
    } else if rated || bottom == 10 && top == 10 || bottom == 100 && top > 1 {
        format!("{} out of {}", cardinal(top), cardinal(bottom))
    } else if top == bottom || place.body(1) == Some("vision") {
        format!("{} {}", cardinal(top), cardinal(bottom))
    } else {
        match fraction(top, bottom).filter(|_| top < bottom) {
            Some(parts) => {
                // "3/4 tsp."
                if super::quantity::marks_inches(place) {
                    return Some((format!("{parts} inch"), 1));
                }
                let unit = super::quantity::unit_of(place, "").filter(|_| place.raw(1).is_some());
                return Some(
                    unit.map_or((parts.clone(), 1), |((one, _), used)| (format!("{parts} {one}"), used)),
                );
            }
            None => {
                let over = format!("{} over {}", cardinal(top), cardinal(bottom));
                // "120/80 mmHg"
                return Some(match super::quantity::unit_of(place, "").filter(|(_, used)| *used > 1) {
                    Some(((_, many), used)) if many.contains("mercury") => (format!("{over} {many}"), used),
                    _ => (over, 1),
                });
            }
        }
    };
    Some((words, 1))
}

/// Numbers of more than one point, and "3.11" behind the name of a program.
pub fn version(place: &Place, body: &str) -> Reading {
    // "a V6" is an engine.
    let (named, digits) =
        match body.strip_prefix(['v', 'V']).filter(|digits| body.starts_with('v') || digits.contains('.')) {
            Some(digits) => (true, digits),
            None => (false, body),
        };
    let groups: Vec<&str> = digits.split('.').collect();
    if !groups.iter().all(|group| is_digits(group))
        || groups.len() < 3 && !named && !(groups.len() == 2 && is_program(place))
    {
        return None;
    }
    // "1.000.000", with the points of other languages
    if groups.len() > 2
        && !named
        && groups[0].len() < 4
        && groups[1..].iter().all(|group| group.len() == 3)
        && body.ends_with("000")
    {
        return Some((cardinal(integer(&groups.concat())?), 1));
    }
    // "192.168.1.1"
    if groups.len() == 4
        && !named
        && groups.iter().all(|group| integer(group).is_some_and(|value| value < 256))
    {
        let words: Vec<String> = groups.iter().map(|group| in_pairs(group)).collect();
        return Some((words.join(" dot "), 1));
    }
    let words = groups.iter().map(|group| number_or_year(group)).collect::<Vec<_>>().join(" point ");
    Some((if named { format!("version {words}") } else { words }, 1))
}

fn is_program(place: &Place) -> bool {
    const PROGRAMS: &[&str] = &[
        "python", "ios", "android", "macos", "java", "rust", "ruby", "php", "node", "chrome", "firefox",
        "safari", "ubuntu", "debian", "linux",
    ];
    PROGRAMS.contains(&place.word_before().as_str())
}

/// "4 July" as "the fourth of july".
pub fn day_before_month(number: &Number, place: &Place) -> Reading {
    let day = number.value().filter(|day| (1..=31).contains(day) && number.whole.len() <= 2)?;
    let month = place
        .body(1)
        .filter(|next| is_capitalized(next) && next.len() > 2 && super::dates::is_month(next))
        .and_then(calendar_name)?;
    let article = if place.word_before() == "the" { "" } else { "the " };
    Some((format!("{article}{} of {month}", ordinal(day)), 2))
}
