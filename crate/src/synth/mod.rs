//! Speaking: text to symbols, durations, frames and samples.

pub mod speak;

pub use speak::{SpeakOptions, Speech, speak_async};

pub use crate::model::stop::StopReason;
