//! Numbers without a unit, which are read by what they count, name or dial: "Flight 1549", "dial 311", "0630 hours", "in 1066".

use super::{
    numerals::{Number, in_pairs, integer, military_time},
    place::{TokenContext, is_capitalized, is_plural},
};
use crate::text::numbers::{self, one_by_one};

/// Things that are named by a number, which is read in pairs of digits.
#[rustfmt::skip]
const LABELED: &[&str] = &[
    "airbus", "apartment", "apt", "area", "bmw", "boeing", "building", "bus", "cabin", "cessna", "channel", "exit", "fahrenheit", "flight", "form", "gate", "highway", "hwy", "interstate",
    "model", "office", "porsche", "room", "route", "rte", "section", "suite", "train", "unit", "xbox",
];
/// The same, abbreviated with a period.
const SHORT_LABELS: &[&str] = &["apt", "hwy", "rm", "rte", "ste"];
#[rustfmt::skip]
const COURSES: &[&str] =
    &["Bio", "Biology", "Calc", "Chem", "Chemistry", "Econ", "Eng", "English", "History", "Math", "Physics", "Psych"];
/// Words before numbers that are dialed or typed, which are read digit by digit.
const DIGITWISE: &[&str] = &["call", "called", "code", "dial", "dialed", "extension", "pin", "zip"];
const TEXTED: &[&str] = &["sms", "text", "texted", "texting"];
const EMERGENCIES: &[&str] = &["911", "988"];
/// Tax forms of the United States.
const FORMS: &[&str] = &["1031", "1040", "1065", "1098", "1099", "1120"];
const BEFORE_FORM: &[&str] = &["a", "form", "forms", "my", "the", "your"];
const JETS: &[&str] = &["Dreamliner", "MAX", "Max", "jet", "jets"];
const HOURS: &[&str] = &["h", "hours", "hrs"];
const BEFORE_TIME: &[&str] = &["around", "at", "by", "from", "since", "to", "until", "up", "was"];
#[rustfmt::skip]
const BEFORE_YEAR: &[&str] =
    &["after", "and", "before", "by", "during", "from", "in", "of", "since", "the", "to", "until", "year"];
/// Plurals without "s".
const PEOPLE: &[&str] = &["children", "feet", "men", "people", "percent", "sheep", "women"];

/// Returns the words of a number without a unit, depending on the words around it.
pub fn in_context(number: &Number, context: &TokenContext) -> String {
    let label = Label::new(number.whole, context);
    let plain = number.decimals.is_empty() && !number.whole.contains(',');
    let read = || READINGS.iter().find_map(|reading| reading(&label));
    plain.then(read).flatten().unwrap_or_else(|| {
        let dated = label.before_is(BEFORE_YEAR)
            || label.before.len() == 2 && label.before.starts_with('q')
            || super::dates::is_season(&label.before);
        let counts = number.is_year() && label.counts() && !dated && !number.whole.ends_with("00");
        if counts { number.count() } else { number.words() }
    })
}

/// Digits and their context.
struct Label<'a> {
    digits: &'a str,
    context: &'a TokenContext<'a>,
    /// The word before in lower case: "code" in "code 415" and in "code is 415".
    before: String,
}

impl<'a> Label<'a> {
    fn new(digits: &'a str, context: &'a TokenContext<'a>) -> Self {
        let mut label = Self { digits, context, before: context.word_before() };
        if label.before == "is" {
            label.before = label.back(2);
        }
        label
    }

    /// Returns the chunk `places` before the current one in lower case, with its punctuation.
    fn back(&self, places: usize) -> String {
        self.context.back(places).map_or_else(String::new, str::to_ascii_lowercase)
    }

    fn before_is(&self, words: &[&str]) -> bool {
        words.contains(&self.before.as_str())
    }

    fn next_is(&self, words: &[&str]) -> bool {
        self.context.body(1).is_some_and(|next| words.contains(&next))
    }

    /// Whether the number of digits is in a range.
    fn has(&self, lengths: std::ops::RangeInclusive<usize>) -> bool {
        lengths.contains(&self.digits.len())
    }

    /// Whether a plural noun follows.
    fn counts(&self) -> bool {
        self.next_is(PEOPLE) || self.context.body(1).is_some_and(is_plural)
    }
}

/// Whether a word is followed by a number that names it.
fn is_labeled(word: &str) -> bool {
    LABELED.contains(&word.strip_suffix('s').unwrap_or(word)) || LABELED.contains(&word)
}

/// The readings in the order in which they are tried.
const READINGS: &[fn(&Label) -> Option<String>] =
    &[dialed, house_number, far_year, time_of_day, state_road, postcode, named, form, medieval_year];

/// Reads "area code is 415", "dial 911 or 311", "text STOP to 40404".
fn dialed(label: &Label) -> Option<String> {
    let behind = |words: &[&str]| words.contains(&label.back(3).as_str());
    let again =
        label.before_is(&["and", "or"]) && behind(DIGITWISE) || label.before_is(&["to"]) && behind(TEXTED);
    let emergency = EMERGENCIES.contains(&label.digits)
        && !label.before_is(&["porsche"])
        && !label.context.body(1).is_some_and(is_plural);
    let code = label.digits.len() > 2 && label.before_is(DIGITWISE);
    (code || label.has(3..=6) && again || emergency).then(|| one_by_one(label.digits))
}

/// Reads "2200 N. Lake Shore Dr.".
fn house_number(label: &Label) -> Option<String> {
    let named = label.context.raw(1).is_some_and(is_capitalized);
    (label.has(4..=4) && named && super::geography::is_street(label.context)).then(|| in_pairs(label.digits))
}

/// Reads "by 2150".
fn far_year(label: &Label) -> Option<String> {
    let far = label.has(4..=4) && label.digits.starts_with("21");
    (far && label.before_is(&["by", "in", "until", "year"]))
        .then(|| numbers::year(2000 + integer(&label.digits[1..]).unwrap_or(0)))
}

/// Reads "at 0630", "2200 hours".
fn time_of_day(label: &Label) -> Option<String> {
    let early = label.digits.starts_with('0');
    let words = military_time(label.digits)?;
    let hours = label.next_is(HOURS);
    (label.before_is(BEFORE_TIME) && (early || hours) || early && label.next_is(&["hours"])).then_some(words)
}

/// Reads "SR 520".
fn state_road(label: &Label) -> Option<String> {
    let road = label.context.before().is_some_and(|before| ["CR", "SR"].contains(&before));
    (label.has(3..=3) && road).then(|| in_pairs(label.digits))
}

/// Reads "Albany, NY 12207".
fn postcode(label: &Label) -> Option<String> {
    let state = label.context.before().is_some_and(|before| {
        before.len() == 2 && before.bytes().all(|byte| byte.is_ascii_uppercase())
            || ["NYC", "D.C."].contains(&before)
            || super::geography::is_state(&before.to_ascii_lowercase())
    });
    (label.has(5..=5) && state).then(|| one_by_one(label.digits))
}

/// Reads "Flight DL 1847", "rooms 101 and 102", "Rm. 305", "Bio 101", "the 747".
fn named(label: &Label) -> Option<String> {
    let (digits, before) = (label.digits, label.context.before());
    let airliner = digits.starts_with('7')
        && digits.ends_with('7')
        && (label.before_is(&["a", "the"]) || label.next_is(JETS));
    let short = before.and_then(|before| before.strip_suffix('.')).map(str::to_ascii_lowercase);
    let shortened = short.is_some_and(|short| SHORT_LABELS.contains(&short.as_str()));
    let coded = is_labeled(&label.back(2)) && label.before.len() == 2 && before.is_some_and(is_capitalized);
    let course = before.is_some_and(|course| COURSES.contains(&course));
    let in_series = label.before_is(&["&", "and", "or", "through", "to"]) && is_labeled(&label.back(3));
    (label.has(3..=4) && (airliner || is_labeled(&label.before) || shortened || coded || course || in_series))
        .then(|| in_pairs(digits))
}

/// Reads "a 1099", "Form 1040".
fn form(label: &Label) -> Option<String> {
    let meant = label.before_is(BEFORE_FORM) || label.next_is(&["form", "forms", "exchange"]);
    (FORMS.contains(&label.digits) && meant).then(|| in_pairs(label.digits))
}

/// Reads the year in "in 1066", but not the count in "1066 times".
fn medieval_year(label: &Label) -> Option<String> {
    let medieval = label.has(4..=4) && label.digits.starts_with("10") && !label.digits.ends_with("00");
    (medieval && !label.counts() && label.before_is(&["in", "since", "until", "year"]))
        .then(|| in_pairs(label.digits))
}
