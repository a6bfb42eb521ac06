//! Numbers with what they count: units of measure, ordinals, plurals.

use super::digits::{self, Number, integer};
use super::figures;
use super::place::{Chunk, Place, Reading, is_plural, starts_with_digit};
use super::sentence_end::is_starter;
use super::units::{is_short_unit, simple_unit, unit};
use crate::text::numbers::{cardinal, one_by_one, ordinal};

/// Units that are words or letters when a blank stands before them.
const ATTACHED_ONLY: &[&str] =
    &["in", "x", "l", "v", "cal", "mo", "pt", "ac", "ha", "ct", "T", "M", "F", "A", "H"];
/// Quotes are not longer, in words.
const MAX_QUOTE: usize = 100;
pub const SCALES: [&str; 4] = ["thousand", "million", "billion", "trillion"];
/// Words that no noun phrase goes on with: "a 5 km and a 10 km run".
#[rustfmt::skip]
pub const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "away", "but", "by", "came", "can", "each", "for", "from", "goes", "had", "has", "have", "he", "i", "if", "in", "is", "it", "of", "off", "on",
    "or", "paid", "per", "she", "should", "so", "spent", "than", "that", "the", "they", "this", "to", "was", "we", "went", "were", "when", "which", "will", "with", "would", "you",
];

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
    // "1 (15 oz) can"
    const CONTAINERS: &[&str] =
        &["bag", "bottle", "box", "can", "cans", "carton", "container", "jar", "package", "packages", "tin"];
    if place.chunk(used - 1).is_some_and(|chunk| chunk.close == ")")
        && place.raw(used).is_some_and(|next| CONTAINERS.contains(&next))
    {
        return true;
    }
    const DETERMINERS: &[&str] = &[
        "a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their", "another",
        "every", "each", "per",
    ];
    // "twenty pound weights"
    let short = used > 1
        && place.chunk(used - 1).is_some_and(|unit| is_short_unit(unit.body) && !unit.body.ends_with('s'));
    if short && place.raw(used).is_some_and(is_plural) {
        return true;
    }
    // "a 4-year, $92M deal"
    let listed = place.before().is_some_and(|before| before.ends_with(',') && before.contains('-'))
        && place.back(2).is_some_and(|article| DETERMINERS.contains(&article.to_ascii_lowercase().as_str()));
    (listed || DETERMINERS.contains(&place.word_before().as_str()))
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
        let inches = integer(inches)?;
        // "19'42" of a race"
        let words = if inches > 12 {
            format!("{} minutes {} seconds", number.count(), cardinal(inches))
        } else {
            format!("{} foot {}", number.count(), cardinal(inches))
        };
        return Some((words, 1));
    }
    if !rest.is_empty() || !marks_inches(place) {
        return None;
    }
    let name = if number.is_one() || is_adjective(&Place { ..*place }, 1) || place.word_before() == "a" {
        "inch"
    } else {
        "inches"
    };
    Some((format!("{} {name}", number.count()), 1))
}

/// Whether the quotation mark behind a chunk stands for inches: one that opened before would close here instead.
pub fn marks_inches(place: &Place) -> bool {
    let Some(chunk) = place.chunk(0).filter(|chunk| chunk.close.starts_with('"')) else { return false };
    let mut open = 0;
    for chunk in &place.chunks[place.index.saturating_sub(MAX_QUOTE)..place.index] {
        let chunk = Chunk::new(chunk);
        open += chunk.open.matches('"').count();
        open -= chunk.close.matches('"').count().min(open);
    }
    open == 0 && !chunk.open.contains('"')
}

/// The unit behind a number: attached, in the next chunk, or in the next two ("sq. ft.", "° F").
pub fn unit_of(place: &Place, rest: &str) -> Option<((String, String), usize)> {
    let next = place.body(1);
    if rest == "°" || rest.is_empty() && next == Some("°") {
        let at = if rest.is_empty() { 2 } else { 1 };
        if let Some(scale) = place.body(at).filter(|scale| ["C", "F", "N", "S", "E", "W"].contains(scale)) {
            return Some((unit(&format!("°{scale}"))?, at + 1));
        }
    }
    if !rest.is_empty() {
        return Some((unit(rest)?, 1));
    }
    let next = next?;
    let behind = place.chunk(2).map(|chunk| chunk.body);
    if let "sq" | "cu" = next
        && let Some((one, many)) = behind.and_then(simple_unit)
    {
        let power = if next == "sq" { "square" } else { "cubic" };
        return Some(((format!("{power} {one}"), format!("{power} {many}")), 3));
    }
    if next == "fl" && behind == Some("oz") {
        return Some((("fluid ounce".into(), "fluid ounces".into()), 3));
    }
    // "8 L/100 km"
    if next.ends_with("/100")
        && let Some(both) = behind.and_then(|below| unit(&format!("{next}{below}")))
    {
        return Some((both, 3));
    }
    // "0.1 M NaOH"
    if next == "M" && behind.is_some_and(|solute| super::chemistry::read(solute).is_some()) {
        return Some((("molar".into(), "molar".into()), 2));
    }
    // "50 hrs./wk."
    if let Some((above, below)) = next.split_once("./")
        && let Some(both) = unit(&format!("{above}/{below}"))
    {
        return Some((both, 2));
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
    if next.len() == 1
        && next.starts_with(|c: char| c.is_ascii_uppercase())
        && matches!(close, "" | ".")
        && goes_on
    {
        return None;
    }
    if ATTACHED_ONLY.contains(&next)
        && !(next == "in" && (dimension || close.starts_with('.')))
        && !(["ac", "cal"].contains(&next) && close.starts_with('.'))
        && next != "ha"
        && next != "pt"
    {
        return None;
    }
    Some((unit(next)?, 2))
}

/// A unit behind a word that one follows: "350 nautical mi.", "per kg".
pub fn unit_behind_word(place: &Place, body: &str) -> Reading {
    // Every word comes here; few stand behind one of these.
    let before = place.before().filter(|_| body.bytes().all(|byte| byte.is_ascii_lowercase()))?;
    let one = ["each", "every", "per"].contains(&before);
    let many = ["nautical", "square", "cubic"].contains(&before)
        || ["few", "more", "several"].contains(&before) && body.len() > 1 && body != "in";
    if !one && !many {
        return None;
    }
    let (singular, plural) = simple_unit(body)?;
    Some((if one { singular } else { plural }, 1))
}

/// A chunk that begins with a digit, and what belongs to it.
pub fn number(place: &Place, body: &str) -> Reading {
    if let Some(reading) = feet_and_inches(place, body).or_else(|| duration(place)) {
        return Some(reading);
    }
    if let Some((from, to)) = body.split_once(['-', '–'])
        && let Some((from, to)) = figures::ordinal_number(from).zip(figures::ordinal_number(to))
    {
        return Some((format!("{from} to {to}"), 1));
    }
    // "1-1/2 lbs"
    if let Some((whole, parts)) = body.split_once('-')
        && let Some(whole) = integer(whole)
        && let Some((top, bottom)) =
            digits::split_fraction(parts).filter(|(top, bottom)| top < bottom && *bottom <= 64)
        && let Some(parts) = digits::fraction(top, bottom)
    {
        let inches = if marks_inches(place) { "inches" } else { "" };
        let (unit, used) =
            unit_of(place, "").map_or((inches.to_string(), 1), |((_, many), used)| (many, used));
        return Some((format!("{} and {parts} {unit}", cardinal(whole)), used));
    }
    let (amount, rest) = Amount::scan(body, "")?;
    let from = &amount.from;
    if let Some(words) =
        figures::behind_point(place, &amount, rest).or_else(|| figures::spaced_thousands(place, body))
    {
        return Some(words);
    }
    let lower = rest.to_ascii_lowercase();
    if ["st", "nd", "rd", "th"].contains(&lower.as_str()) {
        return Some((ordinal(from.value().or_else(|| integer(&from.whole.replace(',', "")))?), 1));
    }
    if amount.to.is_none() && (rest == "s" || rest == "'s") && from.whole.len() == 3 {
        return Some((plural(&digits::in_pairs(from.whole)), 1));
    }
    // "latitude 34.05 N"
    if rest.is_empty()
        && ["lat", "latitude", "long", "longitude"].contains(&place.word_before().as_str())
        && let Some((_, side)) = [("N", "north"), ("S", "south"), ("E", "east"), ("W", "west")]
            .iter()
            .find(|(short, _)| place.body(1) == Some(*short))
    {
        return Some((format!("{} {side}", amount.count()), 2));
    }
    // "Channel 7's", "2024's"
    if rest == "'s" && amount.to.is_none() {
        return Some((format!("{}'s", from.words()), 1));
    }
    if rest == "s" && from.whole.contains(',') {
        let words = match from.value()? {
            1_000 => "thousands".to_string(),
            10_000 => "tens of thousands".to_string(),
            100_000 => "hundreds of thousands".to_string(),
            1_000_000 => "millions".to_string(),
            value => plural(&cardinal(value)),
        };
        return Some((words, 1));
    }
    // "1–1½ hrs"
    if let Some((top, bottom)) = place
        .body(1)
        .and_then(digits::split_fraction)
        .filter(|(top, bottom)| top < bottom && rest.is_empty() && amount.to.is_some())
    {
        let parts = digits::fraction(top, bottom)?;
        let (unit, used) = unit_of(&Place { index: place.index + 1, ..*place }, "")
            .map_or((String::new(), 1), |((_, many), used)| (many, used));
        return Some((format!("{} and {parts} {unit}", amount.count()), 1 + used));
    }
    if rest.is_empty() && amount.to.is_none() {
        if let Some(reading) = digits::day_before_month(from, place) {
            return Some(reading);
        }
        // "2 1/2-hour"
        let (parts, noun) = place.body(1).map_or(("", ""), |body| body.split_once('-').unwrap_or((body, "")));
        let parts = digits::split_fraction(parts).filter(|(top, bottom)| top < bottom);
        if let Some(parts) = parts.and_then(|(top, bottom)| digits::fraction(top, bottom)) {
            // "2 1/2 hrs"
            let behind = Place { index: place.index + 1, ..*place };
            let inches = if marks_inches(&behind) { "inches" } else { "" };
            let (unit, used) =
                unit_of(&behind, "").map_or((inches.to_string(), 1), |((_, many), used)| (many, used));
            let noun = noun.replace('-', " ");
            return Some((format!("{} and {parts} {noun} {unit}", from.count()), 1 + used));
        }
    }
    // "2x4"
    let (dimensions, many) = rest.strip_suffix('s').map_or((rest, ""), |rest| (rest, "s"));
    if let Some(((by, ""), true)) = dimensions
        .strip_prefix(['x', 'X', '×'])
        .and_then(Number::scan)
        .map(|(by, rest)| ((by, rest), amount.to.is_none()))
    {
        // "2x4s"
        let by = if from.is_year() { digits::in_pairs(by.whole) } else { by.words() };
        // "the 4x100 m relay"
        let measured = unit_of(place, "").filter(|(_, used)| *used > 1);
        let (unit, used) = measured.map_or((String::new(), 1), |((one, many), used)| {
            (if is_adjective(place, used) { one } else { many }, used)
        });
        return Some((format!("{} by {by}{many} {unit}", from.words()), used));
    }
    // "Route 9W"
    const PLACES: &[&str] = &[
        "apt", "exit", "gate", "highway", "hwy", "platform", "room", "route", "row", "rte", "seat", "suite",
        "unit",
    ];
    if rest.len() == 1
        && rest.bytes().all(|byte| byte.is_ascii_uppercase())
        && place.before().is_some_and(|before| {
            PLACES.contains(&before.trim_end_matches('.').to_ascii_lowercase().as_str())
        })
    {
        return Some((format!("{} {rest}", digits::in_pairs(from.whole)), 1));
    }
    if let Some(scaled) = scaled(place, &amount, rest) {
        return Some(scaled);
    }
    // "9.46 trillion km"
    if let Some(scale) = place.body(1).filter(|next| rest.is_empty() && SCALES.contains(next))
        && let Some(((_, many), used)) = unit_of(&Place { index: place.index + 1, ..*place }, "")
    {
        return Some((format!("{} {scale} {many}", amount.count()), 1 + used));
    }
    if let Some(((one, many), used)) = unit_of(place, rest) {
        let unit = if amount.is_one() || is_adjective(place, used) { one } else { many };
        return Some((format!("{} {unit}", amount.count()), used));
    }
    // "10-kg bag"
    if let Some((symbol, more)) =
        rest.strip_prefix('-').map(|rest| rest.split_once('-').unwrap_or((rest, "")))
        && !["a", "x", "h", "K"].contains(&symbol)
        && (symbol != "in" || place.chunk(0)?.close.starts_with('.'))
        && let Some((one, _)) = unit(symbol)
    {
        return Some((format!("{} {one} {}", amount.count(), more.replace('-', " ")), 1));
    }
    // "a 2-yr.-old", and "50 hrs./wk."
    if let Some(old) = rest.strip_prefix('-').and_then(|rest| rest.strip_suffix("-old"))
        && let Some((one, _)) = unit(old.trim_end_matches('.'))
    {
        return Some((format!("{} {one} old", amount.count()), 1));
    }
    // "34/km²", "17.05/USD"
    if let Some((one, _)) =
        rest.strip_prefix('/').and_then(|below| unit(below).or_else(|| super::money::named(below)))
    {
        return Some((format!("{} per {one}", amount.count()), 1));
    }
    match (rest, &amount.to) {
        ("", None) => Some((super::labels::in_context(from, place), 1)),
        // "95818-1234"
        ("", Some(to)) if from.whole.len() == 5 && to.whole.len() == 4 && !from.whole.contains(',') => {
            Some((format!("{} dash {}", one_by_one(from.whole), one_by_one(to.whole)), 1))
        }
        // "787-9"
        ("", Some(to))
            if from.whole.len() == 3
                && from.whole.starts_with('7')
                && from.whole.ends_with('7')
                && to.whole.len() == 1 =>
        {
            Some((format!("{} {}", digits::in_pairs(from.whole), to.count()), 1))
        }
        // "No. 23-1011"
        ("", Some(to))
            if from.whole.len() == 2
                && to.whole.len() > 2
                && place.before().is_some_and(|before| before.eq_ignore_ascii_case("no.")) =>
        {
            Some((format!("{} {}", from.count(), digits::in_pairs(to.whole)), 1))
        }
        ("", Some(to)) if place.body(1) == Some("punch") => {
            Some((format!("{} {}", from.count(), to.count()), 1))
        }
        ("", Some(to)) if ["airbus", "atr", "boeing"].contains(&place.word_before().as_str()) => {
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
    while let Some(mut rest) = place.body(used).filter(|body| starts_with_digit(body)) {
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

/// "5M users", "10k followers"; not "5G", "4K TV", "seat 5B".
fn scaled(place: &Place, amount: &Amount, rest: &str) -> Reading {
    let (rest, plus) = rest.strip_suffix('+').map_or((rest, ""), |rest| (rest, " plus"));
    let scale = match rest {
        "K" | "k" if ["a", "the", "my", "first", "in"].contains(&place.word_before().as_str()) => "K",
        "K" if amount.from.whole.len() == 1 => "K",
        // "an i7-12700K"
        "K" if amount.from.whole.len() > 4 && !amount.from.whole.contains(',') => "K",
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
pub fn plural(words: &str) -> String {
    if let Some(stem) = words.strip_suffix('y') {
        format!("{stem}ies")
    } else if words.ends_with(['x', 's']) {
        format!("{words}es")
    } else {
        format!("{words}s")
    }
}
