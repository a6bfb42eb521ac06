//! Writes English out in words: numbers, dates, times, money, units, abbreviations and symbols. Unicode is folded to ASCII.
//!
//! The result consists of words of letters and apostrophes, separated by single spaces, with `,` `.` `?` `!` after words. It is in lower case, except
//! abbreviations in capitals, which [`super::Phonemizer`] looks up, or spells if the dictionary lacks them.
//!
//! A text is split at whitespace into chunks (tokens). Each chunk is offered to one reader after another, from the most specific to the most general. A
//! reader sees the neighbouring chunks and returns words, and the number of chunks that they replace. A chunk that no reader accepts is read in parts.

mod abbreviations;
mod address;
mod amount;
mod capitals;
mod geography;
mod layout;
mod mathematics;
mod money;
mod numerals;
mod operators;
pub mod place;
mod roman;
mod rules;
mod sentence_end;
pub mod sentences;
mod short_forms;
mod shorthand;
mod units;
mod verbalise;
mod words;
mod writer;

pub use sentences::{NormalizedSentence, normalized_sentences, sentences};

use super::fold::fold;
use crate::{Error, Result};
use capitals::spelled;
use place::{Reading, TokenContext};
use writer::Writer;

/// Longer chunks, in bytes, are not offered to the readers but split into runs of letters and of digits.
const MAX_CHUNK: usize = 100;

/// Writes a text out in words. A text that ends with a comma goes on, so that no full stop ends it. Fails with `text-empty` if it is blank, and with `text-unsupported` if it has nothing to speak.
pub fn normalize(text: &str) -> Result<String> {
    if text.trim().is_empty() {
        return Err(Error::text_empty());
    }
    // A blank line ends a sentence without a period; a single line break is a space.
    let folded = fold(text);
    let lines: Vec<&str> = folded.lines().map(str::trim).collect();
    let joined =
        lines.iter().map(|line| if line.is_empty() { "\n" } else { line }).collect::<Vec<_>>().join(" ");
    let text = joined.split([' ', '\t']).filter(|chunk| !chunk.is_empty()).collect::<Vec<_>>().join(" ");
    let chunks: Vec<&str> = text.split(' ').collect();
    let all = chunks.len() > 1 && !text.contains(|c: char| c.is_ascii_lowercase());
    let mut writer = Writer::default();
    let mut index = 0;
    while index < chunks.len() {
        let capitals = |at: usize| chunks.get(at).is_some_and(|chunk| is_shouted(chunk));
        let [first, second] = [1, 2].map(|back| capitals(index.wrapping_sub(back)));
        let shouted =
            all || first && (second || capitals(index + 1)) || capitals(index + 1) && capitals(index + 2);
        index += writer.chunk(&TokenContext { text: &text, chunks: &chunks, index, shouted });
    }
    writer.finish(text.ends_with(',')).ok_or_else(|| Error::text_unsupported(&text))
}

/// Whether a chunk is a word in capitals that is no abbreviation, as far as its length and its vowels tell.
fn is_shouted(chunk: &str) -> bool {
    let word = place::Chunk::new(chunk).body;
    let vowels = word.bytes().filter(|byte| b"AEIOUY".contains(byte)).count();
    word.len() > 1
        && word.bytes().all(|byte| byte.is_ascii_uppercase())
        && vowels > 0
        && (word.len() > 3 || capitals::is_short_word(word))
}

/// Offers a chunk to the readers, from the most specific to the most general.
fn read(context: &TokenContext, body: &str) -> Reading {
    if body.is_empty() || body.len() > MAX_CHUNK {
        return None;
    }
    shorthand::read(context, body)
        .or_else(|| operators::numeric(context, body))
        .or_else(|| abbreviations::read(context))
        .or_else(|| address::read(context))
        .or_else(|| roman::is_counted(context).then(|| roman::read(context))?)
        .or_else(|| capitals::initials(context, body))
        .or_else(|| roman::read(context))
        .or_else(|| capitals::namesake(context, body))
        .or_else(|| (body == "ACT").then(|| capitals::test(context))?)
}

/// Whether a character can be part of a word.
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
    fn text_without_words_is_an_error() {
        assert_eq!(normalize("").unwrap_err().code(), "text-empty");
        assert_eq!(normalize("  \n ").unwrap_err().code(), "text-empty");
        assert_eq!(normalize("你好").unwrap_err().code(), "text-unsupported");
        assert_eq!(normalize("?!...").unwrap_err().code(), "text-unsupported");
    }

    #[test]
    fn normalising_twice_changes_nothing() {
        for text in
            ["Dr. Smith paid $5.50 on March 3rd, 1995, at 3:45 p.m.!", "NASA's 1990s budget: 3.5% (or less)?"]
        {
            let once = normalize(text).unwrap();
            assert_eq!(normalize(&once).unwrap(), once);
        }
    }

    #[test]
    fn sentences_end_at_full_stops_but_not_at_abbreviations() {
        assert_eq!(
            sentences("Dr. Smith came. \"Did he?\" Yes! It cost 3.5 dollars, e.g. J. Doe's"),
            ["Dr. Smith came.", "\"Did he?\"", "Yes!", "It cost 3.5 dollars, e.g. J. Doe's",]
        );
        assert_eq!(sentences("title\n\nbody goes on... and on"), ["title", "body goes on... and on"]);
        assert!(sentences(" ... \n").is_empty());
    }

    #[test]
    fn long_sentences_split_at_commas_else_spaces_else_anywhere() {
        let commas = format!("{}, {}.", "a".repeat(200), "b".repeat(100));
        assert_eq!(sentences(&commas), [format!("{},", "a".repeat(200)), format!("{}.", "b".repeat(100))]);
        let clauses = format!("{} and {}.", "a ".repeat(90), "b ".repeat(80));
        assert_eq!(sentences(&clauses)[0], format!("{},", "a ".repeat(90).trim_end()));
        assert_eq!(normalize("We went home,").unwrap(), "we went home,");
        let spaces = "word ".repeat(100);
        assert!(
            sentences(&spaces)
                .iter()
                .all(|part| part.len() <= 250 && part.trim_end_matches(',').ends_with("word"))
        );
        assert_eq!(sentences(&"x".repeat(600)).iter().map(String::len).collect::<Vec<_>>(), [250, 250, 100]);
    }
}
