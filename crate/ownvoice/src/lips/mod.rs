//! Speech from a silent video of a face (Prajwal et al. 2020, "Learning Individual Speaking Styles for Accurate Lip to Speech Synthesis").
//!
//! One face is tracked through the pictures of a video and cropped, and a model synthesises speech from it: this is the feature `lips-core`, which the page
//! uses too. The native feature `lips` decodes videos with ffmpeg and prepares features for training: synchronous faces and mels. Where there is no public
//! corpus, a corpus of drawn faces that speak with the base's voices takes its place.

pub mod answers;
pub mod augmentation;
pub mod base;
pub mod clock;
pub mod config;
pub mod encoder;
pub mod face;
pub mod footage;
pub mod lesson;
pub mod model;
pub mod say;
pub mod search;
pub mod track;
pub mod tuned;
pub mod tuner;
mod tuning_windows;

pub use base::{LipBase, LipManifest};
pub use config::LipConfig;

pub use footage::{Footage, Taught};
pub use lesson::Lesson;
pub use model::LipTacotron;

pub use say::{LipSpeech, speak_faces_async};

pub use tuned::TunedLips;
pub use tuner::{LipStep, LipTuneOptions, LipTuner};
