//! Chunks of digits that are not amounts: idioms, fractions, scores and versions.

use super::{
    numerals::{Number, fraction, in_pairs, integer, is_digits, number_or_year, split_fraction},
    place::{Reading, TokenContext},
    unit_behind::{marks_inches, unit_of},
};
use crate::text::numbers::cardinal;

/// Reads idioms that look like a fraction or a date.
pub fn idiom(body: &str) -> Reading {
    const IDIOMS: &[(&str, &str)] = &[
        ("24/7", "twenty four seven"),
        ("24/7/365", "twenty four seven three sixty five"),
        ("9/11", "nine eleven"),
        ("7/11", "seven eleven"),
        ("20/20", "twenty twenty"),
        ("1-2-3", "one two three"),
        ("50-50", "fifty fifty"),
    ];
    // The wireless standard: "802.11ac".
    if let Some(letters) =
        body.strip_prefix("802.11").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase()))
    {
        return Some((
            format!("eight oh two dot eleven {}", super::spelled(&letters.to_ascii_uppercase())),
            1,
        ));
    }
    IDIOMS.iter().find(|(idiom, _)| *idiom == body).map(|(_, words)| (words.to_string(), 1))
}

/// Reads numbers around a slash: "3/4", "8/10", "50/50", "120/80".
pub fn slashed(context: &TokenContext, body: &str) -> Reading {
    // "4.5/5"
    if let Some((score, best)) = body.split_once('/')
        && let (Some((score, "")), Some((best, ""))) = (Number::scan(score), Number::scan(best))
        && !score.decimals.is_empty()
    {
        return Some((format!("{} out of {}", score.count(), best.count()), 1));
    }
    // "1/10th", "2/3rds"
    if let Some((top, bottom)) = body.split_once('/')
        && let end = bottom.trim_start_matches(|c: char| c.is_ascii_digit())
        && ["nd", "rd", "rds", "th", "ths"].contains(&end)
        && let Some((top, bottom)) = integer(top).zip(integer(&bottom[..bottom.len() - end.len()]))
    {
        return Some((fraction(top, bottom)?, 1));
    }
    let (top, bottom) = split_fraction(body)?;
    let rated = context.body(1).is_some_and(|next| ["stars", "points", "rating"].contains(&next));
    // "the 80/20 rule"
    let split = top + bottom == 100 && top >= bottom;
    let words = if split {
        format!("{} {}", cardinal(top), cardinal(bottom))
    } else if rated || bottom == 10 && top == 10 || bottom == 100 && top > 1 {
        format!("{} out of {}", cardinal(top), cardinal(bottom))
    } else if top == bottom || context.body(1) == Some("vision") {
        format!("{} {}", cardinal(top), cardinal(bottom))
    } else {
        match fraction(top, bottom).filter(|_| top < bottom) {
            Some(parts) => {
                // "3/4 tsp."
                if marks_inches(context) {
                    return Some((format!("{parts} inch"), 1));
                }
                let unit = unit_of(context, "").filter(|_| context.raw(1).is_some());
                return Some(
                    unit.map_or((parts.clone(), 1), |((one, _), used)| (format!("{parts} {one}"), used)),
                );
            }
            None => {
                let over = format!("{} over {}", cardinal(top), cardinal(bottom));
                // "120/80 mmHg"
                return Some(match unit_of(context, "").filter(|(_, used)| *used > 1) {
                    Some(((_, many), used)) if many.contains("mercury") => (format!("{over} {many}"), used),
                    _ => (over, 1),
                });
            }
        }
    };
    Some((words, 1))
}

/// Reads numbers with more than one point, and "3.11" after the name of a program.
pub fn version(context: &TokenContext, body: &str) -> Reading {
    // "a V6" is an engine.
    let (named, digits) =
        match body.strip_prefix(['v', 'V']).filter(|digits| body.starts_with('v') || digits.contains('.')) {
            Some(digits) => (true, digits),
            None => (false, body),
        };
    let groups: Vec<&str> = digits.split('.').collect();
    if !groups.iter().all(|group| is_digits(group))
        || groups.len() < 3 && !named && !(groups.len() == 2 && is_program(context))
    {
        return None;
    }
    // "1.000.000", with the points of other languages
    if groups.len() > 2
        && !named
        && groups[0].len() < 4
        && groups[1..].iter().all(|group| group.len() == 3)
        && body.ends_with("000")
    {
        return Some((cardinal(integer(&groups.concat())?), 1));
    }
    // "192.168.1.1"
    if groups.len() == 4
        && !named
        && groups.iter().all(|group| integer(group).is_some_and(|value| value < 256))
    {
        let words: Vec<String> = groups.iter().map(|group| in_pairs(group)).collect();
        return Some((words.join(" dot "), 1));
    }
    let words = groups.iter().map(|group| number_or_year(group)).collect::<Vec<_>>().join(" point ");
    Some((if named { format!("version {words}") } else { words }, 1))
}

/// Whether the word before is the name of a program that has versions.
fn is_program(context: &TokenContext) -> bool {
    const PROGRAMS: &[&str] = &[
        "python", "ios", "android", "macos", "java", "rust", "ruby", "php", "node", "chrome", "firefox",
        "safari", "ubuntu", "debian", "linux",
    ];
    PROGRAMS.contains(&context.word_before().as_str())
}
