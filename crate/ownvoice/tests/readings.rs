//! Compares texts with their readings by phones without stress: those of `data/readings.tsv`, which are hard to read aloud, and those of
//! `data/everyday.tsv`, which are everyday ones of many kinds.

use std::{
    thread,
    time::{Duration, Instant},
};

use ownvoice::text::{
    Phonemizer, sentences,
    symbols::{self, Symbol},
};
use ownvoice_testing::pieces::PIECES;

const READINGS: &str = include_str!("data/readings.tsv");
const EVERYDAY: &str = include_str!("data/everyday.tsv");
/// A word before each reading, so that "A" at its start is the letter and not an article.
const CARRIER: &str = "so";

/// The phones of each sentence.
type Phones = Vec<Vec<Symbol>>;

fn phones(phonemizer: &Phonemizer, sentence: &str) -> Vec<Symbol> {
    let symbols = phonemizer.symbols(sentence).unwrap_or_default();
    symbols
        .into_iter()
        .filter(|symbol| symbols::is_phone(*symbol))
        .map(|symbol| symbols::with_stress(symbol, 0))
        .collect()
}

fn phones_of_reading(phonemizer: &Phonemizer, reading: &str) -> Phones {
    let carrier = phones(phonemizer, CARRIER).len();
    reading
        .split(" / ")
        .map(|sentence| phones(phonemizer, &format!("{CARRIER} {sentence}"))[carrier..].to_vec())
        .collect()
}

/// Returns all readings that the alternatives in parentheses allow.
fn expand(reading: &str) -> Vec<String> {
    let Some((before, rest)) = reading.split_once('(') else { return vec![reading.to_string()] };
    let (alternatives, after) = rest.split_once(')').expect("each opening parenthesis is closed");
    let afters = expand(after);
    alternatives
        .split('|')
        .flat_map(|alternative| afters.iter().map(move |after| format!("{before}{alternative}{after}")))
        .collect()
}

/// Splits a line at `|` outside parentheses and expands the parts.
fn readings(line: &str) -> Vec<String> {
    let mut depth = 0;
    let alternatives = line.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == '|' && depth == 0
    });
    alternatives.flat_map(expand).collect()
}

/// Returns whether a text with escaped line breaks is read as expected, and how it is normalised. `split` tells whether the ends of sentences count.
fn compare(phonemizer: &Phonemizer, text: &str, expected: &str, split: bool) -> (bool, String) {
    let text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t");
    let sentences = sentences(&text);
    let normal: Vec<String> =
        sentences.iter().map(|sentence| ownvoice::text::normalize(sentence).unwrap_or_default()).collect();
    let read: Phones = sentences.iter().map(|sentence| phones(phonemizer, sentence)).collect();
    let joined = vec![read.concat()];
    let holds = readings(expected).iter().any(|reading| {
        let read = if split || reading.contains(" / ") { &read } else { &joined };
        phones_of_reading(phonemizer, reading) == *read
    });
    (holds, normal.join(" / "))
}

#[test]
fn alternatives_are_expanded() {
    assert_eq!(readings("a (b|) c|d (e|f) (g|h)"), ["a b c", "a  c", "d e g", "d e h", "d f g", "d f h"]);
}

/// The share of texts that must be read correctly.
const MIN_SHARE: f64 = 0.98;

#[test]
fn hard_texts_are_read_correctly() {
    let phonemizer = Phonemizer::embedded();
    let lines: Vec<&str> = READINGS.lines().filter(|line| !line.starts_with("# ")).collect();
    let (mut right, mut unexpected) = (0, Vec::new());
    for line in &lines {
        let columns: Vec<&str> = line.split('\t').collect();
        let (category, text, expected, said_instead) = match columns[..] {
            [category, text, expected] => (category, text, expected, None),
            [category, text, expected, said] => (category, text, expected, Some(said)),
            _ => panic!("expected three or four columns: {line}"),
        };
        let (holds, normal) = compare(&phonemizer, text, expected, category == "sentences");
        right += usize::from(holds);
        match said_instead {
            None if holds => {}
            None => {
                unexpected.push(format!("{category}: {text}\n  expected {expected}\n  read     {normal}"));
            }
            Some(_) if holds => unexpected
                .push(format!("{category}: {text}\n  is read correctly now, so remove its fourth column")),
            Some(said) if said == normal => {}
            Some(said) => {
                unexpected.push(format!(
                    "{category}: {text}\n  was      {said}\n  now      {normal}, which is also wrong"
                ));
            }
        }
    }
    let share = right as f64 / lines.len() as f64;
    println!("{right} of {} texts are read correctly: {:.1} %", lines.len(), 100.0 * share);
    assert!(
        unexpected.is_empty(),
        "{} of {} texts are not read as the data says:\n{}",
        unexpected.len(),
        lines.len(),
        unexpected.join("\n")
    );
    assert!(share >= MIN_SHARE, "only {:.1} % are read correctly", 100.0 * share);
}

/// The share of everyday texts that must be read correctly, also of those that the normaliser was not developed with.
const MIN_EVERYDAY: f64 = 0.97;

#[test]
fn everyday_texts_are_read_correctly() {
    let phonemizer = Phonemizer::embedded();
    for half in ["seen", "unseen", "fresh"] {
        let lines: Vec<Vec<&str>> = EVERYDAY.lines().map(|line| line.split('\t').collect()).collect();
        let lines: Vec<_> = lines.iter().filter(|columns| columns[0] == half).collect();
        let wrong: Vec<String> = lines
            .iter()
            .filter_map(|columns| {
                let [_, kind, text, expected] = columns[..] else {
                    panic!("expected four columns: {columns:?}")
                };
                let (holds, normal) = compare(&phonemizer, text, expected, false);
                (!holds).then(|| format!("{kind}: {text}\n  expected {expected}\n  read     {normal}"))
            })
            .collect();
        let right = lines.len() - wrong.len();
        println!("{right} of {} {half} everyday texts are read correctly", lines.len());
        assert!(
            right as f64 >= MIN_EVERYDAY * lines.len() as f64,
            "only {right} of {} {half} everyday texts are read correctly:\n{}",
            lines.len(),
            wrong.join("\n")
        );
    }
}

/// The length of a repeated text in bytes.
const REPEATED_BYTES: usize = 1 << 12;
/// About a hundred times the usual time on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Repeating a text reveals algorithms slower than linear time.
#[test]
fn repeated_texts_take_linear_time() {
    let phonemizer = Phonemizer::embedded();
    let texts =
        READINGS.lines().filter(|line| !line.starts_with("# ")).filter_map(|line| line.split('\t').nth(1));
    let texts: Vec<&str> = texts.chain(PIECES.iter().copied()).filter(|text| !text.is_empty()).collect();
    let repeat = |text: &str, separator: &str| {
        let repeated = format!("{text}{separator}").repeat(REPEATED_BYTES / text.len());
        let start = Instant::now();
        // The text is not split, because a text may be a single sentence.
        let _ = phonemizer.symbols(&repeated);
        assert!(start.elapsed() < MAX_TIME, "{:?} at {text:?}", start.elapsed());
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for share in texts.chunks(texts.len().div_ceil(threads)) {
            scope.spawn(|| {
                share.iter().for_each(|text| ["", " "].iter().for_each(|separator| repeat(text, separator)));
            });
        }
    });
}
