//! The parts of a text that is heard while it is made: its sentences, the first cut short so that sound comes soon.

use super::speak::{PAUSE_FRAMES, sentences};
use crate::{Result, audio::mel::MelConfig};

/// A first sentence of more characters, some three seconds, is cut after a clause.
const LONG_CHARACTERS: usize = 45;
/// A cut leaves at least as much on both sides: what is spoken first lasts while the rest is made, and the rest is no single word.
const MIN_CHARACTERS: usize = 12;

/// What is spoken in one piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub text: String,
    /// Silence between it and the next, in seconds.
    pub pause_seconds: f32,
}

/// The parts of `text`, at least one. Fails as speaking it would.
pub fn parts(text: &str, config: &MelConfig) -> Result<Vec<Part>> {
    let pause_seconds = PAUSE_FRAMES as f32 * config.frame_seconds();
    let mut parts: Vec<Part> =
        sentences(text)?.into_iter().map(|sentence| Part { text: sentence.written, pause_seconds }).collect();
    if let Some(end) = clause_end(&parts[0].text) {
        let rest = parts[0].text.split_off(end).trim_start().to_string();
        // The clause brings the pause of its own comma.
        parts[0].pause_seconds = 0.0;
        parts.insert(1, Part { text: rest, pause_seconds });
    }
    parts.last_mut().expect("a text has a sentence").pause_seconds = 0.0;
    Ok(parts)
}

/// Where the first clause of a long sentence ends, in bytes; none where the sentence is short, or one long clause.
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
        parts(text, &MelConfig::speech_16k()).unwrap().into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn a_long_first_sentence_is_cut_after_its_first_clause() {
        let text = "When you hear this voice, remember that it was learned on this machine, and nowhere else. The second, which is as long as the first, stays whole.";
        let expected = [
            "When you hear this voice,",
            "remember that it was learned on this machine, and nowhere else.",
            "The second, which is as long as the first, stays whole.",
        ];
        assert_eq!(texts(text), expected);
        let pauses: Vec<f32> =
            parts(text, &MelConfig::speech_16k()).unwrap().iter().map(|part| part.pause_seconds).collect();
        assert_eq!(pauses, [0.0, 0.15, 0.0]);
    }

    #[test]
    fn what_is_short_or_has_no_clause_stays_whole() {
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
    fn parts_are_what_speaking_them_alone_would_speak() {
        let text = "Good morning, everyone who came here today to listen \u{2014} this is Mr. Smith. He's 1,234 years old! Is he?";
        for part in texts(text) {
            let written: Vec<_> =
                sentences(&part).unwrap().into_iter().map(|sentence| sentence.written).collect();
            assert_eq!(written, [part]);
        }
    }

    #[test]
    fn a_text_that_cannot_be_spoken_fails_as_speaking_it_would() {
        assert_eq!(parts(" ", &MelConfig::speech_16k()).unwrap_err().code(), "text-empty");
        assert_eq!(parts("\u{2603}", &MelConfig::speech_16k()).unwrap_err().code(), "text-unsupported");
    }
}
