//! Numbers with what they count: units of measure, ordinals, plurals.

use super::digits::{self, Number, integer, is_digits};
use super::place::{Place, Reading, is_plural};
use super::sentence_end::is_starter;
use crate::text::numbers::{cardinal, ordinal};

#[rustfmt::skip]
const UNITS: &[(&str, &str, &str)] = &[
    ("km", "kilometer", "kilometers"), ("m", "meter", "meters"), ("cm", "centimeter", "centimeters"), ("mm", "millimeter", "millimeters"), ("nm", "nanometer", "nanometers"),
    ("µm", "micrometer", "micrometers"), ("µg", "microgram", "micrograms"), ("µs", "microsecond", "microseconds"), ("mi", "mile", "miles"), ("ft", "foot", "feet"),
    ("in", "inch", "inches"), ("yd", "yard", "yards"), ("yds", "yard", "yards"), ("ha", "hectare", "hectares"), ("ac", "acre", "acres"),
    ("kg", "kilogram", "kilograms"), ("g", "gram", "grams"), ("mg", "milligram", "milligrams"), ("lb", "pound", "pounds"), ("lbs", "pound", "pounds"), ("oz", "ounce", "ounces"),
    ("l", "liter", "liters"), ("L", "liter", "liters"), ("ml", "milliliter", "milliliters"), ("dl", "deciliter", "deciliters"), ("cl", "centiliter", "centiliters"),
    ("gal", "gallon", "gallons"), ("qt", "quart", "quarts"), ("pt", "pint", "pints"), ("tbsp", "tablespoon", "tablespoons"), ("tsp", "teaspoon", "teaspoons"),
    ("hz", "hertz", "hertz"), ("khz", "kilohertz", "kilohertz"), ("mhz", "megahertz", "megahertz"), ("ghz", "gigahertz", "gigahertz"),
    ("kb", "kilobyte", "kilobytes"), ("mb", "megabyte", "megabytes"), ("gb", "gigabyte", "gigabytes"), ("tb", "terabyte", "terabytes"), ("pb", "petabyte", "petabytes"),
    ("kbps", "kilobit per second", "kilobits per second"), ("mbps", "megabit per second", "megabits per second"), ("gbps", "gigabit per second", "gigabits per second"),
    ("W", "watt", "watts"), ("kw", "kilowatt", "kilowatts"), ("mW", "milliwatt", "milliwatts"), ("MW", "megawatt", "megawatts"), ("GW", "gigawatt", "gigawatts"),
    ("wh", "watt hour", "watt hours"), ("kwh", "kilowatt hour", "kilowatt hours"), ("mAh", "milliamp hour", "milliamp hours"), ("mA", "milliamp", "milliamps"),
    ("V", "volt", "volts"), ("v", "volt", "volts"), ("kV", "kilovolt", "kilovolts"), ("mV", "millivolt", "millivolts"), ("kcal", "kilocalorie", "kilocalories"), ("cal", "calorie", "calories"),
    ("kj", "kilojoule", "kilojoules"), ("kpa", "kilopascal", "kilopascals"), ("psi", "pound per square inch", "pounds per square inch"),
    ("mph", "mile per hour", "miles per hour"), ("kph", "kilometer per hour", "kilometers per hour"), ("kmh", "kilometer per hour", "kilometers per hour"), ("fps", "frame per second", "frames per second"), ("rpm", "R P M", "R P M"),
    ("bpm", "beat per minute", "beats per minute"), ("dpi", "D P I", "D P I"), ("ppm", "P P M", "P P M"), ("ns", "nanosecond", "nanoseconds"), ("ms", "millisecond", "milliseconds"),
    ("s", "second", "seconds"), ("sec", "second", "seconds"), ("secs", "second", "seconds"), ("min", "minute", "minutes"), ("mins", "minute", "minutes"), ("h", "hour", "hours"),
    ("hr", "hour", "hours"), ("hrs", "hour", "hours"), ("yr", "year", "years"), ("yrs", "year", "years"), ("mo", "month", "months"), ("mos", "month", "months"), ("wk", "week", "weeks"), ("db", "decibel", "decibels"),
    ("%", "percent", "percent"), ("‰", "per mille", "per mille"), ("°", "degree", "degrees"), ("°c", "degree celsius", "degrees celsius"), ("°f", "degree fahrenheit", "degrees fahrenheit"),
    ("°k", "kelvin", "kelvin"), ("°n", "degree north", "degrees north"), ("°s", "degree south", "degrees south"), ("°e", "degree east", "degrees east"), ("°w", "degree west", "degrees west"),
    ("K", "kelvin", "kelvin"), ("¢", "cent", "cents"), ("bn", "billion", "billion"), ("x", "times", "times"),
];
/// Units that are words or letters when a blank stands before them.
const ATTACHED_ONLY: &[&str] = &["in", "x", "l", "v", "cal", "mo", "pt", "ac", "ha"];
/// Quotes are not longer, in words.
const MAX_QUOTE: usize = 100;
pub const SCALES: [&str; 4] = ["thousand", "million", "billion", "trillion"];
/// Words that no noun phrase goes on with: "a 5 km and a 10 km run".
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "away", "but", "by", "came", "can", "each", "for", "from", "goes", "had", "has", "have", "he", "i", "if", "in", "is", "it", "of", "off", "on",
    "or", "paid", "per", "she", "should", "so", "spent", "than", "that", "the", "they", "this", "to", "was", "we", "went", "were", "when", "which", "will", "with", "would", "you",
];

/// One and many of a unit; `m^2`, `km/h` and `mg/dL` are put together.
fn unit(text: &str) -> Option<(String, String)> {
    if let Some((above, below)) = text.split_once('/') {
        // A speed counts bits: "100 Mb/s".
        let (one, many) = match above.strip_suffix('b').filter(|_| below == "s") {
            Some(prefix) => {
                let (_, one, _) = simple_unit(&format!("{prefix}bps"))?;
                let bit = one.trim_end_matches(" per second");
                (bit.to_string(), format!("{bit}s"))
            }
            None => unit(above)?,
        };
        let below = match below.strip_suffix("^2") {
            Some(root) => format!("{} squared", simple_unit(root)?.1),
            // "GB/month"
            None => match simple_unit(below) {
                Some((_, one, _)) => one.to_string(),
                None => Some(below)
                    .filter(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()))?
                    .to_string(),
            },
        };
        return Some((format!("{one} per {below}"), format!("{many} per {below}")));
    }
    let power = |name: &str, root: &str| {
        let (_, one, many) = simple_unit(root)
            .filter(|(_, one, _)| one.ends_with("meter") || ["foot", "inch", "mile", "yard"].contains(one))?;
        Some((format!("{name} {one}"), format!("{name} {many}")))
    };
    let square = text.strip_suffix("^2").or_else(|| text.strip_suffix('2'));
    let cubic = text.strip_suffix("^3").or_else(|| text.strip_suffix('3'));
    match (square, cubic) {
        (Some(root), _) => power("square", root),
        (_, Some(root)) => power("cubic", root),
        _ => simple_unit(text).map(|(_, one, many)| (one.to_string(), many.to_string())),
    }
}

/// By its exact letters, or in any case where there are two letters or more.
pub fn simple_unit(text: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let exact = UNITS.iter().find(|(short, ..)| *short == text);
    exact.or_else(|| UNITS.iter().find(|(short, ..)| text.len() > 1 && short.eq_ignore_ascii_case(text)))
}

/// A number, or two with a dash between: `5`, `10-20`, `20°-25`, `$10-$20`.
pub struct Amount<'a> {
    pub from: Number<'a>,
    pub to: Option<Number<'a>>,
}

impl<'a> Amount<'a> {
    pub fn scan(text: &'a str, mark: &str) -> Option<(Self, &'a str)> {
        let (from, rest) = Number::scan(text)?;
        let bare = rest.trim_start_matches(['°', '%']);
        let second = bare
            .strip_prefix(['-', '–'])
            .map(|rest| rest.strip_prefix(mark).unwrap_or(rest))
            .and_then(Number::scan);
        match second.filter(|(to, rest)| !to.whole.is_empty() && !rest.starts_with(['-', '–', '/', ':'])) {
            Some((to, rest)) => Some((Self { from, to: Some(to) }, rest)),
            None => Some((Self { from, to: None }, rest)),
        }
    }

    pub fn count(&self) -> String {
        self.to
            .as_ref()
            .map_or_else(|| self.from.count(), |to| format!("{} to {}", self.from.count(), to.count()))
    }

    pub fn is_one(&self) -> bool {
        self.to.is_none() && self.from.is_one()
    }
}

/// Whether a noun follows what `used` chunks hold and an article stands before: "a twenty dollar bill", "the twenty dollar bill".
pub fn is_adjective(place: &Place, used: usize) -> bool {
    const DETERMINERS: &[&str] = &[
        "a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their", "another",
        "every", "each",
    ];
    // "twenty pound weights"
    let short = used > 1
        && place.chunk(used - 1).is_some_and(|unit| is_short_unit(unit.body) && !unit.body.ends_with('s'));
    if short && place.raw(used).is_some_and(is_plural) {
        return true;
    }
    DETERMINERS.contains(&place.word_before().as_str())
        && place.raw(used).is_some_and(|next| {
            next.starts_with(|c: char| c.is_ascii_alphabetic()) && !FUNCTION_WORDS.contains(&next)
        })
        && place.chunk(used - 1).is_some_and(|chunk| matches!(chunk.close, "" | "."))
}

/// `5'11"`, `6'`, `27"`
fn feet_and_inches(place: &Place, body: &str) -> Reading {
    let (number, rest) = Number::scan(body)?;
    if let Some(inches) = rest.strip_prefix('\'') {
        if inches.is_empty() {
            return Some((
                format!("{} {}", number.count(), if number.is_one() { "foot" } else { "feet" }),
                1,
            ));
        }
        return is_digits(inches)
            .then(|| Some((format!("{} foot {}", number.count(), cardinal(integer(inches)?)), 1)))
            .flatten();
    }
    let chunk = place.chunk(0)?;
    if !rest.is_empty() || !chunk.close.starts_with('"') {
        return None;
    }
    // A quote that opened before closes here instead.
    let quotes = place.chunks[place.index.saturating_sub(MAX_QUOTE)..place.index]
        .iter()
        .map(|chunk| chunk.matches('"').count())
        .sum::<usize>();
    let inches = quotes % 2 == 0 && !chunk.open.contains('"');
    let name = if number.is_one() || is_adjective(&Place { ..*place }, 1) || place.word_before() == "a" {
        "inch"
    } else {
        "inches"
    };
    inches.then(|| (format!("{} {name}", number.count()), 1))
}

/// The unit behind a number: attached, in the next chunk, or in the next two ("sq. ft.", "° F").
pub fn unit_of(place: &Place, rest: &str) -> Option<((String, String), usize)> {
    let next = place.body(1);
    if rest == "°" || rest.is_empty() && next == Some("°") {
        let at = if rest.is_empty() { 2 } else { 1 };
        if let Some(scale) = place.body(at).filter(|scale| ["C", "F"].contains(scale)) {
            return Some((unit(&format!("°{scale}"))?, at + 1));
        }
    }
    if !rest.is_empty() {
        return Some((unit(rest)?, 1));
    }
    let next = next?;
    let behind = place.chunk(2).map(|chunk| chunk.body);
    if let "sq" | "cu" = next
        && let Some((_, one, many)) = behind.and_then(simple_unit)
    {
        let power = if next == "sq" { "square" } else { "cubic" };
        return Some(((format!("{power} {one}"), format!("{power} {many}")), 3));
    }
    let dimension = behind
        .is_none_or(|next| ["tall", "long", "wide", "high", "deep", "thick", "x", "by"].contains(&next));
    let close = place.chunk(1)?.close;
    // "1 c. milk"
    if next == "c" && close == "." && place.raw(2).is_some_and(|after| after.starts_with(char::is_lowercase))
    {
        return Some((("cup".into(), "cups".into()), 2));
    }
    // "42 W. 5th St."
    let goes_on = place.raw(2).is_some_and(|after| {
        after.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()) && !is_starter(after)
    });
    if next.len() == 1 && next.starts_with(|c: char| c.is_ascii_uppercase()) && close == "." && goes_on {
        return None;
    }
    if ATTACHED_ONLY.contains(&next)
        && !(next == "in" && (dimension || close.starts_with('.')))
        && next != "ha"
        && next != "pt"
    {
        return None;
    }
    Some((unit(next)?, 2))
}

/// A chunk that begins with a digit, and what belongs to it.
pub fn number(place: &Place, body: &str) -> Reading {
    if let Some(reading) = feet_and_inches(place, body).or_else(|| duration(place)) {
        return Some(reading);
    }
    let (amount, rest) = Amount::scan(body, "")?;
    let from = &amount.from;
    let lower = rest.to_ascii_lowercase();
    if ["st", "nd", "rd", "th"].contains(&lower.as_str()) {
        return Some((ordinal(from.value().or_else(|| integer(&from.whole.replace(',', "")))?), 1));
    }
    if amount.to.is_none() && (rest == "s" || rest == "'s") && from.whole.len() == 3 {
        return Some((plural(&digits::in_pairs(from.whole)), 1));
    }
    if rest.is_empty() && amount.to.is_none() {
        if let Some(reading) = digits::day_before_month(from, place) {
            return Some(reading);
        }
        let parts = place.body(1).and_then(digits::split_fraction).filter(|(top, bottom)| top < bottom);
        if let Some(parts) = parts.and_then(|(top, bottom)| digits::fraction(top, bottom)) {
            // "2 1/2 hrs"
            let behind = Place { index: place.index + 1, ..*place };
            let (unit, used) =
                unit_of(&behind, "").map_or((String::new(), 1), |((_, many), used)| (many, used));
            return Some((format!("{} and {parts} {unit}", from.count()), 1 + used));
        }
    }
    // "2x4"
    if let Some(((by, ""), true)) = rest
        .strip_prefix(['x', 'X', '×'])
        .and_then(Number::scan)
        .map(|(by, rest)| ((by, rest), amount.to.is_none()))
    {
        return Some((
            format!(
                "{} by {}",
                from.words(),
                if from.is_year() { digits::in_pairs(by.whole) } else { by.words() }
            ),
            1,
        ));
    }
    if let Some(scaled) = scaled(place, &amount, rest) {
        return Some(scaled);
    }
    if let Some(((one, many), used)) = unit_of(place, rest) {
        let unit = if amount.is_one() || is_adjective(place, used) { one } else { many };
        return Some((format!("{} {unit}", amount.count()), used));
    }
    // "10-kg bag"
    if let Some((symbol, more)) =
        rest.strip_prefix('-').map(|rest| rest.split_once('-').unwrap_or((rest, "")))
        && !["in", "a", "x", "h"].contains(&symbol)
        && let Some((one, _)) = unit(symbol)
    {
        return Some((format!("{} {one} {}", amount.count(), more.replace('-', " ")), 1));
    }
    // "34/km²"
    if let Some((one, _)) = rest.strip_prefix('/').and_then(unit) {
        return Some((format!("{} per {one}", amount.count()), 1));
    }
    match (rest, &amount.to) {
        ("", None) => Some((digits::in_context(from, place), 1)),
        ("", Some(to)) if ["airbus", "boeing"].contains(&place.word_before().as_str()) => {
            Some((format!("{} {}", digits::in_pairs(from.whole), to.count()), 1))
        }
        ("", Some(to)) => Some((digits::range(from, to), 1)),
        // "1080p"
        ("p" | "i", None) if ["480", "576", "720", "1080", "1440", "2160"].contains(&from.whole) => {
            Some((format!("{} {}", digits::in_pairs(from.whole), rest.to_ascii_uppercase()), 1))
        }
        ("+", _) => Some((format!("{} plus", amount.count()), 1)),
        _ => None,
    }
}

/// "2h30m", "1m 5s": minutes, since hours stand before or seconds behind.
fn duration(place: &Place) -> Reading {
    const UNITS: [(&str, &str); 4] = [("d", "day"), ("h", "hour"), ("m", "minute"), ("s", "second")];
    let mut words = Vec::new();
    let (mut used, mut largest) = (0, 0);
    while let Some(mut rest) = place.body(used).filter(|body| super::starts_with_digit(body)) {
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

/// Whether a word is the short form of a unit and nothing else: "tbsp", not "in".
pub fn is_short_unit(word: &str) -> bool {
    word.len() > 1
        && !["in", "ac", "mo", "pt", "cal", "sec", "min"].contains(&word)
        && UNITS.iter().any(|(short, ..)| *short == word)
}

/// "5M users", "10k followers"; not "5G", "4K TV", "seat 5B".
fn scaled(place: &Place, amount: &Amount, rest: &str) -> Reading {
    let (rest, plus) = rest.strip_suffix('+').map_or((rest, ""), |rest| (rest, " plus"));
    let scale = match rest {
        "K" | "k" if ["a", "the", "my", "first", "in"].contains(&place.word_before().as_str()) => "K",
        "K" if amount.from.whole.len() == 1 => "K",
        "K" | "k" => "thousand",
        "M" => "million",
        "B" if !amount.from.decimals.is_empty()
            || place
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

/// "seven forty sevens", "sixes", "twenties"
fn plural(words: &str) -> String {
    if let Some(stem) = words.strip_suffix('y') {
        format!("{stem}ies")
    } else if words.ends_with(['x', 's']) {
        format!("{words}es")
    } else {
        format!("{words}s")
    }
}
