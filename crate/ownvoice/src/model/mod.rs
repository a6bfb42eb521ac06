//! Tacotron 2 (Shen et al. 2018) with two ways of aligning text and frames: durations (Non-Attentive Tacotron, Shen et al. 2020) and location-sensitive
//! attention.

pub mod attention;
pub mod attentive;
pub mod batch;
pub mod config;
pub mod decoder;
pub mod duration;
pub mod encoder;
pub mod head_delta;
pub mod loss;
pub mod pitch;
pub mod postnet;
pub mod prenet;
pub mod stop;
pub mod tacotron;
pub mod teacher_forcing;

pub use attentive::{AttendedEncoder, AttentionTacotron, AttentiveTacotron};
pub use config::TacotronConfig;
pub use stop::StopReason;
pub use tacotron::Tacotron;
