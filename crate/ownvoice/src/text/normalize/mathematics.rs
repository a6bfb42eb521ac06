//! Expressions without spaces: "E=mc^2", "6.6×10^-34", "f(x)", "2x" in an equation.

use super::{
    numerals::{Number, integer, is_digits},
    place::{Reading, TokenContext},
    units::unit,
};
use crate::text::numbers::{cardinal, ordinal};

const OPERATORS: &[&str] = &["+", "-", "*", "/", "=", "==", "<", ">", "≤", "≥", "≠", "≈", "×", "^"];
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("cos", "cosine"), ("exp", "exponential"), ("lim", "limit"), ("ln", "natural log"), ("log", "log"), ("max", "max"), ("min", "min"), ("sin", "sine"), ("sqrt", "square root"), ("tan", "tangent"),
];
/// Longer chunks, in bytes, are not read as expressions.
const MAX_EXPRESSION: usize = 30;

/// Reads an expression, a term next to an operator, or a function.
pub fn read(context: &TokenContext, body: &str) -> Reading {
    scientific(body)
        .or_else(|| function(context))
        .or_else(|| {
            let near_operator = context.before().is_some_and(|before| OPERATORS.contains(&before))
                || context.raw(1).is_some_and(|next| OPERATORS.contains(&next));
            let quotient = |body: &str| {
                let operand = |part: &str| integer(part).map(cardinal).or_else(|| term(part));
                let (above, below) = body.split_once('/')?;
                is_variable(body).then(|| Some(format!("{} over {}", operand(above)?, operand(below)?)))?
            };
            (near_operator && context.chunk(0)?.open.is_empty())
                .then(|| term(body).or_else(|| quotient(body)))?
        })
        .or_else(|| body.contains(['^', '=', '*', '<', '>', '≤', '≥']).then(|| expression(body))?)
        .map(|words| {
            // "10^-27 kg"
            let unit =
                super::unit_behind::unit_of(context, "").filter(|_| super::place::starts_with_digit(body));
            unit.map_or((words.clone(), 1), |((_, many), used)| (format!("{words} {many}"), used))
        })
}

/// Whether a quotient has a variable: "b/2". A quotient of numbers is a fraction.
fn is_variable(body: &str) -> bool {
    body.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether a sign between operands belongs to an equation: "5x - 3 = 12".
pub fn is_equation(context: &TokenContext) -> bool {
    let operand = |word: &str| {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        letters < 2 && word.bytes().any(|byte| byte.is_ascii_alphanumeric())
    };
    let near = context.chunks[context.index.saturating_sub(6)..(context.index + 7).min(context.chunks.len())]
        .contains(&"=");
    near && context.before().is_some_and(operand) && context.raw(1).is_some_and(operand)
}

/// Reads scientific notation: "1.5e-5".
fn scientific(body: &str) -> Option<String> {
    let (number, rest) = Number::scan(body)?;
    let exponent = rest.strip_prefix(['e', 'E'])?;
    let digits = exponent.trim_start_matches('+');
    let power = match integer(digits).filter(|_| digits.len() < 4) {
        Some(value) => ordinal(value),
        None => signed(exponent)?,
    };
    Some(format!("{} times ten to the {power}", number.count()))
}

/// Returns the words of an exponent with a sign.
fn signed(exponent: &str) -> Option<String> {
    let digits = exponent.trim_start_matches(['+', '-']);
    let value = cardinal(digits.parse().ok().filter(|_| is_digits(digits) && digits.len() < 4)?);
    Some(if exponent.starts_with('-') { format!("minus {value}") } else { value })
}

/// Reads a function: "f(x)", "sin(2x)". The last parenthesis is the chunk's punctuation.
fn function(context: &TokenContext) -> Option<String> {
    let chunk = context.chunk(0).filter(|chunk| chunk.close.starts_with(')'))?;
    let (name, argument) = chunk.body.split_once('(')?;
    let event = argument.len() == 1 && argument.bytes().all(|byte| byte.is_ascii_uppercase());
    let argument = if event {
        argument.to_string()
    } else if let Some(degrees) = argument.strip_suffix('°') {
        format!("{} degrees", cardinal(integer(degrees)?))
    } else if is_digits(argument) {
        cardinal(argument.parse().ok()?)
    } else {
        term(argument)?
    };
    let name = match FUNCTIONS.iter().find(|(short, _)| *short == name) {
        Some((_, name)) => name.to_string(),
        None if name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            name.to_ascii_uppercase()
        }
        None => return None,
    };
    Some(format!("{name} of {argument}"))
}

/// Reads a variable, perhaps with a factor: "2x", "3ab", "x".
fn term(body: &str) -> Option<String> {
    let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (number, letters) = body.split_at(digits);
    if letters.is_empty()
        || letters.len() > 2
        || number.len() > 3
        || !letters.bytes().all(|byte| byte.is_ascii_lowercase())
        || number.is_empty()
            && [
                "a", "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me",
                "my", "no", "of", "on", "or", "so", "to", "up", "us", "we", "pi", "mu", "nu", "xi",
            ]
            .contains(&letters)
        || !number.is_empty() && unit(letters).is_some() && letters != "x"
    {
        return None;
    }
    let letters = super::spelled(&letters.to_ascii_uppercase());
    Some(match number {
        "" => letters,
        number => format!("{} {letters}", cardinal(number.parse().ok()?)),
    })
}

/// Reads numbers, variables of one or two letters, and operators.
fn expression(body: &str) -> Option<String> {
    let measured = body.split_once('/').is_some_and(|(_, below)| unit(below).is_some());
    if body.len() > MAX_EXPRESSION || measured || unit(body).is_some() {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let mut rest = body;
    let mut operand = false;
    while let Some(first) = rest.chars().next() {
        if let Some((number, behind)) = Number::scan(rest) {
            words.push(number.count());
            (rest, operand) = (behind, true);
            continue;
        }
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if letters > 0 {
            let name = &rest[..letters];
            words.push(match FUNCTIONS.iter().find(|(function, _)| *function == name) {
                Some((_, function)) => (*function).to_string(),
                None if letters > 2 => return None,
                None => super::spelled(&name.to_ascii_uppercase()),
            });
            (rest, operand) = (&rest[letters..], true);
            continue;
        }
        rest = &rest[first.len_utf8()..];
        if first == '^' {
            let exponent = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            let end = exponent.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(exponent.len());
            let (raised, behind) = rest.split_at(rest.len() - exponent.len() + end);
            words.push(match raised {
                "2" => "squared".to_string(),
                "3" => "cubed".to_string(),
                letter if letter.len() == 1 && !is_digits(letter) => {
                    format!("to the power of {}", letter.to_ascii_uppercase())
                }
                number => format!("to the power of {}", signed(number)?),
            });
            rest = behind;
            continue;
        }
        let name = match first {
            '+' if operand => "plus",
            '+' | '(' | ')' => "",
            '-' => "minus",
            '=' => "equals",
            '*' | '×' => "times",
            '/' => "over",
            '<' => "is less than",
            '>' => "is greater than",
            '≤' => "is less than or equal to",
            '≥' => "is greater than or equal to",
            _ => return None,
        };
        words.push(name.to_string());
        operand = first == ')';
    }
    // With a sign at either end it is not an expression.
    let ends = |edge: Option<&String>| {
        edge.is_some_and(|word| word.is_empty() || word == "minus" || word.starts_with("is "))
    };
    (words.len() > 1 && !ends(words.first()) && operand_ends(body)).then(|| words.join(" "))
}

/// Whether an expression ends with an operand.
fn operand_ends(body: &str) -> bool {
    body.ends_with(|c: char| c.is_ascii_alphanumeric() || c == ')')
}
