//! Numbers in digits, and their words: counts, years, pairs of digits, ranges, fractions.

use crate::text::numbers::{self, cardinal, one_by_one, ordinal};

/// A number as written: `1,234.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'a> {
    pub whole: &'a str,
    pub decimals: &'a str,
}

impl<'a> Number<'a> {
    /// Returns the number at the start of a text, and the rest. Commas belong to the number if groups of three digits (or two, as in Indian numbers) follow.
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

    /// Returns the value of a whole number of at most 15 digits.
    pub fn value(&self) -> Option<u64> {
        if self.decimals.is_empty() { integer(&self.whole.replace(',', "")) } else { None }
    }

    /// Whether its value is one, so that a singular follows.
    pub fn is_one(&self) -> bool {
        self.value() == Some(1)
    }

    /// Whether it is read as a year: four digits from 1100 to 2099.
    pub fn is_year(&self) -> bool {
        self.decimals.is_empty() && is_year(self.whole)
    }

    /// Returns its words as a count: "one thousand nine hundred".
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

    /// Returns its words as a year if it may be one, otherwise as a count.
    pub fn words(&self) -> String {
        if self.is_year() { number_or_year(self.whole) } else { self.count() }
    }
}

/// Parses a whole number of at most 15 digits.
pub fn integer(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 15 || !is_digits(digits) { None } else { digits.parse().ok() }
}

/// Whether a text consists of digits.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(digits: &str) -> bool {
    digits.len() == 4 && integer(digits).is_some_and(|value| (1100..2100).contains(&value))
}

/// Returns the words of digits: as a year from 1100 to 2099, digit by digit if they begin with a zero or are too long, otherwise as a count.
pub fn number_or_year(digits: &str) -> String {
    match integer(digits) {
        Some(value) if is_year(digits) => numbers::year(value),
        Some(value) if digits.len() == 1 || !digits.starts_with('0') => cardinal(value),
        _ => one_by_one(digits),
    }
}

/// Returns the words of the last two digits of a year: "ninety one", "oh five".
pub fn short_year(digits: &str) -> String {
    match digits.strip_prefix('0') {
        Some(last) if last != "0" => format!("oh {}", number_or_year(last)),
        _ => number_or_year(digits),
    }
}

/// Returns the words of digits in pairs: "737" as "seven thirty seven", "101" as "one oh one".
pub fn in_pairs(digits: &str) -> String {
    match (digits.len(), integer(digits)) {
        (3, Some(value)) if value % 100 != 0 && value > 99 => {
            format!("{} {}", cardinal(value / 100), short_year(&digits[1..]))
        }
        (4, Some(value)) if value > 999 => numbers::year(value),
        _ => number_or_year(digits),
    }
}

/// Returns the words of two numbers joined by a dash: "ten to twenty", "nineteen ninety to ninety one".
pub fn range(from: &Number, to: &Number) -> String {
    // "0900-1700"
    if from.whole.starts_with('0')
        && let Some((from, to)) = military_time(from.whole).zip(military_time(to.whole))
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

/// Returns the words of a fraction, "one half" or "three quarters". Returns `None` if the denominator is not 2 to 100.
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

/// Returns the words of a military time: "0630" as "zero six thirty", "2200" as "twenty two hundred". Returns `None` if it is not a time.
pub fn military_time(digits: &str) -> Option<String> {
    let (hours, minutes) = digits.split_at_checked(2).filter(|(_, minutes)| minutes.len() == 2)?;
    if integer(hours)? > 24 || integer(minutes)? > 59 {
        return None;
    }
    let hours = if hours.starts_with('0') { one_by_one(hours) } else { number_or_year(hours) };
    Some(if minutes == "00" {
        format!("{hours} hundred")
    } else {
        format!("{hours} {}", short_year(minutes))
    })
}
