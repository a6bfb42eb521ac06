//! Signs before numbers, and signs with spaces around them: "~5", "-40", "5 < 6", "File > Save As".

use super::{
    place::{Reading, TokenContext, is_capitalized, starts_with_digit},
    rules,
};

/// Reads a number by the rules, perhaps after signs.
pub fn numeric(context: &TokenContext, body: &str) -> Reading {
    #[rustfmt::skip]
    const SIGNS: [(&str, &str); 13] = [
        ("+/-", "plus or minus"), ("≤", "at most"), ("≥", "at least"), ("≈", "about"), ("-", "minus"), ("–", "minus"), ("+", "plus"), ("#", "number"), ("~", "about"), ("<", "less than"),
        (">", "more than"), ("@", "at"), ("=", "equals"),
    ];
    let signs = |(mark, sign): &(&str, &str)| {
        let rest = body
            .strip_prefix(mark)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "$£€¥.".contains(c)))?;
        let (words, used) = rules::read(context, mark.len()).filter(|_| !rest.is_empty())?;
        Some((format!("{sign} {words}"), used))
    };
    rules::read(context, 0).or_else(|| SIGNS.iter().find_map(signs))
}

/// Whether a sign between operands belongs to an equation: "5x - 3 = 12".
fn is_equation(context: &TokenContext) -> bool {
    let operand = |word: &str| {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        letters < 2 && word.bytes().any(|byte| byte.is_ascii_alphanumeric())
    };
    let near = context.chunks[context.index.saturating_sub(6)..(context.index + 7).min(context.chunks.len())]
        .contains(&"=");
    near && context.before().is_some_and(operand) && context.raw(1).is_some_and(operand)
}

/// Returns the words of a sign with spaces around it. An empty string is a pause.
pub fn operator(context: &TokenContext) -> Option<&'static str> {
    let digit_before = context
        .before()
        .is_some_and(|before| before.trim_end_matches(['\'', '"']).ends_with(|c: char| c.is_ascii_digit()));
    let digit_after =
        context.raw(1).is_some_and(|next| starts_with_digit(next.trim_start_matches(['$', '£', '€'])));
    let between = digit_before && digit_after;
    let measured = context.back(2).is_some_and(starts_with_digit)
        && context.before().is_some_and(|unit| unit.len() <= 3);
    let compares = context.before().is_some() && context.raw(1).is_some();
    Some(match context.raw(0)? {
        "<" if compares => "is less than",
        // "File > Save As"
        ">" if [context.before(), context.raw(1)]
            .into_iter()
            .flatten()
            .all(|word| word.len() > 1 && is_capitalized(word)) =>
        {
            ""
        }
        ">" if compares => "is greater than",
        "<" if digit_after => "less than",
        ">" if digit_after => "more than",
        "≤" if compares => "is less than or equal to",
        "≥" if compares => "is greater than or equal to",
        "≠" if compares => "is not equal to",
        "=" | "==" => "equals",
        "+" => "plus",
        "&&" => "and",
        "||" => "or",
        "+/-" => "plus or minus",
        "#" => "number",
        "*" if between || is_equation(context) => "times",
        "/" if between => "divided by",
        "/" if [context.before(), context.raw(1)].into_iter().flatten().all(|operand| operand.len() == 1) => {
            "over"
        }
        "-" if between || is_equation(context) => "minus",
        "–" if between => "to",
        "->" | "=>" if compares => "to",
        "-" | "--" | "–" | "—" => "",
        "≈" if compares => "is about",
        "~" | "≈" => "about",
        "×" if compares => "times",
        // "I ♥ NY"
        "♥" if context.before().is_some_and(|who| ["I", "i", "we", "We", "they", "They"].contains(&who))
            && context.raw(1).is_some() =>
        {
            "love"
        }
        "♥" => "",
        "x" | "X" if digit_after && (digit_before || measured) => {
            if context.raw(2) == Some("=") {
                "times"
            } else {
                "by"
            }
        }
        _ => return None,
    })
}
