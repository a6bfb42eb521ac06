//! Phones as speech engines name them, with their times.

/// An engine's phone.
#[derive(Debug, Clone, PartialEq)]
pub struct EnginePhone {
    /// In the engine's own alphabet.
    pub name: String,
    /// From the start of the utterance to the end of the phone.
    pub end_seconds: f32,
}

impl EnginePhone {
    pub fn new(name: impl Into<String>, end_seconds: f32) -> Self {
        Self { name: name.into(), end_seconds }
    }

    pub fn is_pause(&self) -> bool {
        is_pause(&self.name)
    }

    /// The same phone where the recording is played faster by `factor`.
    pub fn faster(&self, factor: f32) -> Self {
        Self { name: self.name.clone(), end_seconds: self.end_seconds / factor }
    }
}

/// Whether an engine's name for a phone stands for silence.
pub fn is_pause(name: &str) -> bool {
    matches!(name, "pau" | "h#" | "#" | "brth" | "sil" | "ssil")
}

/// `phone,end_seconds` a line, which [`super::layouts::read_phones`] reads.
pub fn to_csv(phones: &[EnginePhone]) -> String {
    phones.iter().map(|EnginePhone { name, end_seconds }| format!("{name},{end_seconds:.4}\n")).collect()
}
