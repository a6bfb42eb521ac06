//! States, streets and sides of the compass.

use super::{
    place::{TokenContext, is_capitalized},
    short_forms::{SHORTENED_STATES, STATES, STREETS_WITHOUT_PERIOD},
    words::is_starter,
};

/// Returns the side of the compass of a letter.
pub fn side(letter: &str) -> Option<&'static str> {
    match letter {
        "N" => Some("north"),
        "S" => Some("south"),
        "E" => Some("east"),
        "W" => Some("west"),
        _ => None,
    }
}

/// Whether a word in lower case is the name of a state, or its last word.
pub fn is_state(word: &str) -> bool {
    STATES
        .iter()
        .any(|(_, name)| *name == word || ["carolina", "dakota", "jersey", "mexico", "york"].contains(&word))
}

/// Whether one of the next words is a kind of street, so that the number here is that of a house.
pub fn is_street(context: &TokenContext) -> bool {
    (2..=4).any(|at| {
        let kind = context.body_after_period(at);
        STREETS_WITHOUT_PERIOD
            .iter()
            .any(|(short, full)| *short == kind || is_capitalized(kind) && full.eq_ignore_ascii_case(kind))
    })
}

/// Whether an abbreviation is a state because of the next word: "Ga. Tech", "Pa. Gov. Shapiro", "the Miss. River".
pub fn is_state_of(state: &str, next: &str) -> bool {
    let lower = state.to_ascii_lowercase();
    let known = SHORTENED_STATES.iter().any(|(short, _)| *short == lower) && is_capitalized(state);
    let officer = ["Gov", "Rep", "River", "Sen", "State"].contains(&next.trim_end_matches(['.', ',']));
    let name = is_capitalized(next)
        && !is_starter(next)
        && !["ill", "mass", "miss", "wash"].contains(&lower.as_str());
    known && (officer || name && state[1..] == lower[1..])
}
