//! Splits a text at the ends of its sentences.

use super::sentence_end::ends_sentence;

/// Longer sentences are split for the sake of memory and latency.
const MAX_SENTENCE: usize = 250;

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

/// Adds a sentence, in parts where it is too long. Parts without a letter or digit are joined to nothing and left out.
fn push_split(sentences: &mut Vec<String>, sentence: &str) {
    let mut rest = sentence.trim();
    // Phones in braces take some four characters for each letter, and a word of them is not cut.
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

fn push_speakable(sentences: &mut Vec<String>, part: &str) {
    if part.chars().any(char::is_alphanumeric) {
        sentences.push(part.to_string());
    }
}
