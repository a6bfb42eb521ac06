//! The verbalisers of the rule table: functions of a group, and functions of a whole match.

use super::{
    amount::{is_adjective, quantity},
    mathematics, money,
    numerals::{self, Number, integer, is_digits, short_year},
    place::{Match, is_opening, is_plural},
    roman,
    short_forms::{MONTHS, calendar_name},
    spelled,
    units::unit,
    words::{FUNCTION_WORDS, is_starter},
};
use crate::text::numbers::{self, cardinal, one_by_one, ordinal};

type Verbaliser = fn(&Match) -> Option<String>;

/// Functions of a whole match: `@name`.
const OF_MATCHES: &[(&str, Verbaliser)] = &[
    ("amount", amount),
    ("dimensions", dimensions),
    ("euros", money::euros),
    ("feet", feet),
    ("fraction", slashed),
    ("inches", inches),
    ("month-day", month_day),
    ("money", money::read),
    ("money-range", money::range),
    ("numbers", point_groups),
    ("number", number),
    ("slashes", day_month_year),
];

type Function = fn(&str) -> Option<String>;

/// Functions of a group: `{1:c}`.
#[rustfmt::skip]
const OF_GROUPS: &[(&str, Function)] = &[
    ("c", |text| Some(quantity(text)?.0)), ("d", |text| Some(digits(text))), ("n", |text| Some(Number::scan(text).filter(|(_, rest)| rest.is_empty())?.0.words())),
    ("y", |text| integer(text).map(numbers::year)), ("yy", |text| Some(short_year(text))), ("p", |text| Some(numerals::in_pairs(text))), ("o", |text| integer(&text.replace(',', "")).map(ordinal)),
    ("s", |text| Some(spelled(text))), ("code", |text| Some(code(text))), ("name", |text| calendar_name(text).map(Into::into)), ("decade", decade), ("time", time), ("mil", numerals::military_time),
    ("month", |text| calendar_name(text).filter(|name| MONTHS.contains(name)).map(Into::into)), ("day", |text| integer(text).filter(|day| (1..=31).contains(day)).map(ordinal)),
    ("mon", |text| Some(MONTHS.get(integer(text)?.checked_sub(1)? as usize)?.to_string())),
    ("unit", |text| Some(unit(text)?.0)), ("units", |text| Some(unit(text)?.1)), ("many", |text| Some(plural(text))), ("labels", labels), ("state", super::geography::state),
    ("thousands", |text| integer(&text.replace([' ', '\''], "")).map(cardinal)), ("toll", |text| Some(digits(text).replace(',', ""))), ("mixed", |text| Some(quantity(text).filter(|_| text.contains('/') && text.contains([' ', '-', '–']))?.0)),
    ("ip", |text| Some(text.split('.').map(numerals::in_pairs).collect::<Vec<_>>().join(" dot "))), ("points", |text| Some(text.split('.').map(numerals::number_or_year).collect::<Vec<_>>().join(" point "))), ("each", |text| Some(text.split('-').filter_map(integer).map(cardinal).collect::<Vec<_>>().join(", "))),
    ("span", span), ("phone", |text| (text.bytes().filter(u8::is_ascii_digit).count() > 6).then(|| digits(text))), ("book", book), ("short", |text| super::short_forms::find(&text.to_ascii_lowercase()).map(|(_, full, _)| (*full).into())),
    ("nth", |text| Some(["first", "second", "third"][roman::value(text).or_else(|| integer(text))?.checked_sub(1)? as usize].into())), ("dated", dated), ("degrees", |side| Some(unit(&format!("°{side}"))?.1)), ("currency", |mark| Some(money::currency(mark)?.1.into())),
    ("currencies", |mark| Some(money::currency(mark)?.2.into())), ("term", mathematics::term), ("function", mathematics::function), ("expression", mathematics::expression), ("roman", |text| roman::value(&text.to_ascii_uppercase()).map(cardinal)), ("side", |text| super::geography::side(&text.to_ascii_uppercase()).map(Into::into)),
];

/// Whether the functions that a rule names exist.
#[cfg(test)]
pub fn is_known(template: &str) -> bool {
    let groups =
        template.split('{').skip(1).filter_map(|part| part.split('}').next()?.split_once([':', '?']));
    template.strip_prefix('@').is_none_or(|name| OF_MATCHES.iter().any(|(known, _)| *known == name))
        && groups
            .flat_map(|(_, names)| names.split(':'))
            .all(|name| OF_GROUPS.iter().any(|(known, _)| *known == name))
}

/// Returns the words of a match. Returns `None` if a function fails.
pub fn words(template: &str, found: &Match) -> Option<String> {
    if let Some(name) = template.strip_prefix('@') {
        return OF_MATCHES.iter().find(|(known, _)| *known == name)?.1(found);
    }
    let mut words = String::new();
    for (index, piece) in template.split(['[', ']']).enumerate() {
        let (optional, mut rest) = (index % 2 == 1, piece);
        let mut part = String::new();
        let mut absent = false;
        while let Some((before, behind)) = rest.split_once('{') {
            let (field, behind) = behind.split_once('}')?;
            let name = field.trim_start_matches(|c: char| c.is_ascii_digit());
            let group = found.groups[field[..field.len() - name.len()].parse::<usize>().ok()?];
            absent |= group.is_empty();
            part.push_str(before);
            if !(optional && absent) {
                let mut said = group.to_string();
                for name in name.split([':', '?']).filter(|name| !name.is_empty()) {
                    said = OF_GROUPS.iter().find(|(known, _)| *known == name)?.1(&said)?;
                }
                match name.as_bytes().first() {
                    Some(b'?') => {}
                    None => part.push_str(&said.to_ascii_lowercase().replace('-', " ")),
                    _ => part.push_str(&said),
                }
            }
            rest = behind;
        }
        if !(optional && absent) {
            words.extend([&part, rest]);
        }
    }
    Some(words)
}

/// Returns the words of groups of digits, with pauses between them. "800" is "eight hundred".
fn digits(text: &str) -> String {
    let groups = text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty());
    let words = groups.enumerate().map(|(at, group)| match group {
        "800" | "900" if at > 0 && text.starts_with('1') => cardinal(group.parse().unwrap_or(0)),
        group => one_by_one(group),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the letters and digits of a code one by one.
fn code(text: &str) -> String {
    let one = |c: char| {
        if c.is_ascii_digit() {
            one_by_one(c.encode_utf8(&mut [0; 4]))
        } else {
            c.to_ascii_uppercase().to_string()
        }
    };
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() { one(c) } else { String::new() })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the words of labels in parentheses: "(c)(3)".
fn labels(text: &str) -> Option<String> {
    let labels = text.split(['(', ')']).filter(|label| !label.is_empty());
    let words = labels
        .map(|label| if is_digits(label) { integer(label).map(cardinal) } else { Some(spelled(label)) });
    Some(words.collect::<Option<Vec<_>>>()?.join(" "))
}

/// Returns the words of a decade, without its "s": "1990", "80".
fn decade(digits: &str) -> Option<String> {
    Some(match integer(digits)? {
        1000 => "thousands".into(),
        100 => "hundreds".into(),
        value => numbers::decade(value),
    })
}

/// Returns the words of a time of day: "3:45", "15:00", "6.30", "2:05:09". Fails if it is none.
fn time(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split([':', '.']).collect();
    let hours = integer(parts[0]).filter(|hours| *hours < 25)?;
    let below_ten = |value: u64| if value < 10 { format!("oh {}", cardinal(value)) } else { cardinal(value) };
    let rest: Vec<u64> =
        parts[1..].iter().map(|part| integer(part).filter(|value| *value < 60)).collect::<Option<_>>()?;
    Some(match rest[..] {
        [] => cardinal(hours),
        [0] if hours > 12 || hours == 0 => format!("{} hundred", cardinal(hours)),
        [0] | [0, 0] => cardinal(hours),
        [0, seconds] => format!("{} oh oh {}", cardinal(hours), below_ten(seconds)),
        [minutes] => format!("{} {}", cardinal(hours), below_ten(minutes)),
        [minutes, seconds, ..] => {
            format!("{} {} {}", cardinal(hours), below_ten(minutes), below_ten(seconds))
        }
    })
}

/// Returns the full name of a book of scripture: "Cor".
fn book(name: &str) -> Option<String> {
    #[rustfmt::skip]
    const BOOKS: &[&str] = &[
        "genesis", "exodus", "leviticus", "numbers", "deuteronomy", "joshua", "judges", "samuel", "kings", "chronicles", "nehemiah", "psalm", "proverbs", "ecclesiastes", "isaiah", "jeremiah",
        "ezekiel", "daniel", "hosea", "micah", "habakkuk", "zechariah", "malachi", "matthew", "mark", "luke", "john", "acts", "romans", "corinthians", "galatians", "ephesians", "philippians",
        "colossians", "thessalonians", "timothy", "hebrews", "james", "peter", "revelation", "job", "ruth", "psalms", "surah", "quran",
    ];
    #[rustfmt::skip]
    const SHORT: &[(&str, &str)] = &[("jas", "james"), ("jn", "john"), ("lk", "luke"), ("mk", "mark"), ("mt", "matthew"), ("phil", "philippians"), ("ps", "psalm"), ("pss", "psalms")];
    let name = name.to_ascii_lowercase();
    let (stem, short) = name.strip_suffix('.').map_or((name.as_str(), false), |stem| (stem, true));
    let irregular = SHORT.iter().find(|(short, _)| *short == stem).map(|(_, full)| *full);
    let book = |book: &&&str| **book == stem || short && stem.len() > 1 && book.starts_with(stem);
    irregular.or_else(|| BOOKS.iter().find(book).copied()).map(Into::into)
}

/// Returns the words of a span of time: "2h30m".
fn span(text: &str) -> Option<String> {
    let mut words = Vec::new();
    for part in text.split_inclusive(|c: char| c.is_ascii_alphabetic()) {
        let (number, letter) = part.trim().split_at(part.trim().len() - 1);
        let value = integer(number)?;
        let name = match letter {
            "d" => "day",
            "h" => "hour",
            "m" => "minute",
            _ => "second",
        };
        words.push(format!("{} {name}{}", cardinal(value), if value == 1 { "" } else { "s" }));
    }
    Some(words.join(" "))
}

/// Returns the words of a month and a day in digits: "12/24".
fn dated(text: &str) -> Option<String> {
    let (month, day) = text.split_once('/')?;
    Some(format!(
        "{} {}",
        MONTHS.get(integer(month)?.checked_sub(1)? as usize)?,
        ordinal(integer(day).filter(|day| (1..=31).contains(day))?)
    ))
}

/// Returns the plural of a number in words: "seven forty sevens", "sixes", "twenties".
pub fn plural(words: &str) -> String {
    match words.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if words.ends_with(['x', 's']) => format!("{words}es"),
        None => format!("{words}s"),
    }
}

/// Returns the next word without its punctuation, or an empty string if punctuation is in between.
fn next_word<'t>(found: &Match<'t>) -> &'t str {
    let next = found
        .after
        .trim_start_matches('"')
        .strip_prefix(' ')
        .and_then(|after| after.split(' ').next())
        .unwrap_or("");
    next.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())
}

/// Reads an amount and its unit, of which group 2 is what is between them.
fn amount(found: &Match) -> Option<String> {
    /// Units only without a space before them; after a space they are words or letters.
    const ATTACHED: &[&str] = &["x", "l", "v", "mo", "ac", "ct", "T", "M", "F", "A", "H"];
    let [_, number, between, symbol] = found.groups[..] else { return None };
    let (words, one) = quantity(number)?;
    let spaced = between == " ";
    let period = found.after.starts_with('.');
    let goes_on =
        found.after.strip_prefix(". ").is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()));
    if symbol == "HR" {
        return None;
    }
    let symbol = symbol.replace('.', "").replace("° ", "°");
    let (singular, many) = match symbol.as_str() {
        // "2 T. oil", "1 c. milk"
        "T" if spaced && goes_on => unit("tbsp")?,
        "t" if spaced && goes_on => unit("tsp")?,
        "c" if spaced && goes_on => ("cup".into(), "cups".into()),
        "in" if !between.is_empty() => {
            let size = [
                " tall", " long", " wide", " high", " deep", " thick", " x ", " by ", " of rain", " of snow",
            ];
            (period || found.after.len() < 2 || size.iter().any(|size| found.after.starts_with(size)))
                .then(|| unit("in"))??
        }
        "mo" | "ac" | "cal" if spaced && period => unit(&symbol)?,
        short if spaced && ATTACHED.contains(&short) => return None,
        "a" | "h" | "K" | "x" if between == "-" => return None,
        // "42 W. 5th St."
        letter if spaced && letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_uppercase()) => {
            let next = found.after.strip_prefix('.').unwrap_or(found.after).trim_start();
            let goes_on = next.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
            (!goes_on || is_starter(next.split(' ').next().unwrap_or(""))).then(|| unit(letter))??
        }
        _ => unit(&symbol)?,
    };
    let name = if one || between == "-" || is_adjective(found) { singular } else { many };
    Some(format!("{words} {name}"))
}

/// Reads inches, unless the mark closes a quotation.
fn inches(found: &Match) -> Option<String> {
    let mut open = 0;
    for chunk in found.before.split(' ') {
        let opening = chunk.len() - chunk.trim_start_matches(is_opening).len();
        open += chunk[..opening].matches('"').count();
        open -= chunk[opening..].matches('"').count().min(open);
    }
    let (words, one) = quantity(found.groups[1])?;
    #[rustfmt::skip]
    const DIMENSIONS: &[&str] = &["thick", "wide", "long", "tall", "deep", "high", "x", "across", "snow", "rain"];
    let next = next_word(found);
    let noun = !next.is_empty()
        && next.bytes().all(|byte| byte.is_ascii_lowercase())
        && !FUNCTION_WORDS.contains(&next);
    let noun = noun && !found.groups[1].contains(['-', '–']) && !DIMENSIONS.contains(&next);
    let singular =
        one || noun || is_adjective(&Match { groups: vec![], ..*found }) || found.before.ends_with(" a ");
    (open == 0).then(|| format!("{words} {}", if singular { "inch" } else { "inches" }))
}

/// Reads feet, perhaps with inches; more than twelve of them are the minutes and seconds of a race.
fn feet(found: &Match) -> Option<String> {
    let (words, one) = quantity(found.groups[1]).filter(|_| !found.before.ends_with('\''))?;
    Some(match found.groups.get(2).and_then(|inches| integer(inches)) {
        Some(inches @ 0..=12) => format!("{words} foot {}", cardinal(inches)),
        Some(seconds) => format!("{words} minutes {} seconds", cardinal(seconds)),
        None => format!("{words} {}", if one { "foot" } else { "feet" }),
    })
}

/// Reads "2x4", "2x4s", "1920x1080", "the 4x100 m relay".
fn dimensions(found: &Match) -> Option<String> {
    let [_, a, b, many, symbol] = found.groups[..] else { return None };
    let a_number = Number::scan(a)?.0;
    let b = if a_number.is_year() { numerals::in_pairs(b) } else { Number::scan(b)?.0.words() };
    let names = unit(symbol);
    let name = names.map_or(String::new(), |(one, many)| if is_adjective(found) { one } else { many });
    Some(format!("{} by {b}{many} {name}", a_number.words()))
}

/// Reads a number without a unit: as a count before a plural, otherwise perhaps as a year.
fn number(found: &Match) -> Option<String> {
    const PEOPLE: &[&str] = &["children", "feet", "men", "people", "percent", "sheep", "women"];
    #[rustfmt::skip]
    const BEFORE_YEAR: &[&str] = &[
        "after", "and", "before", "by", "during", "from", "in", "of", "since", "the", "to", "until", "year", "spring", "summer", "fall", "autumn", "winter", "early", "late", "mid", "circa",
    ];
    let number = Number::scan(found.groups[1])?.0;
    let before = found.before.trim_end().rsplit(' ').next().unwrap_or("").to_ascii_lowercase();
    let next = next_word(found);
    let dated = BEFORE_YEAR.contains(&before.as_str())
        || MONTHS.contains(&before.as_str())
        || before.len() == 2 && before.starts_with('q');
    let counts = (PEOPLE.contains(&next) || is_plural(next)) && !dated && !number.whole.ends_with("00");
    Some(if counts { number.count() } else { number.words() })
}

/// Reads numbers around a slash: "3/4", "8/10", "120/80".
fn slashed(found: &Match) -> Option<String> {
    let (top, bottom) = (integer(found.groups[1])?, integer(found.groups[2])?);
    let next = next_word(found);
    let (above, below) = (cardinal(top), cardinal(bottom));
    Some(if top + bottom == 100 && top >= bottom || top == bottom && top != 10 || next == "vision" {
        format!("{above} {below}")
    } else if ["stars", "points", "rating"].contains(&next)
        || bottom == 10 && top == 10
        || bottom == 100 && top > 1
    {
        format!("{above} out of {below}")
    } else {
        match numerals::fraction(top, bottom).filter(|_| top < bottom) {
            Some(words) => words,
            None => format!("{above} over {below}"),
        }
    })
}

/// Reads "12/25/2020", "25.12.2020", and of two numbers the day of "7/4".
fn day_month_year(found: &Match) -> Option<String> {
    let [_, a, b, ref year @ ..] = found.groups[..] else { return None };
    let (a, b) = (integer(a)?, integer(b)?);
    let (month, day) = if a > 12 { (b, a) } else { (a, b) };
    if !(1..=31).contains(&day) {
        return None;
    }
    let year = match year.first() {
        None => String::new(),
        Some(year) if year.len() == 2 => {
            let value = integer(year)?;
            format!(" {}", numbers::year(if value < 40 { 2000 + value } else { 1900 + value }))
        }
        Some(year) => format!(" {}", numbers::year(integer(year)?)),
    };
    Some(format!("{} {}{year}", MONTHS.get(month.checked_sub(1)? as usize)?, ordinal(day)))
}

/// Reads "7/4" as a date where it is an unlikely fraction, or where a word before says so.
fn month_day(found: &Match) -> Option<String> {
    let (a, b) = (integer(found.groups[1])?, integer(found.groups[2])?);
    let before = found.before.trim_end().rsplit(' ').next().unwrap_or("").to_ascii_lowercase();
    let next = next_word(found);
    let noun = !next.is_empty()
        && next.bytes().all(|byte| byte.is_ascii_lowercase())
        && !FUNCTION_WORDS.contains(&next);
    let common = a < b && [2, 3, 4].contains(&b);
    #[rustfmt::skip]
    const DATED: &[&str] = &[
        "on", "by", "since", "until", "before", "after", "begins", "closes", "dated", "deadline", "due", "effective", "ends", "expires", "opens", "starts",
    ];
    let zero = found.groups[1].starts_with('0') && found.groups[0].len() == 5;
    let last = found.before.trim_end_matches([',', ' ', '.']).rsplit(' ').next();
    let meant = if last.is_some_and(|day| calendar_name(day).is_some()) {
        true
    } else if common && (before == "by" || a < 8 && noun)
        || a < 8 && b == 8 && noun
        || before == "by" && found.before.to_ascii_lowercase().contains("divid")
        || found.before.contains("ultipl")
    {
        false
    } else {
        DATED.contains(&before.as_str())
            || a <= 12 && (13..=31).contains(&b) && ![16, 20].contains(&b) && next != "of"
            || zero
            || b == 1 && a <= 12
            || ["and", "between", "from", "through", "to"].contains(&before.as_str())
                && (b == 1 || b > 10 && b != 16)
    };
    meant.then(|| day_month_year(found))?
}

/// Reads numbers with more than one point: "1.2.3", "192.168.0.1", "1.000.000".
fn point_groups(found: &Match) -> Option<String> {
    let groups: Vec<&str> = found.groups[1].split('.').collect();
    let small = groups.iter().all(|group| integer(group).is_some_and(|value| value < 256));
    if groups[0].len() < 4
        && groups[1..].iter().all(|group| group.len() == 3)
        && found.groups[1].ends_with("000")
    {
        return integer(&groups.concat()).map(cardinal);
    }
    let say = |group: &&str| {
        if groups.len() == 4 && small { numerals::in_pairs(group) } else { numerals::number_or_year(group) }
    };
    Some(groups.iter().map(say).collect::<Vec<_>>().join(if groups.len() == 4 && small {
        " dot "
    } else {
        " point "
    }))
}
