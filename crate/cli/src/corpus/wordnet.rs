//! Natural sentences: the examples in the dictionary of Debian's `wordnet-base`.

use std::{collections::HashSet, path::Path};

use ownvoice::{Error, Result, files, text::lexicon::Lexicon};

/// The folder of the package.
pub const FOLDER: &str = "/usr/share/wordnet";
const FILES: [&str; 4] = ["data.adj", "data.adv", "data.noun", "data.verb"];
/// The number of words of a sentence.
const WORDS: std::ops::RangeInclusive<usize> = 4..=18;

/// Returns all examples of common length whose words are in the lexicon, without duplicates, in the order of the files.
///
/// # Errors
/// `corpus-invalid` if the package is not installed.
pub fn sentences(folder: &Path, lexicon: &Lexicon) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    let mut sentences = Vec::new();
    for name in FILES {
        let bytes = files::read(&folder.join(name)).map_err(|error| {
            Error::corpus_invalid(format!("{error}: natural sentences need Debian's package wordnet-base"))
        })?;
        for line in String::from_utf8_lossy(&bytes).lines() {
            sentences.extend(examples(line, lexicon).filter(|sentence| seen.insert(sentence.clone())));
        }
    }
    Ok(sentences)
}

/// Returns the quoted examples after a definition. Quotations from literature, which a dash and a name follow, are left out: many are in older English.
fn examples<'a>(line: &'a str, lexicon: &'a Lexicon) -> impl Iterator<Item = String> + 'a {
    let gloss = line.split_once(" | ").map_or("", |(_, gloss)| gloss);
    let pieces: Vec<&str> = gloss.split('"').collect();
    let quoted = move |index: usize| {
        let is_quotation = pieces.get(index + 1)?.trim_start().starts_with('-');
        (!is_quotation).then(|| pieces[index])
    };
    (1..gloss.split('"').count()).step_by(2).filter_map(quoted).filter_map(|example| clean(example, lexicon))
}

/// Adds a capital and a full stop to an example. Returns `None` if it holds figures, other marks or unknown words.
fn clean(example: &str, lexicon: &Lexicon) -> Option<String> {
    let example = example.trim();
    let plain =
        |c: char| c.is_ascii_alphabetic() || matches!(c, ' ' | ',' | '\'' | '.' | '?' | '!' | ';' | '-');
    if !example.chars().all(plain) || example.contains("..") || example.contains("--") {
        return None;
    }
    let words: Vec<&str> = example.split_whitespace().collect();
    let known = |word: &&str| {
        let parts = word.trim_matches(|c: char| !c.is_ascii_alphabetic()).split('-');
        parts.clone().all(|part| lexicon.get(&part.to_ascii_lowercase()).is_some())
    };
    if !WORDS.contains(&words.len()) || !words.iter().all(known) {
        return None;
    }
    let mut sentence = example[..1].to_ascii_uppercase() + &example[1..];
    let body = sentence.trim_end_matches([' ', ',', ';', '-']).len();
    sentence.truncate(body);
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::Phonemizer;

    #[test]
    fn examples_become_sentences_and_quotations_are_left_out() {
        let phonemizer = Phonemizer::embedded();
        let line = "00001740 00 a 01 able 0 000 | (of; \"odd\"); \"he was able to swim\"; \"able to do it all\"- Someone; \"too short\"; \"was it 5 or 6 miles away?\"; \
            \"the xqzzt is not a word\"; \"Is it far from here?\"";
        let found: Vec<String> = examples(line, phonemizer.lexicon()).collect();
        assert_eq!(found, ["He was able to swim.", "Is it far from here?"]);
    }
}
