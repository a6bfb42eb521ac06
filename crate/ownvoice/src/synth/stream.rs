//! The parts of a text for streaming: its sentences, the first of which is split so that playback starts early.

use super::speak::{PAUSE_FRAMES, sentences};
use crate::Result;

/// The length above which the first sentence is split, about three seconds of speech.
const LONG_CHARACTERS: usize = 45;
/// The shortest part of a split sentence: the first part must last while the second is synthesised, and the second should be no single word.
const MIN_CHARACTERS: usize = 12;

/// A part of a text, which is spoken in one piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The part of the text.
    pub text: String,
    /// The silence after the part, in frames.
    pub pause_frames: usize,
}

/// Splits `text` into at least one part. Fails as speaking it would.
pub fn parts(text: &str) -> Result<Vec<Part>> {
    let pause_frames = PAUSE_FRAMES;
    let mut parts: Vec<Part> = sentences(text)?
        .into_iter()
        .map(|sentence| Part {
            pause_frames: if sentence.goes_on() { 0 } else { pause_frames },
            text: sentence.written,
        })
        .collect();
    if let Some(end) = clause_end(&parts[0].text) {
        let rest = parts[0].text.split_off(end).trim_start().to_string();
        // The clause ends with the pause of its comma.
        let pause_frames = std::mem::take(&mut parts[0].pause_frames);
        parts.insert(1, Part { text: rest, pause_frames });
    }
    parts.last_mut().expect("a text has a sentence").pause_frames = 0;
    Ok(parts)
}

/// Returns the byte offset of the end of a long sentence's first clause; `None` for a short sentence or a single clause.
fn clause_end(sentence: &str) -> Option<usize> {
    let characters = sentence.chars().count();
    if characters <= LONG_CHARACTERS {
        return None;
    }
    let ends = sentence.char_indices().enumerate().filter_map(|(index, (at, character))| {
        let after = &sentence[at + character.len_utf8()..];
        let ends = matches!(character, ',' | ';' | ':' | '\u{2013}' | '\u{2014}')
            && after.starts_with(char::is_whitespace);
        (ends && index + 1 >= MIN_CHARACTERS && characters - index - 1 > MIN_CHARACTERS)
            .then(|| at + character.len_utf8())
    });
    ends.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        parts(text).unwrap().into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn a_long_first_sentence_is_split_after_its_first_clause() {
        let text = "When you hear this voice, remember that it was learned on this machine, and nowhere else. The second, which is as long as the first, stays whole.";
        let expected = [
            "When you hear this voice,",
            "remember that it was learned on this machine, and nowhere else.",
            "The second, which is as long as the first, stays whole.",
        ];
        assert_eq!(texts(text), expected);
        let pauses: Vec<usize> = parts(text).unwrap().iter().map(|part| part.pause_frames).collect();
        assert_eq!(pauses, [0, 12, 0]);
    }

    #[test]
    fn short_sentences_and_single_clauses_are_not_split() {
        for text in [
            "Yes, I know that very well.",
            "This sentence goes on and on without any place to breathe until it ends.",
            "Well, that is as long as it has to be to be cut somewhere.",
            "It costs 1,000 dollars to build a house of paper in this town.",
            "We went there by train and by bus and then on foot, too.",
        ] {
            assert_eq!(texts(text), [text]);
        }
    }

    #[test]
    fn each_part_is_a_sentence_when_parsed_alone() {
        let text = "Good morning, everyone who came here today to listen \u{2014} this is Mr. Smith. He's 1,234 years old! Is he?";
        for part in texts(text) {
            let written: Vec<_> =
                sentences(&part).unwrap().into_iter().map(|sentence| sentence.written).collect();
            assert_eq!(written, [part]);
        }
    }

    #[test]
    fn an_unspeakable_text_fails_with_the_codes_of_speaking() {
        assert_eq!(parts(" ").unwrap_err().code(), "text-empty");
        assert_eq!(parts("\u{2603}").unwrap_err().code(), "text-unsupported");
    }
}
