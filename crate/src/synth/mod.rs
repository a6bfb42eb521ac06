//! Speaking: text to symbols, durations, frames and samples.

pub mod griffin_lim;
pub mod speak;
pub mod vocoder;

pub use griffin_lim::GriffinLim;
pub use speak::{SpeakOptions, Speech, speak_async};

pub use crate::model::stop::StopReason;
pub use vocoder::Vocoder;
