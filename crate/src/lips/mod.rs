//! Speech from a silent video of a face (Prajwal et al. 2020, "Learning Individual Speaking Styles for Accurate Lip to Speech Synthesis"). Native only.
//!
//! Videos are decoded by ffmpeg, one face is followed through them and cropped, and what is left is features to train on: faces and mels on one clock.
//! Where there is no public set, faces are drawn that speak with the base's voices.

pub mod augmentation;
pub mod base;
pub mod batch;
pub mod commands;
pub mod corpus;
pub mod drawing;
pub mod evaluate;
pub mod face;
pub mod features;
pub mod image;
pub mod layout;
pub mod model;
pub mod prepare;
pub mod say;
pub mod track;
pub mod train;
pub mod video;
pub mod visemes;

pub use base::{LipBase, LipManifest};
pub use corpus::{LipCorpusConfig, LipCorpusSummary, LipTexts, LipVoices, make_lip_corpus};
pub use evaluate::{LipEvaluateConfig, LipEvaluation, evaluate_lips};
pub use features::LipFeatures;
pub use model::{LipConfig, LipTacotron};
pub use prepare::{LipPrepareConfig, LipPrepared, prepare};
pub use say::{LipSpeech, speak_faces_async, speak_video};
pub use train::{LipPreset, LipTrainConfig, train_lips};
