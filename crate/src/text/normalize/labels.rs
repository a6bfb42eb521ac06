//! A number without a unit, by what it counts, names or dials: "Flight 1549", "dial 311", "0630 hours", "in 1066".

use super::digits::{Number, in_pairs, integer, number_or_year, short_year};
use super::place::{Place, is_capitalized, is_plural};
use crate::text::numbers::{self, one_by_one};

/// How a whole number without a unit is read depends on what it counts or names.
pub fn in_context(number: &Number, place: &Place) -> String {
    const LABELED: &[&str] = &[
        "boeing",
        "airbus",
        "flight",
        "route",
        "highway",
        "interstate",
        "room",
        "bus",
        "suite",
        "area",
        "building",
        "train",
        "office",
        "hwy",
        "rte",
        "xbox",
        "form",
        "cessna",
        "porsche",
        "bmw",
        "exit",
        "gate",
        "apartment",
        "apt",
        "unit",
        "section",
        "channel",
        "fahrenheit",
        "cabin",
        "model",
    ];
    const DIGITWISE: &[&str] = &["code", "pin", "call", "dial", "dialed", "called", "zip", "extension"];
    const PEOPLE: &[&str] = &["people", "men", "women", "children", "feet", "sheep", "percent"];
    const YEAR_BEFORE: &[&str] = &[
        "in", "since", "the", "of", "by", "until", "from", "year", "during", "before", "after", "and", "to",
    ];
    // "area code is 415"
    let before = match place.word_before().as_str() {
        "is" => place.back(2).map_or_else(String::new, str::to_ascii_lowercase),
        before => before.to_string(),
    };
    let digits = number.whole;
    let plain = number.decimals.is_empty() && !digits.contains(',');
    if plain && digits.len() > 2 && DIGITWISE.contains(&before.as_str()) {
        return one_by_one(digits);
    }
    let back = |places: usize| place.back(places).map_or_else(String::new, str::to_ascii_lowercase);
    // "dial 911 or 311", "text STOP to 40404"
    let dialed = ["and", "or"].contains(&before.as_str()) && DIGITWISE.contains(&back(3).as_str())
        || before == "to" && ["text", "texted", "texting", "sms"].contains(&back(3).as_str());
    if plain && (3..=6).contains(&digits.len()) && dialed {
        return one_by_one(digits);
    }
    if plain
        && matches!(digits, "911" | "988")
        && before != "porsche"
        && !place.body(1).is_some_and(is_plural)
    {
        return one_by_one(digits);
    }
    // "2200 N. Lake Shore Dr."
    if plain
        && digits.len() == 4
        && place.raw(1).is_some_and(is_capitalized)
        && super::abbreviations::is_street(place)
    {
        return in_pairs(digits);
    }
    if plain
        && digits.len() == 4
        && digits.starts_with("21")
        && ["by", "in", "until", "year"].contains(&before.as_str())
    {
        return numbers::year(2000 + integer(&digits[1..]).unwrap_or(0));
    }
    if plain
        && let Some(words) = military_time(digits)
        && (["at", "around", "by", "from", "since", "to", "until", "up", "was"].contains(&before.as_str()))
        && (digits.starts_with('0')
            || place.body(1).is_some_and(|next| ["hours", "hrs", "h"].contains(&next)))
    {
        return words;
    }
    // "0900 hours"
    if plain && digits.len() == 4 && digits.starts_with('0') && place.body(1) == Some("hours") {
        let minutes = &digits[2..];
        return format!(
            "{} {}",
            one_by_one(&digits[..2]),
            if minutes == "00" { "hundred".to_string() } else { number_or_year(minutes) }
        );
    }
    // "SR 520"
    let road = ["CR", "SR"].iter().any(|road| place.before() == Some(road));
    if plain && digits.len() == 3 && road {
        return in_pairs(digits);
    }
    let state = place.before().is_some_and(|before| {
        before.len() == 2 && before.bytes().all(|byte| byte.is_ascii_uppercase())
            || ["NYC", "D.C."].contains(&before)
            || super::abbreviations::is_state(&before.to_ascii_lowercase())
    });
    if plain && digits.len() == 5 && state {
        return one_by_one(digits);
    }
    // "the 747"
    let airliner = digits.starts_with('7')
        && digits.ends_with('7')
        && (["a", "the"].contains(&before.as_str())
            || place.body(1).is_some_and(|next| ["Dreamliner", "MAX", "Max", "jet", "jets"].contains(&next)));
    let labeled =
        |label: &str| LABELED.contains(&label.strip_suffix('s').unwrap_or(label)) || LABELED.contains(&label);
    // "Rm. 305"
    let short = place.before().and_then(|before| before.strip_suffix('.')).map(str::to_ascii_lowercase);
    let shortened = short.is_some_and(|short| ["apt", "hwy", "rm", "rte", "ste"].contains(&short.as_str()));
    // "Flight DL 1847", "Bio 101"
    let coded = labeled(&back(2)) && before.len() == 2 && place.before().is_some_and(is_capitalized);
    let course = place.before().is_some_and(|course| {
        [
            "Bio",
            "Biology",
            "Calc",
            "Chem",
            "Chemistry",
            "Econ",
            "English",
            "Eng",
            "History",
            "Math",
            "Physics",
            "Psych",
        ]
        .contains(&course)
    });
    let in_series = shortened
        || coded
        || course
        || ["and", "or", "to", "through", "&"].contains(&before.as_str()) && labeled(&back(3));
    if plain && (3..=4).contains(&digits.len()) && (airliner || labeled(&before) || in_series) {
        return in_pairs(digits);
    }
    // "a 1099", "Form 1040"
    const FORMS: &[&str] = &["1031", "1040", "1065", "1098", "1099", "1120"];
    if plain
        && FORMS.contains(&digits)
        && (["a", "form", "forms", "the", "your", "my"].contains(&before.as_str())
            || place.body(1).is_some_and(|next| ["form", "forms", "exchange"].contains(&next)))
    {
        return in_pairs(digits);
    }
    let counts = place.body(1).is_some_and(|next| PEOPLE.contains(&next) || is_plural(next));
    let dated = YEAR_BEFORE.contains(&before.as_str())
        || before.starts_with('q') && before.len() == 2
        || super::dates::is_season(&before);
    // "in 1066" is a year, "1066 times" is not.
    if plain
        && digits.len() == 4
        && digits.starts_with("10")
        && !digits.ends_with("00")
        && !counts
        && ["in", "year", "since", "until"].contains(&before.as_str())
    {
        return in_pairs(digits);
    }
    if number.is_year() && counts && !dated && !digits.ends_with("00") {
        number.count()
    } else {
        number.words()
    }
}

/// "0630" as "zero six thirty", "2200" as "twenty two hundred"; nothing where it is no time.
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
