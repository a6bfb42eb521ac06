//! Notes, chords and meters: "B♭", "F♯m7", "Bb major", "6/8 time".

use super::numerals::split_fraction;
use super::place::{Place, Reading};
use crate::text::numbers::cardinal;

#[rustfmt::skip]
const QUALITIES: &[(&str, &str)] = &[
    ("", ""), ("m", "minor"), ("min", "minor"), ("maj", "major"), ("M", "major"), ("dim", "diminished"), ("aug", "augmented"), ("sus", "sus"), ("add", "add"),
];

pub fn read(place: &Place, body: &str) -> Reading {
    if let Some((beats, unit)) = split_fraction(body)
        && place.body(1).is_some_and(|next| ["meter", "signature", "time"].contains(&next))
    {
        return Some((format!("{} {}", cardinal(beats), cardinal(unit)), 1));
    }
    let note = body.chars().next().filter(|note| ('A'..='G').contains(note))?;
    let rest = &body[1..];
    let keyed = place.body(1).is_some_and(|next| ["major", "minor"].contains(&next));
    let marked = |mark: char, sign| rest.strip_prefix(mark).map(|rest| (sign, rest));
    let (sign, rest) = marked('♭', " flat")
        .or_else(|| marked('♯', " sharp"))
        .or_else(|| marked('#', " sharp"))
        .or_else(|| {
            marked('b', " flat").filter(|(_, rest)| rest.is_empty() && (keyed || "BE".contains(note)))
        })
        .unwrap_or(("", rest));
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (quality, number) = rest.split_at(letters);
    let major = quality == "maj";
    let (_, quality) = QUALITIES.iter().find(|(short, _)| *short == quality)?;
    let number = match number {
        "" => String::new(),
        number => cardinal(number.parse().ok().filter(|number| *number < 14)?),
    };
    // A letter and a number alone may be anything.
    (!sign.is_empty() || !quality.is_empty() && !number.is_empty() || major)
        .then(|| (format!("{}{sign} {quality} {number}", note), 1))
}
