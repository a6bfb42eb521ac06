//! Geographic coordinates: "51°30'26"N".

use super::{numerals::Number, place::Reading};

/// Reads degrees with minutes, seconds or a side of the compass.
pub fn read(body: &str) -> Reading {
    let (degrees, mut rest) = Number::scan(body)?;
    rest = rest.strip_prefix('°')?;
    let mut words = format!("{} {}", degrees.count(), if degrees.is_one() { "degree" } else { "degrees" });
    for (mark, one, many) in [('\'', "minute", "minutes"), ('"', "second", "seconds")] {
        if let Some((number, behind)) = Number::scan(rest)
            && let Some(behind) = behind.strip_prefix(mark)
        {
            words = format!("{words} {} {}", number.count(), if number.is_one() { one } else { many });
            rest = behind;
        }
    }
    match super::geography::side(rest) {
        Some(side) => Some((format!("{words} {side}"), 1)),
        None => (rest.is_empty() && words.contains("minute")).then_some((words, 1)),
    }
}
