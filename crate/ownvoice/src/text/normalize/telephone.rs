//! Telephone numbers and other groups of digits.

use super::{
    numerals::{is_digits, number_or_year},
    place::{Chunk, Reading, TokenContext},
};
use crate::text::numbers::{cardinal, one_by_one};

/// Reads telephone numbers of groups of digits or with a word: "555-1234", "(555) 123-4567", "+44 20 7946 0958", "415 555 0187", "1-800-FLOWERS".
pub fn read(context: &TokenContext) -> Reading {
    let chunk = context.chunk(0)?;
    let body = chunk.body;
    if chunk.open.ends_with('(') && chunk.close == ")" && is_group(body, 3..=3) {
        let rest = context.chunk(1)?.body;
        let groups: Vec<&str> = rest.split(['-', '.']).collect();
        if groups.len() == 2 && is_group(groups[0], 3..=3) && is_group(groups[1], 4..=4) {
            return Some((format!("{}, {}", one_by_one(body), digit_groups(&groups)), 2));
        }
    }
    if let Some(reading) = international(context, body) {
        return Some(reading);
    }
    // "020 7946 0958", "415 555 0187"
    let spaced: Vec<&str> = (0..4)
        .map_while(|at| if at == 0 { Some(body) } else { context.body(at) })
        .take_while(|group| is_group(group, 3..=5))
        .collect();
    let lengths: Vec<usize> = spaced.iter().map(|group| group.len()).collect();
    if body.starts_with('0') && spaced.len() > 1 || lengths == [3, 3, 4] {
        return Some((digit_groups(&spaced), spaced.len()));
    }
    let separator = if body.contains('-') { '-' } else { '.' };
    let groups: Vec<&str> = body.split(separator).collect();
    if let Some(reading) = vanity(&groups, separator) {
        return Some(reading);
    }
    let lengths: Vec<usize> =
        groups.iter().map(|group| if is_digits(group) { group.len() } else { 0 }).collect();
    let called = ["call", "dial", "fax", "ph", "phone", "tel", "telephone", "text"];
    let behind_label = context
        .before()
        .is_some_and(|before| called.contains(&Chunk::new(before).body.to_ascii_lowercase().as_str()));
    let telephone = behind_label && lengths == [3, 4]
        || matches!(lengths.as_slice(), [3, 4] | [3, 3, 4] | [1, 3, 3, 4])
            && (separator == '-' || groups.len() > 2);
    let numbered = separator == '-' && groups.len() > 2 && !lengths.contains(&0);
    // "the 1-800 number"
    if let (["1", code], '-') = (groups.as_slice(), separator)
        && is_toll_free(code)
    {
        return Some((digit_groups(&groups).replace(',', ""), 1));
    }
    // A record such as "10-6-1".
    if numbered && lengths.iter().all(|length| *length <= 2) {
        return Some((groups.iter().map(|group| number_or_year(group)).collect::<Vec<_>>().join(", "), 1));
    }
    (telephone || numbered).then(|| (digit_groups(&groups), 1))
}

/// Whether a group consists of digits, of a number in a range.
fn is_group(group: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    is_digits(group) && lengths.contains(&group.len())
}

/// Whether a group is a code such as 800 or 900.
fn is_toll_free(group: &str) -> bool {
    is_group(group, 3..=3) && group.starts_with(['8', '9'])
}

/// Reads "+44 20 7946 0958".
fn international(context: &TokenContext, body: &str) -> Reading {
    let mut groups: Vec<&str> = body.strip_prefix('+')?.split('-').collect();
    if !is_group(groups[0], 1..=3) {
        return None;
    }
    let mut used = 1;
    while let Some(next) =
        context.body(used).filter(|next| next.split('-').all(|group| is_group(group, 2..=8)))
    {
        groups.extend(next.split('-'));
        used += 1;
    }
    (groups.len() >= 3 && groups.iter().all(|group| is_group(group, 1..=11)))
        .then(|| (format!("plus {}", digit_groups(&groups)), used))
}

/// Reads "1-800-FLOWERS".
fn vanity(groups: &[&str], separator: char) -> Reading {
    let (digits, rest) = match groups {
        ["1", code, rest @ ..] if is_toll_free(code) && !rest.is_empty() => (2, rest),
        [code, rest @ ..] if is_toll_free(code) && !rest.is_empty() => (1, rest),
        _ => return None,
    };
    let is_word_or_number = |group: &&str| {
        !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    if separator != '-' || !rest.iter().all(is_word_or_number) || rest.iter().all(|group| is_digits(group)) {
        return None;
    }
    let words: Vec<String> = rest
        .iter()
        .map(|group| if is_digits(group) { one_by_one(group) } else { group.to_ascii_lowercase() })
        .collect();
    Some((format!("{} {}", digit_groups(&groups[..digits]).replace(',', ""), words.join(" ")), 1))
}

/// Returns the words of groups digit by digit, with a pause after each group. "800" is "eight hundred".
fn digit_groups(groups: &[&str]) -> String {
    let words = groups.iter().map(|group| match *group {
        "800" | "900" if groups[0] != *group || groups.len() < 3 => cardinal(group.parse().ok().unwrap_or(0)),
        group => one_by_one(group),
    });
    words.collect::<Vec<_>>().join(", ")
}
