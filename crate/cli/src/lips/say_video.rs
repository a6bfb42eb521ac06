//! Synthesises speech from a video file.

use std::path::Path;

use super::prepare::{read_tracks, search_silent};
use ownvoice::{
    Result,
    lips::{
        base::LipBase,
        face::FaceDetector,
        say::{LipSpeech, speak_track},
    },
    vocoder::Vocoder,
};

/// Synthesises speech from the pictures of a video, with or without sound.
///
/// # Errors
/// If no part can be used, fails with the reason: `no-face`, `several-faces`, `video-cut` or `clip-too-short`. Other errors are `video-unreadable`,
/// `program-missing` and `io`.
pub fn speak_video(base: &LipBase, path: &Path, speaker: usize, vocoder: &dyn Vocoder) -> Result<LipSpeech> {
    let rate_hz = vocoder.sample_rate_hz();
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
