//! Finds the unit after a number or a word.

use super::{
    place::{Chunk, Reading, TokenContext},
    units::{simple_unit, unit},
    words::is_starter,
};

/// Abbreviations that are units only without a space before them; after a space they are words or letters.
const ATTACHED_ONLY: &[&str] =
    &["in", "x", "l", "v", "cal", "mo", "pt", "ac", "ha", "ct", "T", "M", "F", "A", "H"];
/// The longest quotation that is searched for its opening mark, in chunks.
const MAX_QUOTE: usize = 100;

/// Returns the unit after a number, singular and plural, and the number of chunks up to its end. `rest` is the text attached to the number; without it
/// the unit is in the next one or two chunks ("sq. ft.", "° F").
pub fn unit_of(context: &TokenContext, rest: &str) -> Option<((String, String), usize)> {
    let next = context.body(1);
    if rest == "°" || rest.is_empty() && next == Some("°") {
        let at = if rest.is_empty() { 2 } else { 1 };
        if let Some(scale) = context.body(at).filter(|scale| ["C", "F", "N", "S", "E", "W"].contains(scale)) {
            return Some((unit(&format!("°{scale}"))?, at + 1));
        }
    }
    if !rest.is_empty() {
        return Some((unit(rest)?, 1));
    }
    let next = next?;
    let behind = context.chunk(2).map(|chunk| chunk.body);
    if let "sq" | "cu" = next
        && let Some((one, many)) = behind.and_then(simple_unit)
    {
        let power = if next == "sq" { "square" } else { "cubic" };
        return Some(((format!("{power} {one}"), format!("{power} {many}")), 3));
    }
    if next == "fl" && behind == Some("oz") {
        return Some((("fluid ounce".into(), "fluid ounces".into()), 3));
    }
    // "8 L/100 km"
    if next.ends_with("/100")
        && let Some(both) = behind.and_then(|below| unit(&format!("{next}{below}")))
    {
        return Some((both, 3));
    }
    // "50 hrs./wk."
    if let Some((above, below)) = next.split_once("./")
        && let Some(both) = unit(&format!("{above}/{below}"))
    {
        return Some((both, 2));
    }
    let dimension = behind
        .is_none_or(|next| ["tall", "long", "wide", "high", "deep", "thick", "x", "by"].contains(&next));
    let close = context.chunk(1)?.close;
    // "1 c. milk"
    if next == "c"
        && close == "."
        && context.raw(2).is_some_and(|after| after.starts_with(char::is_lowercase))
    {
        return Some((("cup".into(), "cups".into()), 2));
    }
    // "2 T. oil"
    if let Some((one, many)) = match next {
        "T" => Some(("tablespoon", "tablespoons")),
        "t" => Some(("teaspoon", "teaspoons")),
        _ => None,
    } && close == "."
        && context.raw(2).is_some_and(|after| after.starts_with(char::is_lowercase))
    {
        return Some(((one.into(), many.into()), 2));
    }
    // "42 W. 5th St."
    let goes_on = context.raw(2).is_some_and(|after| {
        after.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()) && !is_starter(after)
    });
    if next.len() == 1
        && next.starts_with(|c: char| c.is_ascii_uppercase())
        && matches!(close, "" | ".")
        && goes_on
    {
        return None;
    }
    if ATTACHED_ONLY.contains(&next)
        && !(next == "in" && (dimension || close.starts_with('.')))
        && !(["ac", "cal"].contains(&next) && close.starts_with('.'))
        && next != "ha"
        && next != "pt"
    {
        return None;
    }
    Some((unit(next)?, 2))
}

/// Reads a unit after a word that announces one: "350 nautical mi.", "per kg".
pub fn unit_after_word(context: &TokenContext, body: &str) -> Reading {
    // This is tried for every word, so the cheap test comes first.
    let before = context.before().filter(|_| body.bytes().all(|byte| byte.is_ascii_lowercase()))?;
    let one = ["each", "every", "per"].contains(&before);
    let many = ["nautical", "square", "cubic"].contains(&before)
        || ["few", "more", "several"].contains(&before) && body.len() > 1 && body != "in";
    if !one && !many {
        return None;
    }
    let (singular, plural) = simple_unit(body)?;
    Some((if one { singular } else { plural }, 1))
}

/// Whether the quotation mark after a chunk stands for inches, because it does not close an open quotation.
pub fn marks_inches(context: &TokenContext) -> bool {
    let Some(chunk) = context.chunk(0).filter(|chunk| chunk.close.starts_with('"')) else { return false };
    let mut open = 0;
    for chunk in &context.chunks[context.index.saturating_sub(MAX_QUOTE)..context.index] {
        let chunk = Chunk::new(chunk);
        open += chunk.open.matches('"').count();
        open -= chunk.close.matches('"').count().min(open);
    }
    open == 0 && !chunk.open.contains('"')
}
