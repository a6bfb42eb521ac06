//! The error of the crate: opaque, with a kind and a stable code, which the JavaScript boundary and the command line use too.
//!
//! The file is long because each kind has a line in a table and a constructor, which are added together.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Declares the kinds with their documentation and their stable codes.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:literal,)*) => {
        /// The kind of an error, to match on. Later versions may add kinds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* #[doc = concat!("\n\nCode `", $code, "`.")] $kind,)*
        }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// Returns a hyphenated name for programs, which is the same in every release: `clip-too-short`.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$kind => $code,)*
                }
            }
        }
    };
}

kinds! {
    /// The file contains no sound in a supported format.
    AudioUnreadable = "audio-unreadable",
    /// The clip has no samples.
    ClipEmpty = "clip-empty",
    /// The clip contains too little speech.
    ClipTooShort = "clip-too-short",
    /// The clip is longer than supported.
    ClipTooLong = "clip-too-long",
    /// The speech in the clip is too quiet.
    ClipTooQuiet = "clip-too-quiet",
    /// Too many samples of the clip are at full scale.
    ClipClipped = "clip-clipped",
    /// The speech in the clip is not loud enough above its background.
    ClipNoisy = "clip-noisy",
    /// Another text is spoken in the clip than the given one, or more, or less.
    ClipMismatch = "clip-mismatch",
    /// The sample rate lies outside the supported range.
    RateUnsupported = "rate-unsupported",
    /// The text is blank.
    TextEmpty = "text-empty",
    /// The text is longer than supported.
    TextTooLong = "text-too-long",
    /// The text contains nothing that can be spoken.
    TextUnsupported = "text-unsupported",
    /// There are no clips.
    NoClips = "no-clips",
    /// The clips are of several speakers.
    SeveralSpeakers = "several-speakers",
    /// The voice file is damaged.
    VoiceCorrupt = "voice-corrupt",
    /// The voice file or checkpoint belongs to another base.
    BaseMismatch = "base-mismatch",
    /// A file of the base is damaged.
    BaseCorrupt = "base-corrupt",
    /// The device failed its self-test.
    DeviceWrong = "device-wrong",
    /// The device was lost during the work.
    DeviceLost = "device-lost",
    /// The device needs a feature that this build does not have.
    DeviceUnavailable = "device-unavailable",
    /// The device does not support half precision.
    PrecisionUnsupported = "precision-unsupported",
    /// Another rank of the training ended, or failed.
    RankLost = "rank-lost",
    /// The loss is not finite.
    TrainingDiverged = "training-diverged",
    /// The checkpoint is damaged, or was made by another version.
    CheckpointCorrupt = "checkpoint-corrupt",
    /// The PyTorch file is not a supported Tacotron 2 checkpoint.
    CheckpointUnsupported = "checkpoint-unsupported",
    /// The caller cancelled the work.
    Cancelled = "cancelled",
    /// A file cannot be read or written; [`Error::file`] names it.
    Io = "io",
    /// A corpus or its features are invalid.
    CorpusInvalid = "corpus-invalid",
    /// An external program is not installed, or does not start.
    ProgramMissing = "program-missing",
    /// The file contains no video in a supported format.
    VideoUnreadable = "video-unreadable",
    /// The scene of a video changes.
    VideoCut = "video-cut",
    /// The pictures and the sound of a video differ in length.
    LengthsDiffer = "lengths-differ",
    /// A video shows no face.
    NoFace = "no-face",
    /// A video shows more than one face.
    SeveralFaces = "several-faces",
    /// The file contains no picture in a supported format, or a damaged one.
    PictureUnreadable = "picture-unreadable",
    /// The picture has too few or too many pixels.
    PictureSize = "picture-size",
    /// The weights are not those of the net, or lack some of them.
    WeightsMismatch = "weights-mismatch",
    /// There are fewer than two classes.
    ClassesTooFew = "classes-too-few",
    /// A class has no examples.
    ClassEmpty = "class-empty",
    /// An example does not fit the net or its loss.
    ExampleInvalid = "example-invalid",
    /// An option lies outside its range, or contradicts another.
    OptionInvalid = "option-invalid",
}

/// The unit of a [`Measured`] value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Decibels relative to full scale.
    Dbfs,
    /// Decibels, as a ratio of two levels.
    Decibels,
    /// Percent.
    Percent,
    /// Phones.
    Phones,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "s",
            Self::Dbfs => "dBFS",
            Self::Decibels => "dB",
            Self::Percent => "%",
            Self::Phones => "phones",
        })
    }
}

/// A measured value and its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The value.
    pub value: f32,
    /// The unit of the value.
    pub unit: Unit,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.unit)
    }
}

/// The error of this crate, with a message that a person can act on.
///
/// Programs match on [`kind`](Self::kind) or on the stable [`code`](Self::code).
/// The message names the file, or else the clip, if there is one; [`clip_index`](Self::clip_index) and [`file`](Self::file) return both as values.
///
/// ```
/// use ownvoice::{Clip, ErrorKind};
///
/// let error = Clip::from_wav(b"not a recording", "A sentence.").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::AudioUnreadable);
/// assert_eq!(error.code(), "audio-unreadable");
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

#[derive(Debug, thiserror::Error)]
#[error("{}{message}", context(*clip, file.as_deref()))]
struct Inner {
    kind: ErrorKind,
    message: String,
    measured: Option<Measured>,
    clip: Option<usize>,
    file: Option<PathBuf>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Returns the kind, to match on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the stable, hyphenated name of the [`kind`](Self::kind), for programs.
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Returns whether the caller cancelled the work.
    pub fn is_cancelled(&self) -> bool {
        self.kind() == ErrorKind::Cancelled
    }

    /// Returns whether recording the clip again can help.
    pub fn is_clip(&self) -> bool {
        self.code().starts_with("clip-")
    }

    /// Returns whether the error is about one recording or its text, so that other clips can be used without it.
    pub(crate) fn is_about_clip(&self) -> bool {
        self.is_clip()
            || matches!(
                self.kind(),
                ErrorKind::RateUnsupported
                    | ErrorKind::TextEmpty
                    | ErrorKind::TextTooLong
                    | ErrorKind::TextUnsupported
            )
    }

    /// Returns the index of the clip that the error is about, if several were given.
    pub fn clip_index(&self) -> Option<usize> {
        self.0.clip
    }

    /// Returns the file that the error is about.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// Returns the measured value that caused the error: the seconds of a clip that is too short, or the level of a clip that is too quiet.
    pub fn measured(&self) -> Option<Measured> {
        self.0.measured
    }
}

/// Context and constructors, for the crates of this project.
#[doc(hidden)]
impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, message, measured: None, clip: None, file: None, source: None }))
    }

    fn with_measured(mut self, value: f32, unit: Unit) -> Self {
        self.0.measured = Some(Measured { value, unit });
        self
    }

    /// Adds the index of the clip that the error is about, counted from 0.
    pub fn in_clip(mut self, index: usize) -> Self {
        self.0.clip = Some(index);
        self
    }

    /// Adds the text that a clip was compared with, if the two differ.
    pub(crate) fn comparing(mut self, text: &str) -> Self {
        if self.kind() == ErrorKind::ClipMismatch {
            self.0.message += &format!("; the text is {}", quoted(text));
        }
        self
    }

    /// Adds the file that the error is about, which names it better than the index of a clip does.
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.file = Some(path.into());
        self
    }

    /// Attaches the path that an I/O error lacks.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| {
            let mut error = Self::new(ErrorKind::Io, source.to_string()).in_file(path);
            error.0.source = Some(Box::new(source));
            error
        }
    }

    pub fn audio_unreadable(reason: impl fmt::Display) -> Self {
        let message = format!("the file contains no sound in a supported format: {reason}");
        Self::new(ErrorKind::AudioUnreadable, message)
    }

    pub fn clip_empty() -> Self {
        Self::new(ErrorKind::ClipEmpty, "the clip has no samples")
    }

    pub fn clip_too_short(seconds: f32, min_seconds: f32) -> Self {
        let message =
            format!("the clip contains {seconds:.2} s of speech; at least {min_seconds:.1} s are needed");
        Self::new(ErrorKind::ClipTooShort, message).with_measured(seconds, Unit::Seconds)
    }

    pub fn clip_too_long(seconds: f32, max_seconds: f32) -> Self {
        let message = format!(
            "the clip is {seconds:.0} s long; at most {max_seconds:.0} s are supported: cut it into shorter ones"
        );
        Self::new(ErrorKind::ClipTooLong, message).with_measured(seconds, Unit::Seconds)
    }

    pub fn clip_too_quiet(level_db: f32, min_db: f32) -> Self {
        let message = format!(
            "the clip is too quiet: speech at {level_db:.0} dBFS, at least {min_db:.0} dBFS is needed; move closer to the microphone"
        );
        Self::new(ErrorKind::ClipTooQuiet, message).with_measured(level_db, Unit::Dbfs)
    }

    pub fn clip_clipped(percent: f32) -> Self {
        let message =
            format!("{percent:.1} % of the clip is clipped; move away from the microphone or lower its gain");
        Self::new(ErrorKind::ClipClipped, message).with_measured(percent, Unit::Percent)
    }

    pub fn clip_noisy(snr_db: f32, min_db: f32) -> Self {
        let message = format!(
            "the clip is noisy: speech is only {snr_db:.0} dB above the background, at least {min_db:.0} dB is needed"
        );
        Self::new(ErrorKind::ClipNoisy, message).with_measured(snr_db, Unit::Decibels)
    }

    pub fn clip_mismatch(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::ClipMismatch, format!("the clip and its text differ: {reason}"))
    }

    /// The recording has more than the text; the measured value is positive.
    pub fn clip_has_more(phones: f32) -> Self {
        Self::clip_mismatch(format!("the recording has more than the text, about {phones:.0} sounds"))
            .with_measured(phones.round(), Unit::Phones)
    }

    /// The recording has less than the text; the measured value is negative.
    pub fn clip_has_less(phones: f32) -> Self {
        Self::clip_mismatch(format!("the recording lacks a part of the text, about {phones:.0} sounds"))
            .with_measured(-phones.round(), Unit::Phones)
    }

    pub fn rate_unsupported(rate_hz: u32) -> Self {
        let message =
            format!("the sample rate {rate_hz} Hz is not supported; rates from 8000 to 192000 Hz are");
        Self::new(ErrorKind::RateUnsupported, message)
    }

    pub fn text_empty() -> Self {
        Self::new(ErrorKind::TextEmpty, "there is no text to speak")
    }

    pub fn text_too_long(characters: usize, max_characters: usize) -> Self {
        let message =
            format!("the text is {characters} characters long; at most {max_characters} are supported");
        Self::new(ErrorKind::TextTooLong, message)
    }

    /// Quotes the beginning of the text.
    pub fn text_unsupported(text: &str) -> Self {
        let message = format!("the text contains nothing that can be spoken: {}", quoted(text));
        Self::new(ErrorKind::TextUnsupported, message)
    }

    pub fn no_clips() -> Self {
        Self::new(ErrorKind::NoClips, "there are no recordings to train on")
    }

    /// * `evidence`: the names of the speakers, or the clips of one of them
    pub fn several_speakers(evidence: impl fmt::Display) -> Self {
        Self::new(ErrorKind::SeveralSpeakers, format!("the clips are of several speakers: {evidence}"))
    }

    pub fn voice_corrupt(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::VoiceCorrupt, format!("the voice file is damaged: {reason}"))
    }

    pub fn base_mismatch(expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        let message = format!("the voice was made for base {expected}, this base is {found}");
        Self::new(ErrorKind::BaseMismatch, message)
    }

    pub fn checkpoint_of_another(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::BaseMismatch, format!("the checkpoint belongs to another training: {what}"))
    }

    pub fn base_corrupt(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::BaseCorrupt, format!("the base voice is damaged: {reason}"))
    }

    pub(crate) fn lexicon_corrupt(what: &str) -> Self {
        Self::base_corrupt(format_args!("lexicon: {what}"))
    }

    /// * `operation`: the operation at fault, in words, if one was found
    pub fn device_wrong(figure: &str, found: f32, expected: f32, operation: Option<&str>) -> Self {
        let operation = operation.map_or(String::new(), |operation| format!("; {operation}"));
        let message = format!(
            "the device computes wrongly: {figure} is {found:e}, it should be {expected:e}{operation}"
        );
        Self::new(ErrorKind::DeviceWrong, message)
    }

    pub fn device_lost(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::DeviceLost, format!("the device was lost: {reason}"))
    }

    pub fn device_unavailable(name: &str, hint: impl fmt::Display) -> Self {
        Self::new(ErrorKind::DeviceUnavailable, format!("device {name:?} is not built in; {hint}"))
    }

    pub fn precision_unsupported() -> Self {
        let message = "the device does not support half precision: train in f32";
        Self::new(ErrorKind::PrecisionUnsupported, message)
    }

    pub fn training_diverged(iteration: usize) -> Self {
        let message = format!("training diverged at iteration {iteration}: the loss is not finite");
        Self::new(ErrorKind::TrainingDiverged, message)
    }

    /// * `culprit`: the operation at fault, in words
    pub fn training_diverged_by(iteration: usize, culprit: impl fmt::Display) -> Self {
        let message =
            format!("training diverged at iteration {iteration}: the loss is not finite; {culprit}");
        Self::new(ErrorKind::TrainingDiverged, message)
    }

    pub fn checkpoint_corrupt(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::CheckpointCorrupt, format!("the checkpoint is damaged: {reason}"))
    }

    pub fn checkpoint_unsupported(reason: impl fmt::Display) -> Self {
        let message = format!("this is not a supported Tacotron 2 checkpoint: {reason}");
        Self::new(ErrorKind::CheckpointUnsupported, message)
    }

    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "cancelled")
    }

    pub fn corpus_invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::CorpusInvalid, message)
    }

    pub fn program_missing(program: &str, reason: impl fmt::Display) -> Self {
        let message = format!("{program} does not start ({reason}); install it with the package manager");
        Self::new(ErrorKind::ProgramMissing, message)
    }

    pub fn video_unreadable(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::VideoUnreadable, format!("the video cannot be read or written: {reason}"))
    }

    /// * `kind`: `VideoCut`, `NoFace` or `SeveralFaces`
    pub fn video_unusable(kind: ErrorKind, from_seconds: f32, to_seconds: f32) -> Self {
        let message = match kind {
            ErrorKind::VideoCut => format!("the scene changes at {from_seconds:.1} s"),
            ErrorKind::SeveralFaces => {
                format!("there is more than one face from {from_seconds:.1} to {to_seconds:.1} s")
            }
            _ => format!("no face is found from {from_seconds:.1} to {to_seconds:.1} s"),
        };
        Self::new(kind, message).with_measured(from_seconds, Unit::Seconds)
    }

    pub fn lengths_differ(pictures_seconds: f32, sound_seconds: f32, max_seconds: f32) -> Self {
        let message = format!(
            "the pictures last {pictures_seconds:.1} s and the sound {sound_seconds:.1} s; they may differ by at most {max_seconds:.1} s"
        );
        Self::new(ErrorKind::LengthsDiffer, message)
            .with_measured((pictures_seconds - sound_seconds).abs(), Unit::Seconds)
    }

    pub fn picture_unreadable(reason: impl fmt::Display) -> Self {
        let message = format!("the file contains no picture in a supported format: {reason}");
        Self::new(ErrorKind::PictureUnreadable, message)
    }

    /// * `bounds`: the least pixels of a side, and the most of a picture
    pub fn picture_size([width, height]: [usize; 2], [min_side, max_pixels]: [usize; 2]) -> Self {
        let message = format!(
            "the picture has {width} x {height} pixels; each side needs at least {min_side}, and at most {} million pixels are supported",
            max_pixels / 1_000_000
        );
        Self::new(ErrorKind::PictureSize, message)
    }

    pub fn weights_mismatch(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::WeightsMismatch, format!("the weights are not those of the net: {reason}"))
    }

    pub fn classes_too_few(classes: usize) -> Self {
        let message = format!("there are examples of {classes} classes; at least two are needed");
        Self::new(ErrorKind::ClassesTooFew, message)
    }

    pub fn class_empty(name: &str) -> Self {
        Self::new(ErrorKind::ClassEmpty, format!("the class {} has no examples", quoted(name)))
    }

    pub fn example_invalid(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::ExampleInvalid, reason.to_string())
    }

    pub fn option_invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::OptionInvalid, message)
    }
}

impl From<burn_fused::Error> for Error {
    fn from(error: burn_fused::Error) -> Self {
        let kind = match error {
            burn_fused::Error::DeviceLost(_) => ErrorKind::DeviceLost,
            burn_fused::Error::RankLost(_) => ErrorKind::RankLost,
            burn_fused::Error::DumpCorrupt(_) => ErrorKind::CheckpointCorrupt,
            burn_fused::Error::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::OptionInvalid,
        };
        Self::new(kind, error.to_string())
    }
}

/// Returns the prefix of a message: the path of the file if it is known, otherwise the number of the clip, as in `clip 2: `.
fn context(clip: Option<usize>, file: Option<&Path>) -> String {
    match (file, clip) {
        (Some(path), _) => format!("{}: ", path.display()),
        (None, Some(index)) => format!("clip {}: ", index + 1),
        (None, None) => String::new(),
    }
}

/// Quotes the beginning of a text.
fn quoted(text: &str) -> String {
    const MAX_CHARACTERS: usize = 80;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{:?}..", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, error::Error as _};

    #[test]
    fn codes_are_distinct_and_hyphenated() {
        let codes: BTreeSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        assert!(codes.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }

    #[test]
    fn context_precedes_the_message_and_keeps_the_kind() {
        let error = Error::clip_too_quiet(-61.4, -50.0).in_file("a/b.wav").in_clip(2);
        assert_eq!(
            error.to_string(),
            "a/b.wav: the clip is too quiet: speech at -61 dBFS, at least -50 dBFS is needed; move closer to the microphone"
        );
        assert_eq!((error.kind(), error.code()), (ErrorKind::ClipTooQuiet, "clip-too-quiet"));
        assert_eq!((error.clip_index(), error.file()), (Some(2), Some(Path::new("a/b.wav"))));
        assert!(error.is_clip() && !error.is_cancelled());
        let error = Error::no_clips().in_clip(2);
        assert_eq!(error.to_string(), "clip 3: there are no recordings to train on");
    }

    #[test]
    fn a_mismatch_shows_the_text_that_was_compared() {
        let error = Error::clip_mismatch("other words").comparing("2.35").in_clip(0);
        assert_eq!(
            error.to_string(),
            "clip 1: the clip and its text differ: other words; the text is \"2.35\""
        );
        let long = Error::clip_mismatch("other words").comparing(&"ä".repeat(1000)).to_string();
        assert!(long.ends_with("ä\"..") && long.chars().count() < 180, "{long}");
        assert!(!Error::clip_empty().comparing("2.35").to_string().contains("2.35"));
    }

    #[test]
    fn measured_values_have_units() {
        let of = |error: Error| error.measured().map(|measured| measured.to_string());
        assert_eq!(of(Error::clip_too_short(0.5, 1.0)).as_deref(), Some("0.5 s"));
        assert_eq!(of(Error::clip_too_long(150.0, 120.0)).as_deref(), Some("150 s"));
        assert_eq!(of(Error::clip_too_quiet(-60.0, -50.0)).as_deref(), Some("-60 dBFS"));
        assert_eq!(of(Error::clip_clipped(2.5).in_clip(0)).as_deref(), Some("2.5 %"));
        assert_eq!(of(Error::clip_noisy(3.0, 10.0)).as_deref(), Some("3 dB"));
        assert_eq!(of(Error::cancelled()), None);
    }

    #[test]
    fn an_io_error_names_its_file_and_keeps_its_source() {
        let error = Error::io("missing.wav")(std::io::ErrorKind::NotFound.into());
        assert_eq!(error.to_string(), "missing.wav: entity not found");
        assert_eq!((error.code(), error.file()), ("io", Some(Path::new("missing.wav"))));
        assert_eq!(error.source().unwrap().to_string(), "entity not found");
    }

    #[test]
    fn an_error_is_small_and_can_be_sent_to_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<Error>();
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
