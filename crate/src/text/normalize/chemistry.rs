//! Formulas of chemistry, letter by letter: "NaCl", "H2SO4", "Ca(OH)2", "Fe^3+".

use super::place::Reading;
use crate::text::numbers::cardinal;

#[rustfmt::skip]
const ELEMENTS: &[&str] = &[
    "Ag", "Al", "Ar", "As", "Au", "B", "Ba", "Be", "Bi", "Br", "C", "Ca", "Cd", "Cl", "Co", "Cr", "Cs", "Cu", "F", "Fe", "Ga", "Ge", "H", "He", "Hg", "I", "In", "K", "Kr", "Li", "Mg", "Mn", "Mo",
    "N", "Na", "Ne", "Ni", "O", "P", "Pb", "Pd", "Pt", "Pu", "Ra", "Rb", "Rn", "S", "Sb", "Se", "Si", "Sn", "Sr", "Te", "Th", "Ti", "U", "V", "W", "Xe", "Zn", "Zr",
];
const ISOTOPES: &[&str] = &["Am", "Co", "Cs", "Pb", "Po", "Pu", "Ra", "Rn", "Sr", "Tc", "Th", "Xe"];
/// What a formula without numbers ends with: "NaCl", "ZnO", "GaAs".
const LAST: &[&str] = &["As", "Br", "C", "Cl", "F", "H", "I", "N", "O", "S", "Se", "Te"];
/// Names and words that could be formulas.
const OTHERS: &[&str] = &["CoS", "HeLa", "InS", "NaN", "PoS", "ThS"];

/// Whether a text is the symbol of an element, of two letters, that is written before a mass: "Cs-137".
pub fn is_isotope(symbol: &str, mass: &str) -> bool {
    let behind = |c: &str| symbol.len() == 2 && ISOTOPES.contains(&c);
    behind(symbol) && (2..=3).contains(&mass.len()) && super::numerals::is_digits(mass)
}

/// The symbol of an element that a text begins with, of two letters where there is one.
fn element(text: &str) -> Option<&'static str> {
    [2, 1].into_iter().find_map(|length| {
        let head = text.get(..length)?;
        ELEMENTS.iter().find(|element| **element == head).copied()
    })
}

/// "Na+", "Ca2+": an atom and its charge; other letters with a sign are grades.
fn ion(body: &str) -> Option<(&str, &str)> {
    ["Ca", "Cl", "Cu", "Fe", "H", "K", "Li", "Mg", "Na", "Zn"].into_iter().find_map(|atom| {
        let charge = body.strip_prefix(atom)?;
        let sign = charge.trim_start_matches(['1', '2', '3']);
        (charge.len() <= 2 && ["+", "-"].contains(&sign)).then(|| body.split_at(atom.len()))
    })
}

pub fn read(body: &str) -> Reading {
    if !body.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let (formula, charge) = match body.split_once('^') {
        Some((formula, charge)) => (formula, Some(charge)),
        None => match ion(body) {
            Some((formula, charge)) => (formula, Some(charge)),
            None => (body, None),
        },
    };
    let mut words: Vec<String> = Vec::new();
    let mut elements = Vec::new();
    let (mut counts, mut rest) = (0, formula);
    while let Some(first) = rest.chars().next() {
        if let Some(symbol) = element(rest) {
            words.push(super::spelled(symbol).to_ascii_uppercase());
            elements.push(symbol);
            rest = &rest[symbol.len()..];
        } else if first.is_ascii_digit() && !elements.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            words.push(cardinal(rest[..digits].parse().ok().filter(|count| *count < 100)?));
            counts += 1;
            rest = &rest[digits..];
        } else if matches!(first, '(' | ')') && !elements.is_empty() {
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    let last = elements.last()?;
    let small = formula.bytes().any(|byte| byte.is_ascii_lowercase());
    let compound = elements.len() > 1 && (counts > 0 || LAST.contains(last)) && !OTHERS.contains(&formula);
    let ion = charge.is_some_and(|charge| charge.ends_with(['+', '-']));
    if !(small && compound || ion || matches!(formula, "Br2" | "Cl2")) {
        return None;
    }
    if let Some(charge) = charge.filter(|_| ion) {
        let (digits, sign) = charge.split_at(charge.len() - 1);
        words.extend(digits.parse().ok().map(cardinal));
        words.push(if sign == "+" { "plus" } else { "minus" }.to_string());
    }
    Some((words.join(" "), 1))
}
