//! Detection of faults in a synthesised sentence: skipped and repeated phones, runaway synthesis, unstable pitch, noise, clipping, offset.

use serde::Serialize;

use super::artefacts::Artefacts;
use ownvoice::{align::edits, audio::pitch::Pitch};

/// The kinds of fault; a sentence has each at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A run of phones of the text is missing, such as a word.
    Skipped,
    /// A run of phones is not in the text, such as a repeated word or babble.
    Repeated,
    /// The sentence lasts at least 1.5 times as long as its phones and pauses should and exceeds that by more than a breath, or synthesis hit its limit.
    Runaway,
    /// The pitch jumps within voiced stretches more than once a second.
    UnstablePitch,
    /// A phone lasts more than half a second.
    Drawn,
    /// The pauses are not silent.
    Noisy,
    /// Samples are at full scale or have a constant offset.
    Damaged,
}

impl Fault {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Skipped,
        Self::Repeated,
        Self::Runaway,
        Self::UnstablePitch,
        Self::Drawn,
        Self::Noisy,
        Self::Damaged,
    ];

    /// Returns the name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Repeated => "repeated",
            Self::Runaway => "runaway",
            Self::UnstablePitch => "unstable pitch",
            Self::Drawn => "drawn out",
            Self::Noisy => "noisy",
            Self::Damaged => "damaged",
        }
    }
}

/// A spoken sentence and its transcription by the recogniser.
pub struct SpokenSentence<'a> {
    /// The phone classes of the text, without pauses.
    pub said: &'a [usize],
    /// The recognised phone classes, without pauses.
    pub recognised: &'a [usize],
    /// The frames of each phone, from forced alignment.
    pub phone_frames: &'a [u32],
    /// The frames that the sentence should last.
    pub expected_frames: f32,
    /// The frames that the sentence lasts.
    pub frames: usize,
    /// Whether synthesis stopped at its limit.
    pub cut_off: bool,
    pub pitch: &'a Pitch,
    pub artefacts: &'a Artefacts,
    pub frame_seconds: f32,
}

/// The least run of phones that is a skip or a repetition; shorter ones may be recognition errors.
const RUN: usize = 5;
/// The ratio to the expected duration from which a sentence is a runaway.
const RUNAWAY: f32 = 1.5;
/// The excess duration that even a short sentence may have, because the last word before a pause is long.
const BREATH_SECONDS: f32 = 0.6;
/// The least jump between two voiced frames, in octaves: three semitones.
const JUMP_OCTAVES: f32 = 0.25;
/// The largest distance of the frames of a jump: the tracker marks a frame that holds two pitches as unvoiced.
const GAP_FRAMES: usize = 3;
/// The most jumps a second of a stable pitch.
const JUMPS_A_SECOND: f32 = 1.0;
/// The longest duration of a phone.
const DRAWN_SECONDS: f32 = 0.5;
/// The level of the pauses relative to the speech, in dB, above which they are noisy.
const NOISY_DB: f32 = -28.0;
/// The largest constant offset.
const OFFSET: f32 = 0.01;

/// Returns the faults of one sentence, each at most once.
pub fn faults(spoken: &SpokenSentence) -> Vec<Fault> {
    let runs = runs(spoken.said, spoken.recognised);
    let longest = |length: fn(&Run) -> usize| runs.iter().map(length).max().unwrap_or(0);
    let (skipped, repeated) = (longest(|run| run.dropped), longest(|run| run.added));
    let seconds = spoken.frames as f32 * spoken.frame_seconds;
    let expected_seconds = spoken.expected_frames * spoken.frame_seconds;
    let drawn =
        spoken.phone_frames.iter().any(|&frames| frames as f32 * spoken.frame_seconds > DRAWN_SECONDS);
    let found = |fault: &Fault| match fault {
        Fault::Skipped => skipped >= RUN,
        Fault::Repeated => repeated >= RUN,
        Fault::Runaway => {
            spoken.cut_off || seconds > (RUNAWAY * expected_seconds).max(expected_seconds + BREATH_SECONDS)
        }
        Fault::UnstablePitch => pitch_jumps(spoken.pitch) as f32 > JUMPS_A_SECOND * seconds,
        Fault::Drawn => drawn,
        Fault::Noisy => spoken.artefacts.pause_level_db > NOISY_DB,
        Fault::Damaged => spoken.artefacts.clipped_share > 0.0 || spoken.artefacts.offset.abs() > OFFSET,
    };
    Fault::ALL.into_iter().filter(found).collect()
}

/// The difference in length between text and transcription, between two phones that match: phones that are missing, or that were added.
pub struct Run {
    pub dropped: usize,
    pub added: usize,
}

/// Returns the runs between adjacent matching phones.
pub fn runs(said: &[usize], recognised: &[usize]) -> Vec<Run> {
    let mut last = (0, 0);
    let between = |(a, b): (usize, usize)| {
        let (wanted, got) = (a - last.0, b - last.1);
        last = (a + 1, b + 1);
        Run { dropped: wanted.saturating_sub(got), added: got.saturating_sub(wanted) }
    };
    let kept = edits(said, recognised).kept;
    kept.into_iter().chain([(said.len(), recognised.len())]).map(between).collect()
}

/// Counts jumps of at least three semitones from one voiced frame to the next, over gaps too short for a consonant.
fn pitch_jumps(pitch: &Pitch) -> usize {
    let voiced: Vec<(usize, f32)> =
        pitch.f0_hz.iter().copied().enumerate().filter(|(_, hz)| *hz > 0.0).collect();
    let jumps = |pair: &&[(usize, f32)]| {
        pair[1].0 - pair[0].0 <= GAP_FRAMES && (pair[1].1 / pair[0].1).log2().abs() > JUMP_OCTAVES
    };
    voiced.windows(2).filter(jumps).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHONES: [usize; 12] = [3, 9, 4, 20, 7, 31, 12, 5, 28, 2, 16, 8];

    fn clean() -> (Pitch, Artefacts) {
        (
            Pitch { f0_hz: vec![120.0; 160] },
            Artefacts { clipped_share: 0.0, offset: 0.0, pause_level_db: -45.0, pause_flatness: 0.5 },
        )
    }

    fn found<'a>(
        (pitch, artefacts): &'a (Pitch, Artefacts),
        change: impl Fn(&mut SpokenSentence<'a>),
    ) -> Vec<Fault> {
        let mut spoken = SpokenSentence {
            said: &PHONES,
            recognised: &PHONES,
            phone_frames: &[8; 12],
            expected_frames: 150.0,
            frames: 160,
            cut_off: false,
            pitch,
            artefacts,
            frame_seconds: 0.0125,
        };
        change(&mut spoken);
        faults(&spoken)
    }

    #[test]
    fn clean_sentences_and_recognition_errors_are_no_faults() {
        let clean = clean();
        assert_eq!(found(&clean, |_| ()), []);
        // Two phones are substituted, one is deleted, one is inserted.
        assert_eq!(
            found(&clean, |spoken| spoken.recognised = &[3, 9, 5, 20, 7, 31, 12, 28, 2, 2, 16, 9]),
            []
        );
    }

    #[test]
    fn each_fault_is_found_and_no_other() {
        let artefacts = |clipped_share, offset, pause_level_db| Artefacts {
            clipped_share,
            offset,
            pause_level_db,
            pause_flatness: 0.5,
        };
        let (clipped, shifted, noisy) =
            (artefacts(0.001, 0.0, -45.0), artefacts(0.0, 0.02, -45.0), artefacts(0.0, 0.0, -20.0));
        let jumping = Pitch { f0_hz: (0..160).map(|t| [120.0, 120.0, 170.0, 170.0][t % 4]).collect() };
        let clean = clean();
        assert_eq!(found(&clean, |spoken| spoken.recognised = &[3, 9, 4, 28, 2, 16, 8]), [Fault::Skipped]);
        assert_eq!(
            found(&clean, |spoken| spoken.recognised =
                &[3, 9, 4, 20, 7, 3, 9, 4, 20, 7, 31, 12, 5, 28, 2, 16, 8]),
            [Fault::Repeated]
        );
        assert_eq!(found(&clean, |spoken| spoken.frames = 240), [Fault::Runaway]);
        assert_eq!(found(&clean, |spoken| spoken.cut_off = true), [Fault::Runaway]);
        assert_eq!(found(&clean, |spoken| spoken.pitch = &jumping), [Fault::UnstablePitch]);
        assert_eq!(found(&clean, |spoken| spoken.phone_frames = &[8, 41, 8]), [Fault::Drawn]);
        assert_eq!(found(&clean, |spoken| spoken.artefacts = &noisy), [Fault::Noisy]);
        assert_eq!(found(&clean, |spoken| spoken.artefacts = &clipped), [Fault::Damaged]);
        assert_eq!(found(&clean, |spoken| spoken.artefacts = &shifted), [Fault::Damaged]);
    }
}
