//! Numbers in unusual notation: "batting .325", "10 000", "14th–17th".

use super::{
    amount::Amount,
    numerals::{self, Number, integer},
    place::{Reading, TokenContext},
};
use crate::text::numbers::{cardinal, ordinal};

/// Reads an ordinal number: "14th".
pub fn ordinal_number(text: &str) -> Option<String> {
    let (number, rest) = Number::scan(text)?;
    ["st", "nd", "rd", "th"].contains(&rest).then(|| number.value().map(ordinal))?
}

/// Reads decimals whose point is not spoken: "batting .325", "a .357 Magnum".
pub fn without_point(context: &TokenContext, amount: &Amount, rest: &str) -> Reading {
    const BATTING: &[&str] =
        &["average", "averaging", "bats", "batted", "batting", "hit", "hits", "hitting", "slugging"];
    const CALIBERS: &[&str] =
        &["acp", "caliber", "magnum", "pistol", "revolver", "rifle", "special", "handgun"];
    let digits = amount.from.decimals;
    if !amount.from.whole.is_empty() || amount.to.is_some() || !rest.is_empty() {
        return None;
    }
    let next = context.body(1).unwrap_or("").to_ascii_lowercase();
    let batting = digits.len() == 3
        && (BATTING.contains(&context.word_before().as_str())
            || ["average", "batter", "hitter"].contains(&next.as_str()));
    (batting || CALIBERS.contains(&next.as_str())).then(|| (numerals::in_pairs(digits), 1))
}

/// Reads thousands separated by spaces: "10 000", "1 250 000".
pub fn spaced_thousands(context: &TokenContext, body: &str) -> Reading {
    let first = integer(body).filter(|_| body.len() < 4 && !body.starts_with('0'))?;
    let groups: Vec<&str> = (1..5)
        .map_while(|at| context.body(at).filter(|group| group.len() == 3 && numerals::is_digits(group)))
        .collect();
    if groups.last() != Some(&"000") {
        return None;
    }
    let value = groups.iter().try_fold(first, |value, group| Some(value * 1000 + integer(group)?))?;
    Some((cardinal(value), 1 + groups.len()))
}
