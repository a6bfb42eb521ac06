//! Phones with the names that speech engines give them, and their times.

use std::path::Path;

use ownvoice::{Error, Result};

/// An engine's phone.
#[derive(Debug, Clone, PartialEq)]
pub struct EnginePhone {
    /// The name in the engine's own alphabet.
    pub name: String,
    /// The time from the start of the utterance to the end of the phone.
    pub end_seconds: f32,
}

impl EnginePhone {
    /// A phone with its end.
    pub fn new(name: impl Into<String>, end_seconds: f32) -> Self {
        Self { name: name.into(), end_seconds }
    }

    /// Whether it is silence.
    pub fn is_pause(&self) -> bool {
        is_pause(&self.name)
    }

    /// Returns the phone of the recording played faster by `factor`.
    pub fn faster(&self, factor: f32) -> Self {
        Self { name: self.name.clone(), end_seconds: self.end_seconds / factor }
    }
}

/// Whether an engine's name for a phone stands for silence.
pub fn is_pause(name: &str) -> bool {
    matches!(name, "pau" | "h#" | "#" | "brth" | "sil" | "ssil")
}

/// Returns a line `phone,end_seconds` per phone.
pub fn to_csv(phones: &[EnginePhone]) -> String {
    phones.iter().map(|EnginePhone { name, end_seconds }| format!("{name},{end_seconds:.4}\n")).collect()
}

/// Parses the text of a file that [`to_csv`] wrote. The ends must not decrease.
pub fn parse_csv(file: &Path, text: &str) -> Result<Vec<EnginePhone>> {
    let mut phones: Vec<EnginePhone> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let parsed = line
            .split_once(',')
            .and_then(|(phone, end)| Some(EnginePhone::new(phone, end.trim().parse().ok()?)));
        let floor = phones.last().map_or(0.0, |before| before.end_seconds);
        let rising = |phone: &EnginePhone| phone.end_seconds.is_finite() && phone.end_seconds >= floor;
        match parsed.filter(rising) {
            Some(phone) => phones.push(phone),
            None => {
                return Err(Error::corpus_invalid(format!(
                    "{}, line {}: expected \"phone,end_seconds\" with ends that do not decrease",
                    file.display(),
                    number + 1
                )));
            }
        }
    }
    if phones.is_empty() {
        Err(Error::corpus_invalid(format!("{}: there are no phones", file.display())))
    } else {
        Ok(phones)
    }
}
