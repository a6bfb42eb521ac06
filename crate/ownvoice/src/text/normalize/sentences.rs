//! Splits a text into sentences.

use super::{layout::blocks, normalize, sentence_end::ends_sentence};
use crate::{Error, Result};

/// Longer sentences, in characters, are split to limit memory and latency.
const MAX_SENTENCE: usize = 250;

/// A sentence that can be spoken, as it is written and as it is normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalizedSentence {
    pub written: String,
    /// The output of [`normalize`](super::normalize()).
    pub normalized: String,
}

impl NormalizedSentence {
    /// Whether it is a part of a sentence that goes on, so that no pause follows but that of its comma.
    pub fn goes_on(&self) -> bool {
        self.normalized.ends_with(',')
    }
}

/// Splits a text as [`sentences`] does and normalises each sentence. Sentences without anything to speak are left out; fails if none is left.
pub fn normalized_sentences(text: &str) -> Result<Vec<NormalizedSentence>> {
    if text.trim().is_empty() {
        return Err(Error::text_empty());
    }
    let sentences: Vec<_> = sentences(text)
        .into_iter()
        .filter_map(|written| Some(NormalizedSentence { normalized: normalize(&written).ok()?, written }))
        .collect();
    if sentences.is_empty() { Err(Error::text_unsupported(text)) } else { Ok(sentences) }
}

/// Splits a text at blank lines, at the items of lists and at the ends of its sentences. A sentence of more than 250 characters is cut at a clause; all
/// but its last part end with a comma, after which it goes on.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for block in blocks(text) {
        let mut current = String::new();
        let mut words = block.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
            let next = words.peek().copied();
            // "2. Add three eggs."
            let numbers =
                current.len() < 4 && current.starts_with(|c: char| c.is_ascii_digit()) && next.is_some();
            if !numbers
                && next.is_none_or(|next| !next.starts_with(char::is_lowercase))
                && ends_sentence(word, next)
            {
                push_split(&mut sentences, &std::mem::take(&mut current));
            }
        }
        push_split(&mut sentences, &current);
    }
    sentences
}

/// Appends a sentence, in parts if it is too long. Parts without a letter or digit are left out.
fn push_split(sentences: &mut Vec<String>, sentence: &str) {
    const CLAUSES: [&str; 9] =
        [" and ", " but ", " or ", " because ", " which ", " that ", " when ", " while ", " if "];
    let mut rest = sentence.trim();
    // Phones in braces take about four characters a letter, and a word of them must not be cut.
    let (longest, word_end) =
        if sentence.contains('{') { (4 * MAX_SENTENCE, '}') } else { (MAX_SENTENCE, ' ') };
    while let Some((limit, _)) = rest.char_indices().nth(longest) {
        let head = &rest[..limit];
        // A comma is appended, which needs a place.
        let head = &head[..head.char_indices().next_back().map_or(0, |(at, _)| at)];
        let after_third = |place: &usize| *place > limit / 3;
        let clause = || CLAUSES.iter().filter_map(|word| head.rfind(word)).max().filter(after_third);
        let end = head
            .rfind([',', ';', ':', '—'])
            .map(|place| place + head[place..].chars().next().map_or(1, char::len_utf8))
            .filter(after_third)
            .or_else(|| clause().filter(|_| word_end == ' '))
            .or_else(|| head.rfind(word_end).map(|place| place + 1).filter(after_third));
        let (part, after) = rest.split_at(end.unwrap_or(limit));
        let goes_on = if end.is_some() { "," } else { "" };
        push_speakable(sentences, &format!("{}{goes_on}", part.trim_end_matches([' ', ',', ';', ':', '—'])));
        rest = after.trim_start();
    }
    push_speakable(sentences, rest);
}

/// Appends a part that has a letter or a digit.
fn push_speakable(sentences: &mut Vec<String>, part: &str) {
    if part.chars().any(char::is_alphanumeric) {
        sentences.push(part.to_string());
    }
}
