//! Speaks a video file.

use std::path::Path;

use super::{
    base::LipBase,
    face::FaceDetector,
    prepare::{read_tracks, search_silent},
    say::{LipSpeech, speak_track},
};
use crate::{Result, vocoder::Vocoder};

/// Speaks a video, whether it has sound or not.
///
/// # Errors
/// Where nothing of it can be read, why: `no-face`, `several-faces`, `video-cut`, `clip-too-short`; `video-unreadable`, `program-missing`, `io`.
pub fn speak_video(base: &LipBase, path: &Path, speaker: usize, vocoder: &dyn Vocoder) -> Result<LipSpeech> {
    let rate_hz = base.manifest.mel.sample_rate_hz;
    let found = search_silent(path, &mut FaceDetector::default(), rate_hz)?;
    let mut left_out = found.errors();
    if found.tracks.is_empty() {
        return Err(left_out.swap_remove(0).0);
    }
    let mut speech = found.sound.clone();
    read_tracks(&found, |track, faces| {
        pollster::block_on(speak_track(base, (track, faces), speaker, vocoder, &mut speech))
    })?;
    Ok(LipSpeech { samples: speech, sample_rate_hz: rate_hz, tracks: found.tracks.len(), left_out })
}
