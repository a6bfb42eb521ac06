//! Options of speech.

use crate::{Error, Result};

/// How a text is spoken.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct SpeakOptions {
    /// The factor on the learned speed, 0.25 to 4.
    pub speed: f32,
    /// The semitones above the learned pitch, -12 to 12. Values other than 0 need a base with pitch.
    pub pitch: f32,
    /// The factor on the learned pitch range, 0 (monotone) to 3. Values other than 1 need a base with pitch.
    pub pitch_range: f32,
    /// The seed of the dropout in the prenet of an attention model. Synthesis with a base is not random.
    pub seed: u64,
}

impl Default for SpeakOptions {
    fn default() -> Self {
        Self { speed: 1.0, pitch: 0.0, pitch_range: 1.0, seed: 0 }
    }
}

impl SpeakOptions {
    /// Fails with `option-invalid` where a value is out of range.
    ///
    /// * `has_pitch`: whether the base has pitch
    pub(super) fn check(&self, has_pitch: bool) -> Result<()> {
        for (name, value, range) in [
            ("speed", self.speed, 0.25..=4.0),
            ("pitch", self.pitch, -12.0..=12.0),
            ("liveliness", self.pitch_range, 0.0..=3.0),
        ] {
            if !range.contains(&value) {
                return Err(Error::option_invalid(format!(
                    "a {name} of {value} is not between {} and {}",
                    range.start(),
                    range.end()
                )));
            }
        }
        let default = Self::default();
        if !has_pitch && (self.pitch, self.pitch_range) != (default.pitch, default.pitch_range) {
            return Err(Error::option_invalid("this base has no pitch, so that it cannot be changed"));
        }
        Ok(())
    }
}
