//! Writes words and pauses, and splits chunks that no reader accepts as a whole.

use super::{
    MAX_CHUNK,
    capitals::{camel_case, capitals_and_word, is_spelled, spelled},
    is_letter,
    numerals::{self, Number},
    operators::operator,
    place::{Chunk, TokenContext, starts_with_digit},
    read,
    sentence_end::ends_sentence,
    short_forms::calendar_name,
    shorthand,
};
use crate::text::numbers::cardinal;

const EMOTICONS: &[&str] = &["<3", ":D", ":P", ":p", ":-D", ":-P", ";D", ":o", ":O", "XD", "xD", ":3"];

const ISOTOPES: &[&str] = &["americium", "cesium", "iodine", "plutonium", "radium", "thorium", "uranium"];

/// Names whose reading does not follow from their capitals.
#[rustfmt::skip]
const CASED: &[(&str, &str)] = &[
    ("CoV", "cov"), ("GaN", "G A N"), ("IaaS", "I A A S"), ("LaTeX", "la tech"), ("MiG", "mig"), ("MiGs", "migs"), ("PaaS", "pass"), ("PostgreSQL", "postgres Q L"), ("SaaS", "sass"),
    ("VoIP", "voip"), ("Wi-Fi", "wifi"), ("WiFi", "wifi"),
];

/// The words written so far, and the pause to be written after the last of them.
#[derive(Default)]
pub struct Writer {
    out: String,
    pause: Option<char>,
}

impl Writer {
    /// Writes the words of `text`, which are separated by spaces and consist of letters and apostrophes. A comma after a word makes a pause.
    fn words(&mut self, text: &str) {
        for word in text.split(' ').filter(|word| word.bytes().any(|byte| byte.is_ascii_alphabetic())) {
            if let Some(pause) = self.pause.take().filter(|_| !self.out.is_empty()) {
                self.out.push(pause);
            }
            if !self.out.is_empty() {
                self.out.push(' ');
            }
            self.out.extend(word.chars().filter(|c| is_letter(*c)));
            if word.ends_with(',') {
                self.pause(',');
            }
        }
    }

    /// Requests a pause after the last word. Of several requests the strongest mark is written.
    fn pause(&mut self, mark: char) {
        let strength =
            |mark: Option<char>| mark.and_then(|mark| ",.!?".find(mark)).map_or(0, |rank| rank + 1);
        if strength(Some(mark)) > strength(self.pause) {
            self.pause = Some(mark);
        }
    }

    /// Returns the text, ended by a period, a question mark or an exclamation mark, or by a comma if it goes on. Returns `None` if there are no words.
    pub fn finish(mut self, goes_on: bool) -> Option<String> {
        if self.out.is_empty() {
            return None;
        }
        let end = if goes_on { ',' } else { '.' };
        self.out.push(self.pause.filter(|mark| *mark != ',').unwrap_or(end));
        Some(self.out)
    }

    /// Writes the current chunk, and those that are read together with it. Returns the number of chunks written.
    pub fn chunk(&mut self, context: &TokenContext) -> usize {
        let Some(raw) = context.raw(0) else {
            self.pause('.');
            return 1;
        };
        if EMOTICONS.contains(&raw) {
            return 1;
        }
        // "3! = 6"
        if let Some(number) = raw.strip_suffix('!').filter(|_| context.raw(1) == Some("="))
            && let Some(number) = numerals::integer(number)
        {
            self.words(&format!("{} factorial", cardinal(number)));
            return 1;
        }
        if let Some(words) = operator(context) {
            if words.is_empty() {
                self.pause(',');
            } else {
                self.words(words);
            }
            return 1;
        }
        let chunk = Chunk::new(raw);
        if chunk.open.contains(['(', '[', '{']) {
            self.pause(',');
        }
        // "Menu: A cup of tea"
        let begins = self.out.is_empty() || self.pause.is_some();
        let article = chunk.body == "A"
            && chunk.close.is_empty()
            && begins
            && context.raw(1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()));
        let used = match read(context, chunk.body) {
            _ if article => {
                self.words("a");
                1
            }
            Some((words, used)) => {
                self.words(&words);
                used
            }
            None => {
                self.parts(chunk.body, context);
                1
            }
        };
        let last = used - 1;
        let close = context.chunk(last).map_or("", |chunk| chunk.close);
        for mark in close.chars() {
            match mark {
                ';' | ':' | ',' | ')' | ']' | '}' | '–' | '—' => self.pause(','),
                '.' if close.contains("..") => self.pause(','),
                // "5 in. long"
                '.' if used > 1
                    && context
                        .raw(used)
                        .is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase())) => {}
                '.' if !ends_sentence(context.raw(last).unwrap_or(""), context.raw(used)) => {}
                '.' | '?' | '!' => self.pause(mark),
                _ => {}
            }
        }
        used
    }

    /// Writes a chunk whose parts are separated by marks and read one by one: "mid-1990s", "AT&T", "2+2=4".
    fn parts(&mut self, body: &str, context: &TokenContext) {
        const MARKS: [char; 15] = ['-', '–', '/', '+', '=', '*', '×', '^', '&', '<', '>', '≤', '≥', '≠', '#'];
        if body.len() > MAX_CHUNK || !body.contains(MARKS) {
            return self.mixed(body, context.shouted);
        }
        // A school grade: "A-", "B+".
        if let [letter @ b'A'..=b'F', sign @ (b'-' | b'+')] = body.as_bytes() {
            let sign = if *sign == b'-' { "minus" } else { "plus" };
            return self.words(&format!("{} {sign}", char::from(*letter)));
        }
        // "A-flat", "A-list"
        if let Some(("A", rest)) = body.split_once('-').filter(|(_, rest)| rest.len() > 2) {
            self.words("A");
            return self.parts(rest, context);
        }
        // A hyphen binds more weakly than the other marks: "post-9/11", "3/4-inch".
        if body.contains('-') && body.contains(|mark| mark != '-' && MARKS.contains(&mark)) {
            for part in body.split('-').filter(|part| !part.is_empty()) {
                let chunks = [part];
                match read(&TokenContext::alone(&chunks, context.shouted), part) {
                    Some((words, _)) => self.words(&words),
                    None => self.parts(part, context),
                }
            }
            return;
        }
        let joined = body.contains('&');
        let mut before = "";
        for piece in body.split_inclusive(MARKS) {
            let part = piece.trim_end_matches(MARKS);
            let chunks = [part];
            let alone = TokenContext::alone(&chunks, context.shouted);
            // "CX-5"
            let goes_on = &body[piece.as_ptr() as usize - body.as_ptr() as usize + piece.len()..];
            let letters = piece.ends_with('-')
                && starts_with_digit(goes_on)
                && (super::roman::is_numeral(part)
                    || part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_uppercase()));
            let key = shorthand::key(part).filter(|_| body.contains('+'));
            let numbered = numbered_part(body, before, part);
            let reading = key
                .map(|key| (key.to_string(), 1))
                .or_else(|| read(&alone, part))
                .filter(|_| !part.is_empty());
            match numbered.or_else(|| letters.then(|| spelled(part))).or(reading.map(|(words, _)| words)) {
                Some(words) => self.words(&words),
                // "M&Ms"
                None if joined && matches!(part.as_bytes(), [b'A'..=b'Z', b's']) => {
                    self.words(&format!("{}'s", &part[..1]));
                }
                None if joined && part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                    self.words(&spelled(part));
                }
                // The "a" of "a² + b²".
                None if part.len() == 1 && piece.ends_with(['^', '=']) => {
                    self.words(&spelled(&part.to_ascii_uppercase()));
                }
                None => self.mixed(part, context.shouted),
            }
            if !self.mark(&piece[part.len()..], part, before, goes_on) {
                return;
            }
            before = part;
        }
    }

    /// Writes the words of a mark after `part`. Returns false if they include the rest of the chunk.
    fn mark(&mut self, mark: &str, part: &str, before: &str, rest: &str) -> bool {
        let digits = (part.is_empty() && before.ends_with(|c: char| c.is_ascii_digit())
            || part.ends_with(|c: char| c.is_ascii_digit()))
            && starts_with_digit(rest);
        match mark {
            "/" if digits => self.words("over"),
            "*" | "×" if digits => self.words("times"),
            "<" if digits => self.words("is less than"),
            ">" if digits => self.words("is greater than"),
            "≤" => self.words("is less than or equal to"),
            "≥" => self.words("is greater than or equal to"),
            "≠" => self.words("is not equal to"),
            "^" if matches!(rest, "2" | "3") => {
                self.words(if rest == "2" { "squared" } else { "cubed" });
                return false;
            }
            "^" if digits => self.words("to the power of"),
            "-" if matches!(part, "UTC" | "GMT") && numerals::is_digits(rest) => self.words("minus"),
            "-" if part.is_empty() => self.pause(','),
            // "yes–no", not "K–12"
            "–" if part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                self.pause(',');
            }
            "–" if part.ends_with(|c: char| c.is_ascii_digit()) && calendar_name(rest).is_some() => {
                self.words("to");
            }
            "–" if part.is_empty() || rest.is_empty() => self.pause(','),
            "+" => self.words("plus"),
            "=" => self.words("equals"),
            "&" => self.words("and"),
            "#" if part.len() == 1 => self.words("sharp"),
            _ => {}
        }
        true
    }

    /// Writes letters, digits and marks in any order. Each run of letters is a word, each run of digits a number.
    fn mixed(&mut self, body: &str, shouted: bool) {
        let mut rest = body;
        let mut after_digit = false;
        let mut after_letter = false;
        while let Some(first) = rest.chars().next() {
            let run = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
            let length = if first.is_ascii_digit() {
                let (number, behind) = Number::scan(rest).expect("it begins with a digit");
                // "A320"
                self.words(&if after_letter && number.value().is_some() {
                    numerals::in_pairs(number.whole)
                } else {
                    number.words()
                });
                rest.len() - behind.len()
            } else if is_letter(first) {
                let length = run(is_letter);
                let word = rest[..length].trim_matches('\'');
                let by_digit = after_digit || starts_with_digit(&rest[length..]);
                if by_digit
                    && word.len() <= 2
                    && word.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && (word.len() == 1 || word.to_ascii_uppercase() == word)
                {
                    self.words(&spelled(&word.to_ascii_uppercase()));
                } else {
                    self.word(word, shouted);
                }
                length
            } else {
                match first {
                    '&' => self.words("and"),
                    '+' => self.words("plus"),
                    '=' => self.words("equals"),
                    '%' => self.words("percent"),
                    '@' => self.words("at"),
                    '°' => self.words("degrees"),
                    '$' if body.len() == 1 => self.words("dollars"),
                    '£' => self.words("pounds"),
                    '€' => self.words("euros"),
                    '¥' => self.words("yen"),
                    '—' | '–' | ';' | ':' | ',' | '(' | ')' | '[' | ']' | '!' | '?' => {
                        self.pause(if matches!(first, '!' | '?') { first } else { ',' });
                    }
                    _ => {}
                }
                first.len_utf8()
            };
            after_digit = first.is_ascii_digit();
            after_letter = rest[..length].bytes().all(|byte| byte.is_ascii_uppercase());
            rest = &rest[length..];
        }
    }

    /// Writes a run of letters. Capitals are kept if they may be an abbreviation or the name of a letter.
    fn word(&mut self, word: &str, shouted: bool) {
        let capitals = word.bytes().all(|byte| byte.is_ascii_uppercase());
        let in_capitals =
            |stem: &&str| !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_uppercase());
        // "CDs", "URL's", "straight A's"
        let plural = word
            .strip_suffix("'s")
            .filter(in_capitals)
            .or_else(|| word.strip_suffix('s').filter(|stem| stem.len() >= 2).filter(in_capitals));
        if let Some((_, words)) = CASED.iter().find(|(cased, _)| *cased == word) {
            return self.words(words);
        }
        // "ID'd", "KO'd"
        if let Some((stem @ ("CC" | "DM" | "DQ" | "ID" | "KO" | "MC" | "OD" | "OK" | "PM"), ending)) =
            word.split_once('\'')
            && ["d", "ed", "ing"].contains(&ending)
        {
            return self.words(&format!("{}'{}", spelled(stem), if ending == "ed" { "d" } else { ending }));
        }
        let at_start = self.out.is_empty() || self.pause.is_some_and(|mark| mark != ',');
        let capital_o = matches!(word.as_bytes(), [b'A'..=b'Z', b'a' | b'e' | b'o', b'A'..=b'Z']);
        if let Some(stem) = plural {
            self.words(&format!(
                "{}'s",
                if is_spelled(stem) || stem == "IT" && !shouted { spelled(stem) } else { stem.to_string() }
            ));
        } else if capital_o {
            self.words(&spelled(&word.to_ascii_uppercase()));
        } else if let Some((first, second)) = capitals_and_word(word) {
            self.words(&spelled(first));
            self.word(second, shouted);
        } else if let Some((first, second)) = camel_case(word) {
            self.words(&first.to_ascii_lowercase());
            match second.bytes().all(|byte| byte.is_ascii_uppercase()) {
                true => self.words(&spelled(second)),
                false => self.word(second, shouted),
            }
        } else if is_spelled(word) && !shouted {
            self.words(&spelled(word));
        } else if capitals && (word.len() > 1 || !(word == "I" || word == "A" && at_start)) {
            self.words(word);
        } else {
            self.words(&word.to_ascii_lowercase());
        }
    }
}

/// Returns the words of a number after a hyphen that names a model or an age group.
fn numbered_part(body: &str, before: &str, part: &str) -> Option<String> {
    // "Uranium-235", "MiG-29"
    let model = !before.is_empty()
        && before.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (before.starts_with(|c: char| c.is_ascii_uppercase()) || ISOTOPES.contains(&before))
        && body.contains('-');
    // "two P-51s"
    let (number, many) = part.strip_suffix('s').map_or((part, false), |number| (number, true));
    // "the under-21s"
    let ages = many
        && numerals::is_digits(number)
        && ["over", "under"].contains(&before.to_ascii_lowercase().as_str());
    // "C-130J"
    let bare = number.trim_end_matches(|c: char| c.is_ascii_uppercase());
    let suffix = &number[bare.len()..];
    let number = if suffix.len() == 1 { bare } else { number };
    let model = model && numerals::is_digits(number) && (number.len() == 3 || many || suffix.len() == 1);
    if ages {
        Some(super::verbalise::plural(&numerals::number_or_year(number)))
    } else if model && many {
        Some(super::verbalise::plural(&numerals::in_pairs(number)))
    } else {
        model.then(|| format!("{} {}", numerals::in_pairs(number), spelled(suffix)))
    }
}
