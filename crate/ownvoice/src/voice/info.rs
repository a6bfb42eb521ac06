//! How a voice was made, and the speaker's consent.

/// How a voice was made.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VoiceInfo {
    /// Whether the voice is a clone; false for a speaker of the base.
    pub adapted: bool,
    /// The iterations of the fine-tuning.
    pub iterations: usize,
    /// The length of the speech in the clips.
    pub seconds: f32,
    /// The spectrogram loss of the held-out clips before and after the fine-tuning; `None` without held-out clips.
    pub held_out_loss: Option<[f32; 2]>,
    /// The speaker's consent, if it was given.
    pub consent: Option<Consent>,
}

/// The speaker's consent to the making of the voice.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The statement that the speaker read aloud or ticked.
    pub text: String,
    /// SHA-256 of the recording of the statement, as a 16-bit WAV file; `None` where it was ticked.
    pub recording_sha256: Option<String>,
}

/// The longest consent that is accepted.
const MAX_CONSENT_CHARACTERS: usize = 1000;

impl Consent {
    /// Checks a consent, which may come from a hostile file. The error is a sentence.
    pub(super) fn checked(self) -> Result<Self, String> {
        let is_hash = |hash: &String| {
            hash.len() == 64
                && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        if self.text.trim().is_empty() || self.text.chars().count() > MAX_CONSENT_CHARACTERS {
            return Err(format!("a consent must have between 1 and {MAX_CONSENT_CHARACTERS} characters"));
        }
        match &self.recording_sha256 {
            Some(hash) if !is_hash(hash) => {
                Err("the hash of the consent's recording is not a SHA-256".into())
            }
            _ => Ok(self),
        }
    }
}
