//! Where a short form is an abbreviation, and of what.

use super::place::{Chunk, Place, Reading, is_capitalized, starts_with_digit};
use super::roman::is_numeral;
use super::sentence_end::is_starter;
use super::short_forms::When::{Always, Capital, Counting, Inside, MayEnd};
use super::short_forms::{
    ALSO_WORDS, BEFORE_SAINT, MONTHS, NUMBERED, SHORT_BEFORE_WORDS, SHORTENED_STATES, SHORTENED_WORDS,
    STATES, STREETS, STREETS_WITHOUT_PERIOD, WITHOUT_PERIOD, calendar_name, find,
};

pub fn read(place: &Place) -> Reading {
    let chunk = place.chunk(0)?;
    // "Apple Inc.'s"
    if let Some((_, full, _)) =
        chunk.body.strip_suffix(".'s").and_then(|short| find(&short.to_ascii_lowercase()))
    {
        return Some((format!("{full}'s"), 1));
    }
    let lower = chunk.body.to_ascii_lowercase();
    let next = place.chunk(1).filter(|_| chunk.close == "." || chunk.close.is_empty());
    let number_follows = next.is_some_and(|next| starts_with_digit(next.body.trim_start_matches(['#', '+'])));
    let capital_before = place.before().is_some_and(|before| is_capitalized(before) && !is_starter(before));

    // "D-Calif."
    if let Some((party @ ("D" | "I" | "R"), state)) = chunk.body.split_once('-')
        && let Some((_, state)) =
            SHORTENED_STATES.iter().chain(STATES).find(|(short, _)| short.eq_ignore_ascii_case(state))
    {
        return Some((format!("{party} {state}"), 1));
    }
    // "Smith & Co.", "2d Cir.", "Sr. Maria"
    let joined = place.before().is_some_and(|before| ["&", "and"].contains(&before));
    let ordinal_before = place.before().is_some_and(|before| starts_with_digit(Chunk::new(before).body));
    match lower.as_str() {
        "co" if joined && chunk.close.starts_with('.') => return Some(("company".into(), 1)),
        "sec" if chunk.close == "." && is_office(chunk.body, place.body_behind_period(1)) => {
            return Some(("secretary".into(), 1));
        }
        "tel" if chunk.close.starts_with('.') && chunk.close.contains(':') => {
            return Some(("telephone".into(), 1));
        }
        "fl" if ordinal_before => return Some(("floor".into(), 1)),
        "c" if ordinal_before && chunk.close.starts_with('.') && place.before()?.ends_with("th") => {
            return Some(("century".into(), 1));
        }
        "ch" if place.before().is_some_and(|saint| saint.ends_with("'s")) => {
            return Some(("church".into(), 1));
        }
        "ed" | "trans" if place.body_behind_period(1) == "by" => {
            return Some((if lower == "ed" { "edited" } else { "translated" }.into(), 1));
        }
        "rev" if super::dates::is_month(place.body_behind_period(1)) => return Some(("revised".into(), 1)),
        "sts" if !capital_before && !ordinal_before && is_capitalized(place.body_behind_period(1)) => {
            return Some(("saints".into(), 1));
        }
        // "Ohio St."
        "st" if place.before().is_some_and(|before| {
            let lower = before.to_ascii_lowercase();
            is_capitalized(before)
                && (is_state(&lower) || ["boise", "fresno", "penn"].contains(&lower.as_str()))
        }) && !(2..=3).any(|back| {
            place.back(back).is_some_and(|before| starts_with_digit(before) || ["on", "to"].contains(&before))
        }) =>
        {
            return Some(("state".into(), 1));
        }
        "n" | "s" | "e" | "w"
            if ["drive", "driving", "go", "going", "head", "heading", "heads", "travel"]
                .contains(&place.word_before().as_str()) =>
        {
            let sides = [("n", "north"), ("s", "south"), ("e", "east"), ("w", "west")];
            return sides
                .into_iter()
                .find(|(short, _)| *short == lower)
                .map(|(_, side)| (side.to_string(), 1));
        }
        "cir" if ordinal_before => return Some(("circuit".into(), 1)),
        "sr" if !capital_before && is_capitalized(place.body_behind_period(1)) => {
            return Some(("sister".into(), 1));
        }
        _ => {}
    }
    if let Some(side) = side_of_road(place, chunk) {
        return Some(side);
    }
    let after_comma = place.before().is_some_and(|before| before.ends_with(',')) && capital_before;
    if let Some((short, state)) = SHORTENED_STATES.iter().find(|(short, _)| *short == lower)
        && (after_comma
            || !SHORTENED_WORDS.contains(short) && chunk.body[1..] == short[1..]
            || is_state_of(chunk.body, place.body_behind_period(1))
            || *short == "wash" && place.chunk(1).is_some_and(|next| ["D.C", "state"].contains(&next.body))
            || ["in", "of", "near"].contains(&place.word_before().as_str())
                && !["ill", "mass", "miss", "ore", "wash", "la", "ind", "ark"].contains(short))
        && chunk.close.starts_with('.')
        && is_capitalized(chunk.body)
    {
        return Some((state.to_string(), 1));
    }
    if let Some((_, state)) = STATES.iter().find(|(short, _)| *short == chunk.body)
        && after_comma
    {
        return Some((state.to_string(), 1));
    }
    if !chunk.close.starts_with('.') {
        if lower == "apt" && !number_follows {
            return None;
        }
        let capital_follows = place.body(1).is_some_and(|next| is_capitalized(next) && !is_starter(next));
        let named = place.before().is_some_and(|before| {
            (capital_before && !BEFORE_SAINT.contains(&before) || starts_with_digit(before))
                && Chunk::new(before).close.is_empty()
        });
        match chunk.body {
            "St" if capital_follows && !named => return Some(("saint".into(), 1)),
            "Dr" if capital_follows => return Some(("doctor".into(), 1)),
            "Rm" | "Rte" if number_follows => {
                return Some((if chunk.body == "Rm" { "room" } else { "route" }.into(), 1));
            }
            "Ph" | "Tel" if chunk.close == ":" => return Some(("phone".into(), 1)),
            street => {
                if let Some((_, full)) =
                    STREETS_WITHOUT_PERIOD.iter().find(|(short, _)| *short == street).filter(|_| named)
                {
                    return Some((full.to_string(), 1));
                }
            }
        }
        if let Some((_, full)) = WITHOUT_PERIOD.iter().find(|(short, _)| *short == lower) {
            return Some((full.to_string(), 1));
        }
        // "on Fri", "since Nov"
        const BEFORE_DAY: &[&str] =
            &["by", "each", "every", "from", "last", "next", "on", "since", "this", "till", "to", "until"];
        const BEFORE_MONTH: &[&str] =
            &["by", "early", "from", "in", "last", "late", "mid", "next", "since", "this", "to", "until"];
        if let Some(name) = calendar_name(chunk.body).filter(|name| !name.eq_ignore_ascii_case(chunk.body)) {
            let before = place.word_before();
            let fits = if MONTHS.contains(&name) { BEFORE_MONTH } else { BEFORE_DAY };
            let dated = chunk.close == ","
                && place.chunk(1).is_some_and(|next| {
                    starts_with_digit(next.body) && next.body.len() < 3 || super::dates::is_month(next.body)
                });
            if fits.contains(&before.as_str()) || dated {
                return Some((name.to_string(), 1));
            }
        }
        // "SAT 1480"
        let test = chunk.body.bytes().all(|byte| byte.is_ascii_uppercase())
            && !place.shouted
            && place.body(1).is_none_or(|number| {
                number.len() > 2 && starts_with_digit(number) && !number.contains(['/', ':'])
            });
        if test {
            return None;
        }
        // "Jan 5", "Sept 2020", "Mon, May 5"
        let day = (find(&lower)?.2 == Capital && calendar_name(chunk.body).is_some() && number_follows)
            .then(|| calendar_name(chunk.body))??;
        return Some((day.to_string(), 1));
    }
    let ends = place.raw(1).is_none();
    // "c. 1500", "two pp."
    if lower == "c" && next.is_some_and(|next| next.body.len() > 2 && starts_with_digit(next.body)) {
        return Some(("circa".into(), 1));
    }
    // "b. 1756", "r. 1558–1603"
    if let Some((_, word)) = [("b", "born"), ("d", "died"), ("r", "reigned"), ("fl", "flourished")]
        .into_iter()
        .find(|(short, _)| *short == chunk.body)
        && next.is_some_and(|next| next.body.len() > 3 && starts_with_digit(next.body))
    {
        return Some((word.into(), 1));
    }
    if lower == "pp" {
        return Some(("pages".into(), 1));
    }
    match lower.as_str() {
        // "Elm St. Bridge", "42nd St. Station"
        "st" if place.before().is_some_and(|before| {
            let named =
                capital_before && !BEFORE_SAINT.contains(&before) && Chunk::new(before).close.is_empty();
            named || starts_with_digit(before)
        }) =>
        {
            return Some(("street".into(), 1));
        }
        "st" if next.is_some_and(|next| is_capitalized(next.body))
            && !place.raw(1).is_some_and(is_starter) =>
        {
            return Some(("saint".into(), 1));
        }
        "st" => return Some(("street".into(), 1)),
        "dr" if capital_before
            && !next.is_some_and(|next| is_capitalized(next.body) && !is_starter(next.body)) =>
        {
            return Some(("drive".into(), 1));
        }
        "dr" => return Some(("doctor".into(), 1)),
        "ca" if chunk.body == "CA" => return Some(("C A".into(), 1)),
        "no" if place.raw(1) == Some("of")
            || place.before().is_some_and(|before| NUMBERED.contains(&before.trim_end_matches('.'))) =>
        {
            return Some(("number".into(), 1));
        }
        "tel" if place.chunk(1).is_some_and(|next| next.body == "no") => {
            return Some(("telephone".into(), 1));
        }
        "apt"
            if ["my", "your", "his", "her", "our", "their", "the", "this", "an"]
                .contains(&place.word_before().as_str()) =>
        {
            return Some(("apartment".into(), 1));
        }
        "n" | "s" | "e" | "w" => {
            let street = (2..=3).any(|at| {
                place
                    .chunk(at)
                    .is_some_and(|chunk| STREETS.contains(&chunk.body.to_ascii_lowercase().as_str()))
            });
            let (_, side) = [("n", "north"), ("s", "south"), ("e", "east"), ("w", "west")]
                .into_iter()
                .find(|(short, _)| *short == lower)?;
            return (street && !capital_before).then(|| (side.to_string(), 1));
        }
        _ => {}
    }
    // Words as well, without their period: "the temp. is 70 deg. today"
    if let Some((_, full)) = SHORT_BEFORE_WORDS.iter().find(|(short, _)| *short == lower)
        && chunk.close == "."
        && place.raw(1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase() || c == '$'))
    {
        let many = lower == "deg" && place.before() != Some("1");
        return Some((format!("{full}{}", if many { "s" } else { "" }), 1));
    }
    let (short, full, when) = *find(&lower)?;
    // "Min. order", "max. speed"
    if ["min", "max"].contains(&lower.as_str())
        && place.raw(1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()))
        && !["a", "per"].contains(&place.word_before().as_str())
    {
        return find(&lower).map(|(_, full, _)| (full.to_string(), 1));
    }
    let names_something = next.is_some_and(|next| is_label(chunk.body, next.body));
    let with_article = ["a", "an", "the"].contains(&place.word_before().as_str());
    // "Civ. P. 56"
    if short == "p" && chunk.body == "P" {
        return None;
    }
    let holds = match when {
        Always => true,
        MayEnd => !(ends && ALSO_WORDS.contains(&short) && !capital_before),
        Inside => {
            !ends && (with_article || place.raw(1) == Some("&") || is_capitalized(place.raw(1).unwrap_or("")))
        }
        Counting => number_follows || names_something,
        Capital => {
            is_capitalized(chunk.body)
                // "6.5% APR."
                && (place.shouted || number_follows || !chunk.body.bytes().all(|byte| byte.is_ascii_uppercase()))
                && !(ALSO_WORDS.contains(&short) && ends && chunk.close == "." && place.begins())
        }
    };
    holds.then(|| (full.to_string(), 1))
}

/// "I-95 N", "123 N Main St"
fn side_of_road(place: &Place, chunk: Chunk) -> Reading {
    let (_, side) = [("N", "north"), ("S", "south"), ("E", "east"), ("W", "west")]
        .into_iter()
        .find(|(short, _)| *short == chunk.body && chunk.open.is_empty())?;
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
    (road || house).then(|| (side.to_string(), 1))
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
