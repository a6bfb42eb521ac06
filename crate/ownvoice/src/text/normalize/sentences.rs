//! Splits a text into sentences.

use super::{normalize, sentence_end::ends_sentence};
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

/// Splits a text at the ends of its sentences, and sentences of more than 250 characters at commas or spaces.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    for paragraph in text.split("\n\n") {
        let mut words = paragraph.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
            let next = words.peek().copied();
            if next.is_none_or(|next| !next.starts_with(char::is_lowercase)) && ends_sentence(word, next) {
                push_split(&mut sentences, &std::mem::take(&mut current));
            }
        }
        push_split(&mut sentences, &std::mem::take(&mut current));
    }
    sentences
}

/// Appends a sentence, in parts if it is too long. Parts without a letter or digit are left out.
fn push_split(sentences: &mut Vec<String>, sentence: &str) {
    let mut rest = sentence.trim();
    // Phones in braces take about four characters a letter, and a word of them must not be cut.
    let (longest, word_end) =
        if sentence.contains('{') { (4 * MAX_SENTENCE, '}') } else { (MAX_SENTENCE, ' ') };
    while let Some((limit, _)) = rest.char_indices().nth(longest) {
        let head = &rest[..limit];
        let after_half = |place: &usize| *place > limit / 3;
        let end = head
            .rfind([',', ';', ':', '—'])
            .map(|place| place + head[place..].chars().next().map_or(1, char::len_utf8))
            .filter(after_half)
            .or_else(|| head.rfind(word_end).map(|place| place + 1).filter(after_half))
            .unwrap_or(limit);
        let (part, after) = rest.split_at(end);
        push_speakable(sentences, part.trim());
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
