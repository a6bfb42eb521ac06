//! Why a synthesis ended.

/// Why a synthesis ended.
///
/// An end is a reason, never a message: callers decide what each one means to them.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The stop gate of the attention decoder opened.
    Gate,
    /// All symbols have had their frames.
    Durations,
    /// The bound was reached first; what lies beyond is not spoken.
    MaxFrames,
    /// The caller cancelled.
    Cancelled,
}

#[warn(missing_docs)]
impl StopReason {
    /// A hyphenated name for programs, the same in every release.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Durations => "durations",
            Self::MaxFrames => "max-frames",
            Self::Cancelled => "cancelled",
        }
    }
}
