//! Where a short form is an abbreviation, and of what.
//!
//! One long file: each class of short forms is a few lines, and their order matters.

use super::place::{Chunk, Place, Reading, is_capitalized, starts_with_digit};
use super::roman::is_numeral;
use super::short_forms::When::{Always, Capital, Counting, Inside, MayEnd};
use super::short_forms::{
    ALSO_WORDS, BEFORE_SAINT, MONTHS, NUMBERED, SHORT_BEFORE_WORDS, SHORTENED_STATES, SHORTENED_WORDS,
    STATES, STREETS, STREETS_WITHOUT_PERIOD, calendar_name, find,
};
use super::words::is_starter;

pub fn read(place: &Place) -> Reading {
    let short = Short::new(place)?;
    let words = ANYWHERE.iter().find_map(|reading| reading(&short)).or_else(|| {
        let readings = if short.has_period() { WITH_PERIOD } else { WITHOUT_PERIOD };
        readings.iter().find_map(|reading| reading(&short)).flatten()
    })?;
    Some((words, 1))
}

/// A chunk that may be a short form, and what stands around it.
struct Short<'a> {
    place: &'a Place<'a>,
    chunk: Chunk<'a>,
    lower: String,
    /// The chunk behind it, where nothing but a period of its own stands between.
    next: Option<Chunk<'a>>,
    number_follows: bool,
    capital_before: bool,
    number_before: bool,
}

impl<'a> Short<'a> {
    fn new(place: &'a Place<'a>) -> Option<Self> {
        let chunk = place.chunk(0)?;
        let next = place.chunk(1).filter(|_| chunk.close == "." || chunk.close.is_empty());
        Some(Self {
            place,
            chunk,
            lower: chunk.body.to_ascii_lowercase(),
            next,
            number_follows: next
                .is_some_and(|next| starts_with_digit(next.body.trim_start_matches(['#', '+']))),
            capital_before: place
                .before()
                .is_some_and(|before| is_capitalized(before) && !is_starter(before)),
            number_before: place.before().is_some_and(|before| starts_with_digit(Chunk::new(before).body)),
        })
    }

    fn has_period(&self) -> bool {
        self.chunk.close.starts_with('.')
    }

    /// The chunk behind it, or an empty one, whatever stands between.
    fn behind(&self) -> &'a str {
        self.place.body_behind_period(1)
    }

    fn word_before_is(&self, words: &[&str]) -> bool {
        words.contains(&self.place.word_before().as_str())
    }

    fn lower_case_follows(&self) -> bool {
        self.place.raw(1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()))
    }

    /// Whether a name or a number stands before it, with no punctuation between: a street has one.
    fn is_named(&self) -> bool {
        self.place.before().is_some_and(|before| {
            (self.capital_before && !BEFORE_SAINT.contains(&before) || starts_with_digit(before))
                && Chunk::new(before).close.is_empty()
        })
    }
}

/// In the order in which they are asked, with or without a period.
const ANYWHERE: &[fn(&Short) -> Option<String>] = &[
    possessive,
    party,
    by_neighbours,
    state_university,
    heading,
    side_of_road,
    shortened_state,
    postal_state,
];
/// Without a period few words are short forms. `Some(None)` ends the search: it is a word.
const WITHOUT_PERIOD: &[fn(&Short) -> Option<Option<String>>] =
    &[bare_apartment, bare_title_or_street, bare_word, bare_day_or_month, examination, bare_date];
const WITH_PERIOD: &[fn(&Short) -> Option<Option<String>>] = &[
    life_dates,
    beaten,
    saint_or_street,
    doctor_or_drive,
    by_words,
    side_of_street,
    before_lower_case,
    extreme,
    page_of_procedure,
    listed,
];

/// "Apple Inc.'s"
fn possessive(short: &Short) -> Option<String> {
    let (_, full, _) = find(&short.chunk.body.strip_suffix(".'s")?.to_ascii_lowercase())?;
    Some(format!("{full}'s"))
}

/// "D-Calif."
fn party(short: &Short) -> Option<String> {
    let (party, state) =
        short.chunk.body.split_once('-').filter(|(party, _)| ["D", "I", "R"].contains(party))?;
    let mut states = SHORTENED_STATES.iter().chain(STATES);
    let (_, state) = states.find(|(short, _)| short.eq_ignore_ascii_case(state))?;
    Some(format!("{party} {state}"))
}

/// Short forms that stand for one thing here and for another elsewhere: "Smith & Co.", "2d Cir.", "Sr. Maria".
fn by_neighbours(short: &Short) -> Option<String> {
    let &Short { place, chunk, capital_before, number_before, .. } = short;
    let behind = short.behind();
    let before_is = |holds: fn(&str) -> bool| place.before().is_some_and(holds);
    const CHANGES_OF_STATE: &[&str] = &["boiling", "dew", "flash", "freezing", "melting"];
    let words = match short.lower.as_str() {
        "co" if before_is(|before| ["&", "and"].contains(&before)) && short.has_period() => "company",
        "sec" if chunk.close == "." && is_office(chunk.body, behind) => "secretary",
        "tel" if short.has_period() && chunk.close.contains(':') => "telephone",
        "fl" if number_before => "floor",
        "c" if number_before && short.has_period() && before_is(|before| before.ends_with("th")) => "century",
        "ch" if before_is(|saint| saint.ends_with("'s")) => "church",
        "ed" if behind == "by" => "edited",
        "trans" if behind == "by" => "translated",
        "rev" if super::dates::is_month(behind) => "revised",
        "sts" if !capital_before && !number_before && is_capitalized(behind) => "saints",
        "cir" if number_before => "circuit",
        "deg" if number_before && short.has_period() => {
            if place.before() == Some("1") {
                "degree"
            } else {
                "degrees"
            }
        }
        "maj" if chunk.body == "maj" && behind == "of" => "majority",
        "pt" if short.word_before_is(CHANGES_OF_STATE) => "point",
        "sr" if !capital_before && is_capitalized(behind) => "sister",
        _ => return None,
    };
    Some(words.into())
}

/// "Ohio St."
fn state_university(short: &Short) -> Option<String> {
    let place = short.place;
    let home = place.before().is_some_and(|before| {
        let lower = before.to_ascii_lowercase();
        is_capitalized(before) && (is_state(&lower) || ["boise", "fresno", "penn"].contains(&lower.as_str()))
    });
    let address = (2..=3).any(|back| {
        place.back(back).is_some_and(|before| starts_with_digit(before) || ["on", "to"].contains(&before))
    });
    (short.lower == "st" && home && !address).then(|| "state".into())
}

/// "head N for a mile"
fn heading(short: &Short) -> Option<String> {
    const HEADING: &[&str] = &["drive", "driving", "go", "going", "head", "heading", "heads", "travel"];
    side(&short.chunk.body.to_ascii_uppercase()).filter(|_| short.word_before_is(HEADING)).map(Into::into)
}

/// "I-95 N", "123 N Main St"
fn side_of_road(short: &Short) -> Option<String> {
    let &Short { place, chunk, .. } = short;
    let side = side(chunk.body).filter(|_| chunk.open.is_empty())?;
    let before = place.before()?;
    let road = before.split_once('-').is_some_and(|(kind, number)| {
        ["I", "US", "SR", "CR", "Route", "Hwy"].contains(&kind) && starts_with_digit(number)
    }) || starts_with_digit(before)
        && place.back(2).is_some_and(|road| {
            ["highway", "hwy", "interstate", "route", "rte"]
                .contains(&road.trim_end_matches('.').to_ascii_lowercase().as_str())
        });
    let house = starts_with_digit(before)
        && chunk.close.is_empty()
        && place
            .body(1)
            .is_some_and(|street| is_capitalized(street) && !is_starter(street) || starts_with_digit(street))
        && place.chunk(2).is_some_and(|kind| {
            let kind = kind.body.to_ascii_lowercase();
            find(&kind).is_some_and(|(.., when)| *when == Capital)
                || ["street", "avenue", "road", "drive", "lane", "boulevard", "st", "dr"]
                    .contains(&kind.as_str())
        });
    (road || house).then(|| side.into())
}

/// "Calif.", where it can be no word: "in Wash." may be.
fn shortened_state(short: &Short) -> Option<String> {
    const WORDS_AFTER_IN: &[&str] = &["ark", "ill", "ind", "la", "mass", "miss", "ore", "wash"];
    let body = short.chunk.body;
    let (abbreviation, state) = SHORTENED_STATES.iter().find(|(form, _)| *form == short.lower)?;
    let certain = follows_comma(short)
        || !SHORTENED_WORDS.contains(abbreviation) && body[1..] == abbreviation[1..]
        || is_state_of(body, short.behind())
        || *abbreviation == "wash" && ["D.C", "state"].contains(&short.behind())
        || short.word_before_is(&["in", "of", "near"]) && !WORDS_AFTER_IN.contains(abbreviation);
    (certain && short.has_period() && is_capitalized(body)).then(|| state.to_string())
}

/// "Albany, NY"
fn postal_state(short: &Short) -> Option<String> {
    let (_, state) = STATES.iter().find(|(form, _)| *form == short.chunk.body)?;
    follows_comma(short).then(|| state.to_string())
}

fn follows_comma(short: &Short) -> bool {
    short.capital_before && short.place.before().is_some_and(|before| before.ends_with(','))
}

/// An apartment has a number.
fn bare_apartment(short: &Short) -> Option<Option<String>> {
    (short.lower == "apt" && !short.number_follows).then_some(None)
}

/// "St Paul", "Dr Green", "5 Elm Ave"
fn bare_title_or_street(short: &Short) -> Option<Option<String>> {
    let capital_follows = short.place.body(1).is_some_and(|next| is_capitalized(next) && !is_starter(next));
    let words = match short.chunk.body {
        "St" if capital_follows && !short.is_named() => "saint",
        "Dr" if capital_follows => "doctor",
        "Rm" if short.number_follows => "room",
        "Rte" if short.number_follows => "route",
        "Ph" | "Tel" if short.chunk.close == ":" => "phone",
        street => {
            let (_, full) = STREETS_WITHOUT_PERIOD.iter().find(|(form, _)| *form == street)?;
            short.is_named().then_some(full)?
        }
    };
    Some(Some(words.into()))
}

fn bare_word(short: &Short) -> Option<Option<String>> {
    let (_, full) = super::short_forms::WITHOUT_PERIOD.iter().find(|(form, _)| *form == short.lower)?;
    Some(Some(full.to_string()))
}

/// "on Fri", "since Nov"
fn bare_day_or_month(short: &Short) -> Option<Option<String>> {
    const BEFORE_DAY: &[&str] =
        &["by", "each", "every", "from", "last", "next", "on", "since", "this", "till", "to", "until"];
    const BEFORE_MONTH: &[&str] =
        &["by", "early", "from", "in", "last", "late", "mid", "next", "since", "this", "to", "until"];
    let &Short { place, chunk, .. } = short;
    let name = calendar_name(chunk.body).filter(|name| !name.eq_ignore_ascii_case(chunk.body))?;
    let fits = if MONTHS.contains(&name) { BEFORE_MONTH } else { BEFORE_DAY };
    let dated = chunk.close == ","
        && place.chunk(1).is_some_and(|next| {
            starts_with_digit(next.body) && next.body.len() < 3 || super::dates::is_month(next.body)
        });
    (short.word_before_is(fits) || dated).then(|| Some(name.to_string()))
}

/// "SAT 1480" is no Saturday.
fn examination(short: &Short) -> Option<Option<String>> {
    let capitals = short.chunk.body.bytes().all(|byte| byte.is_ascii_uppercase()) && !short.place.shouted;
    let scored = short
        .place
        .body(1)
        .is_none_or(|number| number.len() > 2 && starts_with_digit(number) && !number.contains(['/', ':']));
    (capitals && scored).then_some(None)
}

/// "Jan 5", "Sept 2020"
fn bare_date(short: &Short) -> Option<Option<String>> {
    let (.., when) = find(&short.lower)?;
    let name = calendar_name(short.chunk.body).filter(|_| *when == Capital && short.number_follows)?;
    Some(Some(name.to_string()))
}

/// "c. 1500", "b. 1756", "r. 1558–1603", "d. in 1904"
fn life_dates(short: &Short) -> Option<Option<String>> {
    let is_year = |chunk: Chunk| chunk.body.len() > 3 && starts_with_digit(chunk.body);
    if short.behind() == "in" && short.place.chunk(2).is_some_and(is_year) {
        return match short.chunk.body {
            "b" => Some(Some("born".into())),
            "d" => Some(Some("died".into())),
            _ => None,
        };
    }
    let year = short.next.map(|next| next.body).filter(|next| starts_with_digit(next))?;
    let words = match short.chunk.body {
        "c" | "C" if year.len() > 2 => "circa",
        "b" if year.len() > 3 => "born",
        "d" if year.len() > 3 => "died",
        "r" if year.len() > 3 => "reigned",
        "fl" if year.len() > 3 => "flourished",
        _ => return None,
    };
    Some(Some(words.into()))
}

/// "Alcaraz d. Ruud"
fn beaten(short: &Short) -> Option<Option<String>> {
    let name_follows = short.next.is_some_and(|next| is_capitalized(next.body) && !is_starter(next.body));
    (short.chunk.body == "d" && short.capital_before && name_follows).then(|| Some("defeated".into()))
}

/// "Elm St. Bridge", "42nd St. Station", "St. Paul"
fn saint_or_street(short: &Short) -> Option<Option<String>> {
    let name_follows = short.next.is_some_and(|next| is_capitalized(next.body))
        && !short.place.raw(1).is_some_and(is_starter);
    let numbered = short.place.before().is_some_and(starts_with_digit);
    let saint = name_follows && !numbered && !short.is_named();
    (short.lower == "st").then(|| Some(if saint { "saint" } else { "street" }.into()))
}

fn doctor_or_drive(short: &Short) -> Option<Option<String>> {
    let name_follows = short.next.is_some_and(|next| is_capitalized(next.body) && !is_starter(next.body));
    let drive = short.capital_before && !name_follows;
    (short.lower == "dr").then(|| Some(if drive { "drive" } else { "doctor" }.into()))
}

/// Short forms that are words as well.
fn by_words(short: &Short) -> Option<Option<String>> {
    const OWNERS: &[&str] = &["an", "her", "his", "my", "our", "the", "their", "this", "your"];
    let place = short.place;
    let numbered = || place.before().is_some_and(|before| NUMBERED.contains(&before.trim_end_matches('.')));
    let words = match short.lower.as_str() {
        "pp" => "pages",
        "ca" if short.chunk.body == "CA" => "C A",
        "no" if place.raw(1) == Some("of") || numbered() => "number",
        "tel" if short.behind() == "no" => "telephone",
        "apt" if short.word_before_is(OWNERS) => "apartment",
        _ => return None,
    };
    Some(Some(words.into()))
}

/// "N. Main St."
fn side_of_street(short: &Short) -> Option<Option<String>> {
    let side = side(&short.lower.to_ascii_uppercase())?;
    let street = (2..=3)
        .filter_map(|at| short.place.chunk(at))
        .any(|chunk| STREETS.contains(&chunk.body.to_ascii_lowercase().as_str()));
    Some((street && !short.capital_before).then(|| side.into()))
}

/// Words as well, without their period: "the temp. is 70 deg. today"
fn before_lower_case(short: &Short) -> Option<Option<String>> {
    let (_, full) = SHORT_BEFORE_WORDS.iter().find(|(form, _)| *form == short.lower)?;
    let goes_on = short.lower_case_follows() || short.place.raw(1).is_some_and(|next| next.starts_with('$'));
    (short.chunk.close == "." && goes_on).then(|| Some((*full).into()))
}

/// "Min. order", "max. speed"
fn extreme(short: &Short) -> Option<Option<String>> {
    let (_, full, _) = find(&short.lower).filter(|(form, ..)| ["min", "max"].contains(form))?;
    (short.lower_case_follows() && !short.word_before_is(&["a", "per"])).then(|| Some(full.to_string()))
}

/// "Civ. P. 56" is no page.
fn page_of_procedure(short: &Short) -> Option<Option<String>> {
    (short.chunk.body == "P").then_some(None)
}

fn listed(short: &Short) -> Option<Option<String>> {
    let &Short { place, chunk, next, number_follows, capital_before, .. } = short;
    let (form, full, when) = *find(&short.lower)?;
    let ends = place.raw(1).is_none();
    let also_word = ALSO_WORDS.contains(&form);
    let holds = match when {
        Always => true,
        MayEnd => !(ends && also_word && !capital_before),
        Inside => {
            let goes_on = place.raw(1) == Some("&") || is_capitalized(place.raw(1).unwrap_or(""));
            !ends && (short.word_before_is(&["a", "an", "the"]) || goes_on)
        }
        Counting => number_follows || next.is_some_and(|next| is_label(chunk.body, next.body)),
        Capital => {
            // "6.5% APR."
            let capitals = chunk.body.bytes().all(|byte| byte.is_ascii_uppercase());
            is_capitalized(chunk.body)
                && (place.shouted || number_follows || !capitals)
                && !(also_word && ends && chunk.close == "." && place.begins())
        }
    };
    Some(holds.then(|| full.to_string()))
}

/// A side of the compass by its letter.
pub fn side(letter: &str) -> Option<&'static str> {
    match letter {
        "N" => Some("north"),
        "S" => Some("south"),
        "E" => Some("east"),
        "W" => Some("west"),
        _ => None,
    }
}

/// The full name of a state, or its last word, in lower case.
pub fn is_state(word: &str) -> bool {
    STATES
        .iter()
        .any(|(_, name)| *name == word || ["carolina", "dakota", "jersey", "mexico", "york"].contains(&word))
}

/// Whether one of the next words is a kind of street: what stands here is the number of a house.
pub fn is_street(place: &Place) -> bool {
    (2..=4).any(|at| {
        let kind = place.body_behind_period(at);
        STREETS_WITHOUT_PERIOD
            .iter()
            .any(|(short, full)| *short == kind || is_capitalized(kind) && full.eq_ignore_ascii_case(kind))
    })
}

/// "Ga. Tech", "Pa. Gov. Shapiro", "the Miss. River"
pub fn is_state_of(state: &str, next: &str) -> bool {
    let lower = state.to_ascii_lowercase();
    let known = SHORTENED_STATES.iter().any(|(short, _)| *short == lower) && is_capitalized(state);
    let officer = ["Gov", "Rep", "River", "Sen", "State"].contains(&next.trim_end_matches(['.', ',']));
    let name = is_capitalized(next)
        && !is_starter(next)
        && !["ill", "mass", "miss", "wash"].contains(&lower.as_str());
    known && (officer || name && state[1..] == lower[1..])
}

/// "Sec. Blinken", "Sec. of State", not "sec. 5"
pub fn is_office(abbreviation: &str, next: &str) -> bool {
    let name = is_capitalized(next) && next.len() > 2 && !is_numeral(next) && !is_starter(next);
    abbreviation == "Sec" && (name || next == "of")
}

/// The letter behind "Fig." and the like; "fig. A" may be fruit and an article.
pub fn is_label(abbreviation: &str, next: &str) -> bool {
    let letter = next.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let letter = letter.split(['-', '–']).next().unwrap_or(letter);
    if letter.len() > 1 && is_numeral(&letter.to_ascii_uppercase()) {
        return true;
    }
    let named = letter.len() == 1
        && is_capitalized(letter)
        && (letter != "I" || ["Art", "Bk", "Ch", "Pt", "Vol"].contains(&abbreviation))
        && (letter != "A" || is_capitalized(abbreviation));
    named && !abbreviation.eq_ignore_ascii_case("no")
}

/// "U.S." and "U.S.A.", not "a." alone.
pub fn is_initials(body: &str) -> bool {
    let letters: Vec<&str> = body.split('.').filter(|part| !part.is_empty()).collect();
    letters.len() >= 2
        && body.len() <= 12
        && letters.iter().all(|part| part.len() == 1 && part.as_bytes()[0].is_ascii_alphabetic())
        && body.len() >= 2 * letters.len() - 1
}
