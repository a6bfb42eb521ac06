//! Times of day, dates and decades.

use super::{
    numerals::{Number, integer, is_digits, short_year, split_fraction},
    place::{Chunk, Reading, TokenContext, is_capitalized, starts_with_digit},
    short_forms::{MONTHS, calendar_name},
};
use crate::text::numbers::{self, cardinal, decade, ordinal};

/// Whether a word is the name of a month, perhaps abbreviated.
pub fn is_month(word: &str) -> bool {
    calendar_name(word).is_some_and(|name| MONTHS.contains(&name))
}

/// Whether a year may follow a word in lower case: a month, a season, or "early", "late" and the like.
pub fn is_season(word: &str) -> bool {
    MONTHS.contains(&word)
        || ["spring", "summer", "fall", "autumn", "winter", "early", "late", "mid", "circa"].contains(&word)
}

/// A time of day and the text after it. A plain hour, or one with a dot, is a time only before "am" or "pm".
struct Time<'a> {
    words: String,
    half: &'static str,
    has_minutes: bool,
    dotted: bool,
    rest: &'a str,
}

/// Parses "am", "p.m" and the like at the start of a text. Returns their words and the rest.
fn half_of_day(text: &str) -> Option<(&'static str, &str)> {
    let lower = text.to_ascii_lowercase();
    let (name, length) =
        [("a.m.", "A M"), ("p.m.", "P M"), ("a.m", "A M"), ("p.m", "P M"), ("am", "A M"), ("pm", "P M")]
            .into_iter()
            .find_map(|(written, name)| lower.starts_with(written).then_some((name, written.len())))?;
    let rest = &text[length..];
    (!rest.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some((name, rest))
}

/// Parses a time of day at the start of a text.
fn time(text: &str) -> Option<Time<'_>> {
    let dotted = !text.contains(':');
    let mark = if dotted { '.' } else { ':' };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != mark).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let parts: Vec<&str> = digits.split(mark).collect();
    let hours = integer(parts[0]).filter(|hours| parts[0].len() <= 2 && *hours < 25)?;
    let two = |part: &&str| integer(part).filter(|value| part.len() == 2 && *value < 60);
    if parts.len() > 3 || !parts[1..].iter().all(|part| two(part).is_some()) {
        return None;
    }
    // "3:43.13"
    let hundredths = rest.strip_prefix('.').filter(|rest| parts.len() > 1 && !dotted && is_digits(rest));
    // "7:30p"
    let short = match rest {
        "a" if parts.len() > 1 && !dotted => "am",
        "p" if parts.len() > 1 && !dotted => "pm",
        rest => rest,
    };
    let rest = short;
    let (half, rest) = half_of_day(if hundredths.is_some() { "" } else { rest })
        .unwrap_or(("", if hundredths.is_some() { "" } else { rest }));
    let below_ten = |value: u64| if value < 10 { format!("oh {}", cardinal(value)) } else { cardinal(value) };
    let mut words = cardinal(hours);
    match parts.get(1).and_then(two) {
        Some(0) if parts.get(2) == Some(&"00") => {}
        Some(0) if parts.len() > 2 => words += " oh oh",
        Some(0) if hours > 12 || hours == 0 => words += " hundred",
        None | Some(0) => {}
        Some(minutes) => words = format!("{words} {}", below_ten(minutes)),
    }
    if let Some(seconds) = parts.get(2).and_then(two).filter(|_| !digits.ends_with("00:00")) {
        words = format!("{words} {}", below_ten(seconds));
    }
    if let Some(digits) = hundredths {
        words = format!("{words} point {}", numbers::one_by_one(digits));
    }
    Some(Time {
        words,
        half,
        has_minutes: parts.len() > 1 && !dotted,
        dotted: parts.len() > 1 && dotted,
        rest,
    })
}

/// Reads times of day and ranges of them: "3:45 am", "10am-5pm", "10:30-11:30", "12-1 pm", "17:30", "6.30 p.m. ET".
pub fn clock(context: &TokenContext) -> Reading {
    let body = context.body(0).filter(|body| starts_with_digit(body))?;
    // "dilute 1:10"
    if ["dilute", "diluted", "mixed", "odds", "of", "ratio", "scale"]
        .contains(&context.word_before().as_str())
        && body.starts_with("1:")
    {
        return None;
    }
    let first = time(body)?;
    let (second, rest) = match first.rest.strip_prefix(['-', '–']) {
        Some(rest) => {
            let second = time(rest)?;
            let rest = second.rest;
            (Some(second), rest)
        }
        None => (None, first.rest),
    };
    if !rest.is_empty() {
        return None;
    }
    let last_half = second.as_ref().map_or(first.half, |second| second.half);
    let mut used = 1;
    let mut following = String::new();
    if last_half.is_empty()
        && let Some((half, rest)) = context.body(1).and_then(half_of_day)
    {
        // "9 am–5 pm"
        if let Some(until) = rest.strip_prefix(['-', '–']) {
            let chunks: Vec<&str> = [until]
                .into_iter()
                .chain(context.chunks[context.index + 2..].iter().copied().take(2))
                .collect();
            let (words, more) = clock(&TokenContext { chunks: &chunks, index: 0, ..*context })?;
            return Some((format!("{} {half} to {words}", first.words), 1 + more));
        }
        if rest.is_empty() {
            used = 2;
            following = half.to_string();
        }
    }
    if (first.dotted || second.as_ref().is_some_and(|second| second.dotted))
        && last_half.is_empty()
        && following.is_empty()
    {
        return None;
    }
    if !(last_half.is_empty() && following.is_empty())
        && let Some(zone) = context.chunk(used).filter(|zone| ["ET", "PT", "CT", "MT"].contains(&zone.body))
        && matches!(context.chunk(used - 1)?.close, "" | ".")
    {
        following = format!("{following} {}", super::spelled(zone.body));
        used += 1;
    }
    let is_time = first.has_minutes
        || !first.half.is_empty()
        || !following.is_empty()
        || second.as_ref().is_some_and(|second| second.has_minutes || !second.half.is_empty());
    let mut words = format!("{} {}", first.words, first.half);
    if let Some(second) = second {
        // "22:00–06:00"
        let hundred = first.words.ends_with(" hundred")
            && second.has_minutes
            && !second.words.contains(' ')
            && last_half.is_empty()
            && following.is_empty();
        words = format!("{words} to {} {}", second.words, if hundred { "hundred" } else { second.half });
    }
    is_time.then(|| (format!("{words} {following}"), used))
}

/// Reads forms that can only be dates: "12/24–1/2", "2024-07-04T15:30:00Z", "4-Jul-2024", "2019/20".
fn unmistakable_date(context: &TokenContext, body: &str) -> Reading {
    // "12/24–1/2" cannot be a range of fractions.
    if let Some((from, to)) = body.split_once(['–', '-'])
        && let (Some((month, day)), Some((_, last))) = (split_fraction(from), split_fraction(to))
        && (day > 16 || last > 16 || month >= day)
    {
        let chunks = ["on", from, "on", to];
        let [from, to] = [1, 3]
            .map(|index| numeric_date(&TokenContext { chunks: &chunks, index, ..*context }, chunks[index]));
        return Some((format!("{} to {}", from?.0, to?.0), 1));
    }
    // "2024-07-04T15:30:00Z"
    if let Some((date, clock)) = body.split_once('T')
        && date.len() == 10
        && let Some(time) = time(clock.get(..5)?)
    {
        let date = numeric_date(context, date)?.0;
        let zone = if clock.ends_with('Z') { " U T C" } else { "" };
        return Some((format!("{date} at {}{zone}", time.words), 1));
    }
    // "4-Jul-2024"
    if let [day, month, year] = body.split('-').collect::<Vec<_>>()[..]
        && let Some(month) = calendar_name(month).filter(|name| MONTHS.contains(name))
        && let Some(day) = integer(day).filter(|day| (1..=31).contains(day))
        && is_digits(year)
    {
        let year = if year.len() == 2 { format!("20{year}") } else { year.to_string() };
        return Some((format!("{month} {} {}", ordinal(day), numbers::year(integer(&year)?)), 1));
    }
    // "the 2019/20 season"
    if let Some((from, to)) = body.split_once('/')
        && let (Some(year @ 1900..2100), Some(next)) = (integer(from), integer(to))
        && (to.len() == 2 && next == (year + 1) % 100)
    {
        return Some((format!("{} {}", numbers::year(year), short_year(to)), 1));
    }
    None
}

/// Reads a date in digits: "12/25/2020", "25.12.2020", "2024-07-04", and "7/4" after "on". After "from" and "to" a pair is a date only if it is an
/// unlikely fraction.
pub fn numeric_date(context: &TokenContext, body: &str) -> Reading {
    if let Some(reading) = unmistakable_date(context, body) {
        return Some(reading);
    }
    let separator = body.chars().find(|c| !c.is_ascii_digit()).filter(|c| "/-.".contains(*c))?;
    let parts: Vec<&str> = body.split(separator).collect();
    let numbers: Vec<u64> = parts.iter().map(|part| integer(part)).collect::<Option<_>>()?;
    let (year, a, b) = match (parts.as_slice(), numbers.as_slice()) {
        ([year, _, _], [value, month, day]) if year.len() == 4 => (Some(*value), *month, *day),
        ([_, _, year], [a, b, value]) if year.len() == 4 => (Some(*value), *a, *b),
        ([_, _, year], [a, b, value]) if year.len() == 2 && body.contains('/') => {
            (Some(if *value < 40 { value + 2000 } else { value + 1900 }), *a, *b)
        }
        ([_, _], [a, b]) if body.contains('/') => match context.word_before().as_str() {
            "by" if context.back(2).is_some_and(|word| {
                ["divid", "multipl"].iter().any(|stem| word.to_ascii_lowercase().starts_with(stem))
            }) =>
            {
                return None;
            }
            // "cut by 1/2"
            "by" if [2, 3, 4].contains(b) && a < b => return None,
            // "on 1/4 acre"
            _ if *a < 8
                && [2, 3, 4, 8].contains(b)
                && a < b
                && context.body(1).is_some_and(|next| {
                    next.bytes().all(|byte| byte.is_ascii_lowercase())
                        && !super::words::FUNCTION_WORDS.contains(&next)
                }) =>
            {
                return None;
            }
            "on" | "by" | "since" | "until" | "before" | "after" | "begins" | "closes" | "dated"
            | "deadline" | "due" | "effective" | "ends" | "expires" | "opens" | "starts" => (None, *a, *b),
            // The denominator is too unusual for a fraction: "expires 12/25".
            _ if *a <= 12
                && (13..=31).contains(b)
                && ![16, 20].contains(b)
                && context.body(1) != Some("of") =>
            {
                (None, *a, *b)
            }
            // "03/27"
            _ if body.starts_with('0') && body.len() == 5 => (None, *a, *b),
            "and" | "between" | "from" | "through" | "to" if *b == 1 || *b > 10 && *b != 16 => (None, *a, *b),
            // "Tues 3/5"
            _ if context.before().is_some_and(|before| calendar_name(Chunk::new(before).body).is_some()) => {
                (None, *a, *b)
            }
            _ => return None,
        },
        _ => return None,
    };
    let (month, day) = if a > 12 { (b, a) } else { (a, b) };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year.map_or_else(String::new, |year| format!(" {}", numbers::year(year)));
    Some((format!("{} {}{year}", MONTHS[month as usize - 1], ordinal(day)), 1))
}

/// Reads a date with a named month, or a range of days or months: "March 3", "Mar. 3rd", "March 3-5", "Mon-Fri".
pub fn named_date(context: &TokenContext) -> Reading {
    let chunk = context.chunk(0)?;
    if let Some((from, to)) = chunk.body.split_once(['-', '–']) {
        let from = calendar_name(from.trim_end_matches('.'))?;
        return Some((format!("{from} to {}", calendar_name(to.trim_end_matches('.'))?), 1));
    }
    let month = calendar_name(chunk.body).filter(|name| MONTHS.contains(name))?;
    let abbreviated = chunk.close == "." && !MONTHS.contains(&chunk.body.to_ascii_lowercase().as_str());
    let day =
        context.chunk(1).filter(|day| day.open.is_empty() && (chunk.close.is_empty() || abbreviated))?.body;
    let one_day = |day: &str| {
        let digits = day.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let value = integer(digits).filter(|value| digits.len() <= 2 && (1..=31).contains(value))?;
        ["", "st", "nd", "rd", "th"].contains(&&day[digits.len()..]).then(|| ordinal(value))
    };
    // "May 31-June 2", "Feb. 28–Mar. 3"
    if let Some((from, to)) = day.split_once(['-', '–'])
        && let Some(last_month) = calendar_name(to).filter(|name| MONTHS.contains(name))
        && let Some(last) = context.chunk(2)
    {
        return Some((format!("{month} {} to {last_month} {}", one_day(from)?, one_day(last.body)?), 3));
    }
    let days = match day.split_once(['-', '–']) {
        Some((from, to)) => format!("{} to {}", one_day(from)?, one_day(to)?),
        None => one_day(day)?,
    };
    Some((format!("{month} {days}"), 2))
}

/// Reads decades and short years: "1990s", "'80s", "1960's", "'99", "1980s-1990s".
pub fn decades(context: &TokenContext, body: &str) -> Reading {
    let one = |body: &str| {
        let (short, rest) = body.strip_prefix('\'').map_or((false, body), |rest| (true, rest));
        let digits = rest.strip_suffix("'s").or_else(|| rest.strip_suffix('s'));
        match digits {
            Some(digits) if digits.ends_with('0') && digits.len() >= 2 => {
                let value = integer(digits)?;
                Some(if value == 1000 {
                    "thousands".to_string()
                } else if value == 100 {
                    "hundreds".to_string()
                } else {
                    decade(value)
                })
            }
            None if short && is_digits(rest) && rest.len() == 2 => Some(short_year(rest)),
            _ => None,
        }
    };
    let words = match body.split_once(['-', '–']) {
        Some((from, to)) => format!("{} to {}", one(from)?, one(to)?),
        None => one(body)?,
    };
    // "10s later" and "after 30s" are durations.
    let waited =
        ["after", "every", "timeout", "within"].contains(&context.word_before().as_str()) && body.len() == 3;
    let seconds = waited
        || context.body(1).is_some_and(|next| ["later", "ago", "timer", "delay"].contains(&next))
            && !body.starts_with('\'');
    (!seconds).then_some((words, 1))
}

/// Reads a day before its month: "4 July" as "the fourth of july".
pub fn day_before_month(number: &Number, context: &TokenContext) -> Reading {
    let day = number.value().filter(|day| (1..=31).contains(day) && number.whole.len() <= 2)?;
    let month = context
        .body(1)
        .filter(|next| is_capitalized(next) && next.len() > 2 && is_month(next))
        .and_then(calendar_name)?;
    let article = if context.word_before() == "the" { "" } else { "the " };
    Some((format!("{article}{} of {month}", ordinal(day)), 2))
}
