//! Times our symbols by an engine's own phones, with a dynamic programme over the similarity of phones.
//!
//! Engines reduce words differently from our dictionary ("and" as `ae n d`), join phones (`el`) and pause without a comma. The result holds what was
//! spoken, in our symbols: where the two differ, the engine's phone replaces ours and keeps our stress, and its pauses become silences. Exchanging similar
//! phones is cheap; an utterance whose mean cost is too high is rejected.

use super::phones::{EnginePhone, is_pause};
use ownvoice::text::symbols::{self, SILENCE, Symbol};

/// The shortest duration of a symbol: one frame of 12.5 ms, plus a margin for rounding.
pub const MIN_SECONDS: f32 = 0.0126;
/// The mean cost per phone above which an utterance is rejected, because another text was spoken.
const MAX_MEAN_COST: f32 = 0.15;
/// The cost of a phone that the other side lacks.
const GAP: f32 = 0.8;
/// The cost of an impossible step.
const NEVER: f32 = 1e9;

/// The spoken symbols and their times.
#[derive(Debug, Clone, PartialEq)]
pub struct PhoneMatch {
    pub symbols: Vec<Symbol>,
    /// The end of each symbol, at least [`MIN_SECONDS`] after the one before; the last is the length of the utterance.
    pub end_seconds: Vec<f32>,
    /// The mean cost per phone; 0 if both sides agree.
    pub mean_cost: f32,
    /// The differences: our phone and the engine's, of which one may be absent.
    pub mismatches: Vec<(Option<&'static str>, Option<&'static str>)>,
}

impl PhoneMatch {
    /// Whether the engine spoke the same text.
    pub fn is_good(&self) -> bool {
        self.mean_cost <= MAX_MEAN_COST
    }
}

/// An item of the dynamic programme: a phone without stress, or a pause.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    /// ARPAbet without stress; empty for a pause.
    phone: &'static str,
    /// Whether the engine's name marks a reduced vowel (`ax`).
    reduced: bool,
    end: f32,
}

impl Unit {
    /// Returns the symbol of this unit in place of `ours`, whose stress it takes, or between our symbols.
    fn symbol(&self, ours: Option<Symbol>) -> Symbol {
        let stress = ours.and_then(symbols::stress).filter(|_| !self.reduced).unwrap_or(0);
        Symbol::from_name(self.phone)
            .or_else(|| Symbol::from_name(&format!("{}{stress}", self.phone)))
            .unwrap_or(SILENCE)
    }
}

/// Converts a phone of flite's and festival's radio set to ARPAbet phones without stress. A pause is empty; an unknown phone gives `None`.
fn engine_phones(phone: &str) -> Option<Vec<&'static str>> {
    Some(match phone {
        phone if is_pause(phone) => vec![""],
        "ax" => vec!["AH"],
        "ix" => vec!["IH"],
        "ux" => vec!["UW"],
        "axr" => vec!["ER"],
        "dx" => vec!["T"],
        "hv" => vec!["HH"],
        "nx" => vec!["N"],
        "el" => vec!["AH", "L"],
        "em" => vec!["AH", "M"],
        "en" => vec!["AH", "N"],
        _ => {
            let name = phone.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_uppercase();
            vec![base(Symbol::from_name(&name).or_else(|| Symbol::from_name(&format!("{name}0")))?)]
        }
    })
}

/// Returns the name of a phone without its stress, or an empty string for a pause.
fn base(symbol: Symbol) -> &'static str {
    let name = symbol.name();
    if symbols::is_phone(symbol) { name.trim_end_matches(|c: char| c.is_ascii_digit()) } else { "" }
}

/// Whether a name without stress is a vowel.
fn is_vowel(phone: &str) -> bool {
    phone.starts_with(['A', 'E', 'I', 'O', 'U'])
}

/// The cost of exchanging two phones: 0 for the same phone, 1 for two unrelated consonants, more for a vowel and a consonant.
fn substitution(ours: &str, theirs: &str) -> f32 {
    #[rustfmt::skip]
    const ALIKE: &[(&str, &str, f32)] = &[
        ("AA", "AO", 0.1), ("S", "Z", 0.2), ("T", "D", 0.2), ("TH", "DH", 0.2), ("N", "NG", 0.2), ("SH", "ZH", 0.2),
        ("F", "V", 0.3), ("K", "G", 0.4), ("P", "B", 0.4), ("CH", "JH", 0.3), ("CH", "SH", 0.4), ("JH", "ZH", 0.2),
        ("CH", "T", 0.4), ("W", "HH", 0.4), ("ER", "R", 0.3), ("IY", "Y", 0.4), ("UW", "W", 0.4), ("AH", "IH", 0.1),
        ("AH", "EH", 0.2), ("AH", "AE", 0.2), ("IH", "IY", 0.15), ("AH", "ER", 0.25), ("IH", "EH", 0.2), ("UH", "UW", 0.15),
        ("AH", "UH", 0.2), ("AH", "UW", 0.25), ("AH", "IY", 0.25), ("AH", "AA", 0.25), ("AH", "AO", 0.25), ("AH", "OW", 0.25),
        ("OW", "AO", 0.2),
    ];
    if ours == theirs {
        return 0.0;
    }
    if ours.is_empty() || theirs.is_empty() {
        return NEVER;
    }
    let alike = ALIKE.iter().find(|(a, b, _)| (*a, *b) == (ours, theirs) || (*b, *a) == (ours, theirs));
    match (alike, is_vowel(ours), is_vowel(theirs)) {
        (Some((.., cost)), ..) => *cost,
        (_, true, true) => 0.5,
        (_, false, false) => 1.0,
        _ => 1.5,
    }
}

/// The cost of a phone of the engine that our symbols lack after `ours`.
fn extra(ours: Option<&str>, theirs: &str) -> f32 {
    match (ours, theirs) {
        (_, "") => 0.05,
        (Some("ER" | "AO" | "AA"), "R") => 0.1,
        (_, "Y") => 0.4,
        _ => GAP,
    }
}

/// The cost of one of our phones that the engine lacks.
fn missing(ours: &str, after: Option<&str>) -> f32 {
    match (ours, after) {
        ("", _) => 0.0,
        ("R", Some("ER")) => 0.1,
        ("Y", _) => 0.4,
        ("T" | "D" | "HH", _) => 0.5,
        _ => GAP,
    }
}

/// The last step to a cell of the table.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Start,
    Both,
    Ours,
    Theirs,
}

/// Aligns `ours` with the phones of an engine. Check [`PhoneMatch::is_good`] before use.
///
/// Returns `None` if the engine prints an unknown phone, or if `total_seconds` are too few for all symbols.
pub fn match_phones(ours: &[Symbol], engine: &[EnginePhone], total_seconds: f32) -> Option<PhoneMatch> {
    let theirs = units(engine, total_seconds)?;
    // Consecutive pauses ("." and "_" at the end) share one pause of the engine.
    let groups: Vec<&[Symbol]> =
        ours.chunk_by(|a, b| symbols::is_pause(*a) && symbols::is_pause(*b)).collect();
    let names: Vec<&'static str> = groups.iter().map(|group| base(group[0])).collect();
    if names.is_empty() || theirs.is_empty() {
        return None;
    }
    let (steps, cost) = cheapest_path(&names, &theirs)?;
    let mut result = follow(&steps, &groups, &names, &theirs);
    let phones = names.iter().filter(|name| !name.is_empty()).count().max(1);
    result.mean_cost = cost / phones as f32;
    widen(&mut result.end_seconds, total_seconds)?;
    Some(result)
}

/// Finds the alignment of our phones with the engine's at the lowest cost. Returns its steps and its cost.
fn cheapest_path(names: &[&str], theirs: &[Unit]) -> Option<(Vec<Step>, f32)> {
    let width = theirs.len() + 1;
    let mut table = vec![(NEVER, Step::Start); (names.len() + 1) * width];
    table[0].0 = 0.0;
    for i in 0..=names.len() {
        for j in 0..width {
            let before = |index: usize| index.checked_sub(2).map(|index| names[index]);
            let mut best = table[i * width + j];
            let mut offer = |cost: f32, step| {
                if cost < best.0 {
                    best = (cost, step);
                }
            };
            if i > 0 && j > 0 {
                offer(
                    table[(i - 1) * width + j - 1].0 + substitution(names[i - 1], theirs[j - 1].phone),
                    Step::Both,
                );
            }
            if i > 0 {
                offer(table[(i - 1) * width + j].0 + missing(names[i - 1], before(i)), Step::Ours);
            }
            if j > 0 {
                offer(
                    table[i * width + j - 1].0
                        + extra(i.checked_sub(1).map(|index| names[index]), theirs[j - 1].phone),
                    Step::Theirs,
                );
            }
            table[i * width + j] = best;
        }
    }

    let (mut i, mut j) = (names.len(), theirs.len());
    let mut steps = Vec::new();
    while (i, j) != (0, 0) {
        let step = table[i * width + j].1;
        steps.push(step);
        match step {
            Step::Both => (i, j) = (i - 1, j - 1),
            Step::Ours => i -= 1,
            Step::Theirs => j -= 1,
            Step::Start => return None,
        }
    }
    steps.reverse();
    Some((steps, table[names.len() * width + theirs.len()].0))
}

/// Assembles symbols and times along the steps of an alignment. The mean cost stays 0.
fn follow(steps: &[Step], groups: &[&[Symbol]], names: &[&'static str], theirs: &[Unit]) -> PhoneMatch {
    let mut result =
        PhoneMatch { symbols: Vec::new(), end_seconds: Vec::new(), mean_cost: 0.0, mismatches: Vec::new() };
    let (mut i, mut j, mut now) = (0, 0, 0.0);
    for step in steps {
        match step {
            Step::Start => unreachable!("only the first cell of the table has no step"),
            Step::Both => {
                let (name, unit) = (names[i], theirs[j]);
                let differs = name != unit.phone;
                if differs {
                    result.mismatches.push((Some(name), Some(unit.phone)));
                }
                let share = (unit.end - now) / groups[i].len() as f32;
                for (index, symbol) in groups[i].iter().enumerate() {
                    result.symbols.push(if differs { unit.symbol(Some(*symbol)) } else { *symbol });
                    result.end_seconds.push(now + share * (index + 1) as f32);
                }
                (i, j, now) = (i + 1, j + 1, unit.end);
            }
            Step::Ours => {
                // A pause that the engine did not make is kept, and widened later; a phone that it omitted was not spoken.
                if names[i].is_empty() {
                    result.symbols.extend_from_slice(groups[i]);
                    result.end_seconds.extend(groups[i].iter().map(|_| now));
                } else {
                    result.mismatches.push((Some(names[i]), None));
                }
                i += 1;
            }
            Step::Theirs => {
                let unit = theirs[j];
                if !unit.phone.is_empty() {
                    result.mismatches.push((None, Some(unit.phone)));
                }
                // "er r" is our ER.
                match result.end_seconds.last_mut() {
                    Some(last)
                        if unit.phone == "R"
                            && result.symbols.last().is_some_and(|symbol| base(*symbol) == "ER") =>
                    {
                        *last = unit.end;
                    }
                    _ => {
                        result.symbols.push(unit.symbol(None));
                        result.end_seconds.push(unit.end);
                    }
                }
                (j, now) = (j + 1, unit.end);
            }
        }
    }
    result
}

/// Converts the engine's phones to units. Joined phones share their time equally.
fn units(engine: &[EnginePhone], total_seconds: f32) -> Option<Vec<Unit>> {
    let mut units: Vec<Unit> = Vec::new();
    let mut now = 0.0f32;
    for EnginePhone { name: phone, end_seconds } in engine {
        let names = engine_phones(phone)?;
        let end = end_seconds.clamp(now, total_seconds.max(now));
        for (index, name) in names.iter().enumerate() {
            let end = now + (end - now) * (index + 1) as f32 / names.len() as f32;
            match units.last_mut() {
                Some(last) if last.phone.is_empty() && name.is_empty() => last.end = end,
                _ => units.push(Unit {
                    phone: name,
                    reduced: matches!(phone.as_str(), "ax" | "ix" | "ux" | "axr" | "el" | "em" | "en"),
                    end,
                }),
            }
        }
        now = end;
    }
    Some(units)
}

/// Moves the ends so that every symbol lasts at least [`MIN_SECONDS`] and the last ends at `total_seconds`.
fn widen(ends: &mut [f32], total_seconds: f32) -> Option<()> {
    if ends.is_empty() || (ends.len() as f32) * MIN_SECONDS > total_seconds {
        return None;
    }
    let mut floor = 0.0;
    for end in ends.iter_mut() {
        floor = end.max(floor + MIN_SECONDS);
        *end = floor;
    }
    let mut ceiling = total_seconds;
    *ends.last_mut()? = total_seconds;
    for end in ends.iter_mut().rev() {
        *end = end.min(ceiling);
        ceiling = *end - MIN_SECONDS;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns phones of 0.1 s each.
    fn engine(phones: &str) -> Vec<EnginePhone> {
        phones
            .split(' ')
            .enumerate()
            .map(|(index, phone)| EnginePhone::new(phone, (index + 1) as f32 * 0.1))
            .collect()
    }

    fn aligned(ours: &str, phones: &str) -> (String, Vec<f32>) {
        let engine = engine(phones);
        let total = engine.last().unwrap().end_seconds;
        let alignment = match_phones(&symbols::parse(ours).unwrap(), &engine, total).unwrap();
        assert!(alignment.is_good(), "{alignment:?}");
        (
            symbols::format(&alignment.symbols),
            alignment.end_seconds.iter().map(|end| (end * 1000.0).round() / 1000.0).collect(),
        )
    }

    #[test]
    fn equal_phones_take_the_engines_times() {
        assert_eq!(
            aligned("_ K AE1 T . _", "pau k ae t pau"),
            ("_ K AE1 T . _".into(), vec![0.1, 0.2, 0.3, 0.4, 0.45, 0.5])
        );
    }

    #[test]
    fn joined_phones_are_split() {
        assert_eq!(
            aligned("_ B AA1 T AH0 L _", "pau b aa t el pau").1,
            [0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6][..].to_vec()
        );
        assert_eq!(
            aligned("_ HH ER1 D _", "pau hh er r d pau"),
            ("_ HH ER1 D _".into(), vec![0.1, 0.2, 0.4, 0.5, 0.6])
        );
    }

    #[test]
    fn reductions_of_the_engine_replace_ours() {
        assert_eq!(
            aligned("_ K AE1 T AH0 N D B AE1 T _", "pau k ae t ae n d b ae t pau").0,
            "_ K AE1 T AE0 N D B AE1 T _"
        );
        assert_eq!(
            aligned("_ R AE1 N AE1 T S IH1 K S _", "pau r ae n ax t s ih k s pau").0,
            "_ R AE1 N AH0 T S IH1 K S _"
        );
    }

    #[test]
    fn pauses_of_the_engine_are_added_and_ours_last_a_frame() {
        assert_eq!(
            aligned("_ K AE1 T S IH1 T S _", "pau k ae t pau s ih t s pau").0,
            "_ K AE1 T _ S IH1 T S _"
        );
        let (symbols, ends) = aligned("_ K AE1 T , S IH1 T _", "pau k ae t s ih t pau");
        assert_eq!(symbols, "_ K AE1 T , S IH1 T _");
        assert_eq!((ends[3], ends[4], ends[5]), (0.4, 0.413, 0.5));
    }

    #[test]
    fn other_words_are_rejected() {
        let alignment =
            match_phones(&symbols::parse("_ K AE1 T _").unwrap(), &engine("pau z uw m ih ng pau"), 0.7)
                .unwrap();
        assert!(!alignment.is_good());
        assert_eq!(
            match_phones(&symbols::parse("_ K AE1 T _").unwrap(), &engine("pau k qq t pau"), 0.5),
            None
        );
        assert_eq!(
            match_phones(&symbols::parse("_ K AE1 T _").unwrap(), &engine("pau k ae t pau"), 0.06),
            None
        );
        assert_eq!(match_phones(&[], &engine("pau"), 0.1), None);
    }
}
