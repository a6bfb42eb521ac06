//! Abbreviations and what they stand for.

use super::place::{Chunk, Place, Reading, is_capitalized, starts_with_digit};
use super::roman::is_numeral;
use super::sentence_end::is_starter;

/// Where a word with a period is an abbreviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Always; it never ends a sentence that goes on.
    Always,
    /// Always; a sentence may end with it.
    MayEnd,
    /// Before another word: a title or what a name begins with.
    Inside,
    /// Before a number or a letter that counts: `fig. 3a`.
    Counting,
    /// With a capital: months and weekdays, streets.
    Capital,
}
use When::{Always, Capital, Counting, Inside, MayEnd};

#[rustfmt::skip]
const ABBREVIATIONS: &[(&str, &str, When)] = &[
    ("mr", "mister", Always), ("mrs", "missus", Always), ("ms", "miz", Always), ("messrs", "messieurs", Always), ("prof", "professor", Inside),
    ("gen", "general", Inside), ("col", "colonel", Inside), ("lt", "lieutenant", Inside), ("sgt", "sergeant", Inside), ("capt", "captain", Inside),
    ("cpt", "captain", Inside), ("cpl", "corporal", Inside), ("adm", "admiral", Inside), ("rev", "reverend", Inside), ("hon", "honorable", Inside),
    ("gov", "governor", Inside), ("sen", "senator", Inside), ("rep", "representative", Inside), ("pres", "president", Inside), ("maj", "major", Inside),
    ("cmdr", "commander", Inside), ("mt", "mount", Inside), ("ft", "fort", Inside), ("e.g", "for example", Always), ("i.e", "that is", Always),
    ("cf", "compare", Always), ("ca", "circa", Counting), ("approx", "approximately", Always), ("vs", "versus", Always), ("al", "al", MayEnd),
    ("attn", "attention", Always), ("misc", "miscellaneous", Always), ("max", "maximum", Counting), ("min", "minimum", Counting),
    ("no", "number", Counting), ("nos", "numbers", Counting), ("fig", "figure", Counting), ("figs", "figures", Counting), ("vol", "volume", Counting),
    ("p", "page", Counting), ("pp", "pages", Counting), ("ch", "chapter", Counting), ("art", "article", Counting), ("ext", "extension", Counting),
    ("apt", "apartment", Counting), ("est", "established", Counting), ("hwy", "highway", Counting), ("tel", "telephone", Counting),
    ("etc", "et cetera", MayEnd), ("jr", "junior", MayEnd), ("sr", "senior", MayEnd), ("inc", "incorporated", MayEnd), ("ltd", "limited", MayEnd),
    ("corp", "corporation", MayEnd), ("co", "company", MayEnd), ("bros", "brothers", MayEnd), ("dept", "department", MayEnd), ("univ", "university", MayEnd),
    ("esq", "esquire", MayEnd), ("ph.d", "P H D", MayEnd), ("govt", "government", MayEnd), ("assn", "association", MayEnd), ("bldg", "building", MayEnd),
    ("avg", "average", Always), ("asst", "assistant", Always), ("assoc", "associate", Always), ("natl", "national", Always), ("intl", "international", Always),
    ("sens", "senators", Inside), ("reps", "representatives", Inside), ("govs", "governors", Inside), ("drs", "doctors", Inside), ("profs", "professors", Inside),
    ("supt", "superintendent", Inside), ("insp", "inspector", Inside), ("dist", "district", Inside), ("wm", "william", Inside), ("rm", "room", Counting), ("enc", "enclosure", Counting),
    ("incl", "including", Always), ("excl", "excluding", Always), ("det", "detective", Inside), ("amb", "ambassador", Inside), ("atty", "attorney", Inside),
    ("sec", "section", Counting), ("secs", "sections", Counting), ("rte", "route", Counting), ("par", "paragraph", Counting), ("ste", "suite", Counting), ("pt", "part", Counting),
    ("ave", "avenue", Capital), ("blvd", "boulevard", Capital), ("rd", "road", Capital), ("ln", "lane", Capital), ("pkwy", "parkway", Capital), ("sq", "square", Capital),
    ("jan", "january", Capital), ("feb", "february", Capital), ("mar", "march", Capital), ("apr", "april", Capital), ("jun", "june", Capital), ("jul", "july", Capital),
    ("aug", "august", Capital), ("sept", "september", Capital), ("sep", "september", Capital), ("oct", "october", Capital), ("nov", "november", Capital), ("dec", "december", Capital),
    ("mon", "monday", Capital), ("tue", "tuesday", Capital), ("tues", "tuesday", Capital), ("wed", "wednesday", Capital), ("thu", "thursday", Capital),
    ("thur", "thursday", Capital), ("thurs", "thursday", Capital), ("fri", "friday", Capital), ("sat", "saturday", Capital), ("sun", "sunday", Capital),
];
/// Words as well: without a neighbour that shows the abbreviation they are read as they stand.
const ALSO_WORDS: &[&str] = &[
    "mar", "jun", "jul", "mon", "wed", "sat", "sun", "fri", "dec", "co", "sen", "rep", "gen", "hon", "max",
    "min",
];
/// Names of towns go on with a saint behind these.
const BEFORE_SAINT: &[&str] = &[
    "Cape", "East", "Fort", "Ft.", "Lake", "Mount", "Mt.", "New", "North", "Old", "Port", "Pt.", "Sault",
    "South", "West",
];
const STREETS: &[&str] = &["st", "ave", "blvd", "rd", "ln", "dr"];
const WITHOUT_PERIOD: &[(&str, &str)] = &[
    ("wwi", "world war one"),
    ("wwii", "world war two"),
    ("vs", "versus"),
    ("w/", "with"),
    ("a/c", "A C"),
    ("b/c", "because"),
    ("w/o", "without"),
    ("phd", "P H D"),
    ("phds", "P H D's"),
    ("phd's", "P H D's"),
    ("n/a", "N A"),
    ("c/o", "care of"),
    ("apt", "apartment"),
    ("attn", "attention"),
    ("dept", "department"),
    ("hwy", "highway"),
    ("approx", "approximately"),
    ("govt", "government"),
    ("bldg", "building"),
];
/// Capitalized, behind a name or an ordinal number.
const STREETS_WITHOUT_PERIOD: &[(&str, &str)] = &[
    ("Ave", "avenue"),
    ("Blvd", "boulevard"),
    ("Dr", "drive"),
    ("Ln", "lane"),
    ("Pkwy", "parkway"),
    ("Rd", "road"),
    ("St", "street"),
];
#[rustfmt::skip]
const STATES: &[(&str, &str)] = &[
    ("AL", "alabama"), ("AK", "alaska"), ("AZ", "arizona"), ("AR", "arkansas"), ("CA", "california"), ("CO", "colorado"), ("CT", "connecticut"), ("DE", "delaware"),
    ("FL", "florida"), ("GA", "georgia"), ("HI", "hawaii"), ("ID", "idaho"), ("IL", "illinois"), ("IN", "indiana"), ("IA", "iowa"), ("KS", "kansas"),
    ("KY", "kentucky"), ("LA", "louisiana"), ("ME", "maine"), ("MD", "maryland"), ("MA", "massachusetts"), ("MI", "michigan"), ("MN", "minnesota"), ("MS", "mississippi"),
    ("MO", "missouri"), ("MT", "montana"), ("NE", "nebraska"), ("NV", "nevada"), ("NH", "new hampshire"), ("NJ", "new jersey"), ("NM", "new mexico"), ("NY", "new york"),
    ("NC", "north carolina"), ("ND", "north dakota"), ("OH", "ohio"), ("OK", "oklahoma"), ("OR", "oregon"), ("PA", "pennsylvania"), ("RI", "rhode island"),
    ("SC", "south carolina"), ("SD", "south dakota"), ("TN", "tennessee"), ("TX", "texas"), ("UT", "utah"), ("VT", "vermont"), ("VA", "virginia"),
    ("WA", "washington"), ("WV", "west virginia"), ("WI", "wisconsin"), ("WY", "wyoming"),
];
/// As newspapers shorten them, behind the name of a town.
#[rustfmt::skip]
pub const SHORTENED_STATES: &[(&str, &str)] = &[
    ("ala", "alabama"), ("ariz", "arizona"), ("ark", "arkansas"), ("calif", "california"), ("colo", "colorado"), ("conn", "connecticut"), ("del", "delaware"), ("fla", "florida"),
    ("ga", "georgia"), ("ill", "illinois"), ("ind", "indiana"), ("kan", "kansas"), ("ky", "kentucky"), ("la", "louisiana"), ("md", "maryland"), ("mass", "massachusetts"),
    ("mich", "michigan"), ("minn", "minnesota"), ("miss", "mississippi"), ("mo", "missouri"), ("mont", "montana"), ("neb", "nebraska"), ("nev", "nevada"), ("okla", "oklahoma"),
    ("ore", "oregon"), ("pa", "pennsylvania"), ("tenn", "tennessee"), ("tex", "texas"), ("vt", "vermont"), ("va", "virginia"), ("wash", "washington"), ("wis", "wisconsin"),
    ("wyo", "wyoming"),
];
/// What a number is of: "tel. no.", "serial no."
const NUMBERED: &[&str] = &[
    "account",
    "house",
    "model",
    "order",
    "part",
    "phone",
    "ref",
    "reference",
    "room",
    "serial",
    "tel",
    "telephone",
];
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// An abbreviation in lower case, without its period.
pub fn find(lower: &str) -> Option<&'static (&'static str, &'static str, When)> {
    ABBREVIATIONS.iter().find(|(short, ..)| *short == lower)
}

/// The full name of a month or weekday, abbreviated or not.
pub fn calendar_name(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let full = find(&lower).map_or(lower.as_str(), |(_, full, _)| full);
    MONTHS.into_iter().chain(WEEKDAYS).find(|name| is_capitalized(word) && *name == full)
}

pub fn read(place: &Place) -> Reading {
    let chunk = place.chunk(0)?;
    let lower = chunk.body.to_ascii_lowercase();
    let next = place.chunk(1).filter(|_| chunk.close == "." || chunk.close.is_empty());
    let number_follows = next.is_some_and(|next| starts_with_digit(next.body.trim_start_matches('#')));
    let capital_before = place.before().is_some_and(|before| is_capitalized(before) && !is_starter(before));

    let after_comma = place.before().is_some_and(|before| before.ends_with(',')) && capital_before;
    if let Some((short, state)) = SHORTENED_STATES.iter().find(|(short, _)| *short == lower)
        && (after_comma
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
        "no" if place.raw(1) == Some("of") && !place.begins()
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
    let (short, full, when) = *find(&lower)?;
    let names_something = next.is_some_and(|next| is_label(chunk.body, next.body));
    let with_article = ["a", "an", "the"].contains(&place.word_before().as_str());
    let holds = match when {
        Always => true,
        MayEnd => !(ends && ALSO_WORDS.contains(&short) && !capital_before),
        Inside => !ends && (with_article || is_capitalized(place.raw(1).unwrap_or(""))),
        Counting => number_follows || names_something,
        Capital => {
            is_capitalized(chunk.body)
                && !(ALSO_WORDS.contains(&short) && ends && chunk.close == "." && place.begins())
        }
    };
    holds.then(|| (full.to_string(), 1))
}

/// The letter behind "Fig." and the like; "fig. A" may be fruit and an article.
pub fn is_label(abbreviation: &str, next: &str) -> bool {
    let letter = next.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    if letter.len() > 1 && is_numeral(letter) {
        return true;
    }
    let named = letter.len() == 1
        && is_capitalized(letter)
        && letter != "I"
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
