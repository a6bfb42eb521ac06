//! The one error of the crate. Every kind carries a stable code, which the JavaScript boundary and the command line repeat.

use std::path::PathBuf;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, in words a visitor can act on. [`Error::code`] is stable across releases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("the file is not a WAV file that can be read: {0}")]
    AudioUnreadable(String),
    #[error("the clip has no samples")]
    ClipEmpty,
    #[error("the clip holds {seconds:.2} s of speech; at least {min_seconds:.1} s are needed")]
    ClipTooShort { seconds: f32, min_seconds: f32 },
    #[error(
        "the clip is {seconds:.0} s long; at most {max_seconds:.0} s are read at once: cut it into shorter ones"
    )]
    ClipTooLong { seconds: f32, max_seconds: f32 },
    #[error(
        "the clip is too quiet: speech at {level_db:.0} dBFS, at least {min_db:.0} dBFS is needed; move closer to the microphone"
    )]
    ClipTooQuiet { level_db: f32, min_db: f32 },
    #[error("{percent:.1} % of the clip is clipped; move away from the microphone or lower its gain")]
    ClipClipped { percent: f32 },
    #[error(
        "the clip is noisy: speech is only {snr_db:.0} dB above the background, at least {min_db:.0} dB is needed"
    )]
    ClipNoisy { snr_db: f32, min_db: f32 },
    #[error("the clip does not say its text: {0}")]
    ClipMismatch(String),
    /// What is wrong with one clip of many; its code is that of the clip's own error.
    #[error("clip {}: {source}", index + 1)]
    InClip { index: usize, source: Box<Error> },
    /// What is wrong with the contents of a file; its code is that of the error itself.
    #[error("{}: {source}", path.display())]
    InFile { path: PathBuf, source: Box<Error> },
    #[error("the sample rate {0} Hz is not supported; rates from 8000 to 192000 Hz are")]
    RateUnsupported(u32),
    #[error("there is no text to speak")]
    TextEmpty,
    #[error("the text is {characters} characters long; at most {max_characters} are spoken at once")]
    TextTooLong { characters: usize, max_characters: usize },
    #[error("the text holds nothing that can be spoken: {0:?}")]
    TextUnsupported(String),
    #[error("no recordings to learn from")]
    NoClips,
    #[error("the voice file is damaged: {0}")]
    VoiceCorrupt(String),
    #[error("the voice was made for base {expected}, this base is {found}")]
    BaseMismatch { expected: String, found: String },
    #[error("the base voice is damaged: {0}")]
    BaseCorrupt(String),
    #[error("no WebGPU adapter: {0}")]
    NoAdapter(String),
    #[error("the device computes wrongly: {figure} is {found:e}, it should be {expected:e}")]
    DeviceWrong { figure: &'static str, found: f32, expected: f32 },
    #[error("the device was lost: {0}")]
    DeviceLost(String),
    #[error("device {0:?} is not built in; {1}")]
    DeviceUnavailable(String, String),
    #[error("the device has no half precision: it trains in f32 only")]
    PrecisionUnsupported,
    #[error("training diverged at iteration {iteration}: the loss is not a number")]
    TrainingDiverged { iteration: usize },
    #[error("the checkpoint is damaged: {0}")]
    CheckpointCorrupt(String),
    #[error("this is no Tacotron 2 checkpoint that can be read: {0}")]
    CheckpointUnsupported(String),
    #[error("cancelled")]
    Cancelled,
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{0}")]
    CorpusInvalid(String),
    #[error("{0}")]
    OptionInvalid(String),
}

impl Error {
    /// A stable, hyphenated name for programs to match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AudioUnreadable(_) => "audio-unreadable",
            Self::ClipEmpty => "clip-empty",
            Self::ClipTooShort { .. } => "clip-too-short",
            Self::ClipTooLong { .. } => "clip-too-long",
            Self::ClipTooQuiet { .. } => "clip-too-quiet",
            Self::ClipClipped { .. } => "clip-clipped",
            Self::ClipNoisy { .. } => "clip-noisy",
            Self::ClipMismatch(_) => "clip-mismatch",
            Self::InClip { source, .. } | Self::InFile { source, .. } => source.code(),
            Self::RateUnsupported(_) => "rate-unsupported",
            Self::TextEmpty => "text-empty",
            Self::TextTooLong { .. } => "text-too-long",
            Self::TextUnsupported(_) => "text-unsupported",
            Self::NoClips => "no-clips",
            Self::VoiceCorrupt(_) => "voice-corrupt",
            Self::BaseMismatch { .. } => "base-mismatch",
            Self::BaseCorrupt(_) => "base-corrupt",
            Self::NoAdapter(_) => "no-adapter",
            Self::DeviceWrong { .. } => "device-wrong",
            Self::DeviceLost(_) => "device-lost",
            Self::DeviceUnavailable(..) => "device-unavailable",
            Self::PrecisionUnsupported => "precision-unsupported",
            Self::TrainingDiverged { .. } => "training-diverged",
            Self::CheckpointCorrupt(_) => "checkpoint-corrupt",
            Self::CheckpointUnsupported(_) => "checkpoint-unsupported",
            Self::Cancelled => "cancelled",
            Self::Io { .. } => "io",
            Self::CorpusInvalid(_) => "corpus-invalid",
            Self::OptionInvalid(_) => "option-invalid",
        }
    }

    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }

    /// Whether recording the clip again can help.
    pub fn is_clip(&self) -> bool {
        self.code().starts_with("clip-")
    }

    /// Which of the given clips this is about.
    pub fn clip_index(&self) -> Option<usize> {
        match self {
            Self::InClip { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// What was measured, where a measure decides: dB, seconds or percent, as the message has it.
    pub fn found(&self) -> Option<f32> {
        match self {
            Self::InClip { source, .. } | Self::InFile { source, .. } => source.found(),
            Self::ClipTooShort { seconds, .. } | Self::ClipTooLong { seconds, .. } => Some(*seconds),
            Self::ClipTooQuiet { level_db, .. } => Some(*level_db),
            Self::ClipClipped { percent } => Some(*percent),
            Self::ClipNoisy { snr_db, .. } => Some(*snr_db),
            _ => None,
        }
    }

    /// Attaches the path that an I/O error lacks.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
