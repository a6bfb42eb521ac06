//! Written English to words: numbers, dates, times, money, units, abbreviations and symbols are written out, Unicode is folded.
//!
//! The result holds words of letters and apostrophes, separated by single spaces, and `,` `.` `?` `!` after words. It is lower case but for
//! abbreviations in capitals, which [`super::Phonemizer`] looks up and else spells.
//!
//! A text is cut at blanks into chunks. Each is offered to one reader after another, from the most particular to the most general; a reader sees
//! the neighbours and answers with words and how many chunks they stand for. What no reader takes is read in parts.

mod abbreviations;
mod address;
mod amount;
mod capitals;
mod chemistry;
mod chess;
mod citations;
mod coordinates;
mod dates;
mod digits;
mod figures;
mod labels;
mod mathematics;
mod money;
mod music;
mod numerals;
mod operators;
pub(super) mod place;
mod quantity;
mod roman;
mod sentence_end;
mod sentences;
mod short_forms;
mod shorthand;
mod telephone;
mod unit_behind;
mod units;
mod words;
mod writer;

pub use sentences::sentences;

use super::fold::fold;
use crate::{Error, Result};
use capitals::spelled;
use place::{Place, Reading};
use writer::Writer;

/// Longer chunks are no numbers, dates or names; they are read in runs of letters and digits.
const MAX_CHUNK: usize = 100;
/// Writes a text out in words. Fails where it holds nothing to speak: `text-empty` for blanks, `text-unsupported` otherwise.
pub fn normalize(text: &str) -> Result<String> {
    if text.trim().is_empty() {
        return Err(Error::text_empty());
    }
    let folded = fold(text);
    let mut chunks: Vec<&str> = Vec::new();
    // A blank line ends a sentence even where no period does; a single line break is a space.
    for line in folded.lines() {
        chunks.extend(line.split_whitespace());
        if line.trim().is_empty() {
            chunks.push("\n");
        }
    }
    let shouted = chunks.len() > 1 && !folded.contains(|c: char| c.is_ascii_lowercase());
    let mut writer = Writer::default();
    let mut index = 0;
    while index < chunks.len() {
        index += writer.chunk(&Place { chunks: &chunks, index, shouted });
    }
    writer.finish().ok_or_else(|| Error::text_unsupported(text))
}

/// The readers, from the most particular to the most general.
fn read(place: &Place, body: &str) -> Reading {
    if body.is_empty() || body.len() > MAX_CHUNK {
        return None;
    }
    let reading = digits::idiom(body)
        .or_else(|| shorthand::read(place, body))
        .or_else(|| citations::scripture(place))
        .or_else(|| citations::section(place))
        .or_else(|| music::read(place, body))
        .or_else(|| chess::read(body))
        .or_else(|| chemistry::read(body))
        .or_else(|| coordinates::read(body))
        .or_else(|| dates::named_date(place))
        .or_else(|| abbreviations::read(place))
        .or_else(|| dates::numeric_date(place, body));
    let reading = reading.or_else(|| telephone::read(place));
    reading
        .or_else(|| address::read(place))
        .or_else(|| unit_behind::unit_behind_word(place, body))
        .or_else(|| roman::is_counted(place).then(|| roman::read(place))?)
        .or_else(|| capitals::initials(place, body))
        .or_else(|| roman::read(place))
        .or_else(|| capitals::namesake(place, body))
        .or_else(|| {
            (["Fe", "Cu"].contains(&body) && place.word_before() != "santa").then(|| (spelled(body), 1))
        })
        .or_else(|| (body == "ACT").then(|| capitals::test(place))?)
        .or_else(|| mathematics::read(place, body))
        .or_else(|| operators::numeric(place, body))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '\''
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(normalize(text).unwrap(), *expected, "{text}");
        }
    }

    #[test]
    fn numbers() {
        check(&[
            ("0", "zero."),
            ("42 cats", "forty two cats."),
            ("1,234,567", "one million two hundred thirty four thousand five hundred sixty seven."),
            ("-5 and 3.14", "minus five and three point one four."),
            ("007", "zero zero seven."),
            (
                "12345678901234567890",
                "one two three four five six seven eight nine zero one two three four five six seven eight nine zero.",
            ),
            ("the 1st, 22nd and 103rd", "the first, twenty second and one hundred third."),
            ("50% off", "fifty percent off."),
            ("1/2 or 3/4 or 2/5", "one half or three quarters or two fifths."),
            ("½ cup", "one half cup."),
            ("pages 10-20", "pages ten to twenty."),
            ("version 1.2.3", "version one point two point three."),
            ("#7", "number seven."),
            ("555-1234", "five five five, one two three four."),
        ]);
    }

    #[test]
    fn years_dates_and_times() {
        check(&[
            (
                "In 1995, 2000, 2005, 2024 and 1900.",
                "in nineteen ninety five, two thousand, two thousand five, twenty twenty four and nineteen hundred.",
            ),
            ("1905", "nineteen oh five."),
            ("the 1990s and the '80s", "the nineteen nineties and the eighties."),
            ("March 3rd, 1995", "march third, nineteen ninety five."),
            ("On May 5 we may go.", "on may fifth we may go."),
            ("12/25/2020", "december twenty fifth twenty twenty."),
            ("2024-07-04", "july fourth twenty twenty four."),
            ("at 3:45 pm", "at three forty five P M."),
            ("at 3:05", "at three oh five."),
            ("at 10am", "at ten A M."),
            ("15:00", "fifteen hundred."),
            ("7:00 a.m. sharp", "seven A M sharp."),
        ]);
    }

    #[test]
    fn money_and_units() {
        check(&[
            ("$5", "five dollars."),
            ("$1", "one dollar."),
            ("$5.50!", "five dollars and fifty cents!"),
            ("$0.99", "ninety nine cents."),
            ("$3.5 million more", "three point five million dollars more."),
            ("£20 or €1,000", "twenty pounds or one thousand euros."),
            ("5kg and 1 km", "five kilograms and one kilometer."),
            ("20°C", "twenty degrees celsius."),
            ("60 mph.", "sixty miles per hour."),
            ("6 in a row", "six in a row."),
        ]);
    }

    #[test]
    fn abbreviations() {
        check(&[
            ("Dr. Smith met Mr. Jones.", "doctor smith met mister jones."),
            ("St. Paul lives on Main St. today.", "saint paul lives on main street today."),
            ("Pets, e.g. cats, i.e. not dogs, etc.", "pets, for example cats, that is not dogs, et cetera."),
            ("The U.S. army and the U.S.A.", "the U S army and the U S A."),
            ("NASA, the FBI, and two CDs", "NASA, the FBI, and two C D's."),
            ("Henry VIII", "henry the eighth."),
            ("I am A or B.", "i am A or B."),
        ]);
    }

    #[test]
    fn punctuation_folds() {
        check(&[
            ("“Hello,” she said; ‘tis — well… fine", "hello, she said, tis, well, fine."),
            ("What?! No... (really)", "what? no, really."),
            ("well-known rock 'n' roll", "well known rock n roll."),
            ("Don’t!", "don't!"),
            ("one\n\ntwo\nthree", "one. two three."),
            ("a & b + c = d", "a and B plus C equals D."),
            (
                "mail me@site.org or www.example.com/page",
                "mail me at site dot org or W W W dot example dot com slash page.",
            ),
            ("Café 你好 😀 naïve", "cafe naive."),
            (",,, hello", "hello."),
        ]);
    }

    #[test]
    fn nothing_speakable_is_an_error() {
        assert_eq!(normalize("").unwrap_err().code(), "text-empty");
        assert_eq!(normalize("  \n ").unwrap_err().code(), "text-empty");
        assert_eq!(normalize("你好").unwrap_err().code(), "text-unsupported");
        assert_eq!(normalize("?!...").unwrap_err().code(), "text-unsupported");
    }

    #[test]
    fn normal_text_stays_as_it_is() {
        for text in
            ["Dr. Smith paid $5.50 on March 3rd, 1995, at 3:45 p.m.!", "NASA's 1990s budget: 3.5% (or less)?"]
        {
            let once = normalize(text).unwrap();
            assert_eq!(normalize(&once).unwrap(), once);
        }
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            sentences("Dr. Smith came. \"Did he?\" Yes! It cost 3.5 dollars, e.g. J. Doe's"),
            ["Dr. Smith came.", "\"Did he?\"", "Yes!", "It cost 3.5 dollars, e.g. J. Doe's",]
        );
        assert_eq!(sentences("title\n\nbody goes on... and on"), ["title", "body goes on... and on"]);
        assert!(sentences(" ... \n").is_empty());
    }

    #[test]
    fn long_sentences_split_at_commas_then_spaces_then_anywhere() {
        let commas = format!("{}, {}.", "a".repeat(200), "b".repeat(100));
        assert_eq!(sentences(&commas), [format!("{},", "a".repeat(200)), format!("{}.", "b".repeat(100))]);
        let spaces = "word ".repeat(100);
        assert!(sentences(&spaces).iter().all(|part| part.len() <= 250 && part.ends_with("word")));
        assert_eq!(sentences(&"x".repeat(600)).iter().map(String::len).collect::<Vec<_>>(), [250, 250, 100]);
    }
}
