//! Numbers with units of measure, ordinals and plurals of numbers.

use super::{
    amount::{Amount, SCALES, is_adjective},
    figures,
    numerals::{self, Number, integer},
    place::{Reading, TokenContext, starts_with_digit},
    unit_behind::{marks_inches, unit_of},
    units::unit,
};
use crate::text::numbers::{cardinal, one_by_one, ordinal};

/// Reads feet and inches: `5'11"`, `6'`, `27"`.
fn feet_and_inches(context: &TokenContext, body: &str) -> Reading {
    let (number, rest) = Number::scan(body)?;
    if let Some(inches) = rest.strip_prefix('\'') {
        if inches.is_empty() {
            return Some((
                format!("{} {}", number.count(), if number.is_one() { "foot" } else { "feet" }),
                1,
            ));
        }
        let inches = integer(inches)?;
        // "19'42" of a race"
        let words = if inches > 12 {
            format!("{} minutes {} seconds", number.count(), cardinal(inches))
        } else {
            format!("{} foot {}", number.count(), cardinal(inches))
        };
        return Some((words, 1));
    }
    if !rest.is_empty() || !marks_inches(context) {
        return None;
    }
    let name =
        if number.is_one() || is_adjective(&TokenContext { ..*context }, 1) || context.word_before() == "a" {
            "inch"
        } else {
            "inches"
        };
    Some((format!("{} {name}", number.count()), 1))
}

/// Reads a chunk that begins with a digit, with the chunks that belong to it.
pub fn number(context: &TokenContext, body: &str) -> Reading {
    if let Some(reading) = feet_and_inches(context, body)
        .or_else(|| duration(context))
        .or_else(|| ordinal_range(body))
        .or_else(|| hyphenated_fraction(context, body))
    {
        return Some(reading);
    }
    let (amount, rest) = Amount::scan(body, "")?;
    let quantity = Quantity { context, body, amount, rest };
    READINGS.iter().find_map(|reading| reading(&quantity))
}

/// Reads "14th-17th".
fn ordinal_range(body: &str) -> Reading {
    let (from, to) = body.split_once(['-', '–'])?;
    let (from, to) = figures::ordinal_number(from).zip(figures::ordinal_number(to))?;
    Some((format!("{from} to {to}"), 1))
}

/// Reads "1-1/2 lbs".
fn hyphenated_fraction(context: &TokenContext, body: &str) -> Reading {
    let (whole, parts) = body.split_once('-')?;
    let (top, bottom) =
        numerals::split_fraction(parts).filter(|(top, bottom)| top < bottom && *bottom <= 64)?;
    let (unit, used) = unit_after_fraction(context);
    Some((format!("{} and {} {unit}", cardinal(integer(whole)?), numerals::fraction(top, bottom)?), used))
}

/// Returns the unit after a whole number and a fraction, which may be empty, and the number of chunks up to its end.
fn unit_after_fraction(context: &TokenContext) -> (String, usize) {
    let inches = if marks_inches(context) { "inches" } else { "" };
    unit_of(context, "").map_or((inches.to_string(), 1), |((_, many), used)| (many, used))
}

/// A chunk that consists of an amount and attached text: "2x4", "10-kg", "34/km²".
struct Quantity<'a> {
    context: &'a TokenContext<'a>,
    body: &'a str,
    amount: Amount<'a>,
    rest: &'a str,
}

impl<'a> Quantity<'a> {
    /// Returns the number if it is not a range and exactly `rest` is attached to it.
    fn single(&self, rest: &str) -> Option<&Number<'a>> {
        (self.rest == rest && self.amount.to.is_none()).then_some(&self.amount.from)
    }

    /// Returns both ends of a range without attached text.
    fn range(&self) -> Option<(&Number<'a>, &Number<'a>)> {
        let to = self.amount.to.as_ref().filter(|_| self.rest.is_empty())?;
        Some((&self.amount.from, to))
    }

    /// Returns the context of the next chunk.
    fn behind(&self) -> TokenContext<'a> {
        TokenContext { index: self.context.index + 1, ..*self.context }
    }
}

/// The readings in the order in which they are tried.
const READINGS: &[fn(&Quantity) -> Reading] = &[
    unusual_notation,
    ordinal_figure,
    plural_model,
    latitude,
    possessive,
    round_plural,
    range_to_fraction,
    day_of_month,
    mixed_number,
    dimensions,
    lettered_place,
    |quantity| scaled(quantity.context, &quantity.amount, quantity.rest),
    scaled_unit,
    with_unit,
    hyphenated_unit,
    age,
    per_unit,
    alone,
    codes,
    between,
    resolution,
    at_least,
];

/// Reads amounts in unusual notation.
fn unusual_notation(quantity: &Quantity) -> Reading {
    figures::without_point(quantity.context, &quantity.amount, quantity.rest)
        .or_else(|| figures::spaced_thousands(quantity.context, quantity.body))
}

/// Reads "1,000th".
fn ordinal_figure(quantity: &Quantity) -> Reading {
    let suffix = quantity.rest.to_ascii_lowercase();
    let value = || {
        let from = &quantity.amount.from;
        from.value().or_else(|| integer(&from.whole.replace(',', "")))
    };
    ["st", "nd", "rd", "th"].contains(&suffix.as_str()).then(|| Some((ordinal(value()?), 1)))?
}

/// Reads "the 747s".
fn plural_model(quantity: &Quantity) -> Reading {
    let model =
        quantity.single("s").or_else(|| quantity.single("'s")).filter(|from| from.whole.len() == 3)?;
    Some((plural(&numerals::in_pairs(model.whole)), 1))
}

/// Reads "latitude 34.05 N".
fn latitude(quantity: &Quantity) -> Reading {
    const COORDINATES: &[&str] = &["lat", "latitude", "long", "longitude"];
    let context = quantity.context;
    let side = context.body(1).and_then(super::geography::side).filter(|_| quantity.rest.is_empty())?;
    COORDINATES
        .contains(&context.word_before().as_str())
        .then(|| (format!("{} {side}", quantity.amount.count()), 2))
}

/// Reads "Channel 7's", "2024's".
fn possessive(quantity: &Quantity) -> Reading {
    Some((format!("{}'s", quantity.single("'s")?.words()), 1))
}

/// Reads "10,000s".
fn round_plural(quantity: &Quantity) -> Reading {
    let from = &quantity.amount.from;
    if quantity.rest != "s" || !from.whole.contains(',') {
        return None;
    }
    let words = match from.value()? {
        1_000 => "thousands".to_string(),
        10_000 => "tens of thousands".to_string(),
        100_000 => "hundreds of thousands".to_string(),
        1_000_000 => "millions".to_string(),
        value => plural(&cardinal(value)),
    };
    Some((words, 1))
}

/// Reads "1–1½ hrs".
fn range_to_fraction(quantity: &Quantity) -> Reading {
    quantity.range()?;
    let (top, bottom) =
        quantity.context.body(1).and_then(numerals::split_fraction).filter(|(top, bottom)| top < bottom)?;
    let parts = numerals::fraction(top, bottom)?;
    let (unit, used) =
        unit_of(&quantity.behind(), "").map_or((String::new(), 1), |((_, many), used)| (many, used));
    Some((format!("{} and {parts} {unit}", quantity.amount.count()), 1 + used))
}

/// Reads "4 July".
fn day_of_month(quantity: &Quantity) -> Reading {
    super::dates::day_before_month(quantity.single("")?, quantity.context)
}

/// Reads "2 1/2 hrs", "2 1/2-hour", "1 1/2–2 hrs".
fn mixed_number(quantity: &Quantity) -> Reading {
    let from = quantity.single("")?;
    let body = quantity.context.body(1)?;
    let (parts, noun) = body.split_once(['-', '–']).unwrap_or((body, ""));
    let (top, bottom) = numerals::split_fraction(parts).filter(|(top, bottom)| top < bottom)?;
    let parts = numerals::fraction(top, bottom)?;
    let (unit, used) = unit_after_fraction(&quantity.behind());
    if let Some((to, "")) = Number::scan(noun) {
        return Some((format!("{} and {parts} to {} {unit}", from.count(), to.count()), 1 + used));
    }
    Some((format!("{} and {parts} {} {unit}", from.count(), noun.replace('-', " ")), 1 + used))
}

/// Reads "2x4", "2x4s", "the 4x100 m relay".
fn dimensions(quantity: &Quantity) -> Reading {
    let &Quantity { context, ref amount, rest, .. } = quantity;
    let (rest, many) = rest.strip_suffix('s').map_or((rest, ""), |rest| (rest, "s"));
    let (by, rest) = rest.strip_prefix(['x', 'X', '×']).and_then(Number::scan)?;
    if !rest.is_empty() || amount.to.is_some() {
        return None;
    }
    let from = &amount.from;
    let by = if from.is_year() { numerals::in_pairs(by.whole) } else { by.words() };
    let measured = unit_of(context, "").filter(|(_, used)| *used > 1);
    let (unit, used) = measured.map_or((String::new(), 1), |((one, many), used)| {
        (if is_adjective(context, used) { one } else { many }, used)
    });
    Some((format!("{} by {by}{many} {unit}", from.words()), used))
}

/// Reads "Route 9W".
fn lettered_place(quantity: &Quantity) -> Reading {
    #[rustfmt::skip]
    const PLACES: &[&str] = &[
        "apt", "exit", "gate", "highway", "hwy", "platform", "room", "route", "row", "rte", "seat", "suite", "unit",
    ];
    let letter = quantity.rest;
    let house = super::geography::is_street(quantity.context);
    let named = house
        || quantity.context.before().is_some_and(|before| {
            PLACES.contains(&before.trim_end_matches('.').to_ascii_lowercase().as_str())
        });
    (letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_uppercase()) && named)
        .then(|| (format!("{} {letter}", numerals::in_pairs(quantity.amount.from.whole)), 1))
}

/// Reads "9.46 trillion km".
fn scaled_unit(quantity: &Quantity) -> Reading {
    let scale = quantity.context.body(1).filter(|next| quantity.rest.is_empty() && SCALES.contains(next))?;
    let ((_, many), used) = unit_of(&quantity.behind(), "")?;
    Some((format!("{} {scale} {many}", quantity.amount.count()), 1 + used))
}

/// Reads an amount with a unit.
fn with_unit(quantity: &Quantity) -> Reading {
    let &Quantity { context, ref amount, rest, .. } = quantity;
    let ((one, many), used) = unit_of(context, rest)?;
    let unit = if amount.is_one() || is_adjective(context, used) { one } else { many };
    Some((format!("{} {unit}", amount.count()), used))
}

/// Reads "10-kg bag".
fn hyphenated_unit(quantity: &Quantity) -> Reading {
    let rest = quantity.rest.strip_prefix('-')?;
    let (symbol, more) = rest.split_once('-').unwrap_or((rest, ""));
    let inches = symbol != "in" || quantity.context.chunk(0)?.close.starts_with('.');
    let (one, _) = unit(symbol).filter(|_| !["a", "x", "h", "K"].contains(&symbol) && inches)?;
    Some((format!("{} {one} {}", quantity.amount.count(), more.replace('-', " ")), 1))
}

/// Reads "a 2-yr.-old".
fn age(quantity: &Quantity) -> Reading {
    let (one, _) = unit(quantity.rest.strip_prefix('-')?.strip_suffix("-old")?.trim_end_matches('.'))?;
    Some((format!("{} {one} old", quantity.amount.count()), 1))
}

/// Reads "34/km²", "17.05/USD".
fn per_unit(quantity: &Quantity) -> Reading {
    let below = quantity.rest.strip_prefix('/')?;
    let (one, _) = unit(below).or_else(|| super::money::named(below))?;
    Some((format!("{} per {one}", quantity.amount.count()), 1))
}

/// Reads a number without a unit.
fn alone(quantity: &Quantity) -> Reading {
    Some((super::labels::in_context(quantity.single("")?, quantity.context), 1))
}

/// Reads "95818-1234", "787-9", "No. 23-1011", "Airbus 350-900".
fn codes(quantity: &Quantity) -> Reading {
    let (from, to) = quantity.range()?;
    let context = quantity.context;
    let in_pairs = |number: &Number| numerals::in_pairs(number.whole);
    let airliner = from.whole.len() == 3 && from.whole.starts_with('7') && from.whole.ends_with('7');
    let words = if from.whole.len() == 5 && to.whole.len() == 4 && !from.whole.contains(',') {
        format!("{} dash {}", one_by_one(from.whole), one_by_one(to.whole))
    } else if airliner && to.whole.len() == 1 {
        format!("{} {}", in_pairs(from), to.count())
    } else if from.whole.len() == 2
        && to.whole.len() > 2
        && context.before().is_some_and(|before| before.eq_ignore_ascii_case("no."))
    {
        format!("{} {}", from.count(), in_pairs(to))
    } else if context.body(1) == Some("punch") {
        format!("{} {}", from.count(), to.count())
    } else if ["airbus", "atr", "boeing"].contains(&context.word_before().as_str()) {
        format!("{} {}", in_pairs(from), to.count())
    } else {
        return None;
    };
    Some((words, 1))
}

/// Reads a range.
fn between(quantity: &Quantity) -> Reading {
    let (from, to) = quantity.range()?;
    Some((numerals::range(from, to), 1))
}

/// Reads "1080p".
fn resolution(quantity: &Quantity) -> Reading {
    const LINES: &[&str] = &["480", "576", "720", "1080", "1440", "2160"];
    let from = quantity.single("p").or_else(|| quantity.single("i"))?;
    let words = format!("{} {}", numerals::in_pairs(from.whole), quantity.rest.to_ascii_uppercase());
    LINES.contains(&from.whole).then_some((words, 1))
}

/// Reads "50+".
fn at_least(quantity: &Quantity) -> Reading {
    (quantity.rest == "+").then(|| (format!("{} plus", quantity.amount.count()), 1))
}

/// Reads durations: "2h30m", "1m 5s". "m" stands for minutes only next to another unit of time.
fn duration(context: &TokenContext) -> Reading {
    const UNITS: [(&str, &str); 4] = [("d", "day"), ("h", "hour"), ("m", "minute"), ("s", "second")];
    let mut words = Vec::new();
    let (mut used, mut largest) = (0, 0);
    while let Some(mut rest) = context.body(used).filter(|body| starts_with_digit(body)) {
        let mut parts = Vec::new();
        let mut smaller = largest;
        while let Some((number, behind)) = Number::scan(rest).filter(|_| !rest.is_empty()) {
            let Some(at) =
                UNITS.iter().position(|(short, _)| behind.starts_with(short)).filter(|at| *at >= smaller)
            else {
                break;
            };
            parts.push(format!(
                "{} {}{}",
                number.count(),
                UNITS[at].1,
                if number.is_one() { "" } else { "s" }
            ));
            (rest, smaller) = (&behind[1..], at + 1);
        }
        if !rest.is_empty() {
            break;
        }
        words.extend(parts);
        (used, largest) = (used + 1, smaller);
    }
    (words.len() > 1).then(|| (words.join(" "), used))
}

/// Reads abbreviated scales, as in "5M users" and "10k followers", but not "5G", "4K TV" and "seat 5B".
fn scaled(context: &TokenContext, amount: &Amount, rest: &str) -> Reading {
    let (rest, plus) = rest.strip_suffix('+').map_or((rest, ""), |rest| (rest, " plus"));
    let scale = match rest {
        "K" | "k" if ["a", "the", "my", "first", "in"].contains(&context.word_before().as_str()) => "K",
        "K" if amount.from.whole.len() == 1 => "K",
        // "an i7-12700K"
        "K" if amount.from.whole.len() > 4 && !amount.from.whole.contains(',') => "K",
        "K" | "k" => "thousand",
        "M" => "million",
        "B" if !amount.from.decimals.is_empty()
            || context
                .body(1)
                .is_some_and(|next| next.len() > 3 && next.bytes().all(|byte| byte.is_ascii_lowercase())) =>
        {
            "billion"
        }
        "T" if !amount.from.decimals.is_empty() => "trillion",
        _ => return None,
    };
    Some((format!("{} {scale}{plus}", amount.count()), 1))
}

/// Returns the plural of a number in words: "seven forty sevens", "sixes", "twenties".
pub fn plural(words: &str) -> String {
    if let Some(stem) = words.strip_suffix('y') {
        format!("{stem}ies")
    } else if words.ends_with(['x', 's']) {
        format!("{words}es")
    } else {
        format!("{words}s")
    }
}
