//! The ways in which a transcript may have been spoken: with or without its notes, and with another reading of a number.
//!
//! A transcript has notes that nobody says (`[laughs]`, `(inaudible)`, `*coughs*`, `ANNA:`), and the same signs around words that are said. A number is said in
//! more than one way: "Flight 407" is "four oh seven" or "four hundred and seven". Which it was, only the recording tells.

use std::ops::Range;

use super::numbers::{cardinal, one_by_one, year};

/// Longer brackets, in bytes, hold a part of the text rather than a note.
const MAX_NOTE: usize = 60;
/// Longer numbers are not read in other ways.
const MAX_DIGITS: usize = 9;
/// The most words of a speaker's name before a colon.
const MAX_NAME_WORDS: usize = 3;

/// A text whose parts can be read in several ways.
#[derive(Debug, Clone)]
pub struct Alternatives<'a> {
    text: &'a str,
    parts: Vec<Part>,
}

/// A part of a text, and what may be spoken in its place. The first reading is taken if no recording decides.
#[derive(Debug, Clone)]
struct Part {
    place: Range<usize>,
    readings: Vec<String>,
}

impl<'a> Alternatives<'a> {
    /// Finds the parts of a text that can be read in several ways. A text with phones in braces has none.
    pub fn new(text: &'a str) -> Self {
        let mut parts = Vec::new();
        if !text.contains(['{', '}']) {
            let mut at = 0;
            while at < text.len() {
                let found = name(text, at).or_else(|| note(text, at)).or_else(|| number(text, at));
                at = match found {
                    Some(part) => {
                        let end = part.place.end;
                        parts.push(part);
                        end
                    }
                    None => at + text[at..].chars().next().map_or(1, char::len_utf8),
                };
            }
        }
        Self { text, parts }
    }

    /// Returns the number of readings of each part.
    pub fn counts(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().map(|part| part.readings.len())
    }

    /// Returns the text with one reading of each part.
    ///
    /// * `choices`: the index of the reading of each part
    pub fn text(&self, choices: &[usize]) -> String {
        let (mut text, mut at) = (String::with_capacity(self.text.len()), 0);
        for (Part { place, readings }, &choice) in self.parts.iter().zip(choices) {
            text += &self.text[at..place.start];
            text += &readings[choice];
            at = place.end;
        }
        text + &self.text[at..]
    }
}

/// Whether a word may begin here: at the start, or after a space or an opening sign.
fn begins_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "([\"'“‘—".contains(c))
}

/// Whether a word ends here: at the end, before a space, or before punctuation that a space follows.
fn ends_word(text: &str, at: usize) -> bool {
    let rest =
        text[at..].trim_start_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '”', '’', '…']);
    rest.chars().next().is_none_or(|c| c.is_whitespace() || c == '—')
}

/// Finds a note in brackets or asterisks. Only what stands in square or angle brackets is a note if no recording decides.
fn note(text: &str, at: usize) -> Option<Part> {
    let rest = &text[at..];
    let open = rest.chars().next()?;
    let close = match open {
        '[' => ']',
        '(' => ')',
        '<' => '>',
        '*' => '*',
        _ => return None,
    };
    let after = &rest[open.len_utf8()..];
    let inside = &after[..after.find(close)?];
    let end = at + open.len_utf8() + inside.len() + close.len_utf8();
    // "book(s)", "2 * 3 * 4", "a < b", "**bold**"
    let is_note = inside.len() <= MAX_NOTE
        && inside.contains(char::is_alphabetic)
        && !inside.contains([open, '\n'])
        && !(matches!(open, '*' | '<') && inside.trim() != inside)
        && begins_word(text, at)
        && (ends_word(text, end) || text[end..].starts_with(['[', '(', '<', '*']));
    if !is_note {
        return None;
    }
    // The brackets of "(and is)" are a pause to the normaliser.
    let spoken = if open == '(' { format!("({inside})") } else { inside.to_string() };
    let readings = match open {
        '[' | '<' => vec![String::new(), spoken],
        _ => vec![spoken, String::new()],
    };
    Some(Part { place: at..end, readings })
}

/// Finds the name of a speaker at the start of a line: `ANNA:`, `Speaker 2:`. Only a name in capitals is a note if no recording decides.
fn name(text: &str, at: usize) -> Option<Part> {
    let starts_line =
        text[..at].chars().rev().find(|c| *c == '\n' || !c.is_whitespace()).is_none_or(|c| c == '\n');
    if !starts_line || text[at..].starts_with(char::is_whitespace) {
        return None;
    }
    let line = text[at..].lines().next()?;
    let (name, said) = line.split_once(':')?;
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
            && word.chars().all(|c| c.is_alphanumeric() || "'’.-".contains(c))
    };
    let words = name.split_whitespace().count();
    let fits = (1..=MAX_NAME_WORDS).contains(&words)
        && name.starts_with(char::is_alphabetic)
        && name.split_whitespace().all(is_name)
        && said.starts_with(char::is_whitespace)
        && !said.trim().is_empty();
    if !fits {
        return None;
    }
    let (spoken, unspoken) = (format!("{name}:"), String::new());
    let is_note =
        !name.contains(char::is_lowercase) && name.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let readings = if is_note { vec![unspoken, spoken] } else { vec![spoken, unspoken] };
    Some(Part { place: at..at + name.len() + 1, readings })
}

/// Finds a whole number that stands alone, with the other ways to say it. The first reading is the number, which the normaliser reads by its context.
fn number(text: &str, at: usize) -> Option<Part> {
    let length = text[at..].find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len() - at);
    let written = text[at..at + length].trim_end_matches(',');
    let end = at + written.len();
    let digits = written.replace(',', "");
    let is_grouped = written.split(',').skip(1).all(|group| group.len() == 3);
    if digits.is_empty()
        || digits.len() > MAX_DIGITS
        || !is_grouped
        || !begins_word(text, at)
        || !ends_word(text, end)
    {
        return None;
    }
    let mut readings = vec![written.to_string()];
    for reading in readings_of(&digits) {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    Some(Part { place: at..end, readings })
}

/// Returns the ways to say a number, some of them alike.
fn readings_of(digits: &str) -> Vec<String> {
    let value: u64 = digits.parse().expect("at most nine digits");
    let spelled = one_by_one(digits);
    let mut readings = vec![spelled.replace("zero", "oh"), spelled];
    if let (b'1'..=b'9', 2..) = (digits.as_bytes()[0], digits.len()) {
        let whole = cardinal(value);
        let british = with_and(value);
        for reading in [&whole, &british] {
            readings.extend(
                reading.strip_prefix("one ").filter(|_| value >= 100).map(|rest| format!("a {rest}")),
            );
        }
        readings.extend([whole, british]);
        match digits.len() {
            3 => readings.push(format!("{} {}", cardinal(value / 100), pair(value % 100))),
            4 => {
                readings.push(format!("{} {}", cardinal(value / 100), pair(value % 100)));
                readings.push(year(value));
            }
            _ => (),
        }
    }
    readings
}

/// Returns the last two digits of a longer number, as in "four oh seven" and "nineteen hundred".
fn pair(value: u64) -> String {
    match value {
        0 => "hundred".into(),
        1..10 => format!("oh {}", cardinal(value)),
        _ => cardinal(value),
    }
}

/// Returns a cardinal number as it is said in Britain: "four hundred and seven".
fn with_and(value: u64) -> String {
    let group = |value: u64| match (value / 100, value % 100) {
        (0, rest) => cardinal(rest),
        (_, 0) => cardinal(value),
        (hundreds, rest) => format!("{} hundred and {}", cardinal(hundreds), cardinal(rest)),
    };
    let mut words = Vec::new();
    for (scale, name) in [(1_000_000, " million"), (1_000, " thousand"), (1, "")] {
        let part = value / scale % 1000;
        if part > 0 {
            let joins = scale == 1 && part < 100 && !words.is_empty();
            words.push(format!("{}{}{name}", if joins { "and " } else { "" }, group(part)));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all texts in which one part has another reading than the first, after the text with the first ones.
    fn texts(text: &str) -> Vec<String> {
        let alternatives = Alternatives::new(text);
        let counts: Vec<usize> = alternatives.counts().collect();
        let mut texts = vec![alternatives.text(&vec![0; counts.len()])];
        for (part, &count) in counts.iter().enumerate() {
            for reading in 1..count {
                let mut choices = vec![0; counts.len()];
                choices[part] = reading;
                texts.push(alternatives.text(&choices));
            }
        }
        texts
    }

    #[test]
    fn notes_are_spoken_or_not() {
        for (text, without, with) in [
            ("So [laughs] it is.", "So  it is.", "So laughs it is."),
            ("[laughs] So it is.", " So it is.", "laughs So it is."),
            ("So it is. [door opens]", "So it is. ", "So it is. door opens"),
            ("So it is [coughs].", "So it is .", "So it is coughs."),
            ("So <noise> it is.", "So  it is.", "So noise it is."),
            ("ANNA: So it is.", " So it is.", "ANNA: So it is."),
            ("JOHN SMITH: So it is.", " So it is.", "JOHN SMITH: So it is."),
            ("O'BRIEN: So it is.", " So it is.", "O'BRIEN: So it is."),
        ] {
            assert_eq!(texts(text), [without, with], "{text}");
        }
        for (text, with, without) in [
            ("So (it seems) it is.", "So (it seems) it is.", "So  it is."),
            ("(inaudible) So it is.", "(inaudible) So it is.", " So it is."),
            ("So *coughs* it is.", "So coughs it is.", "So  it is."),
            ("So *it* is.", "So it is.", "So  is."),
            ("Anna: So it is.", "Anna: So it is.", " So it is."),
            ("Well.\nAnna: So it is.", "Well.\nAnna: So it is.", "Well.\n So it is."),
        ] {
            assert_eq!(texts(text), [with, without], "{text}");
        }
        let two = texts("[sighs] So [laughs] it is.");
        assert_eq!(two, [" So  it is.", "sighs So  it is.", " So laughs it is."]);
    }

    #[test]
    fn other_brackets_and_colons_are_part_of_the_text() {
        for text in [
            "The book(s) here.",
            "a * x * y",
            "It is **bold**.",
            "a < b and c > d",
            "Open [bracket",
            "He said: so it is.",
            "It was so: ANNA said.",
            "The {T AH0 M EY1 T OW2} [laughs] is 12.",
            "Time 10:30",
            "f(x) is odd",
        ] {
            assert_eq!(texts(text).len(), 1, "{text}: {:?}", texts(text));
            assert_eq!(texts(text)[0], text);
        }
    }

    #[test]
    fn a_number_is_read_in_the_ways_that_people_say_it() {
        for (text, expected) in [
            (
                "Flight 407.",
                &["Flight four oh seven.", "Flight four hundred and seven.", "Flight four zero seven."][..],
            ),
            (
                "In 1905,",
                &["In nineteen oh five,", "In one thousand nine hundred and five,", "In one nine oh five,"],
            ),
            ("1900", &["nineteen hundred", "one thousand nine hundred"]),
            ("Room 12", &["Room one two", "Room twelve"]),
            ("107 cats", &["a hundred and seven cats", "a hundred seven cats", "one oh seven cats"]),
            ("1,005 cats", &["one thousand and five cats", "a thousand and five cats"]),
            ("(2024)", &["(twenty twenty four)", "(two thousand and twenty four)"]),
            ("007!", &["oh oh seven!", "zero zero seven!"]),
        ] {
            let found = texts(text);
            assert_eq!(found[0], text, "the first reading is the normaliser's");
            for expected in expected {
                assert!(found.iter().any(|found| found == expected), "{expected}: {found:?}");
            }
        }
    }

    #[test]
    fn parts_of_other_numbers_are_left_to_the_normaliser() {
        for text in
            ["$407", "40%", "3.5", "10:30", "1/2", "4th", "A4", "12,34", "1234567890", "-5", "20°", "1.2.3"]
        {
            assert_eq!(texts(text), [text], "{text}");
        }
    }
}
