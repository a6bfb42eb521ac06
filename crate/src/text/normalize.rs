//! Written English to words: numbers, dates, times, money, units, abbreviations and symbols are written out, Unicode is folded.
//!
//! The result holds words of letters and apostrophes, separated by single spaces, and `,` `.` `?` `!` after words. It is lower case but for
//! abbreviations in capitals, which [`super::Phonemizer`] looks up and else spells.

use super::fold::fold;
use super::numbers::{self, cardinal, decade, one_by_one, ordinal};
use crate::{Error, Result};

/// Longer sentences are split for the sake of memory and latency.
const MAX_SENTENCE: usize = 250;

#[rustfmt::skip]
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("mr.", "mister"), ("mrs.", "missus"), ("ms.", "miz"), ("dr.", "doctor"), ("prof.", "professor"), ("jr.", "junior"), ("sr.", "senior"), ("gen.", "general"),
    ("col.", "colonel"), ("lt.", "lieutenant"), ("sgt.", "sergeant"), ("capt.", "captain"), ("cpt.", "captain"), ("rev.", "reverend"), ("hon.", "honorable"),
    ("gov.", "governor"), ("sen.", "senator"), ("rep.", "representative"), ("pres.", "president"), ("maj.", "major"), ("cmdr.", "commander"), ("mt.", "mount"), ("ft.", "fort"),
    ("e.g.", "for example"), ("i.e.", "that is"), ("etc.", "et cetera"), ("vs.", "versus"), ("vs", "versus"), ("approx.", "approximately"), ("dept.", "department"),
    ("est.", "established"), ("vol.", "volume"), ("fig.", "figure"), ("inc.", "incorporated"), ("ltd.", "limited"), ("co.", "company"), ("corp.", "corporation"),
    ("ave.", "avenue"), ("blvd.", "boulevard"), ("rd.", "road"), ("apt.", "apartment"), ("cf.", "compare"), ("ca.", "circa"), ("a.m.", "A M"), ("p.m.", "P M"), ("ph.d.", "P H D"),
    ("jan.", "january"), ("feb.", "february"), ("mar.", "march"), ("apr.", "april"), ("aug.", "august"), ("sept.", "september"), ("sep.", "september"), ("oct.", "october"),
    ("nov.", "november"), ("dec.", "december"), ("mon.", "monday"), ("tues.", "tuesday"), ("wed.", "wednesday"), ("thurs.", "thursday"), ("fri.", "friday"), ("w/", "with"), ("w/o", "without"),
];
/// Abbreviations that end no sentence, though their period is followed by a capital.
const TITLES: &[&str] = &[
    "mr.", "mrs.", "ms.", "dr.", "prof.", "gen.", "col.", "lt.", "sgt.", "capt.", "rev.", "hon.", "gov.", "sen.", "rep.", "st.", "mt.",
    "ft.", "vs.", "e.g.", "i.e.", "no.", "fig.", "vol.",
];
#[rustfmt::skip]
const UNITS: &[(&str, &str, &str)] = &[
    ("km", "kilometer", "kilometers"), ("m", "meter", "meters"), ("cm", "centimeter", "centimeters"), ("mm", "millimeter", "millimeters"), ("mi", "mile", "miles"), ("ft", "foot", "feet"),
    ("in", "inch", "inches"), ("yd", "yard", "yards"), ("kg", "kilogram", "kilograms"), ("g", "gram", "grams"), ("mg", "milligram", "milligrams"), ("lb", "pound", "pounds"),
    ("lbs", "pound", "pounds"), ("oz", "ounce", "ounces"), ("l", "liter", "liters"), ("ml", "milliliter", "milliliters"), ("hz", "hertz", "hertz"), ("khz", "kilohertz", "kilohertz"),
    ("mhz", "megahertz", "megahertz"), ("ghz", "gigahertz", "gigahertz"), ("kb", "kilobyte", "kilobytes"), ("mb", "megabyte", "megabytes"), ("gb", "gigabyte", "gigabytes"),
    ("tb", "terabyte", "terabytes"), ("w", "watt", "watts"), ("kw", "kilowatt", "kilowatts"), ("v", "volt", "volts"), ("mph", "mile per hour", "miles per hour"),
    ("km/h", "kilometer per hour", "kilometers per hour"), ("kph", "kilometer per hour", "kilometers per hour"), ("ms", "millisecond", "milliseconds"), ("s", "second", "seconds"),
    ("sec", "second", "seconds"), ("min", "minute", "minutes"), ("hr", "hour", "hours"), ("hrs", "hour", "hours"), ("db", "decibel", "decibels"), ("%", "percent", "percent"),
    ("°", "degree", "degrees"), ("°c", "degree celsius", "degrees celsius"), ("°f", "degree fahrenheit", "degrees fahrenheit"), ("k", "thousand", "thousand"), ("bn", "billion", "billion"),
    ("x", "times", "times"), ("am", "A M", "A M"), ("pm", "P M", "P M"), ("a.m.", "A M", "A M"), ("p.m.", "P M", "P M"), ("¢", "cent", "cents"),
];
/// Units so short that only a number with no space before makes them one.
const ATTACHED_ONLY: &[&str] = &["in", "m", "g", "l", "w", "v", "s", "k", "x", "am", "mi", "%"];
const CURRENCIES: &[(char, &str, &str, &str, &str)] = &[
    ('$', "dollar", "dollars", "cent", "cents"),
    ('£', "pound", "pounds", "penny", "pence"),
    ('€', "euro", "euros", "cent", "cents"),
    ('¥', "yen", "yen", "sen", "sen"),
];
const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
const ROMAN: &[(&str, u64)] = &[
    ("II", 2),
    ("III", 3),
    ("IV", 4),
    ("VI", 6),
    ("VII", 7),
    ("VIII", 8),
    ("IX", 9),
    ("XI", 11),
    ("XII", 12),
    ("XIII", 13),
    ("XIV", 14),
    ("XV", 15),
    ("XVI", 16),
];

/// Writes a text out in words. Fails where it holds nothing to speak: [`Error::TextEmpty`] for blanks, [`Error::TextUnsupported`] otherwise.
pub fn normalize(text: &str) -> Result<String> {
    if text.trim().is_empty() {
        return Err(Error::TextEmpty);
    }
    let folded = fold(text);
    let mut writer = Writer::default();
    let mut chunks: Vec<&str> = Vec::new();
    // A blank line ends a sentence even where no period does; a single line break is a space.
    for line in folded.lines() {
        chunks.extend(line.split_whitespace());
        if line.trim().is_empty() {
            chunks.push("\n");
        }
    }
    let mut index = 0;
    while index < chunks.len() {
        index += writer.chunk(&chunks[index..], index.checked_sub(1).map(|before| chunks[before]));
    }
    writer.finish().ok_or_else(|| Error::TextUnsupported(text.chars().take(40).collect()))
}

/// The words written so far, and the pause that waits to be written behind the last.
#[derive(Default)]
struct Writer {
    out: String,
    pause: Option<char>,
}

impl Writer {
    /// Writes the words of `text`, separated by spaces; they are letters and apostrophes.
    fn words(&mut self, text: &str) {
        for word in text.split(' ').filter(|word| word.bytes().any(|byte| byte.is_ascii_alphabetic())) {
            if let Some(pause) = self.pause.take().filter(|_| !self.out.is_empty()) {
                self.out.push(pause);
            }
            if !self.out.is_empty() {
                self.out.push(' ');
            }
            self.out.push_str(word);
        }
    }

    /// The strongest of the pauses between two words wins.
    fn pause(&mut self, mark: char) {
        let strength = |mark: Option<char>| mark.and_then(|mark| ",.!?".find(mark)).map_or(0, |place| place + 1);
        if strength(Some(mark)) > strength(self.pause) {
            self.pause = Some(mark);
        }
    }

    fn finish(mut self) -> Option<String> {
        if self.out.is_empty() {
            return None;
        }
        self.out.push(self.pause.filter(|mark| *mark != ',').unwrap_or('.'));
        Some(self.out)
    }

    /// Writes the first of `chunks` and what belongs to it; returns how many were written.
    fn chunk(&mut self, chunks: &[&str], before: Option<&str>) -> usize {
        let chunk = chunks[0];
        if chunk == "\n" {
            self.pause('.');
            return 1;
        }
        let core = chunk.trim_start_matches(is_bracket);
        if core.len() < chunk.len() && chunk.contains(['(', '[', '{']) {
            self.pause(',');
        }
        // Abbreviations keep their period, so they go before punctuation.
        if let Some(used) = self.abbreviation(core, chunks.get(1).copied(), before) {
            return used;
        }
        let body = core.trim_end_matches(is_closing);
        let mut tail = &core[body.len()..];
        let ends = chunks.get(1).is_none_or(|next| *next == "\n");
        if !ends && tail.starts_with('.') && is_initials(body) {
            tail = &tail[1..];
        }
        let used = self.body(body, tail, chunks);
        let tail = if used > 1 { chunks[used - 1].trim_start_matches(|c: char| !is_closing(c)) } else { tail };
        for mark in tail.chars() {
            match mark {
                ';' | ':' | ',' | ')' | ']' | '}' | '–' | '—' => self.pause(','),
                '.' if tail.contains("..") => self.pause(','),
                '.' | '?' | '!' => self.pause(mark),
                _ => {}
            }
        }
        used
    }

    fn abbreviation(&mut self, core: &str, next: Option<&str>, before: Option<&str>) -> Option<usize> {
        let bare = core.trim_end_matches([',', ')', ';', ':', '?', '!', '"', '\'']);
        let lower = bare.to_ascii_lowercase();
        let capital_follows = next.is_some_and(|next| next.starts_with(|c: char| c.is_ascii_uppercase()));
        let ends = next.is_none_or(|next| next == "\n");
        let said = match lower.as_str() {
            "st." if capital_follows => "saint",
            "st." => "street",
            "dr." if !capital_follows && before.is_some_and(|before| before.starts_with(|c: char| c.is_ascii_uppercase())) => "drive",
            "no." if next.is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit())) => "number",
            // A month or a day of three letters and a period is a word at the end of a sentence.
            "mar." | "wed." | "fri." | "co." | "sen." | "rep." | "fig." if ends => return None,
            _ => ABBREVIATIONS.iter().find(|(short, _)| *short == lower)?.1,
        };
        self.words(said);
        if core.len() > bare.len() {
            core[bare.len()..].chars().for_each(|mark| {
                if mark == '?' || mark == '!' {
                    self.pause(mark)
                } else if mark == ',' || mark == ';' || mark == ')' {
                    self.pause(',')
                }
            });
        }
        if ends || (capital_follows && matches!(lower.as_str(), "etc." | "a.m." | "p.m." | "inc." | "ltd." | "corp.")) {
            self.pause('.');
        }
        Some(1)
    }

    /// Writes a chunk without the punctuation around it; `chunks` begins with the chunk itself.
    fn body(&mut self, body: &str, tail: &str, chunks: &[&str]) -> usize {
        if body.is_empty() {
            return 1;
        }
        let next = chunks.get(1).copied().filter(|_| tail.is_empty());
        if let Some(used) = self.month_day(body, tail, chunks) {
            return used;
        }
        if let Some(used) = self.number(body, next) {
            return used;
        }
        if is_address(body) {
            self.address(body);
            return 1;
        }
        if is_initials(body) {
            let letters: Vec<String> = body.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase().to_string()).collect();
            self.words(&letters.join(" "));
            return 1;
        }
        if let Some((_, value)) = ROMAN.iter().find(|(roman, _)| *roman == body)
            && !self.out.is_empty()
        {
            self.words(&cardinal(*value));
            return 1;
        }
        self.mixed(body);
        1
    }

    /// "March 3", "March 3rd, 2024", "3 March".
    fn month_day(&mut self, body: &str, tail: &str, chunks: &[&str]) -> Option<usize> {
        let month = body.to_ascii_lowercase();
        if !MONTHS.contains(&month.as_str()) || !tail.is_empty() || !body.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        let day = chunks.get(1)?.trim_end_matches(is_closing);
        let digits = day.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if digits.len() > 2 || !["", "st", "nd", "rd", "th"].contains(&&day[digits.len()..]) {
            return None;
        }
        let value = digits.parse().ok().filter(|value| (1..=31).contains(value))?;
        self.words(&month);
        self.words(&ordinal(value));
        Some(2)
    }

    /// A chunk that begins like a number. Returns how many chunks were written.
    fn number(&mut self, body: &str, next: Option<&str>) -> Option<usize> {
        const SIGNS: [(char, &str); 4] = [('-', "minus"), ('+', "plus"), ('#', "number"), ('~', "about")];
        let signed = SIGNS.iter().find_map(|(mark, sign)| Some((*sign, body.strip_prefix(*mark)?)));
        // '90s
        let short_decade = body.strip_prefix('\'').filter(|rest| rest.len() == 3 && rest.ends_with('s'));
        let (sign, rest) = signed.or(short_decade.map(|rest| ("", rest))).unwrap_or(("", body));
        let currency = CURRENCIES.iter().find(|(mark, ..)| rest.starts_with(*mark));
        let rest = currency.map_or(rest, |(mark, ..)| &rest[mark.len_utf8()..]);
        if !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !rest.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '/' | '-' | '–'))).unwrap_or(rest.len());
        let digits = rest[..end].trim_end_matches(|c: char| !c.is_ascii_digit());
        let suffix = &rest[digits.len()..];
        let lower = suffix.to_ascii_lowercase();

        if let Some((_, one, many, cent, cents)) = currency {
            self.words(sign);
            return Some(self.money(digits, &lower, next, (one, many, cent, cents)));
        }
        self.words(sign);
        if ["st", "nd", "rd", "th"].contains(&lower.as_str())
            && let Some(value) = integer(digits)
        {
            self.words(&ordinal(value));
            return Some(1);
        }
        if (lower == "s" || lower == "'s")
            && let Some(value) = integer(digits)
            && digits.ends_with('0')
        {
            self.words(&decade(value));
            return Some(1);
        }
        let said = self.plain_number(digits);
        if lower.is_empty() {
            let Some(unit) =
                next.and_then(|next| unit(next.trim_end_matches(is_closing)).filter(|(short, ..)| !ATTACHED_ONLY.contains(short)))
            else {
                return Some(1);
            };
            self.words(if said == Some(1) { unit.1 } else { unit.2 });
            return Some(2);
        }
        if let Some((_, one, many)) = unit(&lower) {
            self.words(if said == Some(1) { one } else { many });
            return Some(1);
        }
        self.mixed(suffix);
        Some(1)
    }

    /// Digits with separators. Returns the value where it is a whole number.
    fn plain_number(&mut self, digits: &str) -> Option<u64> {
        if let Some((hours, minutes)) = time(digits) {
            self.words(&cardinal(hours));
            match minutes {
                0 if hours > 12 || hours == 0 => self.words("hundred"),
                0 => {}
                1..10 => self.words(&format!("oh {}", cardinal(minutes))),
                _ => self.words(&cardinal(minutes)),
            }
            return None;
        }
        if let Some((year, month, day)) = date(digits) {
            self.words(MONTHS[month - 1]);
            self.words(&ordinal(day));
            if let Some(year) = year {
                self.words(&numbers::year(year));
            }
            return None;
        }
        let fraction = digits.split_once('/').and_then(|(top, bottom)| Some((integer(top)?, integer(bottom)?)));
        if let Some((top, bottom)) = fraction {
            match (top, bottom) {
                (1, 2) => self.words("one half"),
                (1, 4) => self.words("one quarter"),
                (3, 4) => self.words("three quarters"),
                (top, 3..=20) => self.words(&format!("{} {}{}", cardinal(top), ordinal(bottom), if top == 1 { "" } else { "s" })),
                _ => self.words(&format!("{} over {}", cardinal(top), cardinal(bottom))),
            }
            return None;
        }
        if let Some((from, to)) = digits.split_once(['-', '–'])
            && !to.contains(['-', '–'])
            && to.len() <= 4
            && (from.len() == to.len() || to.len() <= 3)
            && integer(from).zip(integer(to)).is_some_and(|(from, to)| from < to)
        {
            self.words(&number_or_year(from));
            self.words("to");
            self.words(&number_or_year(to));
            return None;
        }
        if digits.contains(['-', '–', '/', ':']) {
            // Telephone numbers, scores and the like: digit by digit, with a pause at each separator.
            for (index, group) in digits.split(['-', '–', '/', ':']).enumerate() {
                if index > 0 {
                    self.pause(',');
                }
                self.words(&one_by_one(group));
            }
            return None;
        }
        let mut points = digits.split('.');
        let (whole, decimals) = (points.next().unwrap_or(""), points.next());
        if points.next().is_some() {
            self.words(&digits.split('.').map(number_or_year).collect::<Vec<_>>().join(" point "));
            return None;
        }
        match decimals {
            Some(decimals) => {
                let whole = if whole.is_empty() { "zero".to_string() } else { grouped(whole) };
                self.words(&format!("{whole} point {}", one_by_one(decimals)));
                None
            }
            None => {
                self.words(&if whole.contains(',') { grouped(whole) } else { number_or_year(whole) });
                integer(&whole.replace(',', ""))
            }
        }
    }

    fn money(&mut self, digits: &str, suffix: &str, next: Option<&str>, names: (&str, &str, &str, &str)) -> usize {
        let (one, many, cent, cents) = names;
        let scale = |word: &str| match word {
            "k" | "thousand" => Some("thousand"),
            "m" | "million" => Some("million"),
            "b" | "bn" | "billion" => Some("billion"),
            "t" | "trillion" => Some("trillion"),
            _ => None,
        };
        let following = next.map(|next| next.trim_end_matches(is_closing).to_ascii_lowercase()).filter(|next| next.len() > 2);
        let (scale, used) = match (scale(suffix), following.as_deref().and_then(scale)) {
            (Some(scale), _) => (Some(scale), 1),
            (None, Some(scale)) if suffix.is_empty() => (Some(scale), 2),
            _ => (None, 1),
        };
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        let two_decimals = decimals.len() == 2 && decimals.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(scale) = scale {
            let points = if decimals.is_empty() { String::new() } else { format!(" point {}", one_by_one(decimals)) };
            self.words(&format!("{}{points} {scale} {many}", grouped(whole)));
        } else if two_decimals {
            let (units, hundredths) = (integer(&whole.replace(',', "")).unwrap_or(0), integer(decimals).unwrap_or(0));
            let unit = if units == 1 { one } else { many };
            let part = if hundredths == 1 { cent } else { cents };
            if units > 0 || hundredths == 0 {
                self.words(&format!("{} {unit}", grouped(whole)));
            }
            if units > 0 && hundredths > 0 {
                self.words("and");
            }
            if hundredths > 0 {
                self.words(&format!("{} {part}", cardinal(hundredths)));
            }
        } else {
            let points = if decimals.is_empty() { String::new() } else { format!(" point {}", one_by_one(decimals)) };
            self.words(&format!("{}{points} {}", grouped(whole), if digits == "1" { one } else { many }));
        }
        if scale.is_none() {
            self.mixed(suffix);
        }
        used
    }

    fn address(&mut self, body: &str) {
        let body = body.trim_start_matches("https://").trim_start_matches("http://");
        for (index, part) in body.split_inclusive(['.', '@', '/', '-', ':', '?', '=', '&', '#']).enumerate() {
            let word = part.trim_end_matches(['.', '@', '/', '-', ':', '?', '=', '&', '#']);
            if index == 0 && word.eq_ignore_ascii_case("www") {
                self.words("W W W");
            } else {
                self.mixed(word);
            }
            match &part[word.len()..] {
                "." => self.words("dot"),
                "@" => self.words("at"),
                "/" if !body.ends_with(part) => self.words("slash"),
                "-" => self.words("dash"),
                _ => {}
            }
        }
    }

    /// Letters, digits and marks in any order: each run of letters is a word, each of digits a number.
    fn mixed(&mut self, body: &str) {
        let mut rest = body;
        while let Some(first) = rest.chars().next() {
            let run = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
            let length = if first.is_ascii_digit() {
                let length = run(|c| c.is_ascii_digit());
                self.words(&number_or_year(&rest[..length]));
                length
            } else if is_letter(first) {
                let length = run(is_letter);
                self.word(rest[..length].trim_matches('\''));
                length
            } else {
                match first {
                    '&' => self.words("and"),
                    '+' => self.words("plus"),
                    '=' => self.words("equals"),
                    '%' => self.words("percent"),
                    '@' => self.words("at"),
                    '°' => self.words("degrees"),
                    '$' => self.words("dollars"),
                    '£' => self.words("pounds"),
                    '€' => self.words("euros"),
                    '¥' => self.words("yen"),
                    '—' | '–' | ';' | ':' | ',' | '(' | ')' | '[' | ']' | '!' | '?' => {
                        self.pause(if matches!(first, '!' | '?') { first } else { ',' })
                    }
                    _ => {}
                }
                first.len_utf8()
            };
            rest = &rest[length..];
        }
    }

    /// A run of letters: capitals are kept where they may be an abbreviation or the name of a letter.
    fn word(&mut self, word: &str) {
        let capitals = word.bytes().all(|byte| byte.is_ascii_uppercase());
        let plural = word.strip_suffix('s').filter(|stem| stem.len() >= 2 && stem.bytes().all(|byte| byte.is_ascii_uppercase()));
        let at_start = self.out.is_empty() || self.pause.is_some_and(|mark| mark != ',');
        if let Some(stem) = plural {
            // CDs, URLs
            self.words(&format!("{stem}'s"));
        } else if capitals && (word.len() > 1 || !(word == "I" || word == "A" && at_start)) {
            self.words(word);
        } else {
            self.words(&word.to_ascii_lowercase());
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '\''
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '"' | '*')
}

/// Punctuation that closes a chunk.
fn is_closing(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '?' | '!' | ')' | ']' | '}' | '"' | '*' | '–' | '—')
}

fn is_address(body: &str) -> bool {
    let name = |part: &str| part.bytes().any(|byte| byte.is_ascii_alphabetic());
    body.starts_with("http://")
        || body.starts_with("https://")
        || body.starts_with("www.")
        || body.split_once('@').is_some_and(|(user, host)| name(user) && host.contains('.'))
        || [".com", ".org", ".net", ".edu", ".gov", ".io", ".dev"].iter().any(|end| body.strip_suffix(end).is_some_and(name))
}

/// "U.S." and "U.S.A.", not "a." alone.
fn is_initials(body: &str) -> bool {
    let letters: Vec<&str> = body.split('.').filter(|part| !part.is_empty()).collect();
    letters.len() >= 2
        && body.len() <= 12
        && letters.iter().all(|part| part.len() == 1 && part.as_bytes()[0].is_ascii_alphabetic())
        && body.len() >= 2 * letters.len() - 1
}

fn unit(word: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let lower = word.to_ascii_lowercase();
    UNITS.iter().find(|(short, ..)| *short == lower)
}

/// A whole number of at most 15 digits.
fn integer(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|byte| byte.is_ascii_digit()) { None } else { digits.parse().ok() }
}

/// Thousands separated by commas.
fn grouped(digits: &str) -> String {
    let plain = digits.replace(',', "");
    integer(&plain).map_or_else(|| one_by_one(&plain), cardinal)
}

/// Four digits from 1100 to 2099 are read as a year; what begins with a zero or is too long, digit by digit.
fn number_or_year(digits: &str) -> String {
    match integer(digits) {
        Some(value) if digits.len() == 1 || !digits.starts_with('0') => {
            if digits.len() == 4 && (1100..2100).contains(&value) {
                numbers::year(value)
            } else {
                cardinal(value)
            }
        }
        _ => one_by_one(digits),
    }
}

fn time(digits: &str) -> Option<(u64, u64)> {
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes_value) = (integer(hours).filter(|_| hours.len() <= 2)?, integer(minutes)?);
    (minutes.len() == 2 && hours < 25 && minutes_value < 60).then_some((hours, minutes_value))
}

/// 12/25/2024 and 2024-12-25: (year, month, day).
fn date(digits: &str) -> Option<(Option<u64>, usize, u64)> {
    let parts: Vec<&str> = digits.split(['/', '-']).collect();
    let [a, b, c] = parts.as_slice() else { return None };
    let (year, month, day) = if a.len() == 4 {
        (a, b, c)
    } else if c.len() == 4 || (c.len() == 2 && digits.contains('/')) {
        (c, a, b)
    } else {
        return None;
    };
    let (year, month, day) = (integer(year)?, integer(month)?, integer(day)?);
    let year = if year < 100 { year + 2000 } else { year };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((Some(year), month as usize, day))
}

/// Splits a text at the ends of its sentences, and sentences of more than 250 characters at commas or spaces.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    for paragraph in text.split("\n\n") {
        let mut words = paragraph.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
            let next_begins = words.peek().is_none_or(|next| !next.starts_with(|c: char| c.is_lowercase()));
            if next_begins && ends_sentence(word) {
                push_split(&mut sentences, &std::mem::take(&mut current));
            }
        }
        push_split(&mut sentences, &std::mem::take(&mut current));
    }
    sentences
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»']);
    if bare.ends_with(['?', '!', '。', '？', '！']) {
        return true;
    }
    let lower = bare.trim_start_matches(['"', '\'', '(', '“']).to_lowercase();
    let initial = lower.len() == 2 && lower.starts_with(|c: char| c.is_ascii_lowercase()) && lower != "i.";
    bare.ends_with(['.', '…']) && !TITLES.contains(&lower.as_str()) && !initial
}

/// Adds a sentence, in parts where it is too long. Parts without a letter or digit are joined to nothing and left out.
fn push_split(sentences: &mut Vec<String>, sentence: &str) {
    let mut rest = sentence.trim();
    // Phones in braces take some four characters for each letter, and a word of them is not cut.
    let (longest, word_end) = if sentence.contains('{') { (4 * MAX_SENTENCE, '}') } else { (MAX_SENTENCE, ' ') };
    while let Some((limit, _)) = rest.char_indices().nth(longest) {
        let head = &rest[..limit];
        let after_half = |place: &usize| *place > limit / 3;
        let end = head
            .rfind([',', ';', ':', '—'])
            .map(|place| place + head[place..].chars().next().map_or(1, char::len_utf8))
            .filter(after_half)
            .or_else(|| head.rfind(word_end).map(|place| place + 1).filter(after_half))
            .unwrap_or(limit);
        let (part, after) = rest.split_at(end);
        push_speakable(sentences, part.trim());
        rest = after.trim_start();
    }
    push_speakable(sentences, rest);
}

fn push_speakable(sentences: &mut Vec<String>, part: &str) {
    if part.chars().any(char::is_alphanumeric) {
        sentences.push(part.to_string());
    }
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
            ("NASA, the FBI, and two CDs", "NASA, the FBI, and two CD's."),
            ("Henry VIII", "henry eight."),
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
            ("a & b + c = d", "a and b plus c equals d."),
            ("mail me@site.org or www.example.com/page", "mail me at site dot org or W W W dot example dot com slash page."),
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
        for text in ["Dr. Smith paid $5.50 on March 3rd, 1995, at 3:45 p.m.!", "NASA's 1990s budget: 3.5% (or less)?"] {
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
