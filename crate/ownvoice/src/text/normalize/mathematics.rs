//! Expressions: "E=mc^2", "6.6×10^-34", "f(x)", "2x" in an equation.

use super::{
    numerals::{Number, integer, is_digits},
    units::unit,
};
use crate::text::numbers::cardinal;

#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("cos", "cosine"), ("exp", "exponential"), ("lim", "limit"), ("ln", "natural log"), ("log", "log"), ("max", "max"), ("min", "min"), ("sin", "sine"), ("sqrt", "square root"), ("tan", "tangent"),
];
/// Words of at most two letters, which are not variables.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me", "my", "no", "of", "on", "or", "so", "to", "up", "us", "we", "pi", "mu", "nu", "xi",
];
/// Longer expressions, in bytes, are not read as such.
const MAX_EXPRESSION: usize = 30;

/// Returns the name of a function.
pub fn function(name: &str) -> Option<String> {
    FUNCTIONS
        .iter()
        .find(|(short, _)| *short == name)
        .map(|(_, name)| name.to_string())
        .or_else(|| (name.len() == 1).then(|| name.to_ascii_uppercase()))
}

/// Returns the words of a number or a variable, perhaps with a factor: "2x", "3ab", "x", "30°".
pub fn term(text: &str) -> Option<String> {
    let (number, letters) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = integer(number).map_or(String::new(), cardinal);
    match letters {
        "" => Some(factor),
        "°" => Some(format!("{factor} degrees")),
        word if number.is_empty() && WORDS.contains(&word) => None,
        symbol if !number.is_empty() && unit(symbol).is_some() && symbol != "x" => None,
        letters => Some(format!("{factor} {}", super::spelled(letters))),
    }
}

/// Reads numbers, variables of one or two letters, and operators.
pub fn expression(text: &str) -> Option<String> {
    let measured = text.split_once('/').is_some_and(|(_, below)| unit(below).is_some());
    if text.len() > MAX_EXPRESSION || measured || unit(text).is_some() {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let text = text.replace("**", "^");
    let (mut rest, mut operand) = (text.as_str(), false);
    while let Some(first) = rest.chars().next() {
        if let Some((number, behind)) = Number::scan(rest) {
            words.push(number.count());
            (rest, operand) = (behind, true);
            continue;
        }
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if letters > 0 {
            let (name, behind) = rest.split_at(letters);
            words.push(match function(name) {
                Some(function) => function,
                None if name == "pi" => name.into(),
                None if letters > 2 => return None,
                None => super::spelled(name),
            });
            (rest, operand) = (behind, true);
            continue;
        }
        rest = &rest[first.len_utf8()..];
        let word = match first {
            '^' => {
                let sign = rest.starts_with('-');
                let exponent = rest.trim_start_matches(['-', '+']);
                let (exponent, behind) = exponent
                    .split_at(exponent.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(exponent.len()));
                rest = behind;
                match exponent {
                    "2" if !sign => "squared".to_string(),
                    "3" if !sign => "cubed".to_string(),
                    digits if is_digits(digits) && digits.len() < 4 => format!(
                        "to the power of {}{}",
                        if sign { "minus " } else { "" },
                        cardinal(integer(digits)?)
                    ),
                    letter if letter.len() == 1 => format!("to the power of {}", letter.to_ascii_uppercase()),
                    _ => return None,
                }
            }
            '+' if operand => "plus".into(),
            '+' | '(' | ')' => String::new(),
            '-' => "minus".into(),
            '/' => "over".into(),
            sign => sign_name(sign)?.into(),
        };
        operand = first == ')' || first == '^';
        words.push(word);
    }
    // With a sign at either end it is not an expression.
    let ends =
        words.first().is_some_and(|word| word.is_empty() || word == "minus" || word.starts_with("is "));
    (words.len() > 1 && !ends).then(|| words.join(" "))
}

/// Returns the name of a sign between operands.
fn sign_name(sign: char) -> Option<&'static str> {
    Some(match sign {
        '=' => "equals",
        '*' | '×' => "times",
        '<' => "is less than",
        '>' => "is greater than",
        '≤' => "is less than or equal to",
        '≥' => "is greater than or equal to",
        '≠' => "is not equal to",
        _ => return None,
    })
}
