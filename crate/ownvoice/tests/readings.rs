//! Compares texts that are hard to read aloud with their readings in `data/readings.tsv`, by phones without stress.

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
        let text = text.replace("\\n", "\n").replace("\\t", "\t");
        let mut read: Phones =
            sentences(&text).iter().map(|sentence| phones(&phonemizer, sentence)).collect();
        if !expected.contains(" / ") && category != "sentences" {
            read = vec![read.concat()];
        }
        let holds = readings(expected).iter().any(|reading| phones_of_reading(&phonemizer, reading) == read);
        right += usize::from(holds);
        let normal: Vec<String> = sentences(&text)
            .iter()
            .map(|sentence| ownvoice::text::normalize(sentence).unwrap_or_default())
            .collect();
        let normal = normal.join(" / ");
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
