//! What a voice is: the base that ships, and the files that visitors keep.

mod attentive;
pub mod base;
mod file;
pub mod folder;
mod prosody;
pub mod spectral_transport;

pub use attentive::{AttentiveVoice, Table};
pub(crate) use base::load_vocoder;
pub use base::{Base, BaseFiles, FileEntry, Files, Manifest, sha256_hex};
pub(crate) use file::adaptable;
pub use file::{Adapted, Consent, Voice, VoiceInfo};
pub use prosody::Prosody;
