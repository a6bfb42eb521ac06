//! Notes on a recording: it is used, but something about it is not as it usually is.

use std::fmt;

use serde::Serialize;

/// A note on a recording that was read and is used.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Note {
    /// The file's header states another length than the file has; the sound was read to the end of the file.
    HeaderLength,
    /// The file ends before its sound does.
    EndsEarly,
    /// Packets could not be decoded and are silent.
    Damaged {
        /// The number of packets.
        packets: usize,
    },
    /// The channels cancel each other, or most of them are silent: one is used instead of their mean.
    OneChannel {
        /// The channel, counted from 1.
        channel: usize,
    },
    /// Nearly nothing is voiced.
    Whispered {
        /// The voiced share of the vowels, in percent.
        voiced_percent: f32,
    },
    /// The speech is much faster than people usually read.
    Fast {
        /// The phones of a second, without pauses.
        phones_per_second: f32,
    },
    /// The recording has no high frequencies, as over a telephone.
    NarrowBand,
}

#[warn(missing_docs)]
impl Note {
    /// Returns a hyphenated name for programs, which is the same in every release.
    pub fn code(self) -> &'static str {
        match self {
            Self::HeaderLength => "header-length",
            Self::EndsEarly => "ends-early",
            Self::Damaged { .. } => "damaged",
            Self::OneChannel { .. } => "one-channel",
            Self::Whispered { .. } => "whispered",
            Self::Fast { .. } => "fast",
            Self::NarrowBand => "narrow-band",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderLength => {
                f.write_str("the header states another length than the file has; the sound was read to the end of the file")
            }
            Self::EndsEarly => {
                f.write_str("the file ends before its sound does; the sound was read as far as it goes")
            }
            Self::Damaged { packets } => {
                write!(f, "{packets} damaged packets of sound were replaced by silence")
            }
            Self::OneChannel { channel } => {
                write!(f, "the channels cancel each other or are silent; only channel {channel} is used")
            }
            Self::Whispered { voiced_percent } => write!(
                f,
                "only {voiced_percent:.0} % of the vowels are voiced; the voice will be hoarse, and its pitch is a guess"
            ),
            Self::Fast { phones_per_second } => {
                write!(f, "{phones_per_second:.0} phones a second are spoken; the voice will be as fast, and less clear")
            }
            Self::NarrowBand => {
                f.write_str("there is no sound above 5.5 kHz, as over a telephone; the voice will sound muffled")
            }
        }
    }
}
