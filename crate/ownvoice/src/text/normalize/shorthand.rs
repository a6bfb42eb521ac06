//! Shorthand without periods, from chats, forms and keyboards.

use super::place::{Reading, TokenContext, starts_with_digit};

/// Abbreviations that are read letter by letter although the letter-to-sound rules would read them as words.
#[rustfmt::skip]
const LETTERS: &[&str] = &[
    "af", "afaik", "afk", "aka", "ama", "eod", "faq", "fwiw", "hbu", "hmu", "icymi", "idc", "idgaf", "idk", "iirc", "ikr", "ily", "imho", "imo", "irl", "iykyk", "lmao", "lmfao", "omg", "omw", "ootd",
    "otoh", "rofl", "stfu", "tgif", "tia", "tmi", "ttyl", "ty", "tysm", "wbu", "wyd", "ymmv", "yw",
];
#[rustfmt::skip]
const SHORTENED: &[(&str, &str)] = &[
    ("2day", "today"), ("2moro", "tomorrow"), ("2mrw", "tomorrow"), ("2night", "tonight"), ("2nite", "tonight"), ("4ever", "forever"), ("abt", "about"), ("avg'd", "averaged"), ("m/m", "month over month"), ("q/q", "quarter over quarter"), ("y/y", "year over year"), ("any1", "anyone"), ("b4", "before"),
    ("bday", "birthday"), ("cuz", "because"), ("eli5", "E L I five"), ("every1", "everyone"), ("gr8", "great"), ("h8", "hate"), ("l8", "late"), ("l8r", "later"), ("li-ion", "lithium ion"), ("m8", "mate"), ("fwd", "forward"), ("gtg", "got to go"), ("hwy", "highway"), ("j/k", "J K"), ("utd", "united"), ("add'l", "additional"), ("ass't", "assistant"), ("hbd", "happy birthday"), ("req'd", "required"), ("txt", "text"), ("txts", "texts"), ("ass'n", "association"), ("cont'd", "continued"), ("dep't", "department"), ("gov't", "government"), ("int'l", "international"), ("nat'l", "national"), ("sec'y", "secretary"), ("appt", "appointment"), ("appts", "appointments"), ("mtg", "meeting"), ("mtgs", "meetings"), ("rec'd", "received"), ("tmw", "tomorrow"), ("w/out", "without"), ("wi-fi", "wifi"), ("mgmt", "management"), ("mgr", "manager"),
    ("msg", "message"), ("msgs", "messages"), ("ofc", "of course"), ("pls", "please"), ("plz", "please"), ("ppl", "people"), ("qty", "quantity"), ("rly", "really"), ("some1", "someone"),
    ("srsly", "seriously"), ("sry", "sorry"), ("str8", "straight"), ("thnx", "thanks"), ("thx", "thanks"), ("tl;dr", "T L D R"), ("tmr", "tomorrow"), ("tmrw", "tomorrow"), ("tnx", "thanks"),
    ("u", "you"), ("ur", "your"), ("w/c", "week commencing"), ("w/e", "whatever"), ("w/in", "within"), ("w8", "wait"), ("y/o", "year old"),
];
/// Names of keys, which are recognised in combinations with a plus sign.
#[rustfmt::skip]
const KEYS: &[(&str, &str)] = &[
    ("cmd", "command"), ("ctrl", "control"), ("del", "delete"), ("esc", "escape"), ("ins", "insert"), ("opt", "option"), ("pgdn", "page down"), ("pgup", "page up"), ("prtsc", "print screen"),
];
/// Keys whose abbreviations have no other meaning.
const CERTAIN_KEYS: &[&str] = &["ctrl", "pgdn", "pgup", "prtsc"];

/// Longer words, in bytes, are not shorthand.
const MAX_SHORT: usize = 7;

/// Reads shorthand.
pub fn read(context: &TokenContext, body: &str) -> Reading {
    if body.len() > MAX_SHORT {
        return None;
    }
    let lower = body.to_ascii_lowercase();
    let find = |table: &[(&str, &str)]| {
        table.iter().find(|(short, _)| *short == lower).map(|(_, words)| (words.to_string(), 1))
    };
    // A single capital is a letter, as in "Plan U".
    let letter = body.len() == 1 && body != lower;
    if let Some(reading) = find(SHORTENED).filter(|_| !letter && !["M8", "MSG", "UR"].contains(&body)) {
        return Some(reading);
    }
    if CERTAIN_KEYS.contains(&lower.as_str()) {
        return find(KEYS);
    }
    let one_case = body.get(1..) == lower.get(1..) || body == body.to_ascii_uppercase();
    // "44 bc" is a year.
    if body == "bc" && !context.before().is_some_and(starts_with_digit) {
        return Some(("because".into(), 1));
    }
    (one_case && LETTERS.contains(&lower.as_str())).then(|| (super::spelled(&lower.to_ascii_uppercase()), 1))
}

/// Returns the name of a key in a combination: "Ctrl+Alt+Del".
pub fn key(part: &str) -> Option<&'static str> {
    let lower = part.to_ascii_lowercase();
    KEYS.iter().find(|(short, _)| *short == lower).map(|(_, name)| *name)
}
