//! Voices: the base, the voices of its speakers and their clones, and the files of both.

mod adapted;
mod attentive;
pub mod base;
mod file;
pub mod folder;
mod info;
mod manifest;
mod prosody;
mod spectral_stats;
pub mod spectral_transport;

pub use adapted::Adapted;
pub(crate) use adapted::adaptable;
pub use attentive::{AttentiveVoice, Table};
pub use base::{Base, BaseFiles, EncodedSentence};
pub use file::Voice;
pub use info::{Consent, VoiceInfo};
pub use manifest::{FileEntry, Files, Manifest};
pub use prosody::Prosody;
