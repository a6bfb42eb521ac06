//! States, streets and sides of the compass.

use super::{
    place::is_capitalized,
    short_forms::{SHORTENED_STATES, STATES},
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

/// Returns the name of a state of an abbreviation of either kind: "Calif", "CA".
pub fn state(short: &str) -> Option<String> {
    let mut states = SHORTENED_STATES.iter().chain(STATES);
    states.find(|(form, _)| form.eq_ignore_ascii_case(short)).map(|(_, state)| state.to_string())
}

/// Whether an abbreviation is a state because of the next word: "Ga. Tech", "Pa. Gov. Shapiro", "the Miss. River", "Mass. Ave."
pub fn is_state_of(state: &str, next: &str) -> bool {
    let lower = state.to_ascii_lowercase();
    let known = SHORTENED_STATES.iter().any(|(short, _)| *short == lower) && is_capitalized(state);
    let officer = [
        "Ave",
        "Avenue",
        "Blvd",
        "corp",
        "corporation",
        "resident",
        "Gov",
        "Pike",
        "Rep",
        "River",
        "Sen",
        "State",
        "Tpke",
    ]
    .contains(&next.trim_end_matches(['.', ',']));
    let name = is_capitalized(next)
        && !is_starter(next)
        && !["ill", "mass", "miss", "wash"].contains(&lower.as_str());
    known && (officer || name && state[1..] == lower[1..])
}
