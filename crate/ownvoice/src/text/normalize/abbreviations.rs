//! Decides whether a word is an abbreviation, and returns its full form.

use super::{
    geography::is_state_of,
    place::{Chunk, Reading, TokenContext, is_capitalized, starts_with_digit},
    short_forms::{
        ALSO_WORDS, BEFORE_SAINT, MONTHS, SHORT_BEFORE_WORDS, SHORTENED_STATES, SHORTENED_WORDS, STATES,
        STREETS_WITHOUT_PERIOD,
        When::{Always, Capital, Counting, Inside, MayEnd},
        calendar_name, find, is_label, is_month,
    },
    words::is_starter,
};

/// Reads an abbreviation.
pub fn read(context: &TokenContext) -> Reading {
    let short = Short::new(context)?;
    let words = ANYWHERE.iter().find_map(|reading| reading(&short)).or_else(|| {
        let readings = if short.has_period() { WITH_PERIOD } else { WITHOUT_PERIOD };
        readings.iter().find_map(|reading| reading(&short)).flatten()
    })?;
    Some((words, 1))
}

/// A chunk that may be an abbreviation, and its context.
struct Short<'a> {
    context: &'a TokenContext<'a>,
    chunk: Chunk<'a>,
    lower: String,
    /// The next chunk, if at most the period of this one is in between.
    next: Option<Chunk<'a>>,
    number_follows: bool,
    capital_before: bool,
}

impl<'a> Short<'a> {
    fn new(context: &'a TokenContext<'a>) -> Option<Self> {
        let chunk = context.chunk(0)?;
        let next = context.chunk(1).filter(|_| chunk.close == "." || chunk.close.is_empty());
        Some(Self {
            context,
            chunk,
            lower: chunk.body.to_ascii_lowercase(),
            next,
            number_follows: next
                .is_some_and(|next| starts_with_digit(next.body.trim_start_matches(['#', '+']))),
            capital_before: context
                .before()
                .is_some_and(|before| is_capitalized(before) && !is_starter(before)),
        })
    }

    fn has_period(&self) -> bool {
        self.chunk.close.starts_with('.')
    }

    /// Returns the body of the next chunk regardless of punctuation, or an empty string.
    fn behind(&self) -> &'a str {
        self.context.body_after_period(1)
    }

    fn word_before_is(&self, words: &[&str]) -> bool {
        words.contains(&self.context.word_before().as_str())
    }

    fn lower_case_follows(&self) -> bool {
        self.context.raw(1).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()))
    }

    /// Whether a name or a number is before it without punctuation in between, as in the name of a street.
    fn is_named(&self) -> bool {
        self.context.before().is_some_and(|before| {
            (self.capital_before && !BEFORE_SAINT.contains(&before) || starts_with_digit(before))
                && Chunk::new(before).close.is_empty()
        })
    }
}

/// Readings with or without a period, in the order in which they are tried.
const ANYWHERE: &[fn(&Short) -> Option<String>] = &[shortened_state, postal_state];
/// Readings without a period. `Some(None)` ends the search: it is a word.
const WITHOUT_PERIOD: &[fn(&Short) -> Option<Option<String>>] =
    &[bare_title_or_street, bare_word, bare_consonants, bare_day_or_month, examination];
const WITH_PERIOD: &[fn(&Short) -> Option<Option<String>>] =
    &[saint_or_street, doctor_or_drive, before_lower_case, listed];

/// Reads "Calif." and the like, unless it may be a word, as in "in Wash.".
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

/// Reads "Albany, NY".
fn postal_state(short: &Short) -> Option<String> {
    let (_, state) = STATES.iter().find(|(form, _)| *form == short.chunk.body)?;
    follows_comma(short).then(|| state.to_string())
}

/// Whether a capitalized word with a comma is before it.
fn follows_comma(short: &Short) -> bool {
    short.capital_before && short.context.before().is_some_and(|before| before.ends_with(','))
}

/// Reads "St Paul", "Dr Green", "5 Elm Ave".
fn bare_title_or_street(short: &Short) -> Option<Option<String>> {
    let capital_follows = short.context.body(1).is_some_and(|next| is_capitalized(next) && !is_starter(next));
    let words = match short.chunk.body {
        "St" if capital_follows && !short.is_named() => "saint",
        "Dr" if capital_follows => "doctor",
        street => {
            let (_, full) = STREETS_WITHOUT_PERIOD.iter().find(|(form, _)| *form == street)?;
            short.is_named().then_some(full)?
        }
    };
    Some(Some(words.into()))
}

/// Reads the abbreviations that need no period.
fn bare_word(short: &Short) -> Option<Option<String>> {
    let (_, full) = super::short_forms::WITHOUT_PERIOD.iter().find(|(form, _)| *form == short.lower)?;
    Some(Some(full.to_string()))
}

/// Reads "4 blks", which can be no word because it has no vowel.
fn bare_consonants(short: &Short) -> Option<Option<String>> {
    let silent = short.lower.len() > 2 && !short.lower.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let small = silent && short.chunk.body.bytes().skip(1).eq(short.lower.bytes().skip(1));
    let (_, full, when) = *small.then(|| find(&short.lower))??;
    matches!(when, Always | MayEnd).then(|| Some(full.to_string()))
}

/// Reads "on Fri", "since Nov".
fn bare_day_or_month(short: &Short) -> Option<Option<String>> {
    const BEFORE_DAY: &[&str] =
        &["by", "each", "every", "from", "last", "next", "on", "since", "this", "till", "to", "until"];
    const BEFORE_MONTH: &[&str] =
        &["by", "early", "from", "in", "last", "late", "mid", "next", "since", "this", "to", "until"];
    let &Short { context, chunk, .. } = short;
    let name = calendar_name(chunk.body).filter(|name| !name.eq_ignore_ascii_case(chunk.body))?;
    let fits = if MONTHS.contains(&name) { BEFORE_MONTH } else { BEFORE_DAY };
    let dated = chunk.close == ","
        && context
            .chunk(1)
            .is_some_and(|next| starts_with_digit(next.body) && next.body.len() < 3 || is_month(next.body));
    (short.word_before_is(fits) || dated).then(|| Some(name.to_string()))
}

/// Ends the search for "SAT 1480", which is a test and not a Saturday.
fn examination(short: &Short) -> Option<Option<String>> {
    let capitals = short.chunk.body.bytes().all(|byte| byte.is_ascii_uppercase()) && !short.context.shouted;
    let scored = short
        .context
        .body(1)
        .is_none_or(|number| number.len() > 2 && starts_with_digit(number) && !number.contains(['/', ':']));
    (capitals && scored).then_some(None)
}

/// Reads "Elm St. Bridge", "42nd St. Station", "St. Paul".
fn saint_or_street(short: &Short) -> Option<Option<String>> {
    let name_follows = short.next.is_some_and(|next| is_capitalized(next.body))
        && !short.context.raw(1).is_some_and(is_starter);
    let numbered = short.context.before().is_some_and(starts_with_digit);
    let saint = name_follows && !numbered && !short.is_named();
    (short.lower == "st").then(|| Some(if saint { "saint" } else { "street" }.into()))
}

/// Reads "Dr.".
fn doctor_or_drive(short: &Short) -> Option<Option<String>> {
    let name_follows = short.next.is_some_and(|next| is_capitalized(next.body) && !is_starter(next.body));
    let joined = short.context.before().is_some_and(|before| Chunk::new(before).close.is_empty());
    let drive = short.capital_before && joined && !name_follows;
    (short.lower == "dr").then(|| Some(if drive { "drive" } else { "doctor" }.into()))
}

/// Reads abbreviations whose period does not end the sentence: "the temp. is 70 deg. today".
fn before_lower_case(short: &Short) -> Option<Option<String>> {
    let (_, full) = SHORT_BEFORE_WORDS.iter().find(|(form, _)| *form == short.lower)?;
    let goes_on =
        short.lower_case_follows() || short.context.raw(1).is_some_and(|next| next.starts_with('$'));
    (short.chunk.close == "." && goes_on).then(|| Some((*full).into()))
}

/// Reads the abbreviations of the table, each in its context.
fn listed(short: &Short) -> Option<Option<String>> {
    let &Short { context, chunk, next, number_follows, capital_before, .. } = short;
    let (form, full, when) = *find(&short.lower)?;
    let ends = context.raw(1).is_none();
    let also_word = ALSO_WORDS.contains(&form);
    let holds = match when {
        Always => true,
        MayEnd => !(ends && also_word && !capital_before),
        Inside => {
            let goes_on = context.raw(1) == Some("&") || is_capitalized(context.raw(1).unwrap_or(""));
            !ends && (short.word_before_is(&["a", "an", "the"]) || goes_on)
        }
        Counting => number_follows || next.is_some_and(|next| is_label(chunk.body, next.body)),
        Capital => {
            // "6.5% APR."
            let capitals = chunk.body.bytes().all(|byte| byte.is_ascii_uppercase());
            is_capitalized(chunk.body)
                && (context.shouted || number_follows || !capitals)
                && !(also_word && ends && chunk.close == "." && context.begins())
        }
    };
    Some(holds.then(|| full.to_string()))
}
