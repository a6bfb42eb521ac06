//! Speech from a silent video of a face (Prajwal et al. 2020, "Learning Individual Speaking Styles for Accurate Lip to Speech Synthesis").
//!
//! One face is followed through the pictures of a video and cropped, and a model speaks what it shows: the feature `lips-core`, which a page has as well.
//! Natively (`lips`) videos are decoded by ffmpeg, and become features to train on: faces and mels on one clock.
//! Where there is no public set, faces are drawn that speak with the base's voices.

pub mod answers;
pub mod augmentation;
pub mod base;
#[cfg(feature = "lips")]
pub mod batch;
pub mod clock;
#[cfg(feature = "lips")]
pub mod commands;
#[cfg(feature = "lips")]
pub mod corpus;
#[cfg(feature = "lips")]
pub mod drawing;
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
#[cfg(feature = "lips")]
pub mod video;
#[cfg(feature = "lips")]
pub mod visemes;

pub use base::{LipBase, LipManifest};
#[cfg(feature = "lips")]
pub use corpus::{LipCorpusConfig, LipCorpusSummary, LipTexts, LipVoices, make_lip_corpus};
#[cfg(feature = "lips")]
pub use evaluate::{LipEvaluateConfig, LipEvaluation, evaluate_lips};
#[cfg(feature = "lips")]
pub use features::LipFeatures;
pub use footage::{Footage, Taught};
pub use lesson::Lesson;
pub use model::{LipConfig, LipTacotron};
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
