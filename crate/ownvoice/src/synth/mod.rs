//! Speaking: text to symbols, durations or attention, frames and samples.

pub mod attentive;
pub mod speak;
pub mod stream;

pub use attentive::speak_attentive_async;
pub use speak::{SpeakOptions, Speech, speak_async};
pub use stream::{Part, parts};
