//! Speech from a silent video of a face (Prajwal et al. 2020, "Learning Individual Speaking Styles for Accurate Lip to Speech Synthesis").
//!
//! One face is tracked through the pictures of a video and cropped, and a model synthesises speech from it: this is the feature `lips-core`, which the page
//! uses too. The native feature `lips` decodes videos with ffmpeg and prepares features for training: synchronous faces and mels. Where there is no public
//! corpus, a corpus of drawn faces that speak with the base's voices takes its place.

pub mod answers;
pub mod augmentation;
pub mod base;
#[cfg(feature = "lips")]
pub mod batch;
pub mod clock;
#[cfg(feature = "lips")]
pub mod commands;
pub mod config;
#[cfg(feature = "lips")]
pub mod corpus;
#[cfg(feature = "lips")]
pub mod drawing;
pub mod encoder;
#[cfg(feature = "lips")]
pub mod evaluate;
pub mod face;
#[cfg(feature = "lips")]
pub mod features;
pub mod footage;
pub mod image;
#[cfg(feature = "lips")]
pub mod layout;
pub mod lesson;
pub mod model;
#[cfg(feature = "lips")]
pub mod prepare;
#[cfg(feature = "lips")]
pub mod profile;
pub mod say;
#[cfg(feature = "lips")]
pub mod say_video;
pub mod search;
pub mod track;
#[cfg(feature = "lips")]
pub mod train;
#[cfg(feature = "lips")]
pub mod tune;
pub mod tuned;
pub mod tuner;
mod tuning_windows;
#[cfg(feature = "lips")]
pub mod video;
#[cfg(feature = "lips")]
pub mod visemes;

pub use base::{LipBase, LipManifest};
pub use config::LipConfig;
#[cfg(feature = "lips")]
pub use corpus::{LipCorpusConfig, LipCorpusSummary, LipTexts, LipVoices, make_lip_corpus};
#[cfg(feature = "lips")]
pub use evaluate::{LipEvaluateConfig, LipEvaluation, evaluate_lips};
#[cfg(feature = "lips")]
pub use features::LipFeatures;
pub use footage::{Footage, Taught};
pub use lesson::Lesson;
pub use model::LipTacotron;
#[cfg(feature = "lips")]
pub use prepare::{LipPrepareConfig, LipPrepared, prepare};
pub use say::{LipSpeech, speak_faces_async};
#[cfg(feature = "lips")]
pub use say_video::speak_video;
#[cfg(feature = "lips")]
pub use train::{LipPreset, LipTrainConfig, train_lips};
#[cfg(feature = "lips")]
pub use tune::{LipTuneConfig, LipTuned, tune_lips};
pub use tuned::TunedLips;
pub use tuner::{LipStep, LipTuneOptions, LipTuner};
