//! Numbers that are written in a manner of their own: "batting .325", "10 000", "14th–17th".

use super::amount::Amount;
use super::numerals::{self, Number, integer};
use super::place::{Place, Reading};
use crate::text::numbers::{cardinal, ordinal};

/// "14th"
pub fn ordinal_number(text: &str) -> Option<String> {
    let (number, rest) = Number::scan(text)?;
    ["st", "nd", "rd", "th"].contains(&rest).then(|| number.value().map(ordinal))?
}

/// What is counted without its point: "batting .325", "a .357 Magnum".
pub fn behind_point(place: &Place, amount: &Amount, rest: &str) -> Reading {
    const BATTING: &[&str] =
        &["average", "averaging", "bats", "batted", "batting", "hit", "hits", "hitting", "slugging"];
    const CALIBERS: &[&str] =
        &["acp", "caliber", "magnum", "pistol", "revolver", "rifle", "special", "handgun"];
    let digits = amount.from.decimals;
    if !amount.from.whole.is_empty() || amount.to.is_some() || !rest.is_empty() {
        return None;
    }
    let next = place.body(1).unwrap_or("").to_ascii_lowercase();
    let batting = digits.len() == 3
        && (BATTING.contains(&place.word_before().as_str())
            || ["average", "batter", "hitter"].contains(&next.as_str()));
    (batting || CALIBERS.contains(&next.as_str())).then(|| (numerals::in_pairs(digits), 1))
}

/// "10 000", "1 250 000"
pub fn spaced_thousands(place: &Place, body: &str) -> Reading {
    let first = integer(body).filter(|_| body.len() < 4 && !body.starts_with('0'))?;
    let groups: Vec<&str> = (1..5)
        .map_while(|at| place.body(at).filter(|group| group.len() == 3 && numerals::is_digits(group)))
        .collect();
    if groups.last() != Some(&"000") {
        return None;
    }
    let value = groups.iter().try_fold(first, |value, group| Some(value * 1000 + integer(group)?))?;
    Some((cardinal(value), 1 + groups.len()))
}
