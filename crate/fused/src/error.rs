//! The error of this crate.

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, whose variant tells its kind and whose text tells the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device was lost during the work.
    #[error("the device was lost: {0}")]
    DeviceLost(String),
    /// Another rank of the training ended or failed.
    #[error("the ranks of the training are no longer together: {0}")]
    RankLost(String),
    /// An option lies outside its range or contradicts another.
    #[error("{0}")]
    OptionInvalid(String),
    /// A recorded training step cannot be read.
    #[error("the dump is damaged: {0}")]
    DumpCorrupt(String),
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
}
