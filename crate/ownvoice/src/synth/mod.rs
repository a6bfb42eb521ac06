//! Speech synthesis from text: symbols, durations or attention, frames and samples.

pub mod attentive;
mod options;
pub mod sentence;
pub mod speak;
pub mod stream;

pub use attentive::speak_attentive_async;
pub use options::SpeakOptions;
pub use speak::{Speech, SpokenWord, speak_async};
pub use stream::{Part, parts};
