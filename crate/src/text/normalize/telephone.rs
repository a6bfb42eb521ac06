//! Telephone numbers and other digits in groups.

use super::numerals::{is_digits, number_or_year};
use super::place::{Chunk, Place, Reading};
use crate::text::numbers::{cardinal, one_by_one};

/// Telephone numbers, of digits in groups or of a word: "555-1234", "(555) 123-4567", "+44 20 7946 0958", "415 555 0187", "1-800-FLOWERS".
pub fn read(place: &Place) -> Reading {
    let chunk = place.chunk(0)?;
    let body = chunk.body;
    let is_group = |group: &str, lengths: std::ops::RangeInclusive<usize>| {
        is_digits(group) && lengths.contains(&group.len())
    };
    if chunk.open.ends_with('(') && chunk.close == ")" && is_group(body, 3..=3) {
        let rest = place.chunk(1)?.body;
        let groups: Vec<&str> = rest.split(['-', '.']).collect();
        if groups.len() == 2 && is_group(groups[0], 3..=3) && is_group(groups[1], 4..=4) {
            return Some((format!("{}, {}", one_by_one(body), digit_groups(&groups)), 2));
        }
    }
    if let Some(international) =
        body.strip_prefix('+').filter(|rest| is_group(rest.split('-').next().unwrap_or(""), 1..=3))
    {
        let groups: Vec<&str> = international.split('-').collect();
        let mut all = groups.clone();
        let mut used = 1;
        while let Some(next) =
            place.body(used).filter(|next| next.split('-').all(|group| is_group(group, 2..=8)))
        {
            all.extend(next.split('-'));
            used += 1;
        }
        if all.len() >= 3 && all.iter().all(|group| is_group(group, 1..=11)) {
            return Some((format!("plus {}", digit_groups(&all)), used));
        }
    }
    // "020 7946 0958", "415 555 0187"
    let spaced: Vec<&str> = (0..4)
        .map_while(|at| if at == 0 { Some(body) } else { place.body(at) })
        .take_while(|group| is_group(group, 3..=5))
        .collect();
    let lengths: Vec<usize> = spaced.iter().map(|group| group.len()).collect();
    if body.starts_with('0') && spaced.len() > 1 || lengths == [3, 3, 4] {
        return Some((digit_groups(&spaced), spaced.len()));
    }
    let separator = if body.contains('-') { '-' } else { '.' };
    let groups: Vec<&str> = body.split(separator).collect();
    let toll = |group: &str| is_group(group, 3..=3) && group.starts_with(['8', '9']);
    let vanity = match groups.as_slice() {
        ["1", code, rest @ ..] if separator == '-' && toll(code) && !rest.is_empty() => Some((2, rest)),
        [code, rest @ ..] if separator == '-' && toll(code) && !rest.is_empty() => Some((1, rest)),
        _ => None,
    };
    if let Some((digits, rest)) = vanity
        && rest.iter().all(|group| {
            !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        })
        && rest.iter().any(|group| !is_digits(group))
    {
        let words: Vec<String> = rest
            .iter()
            .map(|group| if is_digits(group) { one_by_one(group) } else { group.to_ascii_lowercase() })
            .collect();
        return Some((
            format!("{} {}", digit_groups(&groups[..digits]).replace(',', ""), words.join(" ")),
            1,
        ));
    }
    let lengths: Vec<usize> =
        groups.iter().map(|group| if is_digits(group) { group.len() } else { 0 }).collect();
    let called = ["call", "dial", "fax", "ph", "phone", "tel", "telephone", "text"];
    let behind_label = place
        .before()
        .is_some_and(|before| called.contains(&Chunk::new(before).body.to_ascii_lowercase().as_str()));
    let telephone = behind_label && lengths == [3, 4]
        || matches!(lengths.as_slice(), [3, 4] | [3, 3, 4] | [1, 3, 3, 4])
            && (separator == '-' || groups.len() > 2);
    let numbered = separator == '-' && groups.len() > 2 && !lengths.contains(&0);
    // "the 1-800 number"
    if let (["1", code], '-') = (groups.as_slice(), separator)
        && toll(code)
    {
        return Some((digit_groups(&groups).replace(',', ""), 1));
    }
    // A record, "10-6-1", or what is dialled.
    if numbered && lengths.iter().all(|length| *length <= 2) {
        return Some((groups.iter().map(|group| number_or_year(group)).collect::<Vec<_>>().join(", "), 1));
    }
    (telephone || numbered).then(|| (digit_groups(&groups), 1))
}

/// Digit by digit with a pause behind each group; "800" is eight hundred.
fn digit_groups(groups: &[&str]) -> String {
    let words = groups.iter().map(|group| match *group {
        "800" | "900" if groups[0] != *group || groups.len() < 3 => cardinal(group.parse().ok().unwrap_or(0)),
        group => one_by_one(group),
    });
    words.collect::<Vec<_>>().join(", ")
}
