//! What a speaker's timing and pitch add to those of a speaker of the base.

use crate::model::{head_delta::HeadDelta, pitch::Intonation};

/// The prosody of a voice, relative to the base speaker whose durations and contours it follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Prosody {
    /// The factor on the durations of the base speaker.
    pub duration_scale: f32,
    /// The correction of the durations of single phones; `None` for a speaker of the base.
    pub duration_head_delta: Option<HeadDelta>,
    /// The mean and spread of the pitch; `None` on a base without pitch.
    pub intonation: Option<Intonation>,
    /// The correction of the voicing; `None` for a speaker of the base, for a whisper, and on a base without pitch.
    pub voicing_head_delta: Option<HeadDelta>,
}

impl Prosody {
    /// The prosody of a speaker of the base.
    pub fn from_base_speaker(intonation: Option<Intonation>) -> Self {
        Self { duration_scale: 1.0, duration_head_delta: None, intonation, voicing_head_delta: None }
    }
}
