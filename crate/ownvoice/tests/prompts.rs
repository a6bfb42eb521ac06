//! Checks that the prompts cover the phones of English, and that the first of them already cover most.

use ownvoice::text::{Phonemizer, symbols};
use serde_json::Value;
use std::collections::BTreeSet;

/// The number of prompts that the page shows.
const SHOWN: usize = 12;

/// Returns the phones of a text without stress, and the pairs of them.
fn sounds(phonemizer: &Phonemizer, text: &str) -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let written = symbols::format(&phonemizer.symbols(text).expect("the text can be spoken"));
    let phones: Vec<String> = written
        .split_whitespace()
        .map(|symbol| symbol.trim_end_matches(|c: char| c.is_ascii_digit()).to_string())
        .filter(|symbol| symbol.chars().all(|c| c.is_ascii_uppercase()))
        .collect();
    let pairs = phones.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    (phones.into_iter().collect(), pairs)
}

#[test]
fn prompts_cover_english_and_the_first_cover_most() {
    let prompts: Vec<Value> =
        serde_json::from_slice(&std::fs::read("../../models/prompts.json").unwrap()).unwrap();
    assert!(prompts.len() >= SHOWN);
    let phonemizer = Phonemizer::embedded();
    let (mut phones, mut pairs) = (BTreeSet::new(), BTreeSet::new());
    let mut covered = Vec::new();
    for prompt in prompts.iter().take(SHOWN) {
        let (more, more_pairs) = sounds(&phonemizer, prompt["text"].as_str().unwrap());
        phones.extend(more);
        pairs.extend(more_pairs);
        covered.push((phones.len(), pairs.len()));
    }
    println!("phones and pairs after each prompt: {covered:?}");
    assert_eq!(phones.len(), 39, "{phones:?}");
    // The first third, about twenty seconds, covers nearly all phones, and every prompt adds at least ten pairs.
    assert!(covered[SHOWN / 3 - 1].0 >= 37, "{covered:?}");
    assert!(covered.windows(2).all(|step| step[1].1 >= step[0].1 + 10), "{covered:?}");
}
