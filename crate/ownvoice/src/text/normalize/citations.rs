//! Citations of scripture and law: "1 Cor. 13:4-7", "Ps. 23", "501(c)(3)".

use super::{
    numerals::{in_pairs, integer, is_digits},
    place::{Chunk, Reading, TokenContext, is_capitalized},
    roman::is_numeral,
};
use crate::text::numbers::cardinal;

/// Books of scripture: abbreviation and full name.
#[rustfmt::skip]
const BOOKS: &[(&str, &str)] = &[
    ("gen", "genesis"), ("ex", "exodus"), ("exod", "exodus"), ("lev", "leviticus"), ("num", "numbers"), ("deut", "deuteronomy"), ("josh", "joshua"), ("judg", "judges"), ("sam", "samuel"),
    ("kgs", "kings"), ("chron", "chronicles"), ("chr", "chronicles"), ("neh", "nehemiah"), ("ps", "psalm"), ("pss", "psalms"), ("prov", "proverbs"), ("eccl", "ecclesiastes"), ("isa", "isaiah"),
    ("jer", "jeremiah"), ("ezek", "ezekiel"), ("dan", "daniel"), ("hos", "hosea"), ("mic", "micah"), ("hab", "habakkuk"), ("zech", "zechariah"), ("mal", "malachi"), ("matt", "matthew"),
    ("mt", "matthew"), ("mk", "mark"), ("lk", "luke"), ("jn", "john"), ("rom", "romans"), ("cor", "corinthians"), ("gal", "galatians"), ("eph", "ephesians"), ("phil", "philippians"),
    ("col", "colossians"), ("thess", "thessalonians"), ("tim", "timothy"), ("heb", "hebrews"), ("jas", "james"), ("pet", "peter"), ("rev", "revelation"), ("ruth", "ruth"), ("job", "job"),
    ("acts", "acts"), ("psalms", "psalms"), ("surah", "surah"), ("quran", "quran"), ("amos", "amos"), ("joel", "joel"), ("titus", "titus"), ("jude", "jude"), ("jonah", "jonah"), ("luke", "luke"),
];
/// Books that exist more than once: "First Kings".
const NUMBERED: &[&str] = &[
    "chronicles",
    "corinthians",
    "john",
    "kings",
    "maccabees",
    "peter",
    "samuel",
    "thessalonians",
    "timothy",
];

/// Returns the full name of a book.
fn book(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    BOOKS
        .iter()
        .find(|(short, full)| is_capitalized(word) && (*short == lower || *full == lower))
        .map(|(_, full)| *full)
}

/// Whether a word is the abbreviation of a book.
pub fn is_book(word: &str) -> bool {
    book(word).is_some_and(|full| !full.eq_ignore_ascii_case(word))
}

/// Reads chapter and verses: "3:16", "5:3-12".
fn verse(text: &str) -> Option<String> {
    let number = |digits: &str| integer(digits).filter(|_| digits.len() <= 3).map(cardinal);
    let (chapter, verses) = text.split_once(':')?;
    let verses = match verses.split_once(['-', '–']) {
        Some((from, to)) => format!("{} to {}", number(from)?, number(to)?),
        None => number(verses)?,
    };
    Some(format!("{} {verses}", number(chapter)?))
}

/// Reads a book with its chapter and verse, perhaps with its number.
pub fn scripture(context: &TokenContext) -> Reading {
    let chunk = context.chunk(0)?;
    if !chunk.body.starts_with(|first: char| first.is_ascii_uppercase() || "123".contains(first)) {
        return None;
    }
    let ordinal = match chunk.body {
        "1" | "I" => Some("first"),
        "2" | "II" => Some("second"),
        "3" | "III" => Some("third"),
        _ => None,
    };
    let at = usize::from(ordinal.is_some());
    let named = context.chunk(at).filter(|named| matches!(named.close, "" | ".") && named.open.is_empty())?;
    let name = book(named.body)?;
    let reference = context.chunk(at + 1).map(|reference| reference.body).unwrap_or_default();
    let words = match verse(reference) {
        Some(verse) => Some((format!("{name} {verse}"), 2)),
        None if ["psalm", "psalms"].contains(&name) && is_digits(reference) && named.close == "." => {
            Some((format!("{name} {}", cardinal(integer(reference)?)), 2))
        }
        None => None,
    };
    match (ordinal, words) {
        (Some(ordinal), Some((words, used))) if chunk.close.is_empty() => {
            Some((format!("{ordinal} {words}"), used + 1))
        }
        (Some(ordinal), None)
            if chunk.close.is_empty()
                && NUMBERED.contains(&name)
                && !["john", "peter", "kings", "samuel", "timothy"].contains(&name) =>
        {
            Some((format!("{ordinal} {name}"), 2))
        }
        (None, words) => words,
        _ => None,
    }
}

/// Reads a section with letters and numbers in parentheses, the last of which is the chunk's punctuation: "501(c)(3)".
pub fn section(context: &TokenContext) -> Reading {
    let Chunk { body, close, .. } = context.chunk(0)?;
    let (number, labels) = body.split_once('(')?;
    if !close.starts_with(')') || !is_digits(number) || !(2..=4).contains(&number.len()) {
        return None;
    }
    let mut words = in_pairs(number);
    for label in labels.split(")(") {
        words = match label {
            _ if is_digits(label) && label.len() < 3 => format!("{words} {}", cardinal(integer(label)?)),
            _ if label.len() == 1 && label.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                format!("{words} {}", label.to_ascii_uppercase())
            }
            _ if is_numeral(&label.to_ascii_uppercase()) => {
                format!("{words} {}", super::spelled(&label.to_ascii_uppercase()))
            }
            _ => return None,
        };
    }
    Some((words, 1))
}
