//! Labels of an utterance: its symbols and their durations.

use super::{phone_match::match_phones, phones::EnginePhone};
use ownvoice::{Error, Result, text::symbols::Symbol};

/// The symbols of an utterance and their times.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    pub symbols: Vec<Symbol>,
    /// The end of each symbol; absent without phone times.
    pub end_seconds: Option<Vec<f32>>,
}

impl Labels {
    /// Returns the frames of each symbol, at least one each and `frames` in all. Returns `None` without times, or with fewer frames than symbols.
    pub fn durations(&self, frames: usize, frame_seconds: f32) -> Option<Vec<u32>> {
        let ends = self.end_seconds.as_ref()?;
        let symbols = ends.len();
        if frames < symbols || symbols == 0 {
            return None;
        }
        let mut start = 0;
        let durations = ends.iter().enumerate().map(|(index, end)| {
            let after = symbols - 1 - index;
            let end = if after == 0 {
                frames
            } else {
                ((end / frame_seconds).round() as usize).clamp(start + 1, frames - after)
            };
            let duration = end - start;
            start = end;
            duration as u32
        });
        Some(durations.collect())
    }
}

/// Returns the symbols of an utterance and, if the engine printed its phones, their times.
///
/// # Errors
/// `clip-mismatch` if the engine's phones differ too much from the dictionary's.
pub fn label(
    phonemizer: &ownvoice::text::Phonemizer,
    text: &str,
    engine_phones: Option<&[EnginePhone]>,
    total_seconds: f32,
) -> Result<Labels> {
    let symbols = phonemizer.symbols(text)?;
    let Some(engine_phones) = engine_phones else { return Ok(Labels { symbols, end_seconds: None }) };
    match match_phones(&symbols, engine_phones, total_seconds) {
        Some(alignment) if alignment.is_good() => {
            Ok(Labels { symbols: alignment.symbols, end_seconds: Some(alignment.end_seconds) })
        }
        _ => Err(Error::clip_mismatch(text.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::symbols::{self, SILENCE};

    /// Returns phones of 0.1 s each.
    fn engine(phones: &str) -> Vec<EnginePhone> {
        phones
            .split(' ')
            .enumerate()
            .map(|(index, phone)| EnginePhone::new(phone, (index + 1) as f32 * 0.1))
            .collect()
    }

    #[test]
    fn durations_are_at_least_one_frame_and_add_up() {
        let labels = Labels {
            symbols: symbols::parse("_ D AA0 _").unwrap(),
            end_seconds: Some(vec![0.0126, 0.0252, 0.09, 0.2]),
        };
        assert_eq!(labels.durations(17, 0.0125), Some(vec![1, 1, 5, 10]));
        assert_eq!(labels.durations(4, 0.0125), Some(vec![1, 1, 1, 1]));
        assert_eq!(labels.durations(3, 0.0125), None);
        assert_eq!(Labels { symbols: vec![SILENCE], end_seconds: None }.durations(3, 0.0125), None);
    }

    #[test]
    fn label_returns_the_spoken_symbols_or_fails() {
        let phonemizer = ownvoice::text::Phonemizer::embedded();
        let phones = engine("pau dh ax k ae t pau");
        let labels = label(&phonemizer, "The cat.", Some(&phones), 0.7).unwrap();
        assert_eq!(symbols::format(&labels.symbols), "_ DH AH0 K AE1 T . _");
        assert_eq!(labels.durations(57, 0.0125).unwrap().iter().sum::<u32>(), 57);
        assert_eq!(label(&phonemizer, "The cat.", None, 0.7).unwrap().end_seconds, None);
        assert_eq!(
            label(&phonemizer, "Something else entirely.", Some(&phones), 0.7).unwrap_err().code(),
            "clip-mismatch"
        );
    }
}
