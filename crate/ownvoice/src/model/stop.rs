//! The reason why a synthesis ended.

/// The reason why a synthesis ended.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The stop gate of the attention decoder opened.
    Gate,
    /// All symbols were given the frames of their durations.
    Durations,
    /// The bound on frames was reached; the rest of the text is not spoken.
    MaxFrames,
    /// The caller cancelled.
    Cancelled,
}

#[warn(missing_docs)]
impl StopReason {
    /// Returns a hyphenated name for programs, which is the same in every release.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Durations => "durations",
            Self::MaxFrames => "max-frames",
            Self::Cancelled => "cancelled",
        }
    }
}
