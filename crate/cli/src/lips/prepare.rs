//! Prepares videos as features: the cropped pictures of one tracked face, and the mels of the sound.
//!
//! Every file is decoded twice: first to find faces and form tracks, then to crop and write the tracks. Only one track's pictures are in memory at a time,
//! regardless of the video's length.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    features::{Filmed, LipFeatureWriter},
    layout::{self, VideoFile},
    video::{read_frames, read_sound},
};
use ownvoice::{
    Error, ErrorKind, Result,
    audio::mel::MelConfig,
    lips::{
        clock::{self, samples},
        face::{FaceDetector, face_of},
        search::{FaceSearch, errors},
        track::{Track, UnusableStretch},
    },
    report::{Progress, Report},
};

/// The configuration of a preparation.
#[derive(Debug, Clone)]
pub struct LipPrepareConfig {
    /// The folder of videos, as `layout` describes.
    pub videos: PathBuf,
    /// The folder for the features.
    pub out: PathBuf,
}

/// The result of a preparation.
#[derive(Debug, Serialize)]
pub struct LipPrepared {
    pub videos: usize,
    pub tracks: usize,
    pub speakers: usize,
    pub seconds: f32,
    pub left_out: Vec<LeftOut>,
}

/// A stretch of a video that was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    pub file: PathBuf,
    /// A code of [`ErrorKind`].
    pub code: &'static str,
    /// The stretch, or `None` for the whole file.
    pub seconds: Option<[f32; 2]>,
    pub message: String,
}

impl LeftOut {
    fn new(file: &Path, error: &Error, seconds: Option<[f32; 2]>) -> Self {
        Self { file: file.to_owned(), code: error.code(), seconds, message: error.to_string() }
    }
}

/// The number of files that are searched in parallel.
const CHUNK: usize = 16;

/// Writes the faces and mels of all videos below a folder. Unusable parts are left out, and reported by file and second.
///
/// # Errors
/// If nothing is left, fails with the error of the first part that was left out; otherwise with `program-missing`, `corpus-invalid` or `io`.
pub fn prepare(config: &LipPrepareConfig, report: &dyn Report) -> Result<LipPrepared> {
    let videos = layout::videos(&config.videos)?;
    let mel = MelConfig::speech_16k();
    let mut writer = LipFeatureWriter::create(&config.out, mel.clone())?;
    let mut left_out = Vec::new();
    let mut first_error = None;
    let (done, of) = (AtomicUsize::new(0), Some(videos.len()));
    for videos in videos.chunks(CHUNK) {
        let searched = videos.par_iter().map_init(FaceDetector::default, |detector, video| {
            let found = search(&video.path, detector, mel.sample_rate_hz);
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            report.progress(&Progress { done, of, message: "videos" });
            found
        });
        for (video, found) in videos.iter().zip(searched.collect::<Vec<_>>()) {
            let faults = match found {
                Ok(found) => {
                    crop(video, &found, mel.sample_rate_hz, &mut writer)?;
                    found.errors()
                }
                // A faulty file is left out; a missing program would fail for every file.
                Err(error) if error.kind() == ErrorKind::ProgramMissing => return Err(error),
                Err(error) => vec![(error, None)],
            };
            for (error, seconds) in faults {
                let entry = LeftOut::new(&video.path, &error, seconds);
                report.note(&format!("left out: {} ({})", entry.message, entry.code));
                left_out.push(entry);
                first_error.get_or_insert(error);
            }
        }
    }
    let features = writer.finish();
    match (features, first_error) {
        (Ok(features), Some(error)) if features.tracks.is_empty() => Err(error),
        (Ok(features), _) => Ok(LipPrepared {
            videos: videos.len(),
            tracks: features.tracks.len(),
            speakers: features.sounds.speakers.len(),
            seconds: features.sounds.seconds(),
            left_out,
        }),
        (Err(error), _) => Err(error),
    }
}

/// The result of the first decoding of a file.
#[derive(Debug)]
pub struct Searched {
    path: PathBuf,
    seconds: f32,
    pub tracks: Vec<Track>,
    pub faults: Vec<UnusableStretch>,
    /// The samples, at the mel's rate.
    pub sound: Vec<f32>,
}

impl Searched {
    /// Returns the sound of a track.
    pub fn sound_of(&self, track: &Track, rate_hz: u32) -> &[f32] {
        let start = samples(track.first_frame, rate_hz);
        &self.sound[start..start + samples(track.squares.len(), rate_hz)]
    }

    /// Returns the faults of the file as errors, each with its seconds.
    pub fn errors(&self) -> Vec<(Error, Option<[f32; 2]>)> {
        let errors = errors(&self.tracks, &self.faults, self.seconds).into_iter();
        errors.map(|(error, seconds)| (error.in_file(&self.path), seconds)).collect()
    }
}

/// Decodes a file and finds and tracks faces.
///
/// # Errors
/// Fails with `video-unreadable`, `audio-unreadable`, `lengths-differ`, `program-missing` or `io`.
pub fn search(path: &Path, detector: &mut FaceDetector, rate_hz: u32) -> Result<Searched> {
    let sound = read_sound(path, rate_hz);
    if let Err(error) = &sound
        && error.kind() != ErrorKind::AudioUnreadable
    {
        return Err(sound.expect_err("it was one"));
    }
    let looked = look(path, detector)?;
    // A file without pictures is reported as unreadable, even if it has no sound either.
    let sound = sound?;
    let frames = looked.pictures();
    let common = clock::common_pictures(frames, sound.len(), rate_hz).map_err(|error| error.in_file(path))?;
    let seconds = clock::seconds(frames).min(sound.len() as f32 / rate_hz as f32);
    let (tracks, faults) = looked.tracks(common);
    Ok(Searched { path: path.to_owned(), seconds, tracks, faults, sound })
}

/// Searches as [`search`] does but ignores the sound; [`Searched::sound`] is silence.
///
/// # Errors
/// Fails with `video-unreadable`, `program-missing` or `io`.
pub fn search_silent(path: &Path, detector: &mut FaceDetector, rate_hz: u32) -> Result<Searched> {
    let looked = look(path, detector)?;
    let frames = looked.pictures();
    let (tracks, faults) = looked.tracks(frames);
    let seconds = clock::seconds(frames);
    Ok(Searched {
        path: path.to_owned(),
        seconds,
        tracks,
        faults,
        sound: vec![0.0; samples(frames, rate_hz)],
    })
}

/// Searches a file's pictures for faces.
fn look(path: &Path, detector: &mut FaceDetector) -> Result<FaceSearch> {
    let mut search = FaceSearch::default();
    read_frames(path, |_, image| {
        search.look(&image, detector);
        Ok(())
    })?;
    Ok(search)
}

/// Decodes a file again and passes the faces of each track, `[pictures, 96, 96, 3]`, to `each`.
pub fn read_tracks(found: &Searched, mut each: impl FnMut(&Track, &[u8]) -> Result<()>) -> Result<()> {
    let mut tracks = found.tracks.iter().peekable();
    if tracks.peek().is_none() {
        return Ok(());
    }
    let mut faces = Vec::new();
    read_frames(&found.path, |frame, image| {
        let Some(track) = tracks.peek() else { return Ok(()) };
        let Some(square) = frame.checked_sub(track.first_frame).and_then(|index| track.squares.get(index))
        else {
            return Ok(());
        };
        faces.extend(face_of(&image, *square));
        if frame + 1 < track.first_frame + track.squares.len() {
            return Ok(());
        }
        each(track, &faces)?;
        faces.clear();
        tracks.next();
        Ok(())
    })?;
    if tracks.next().is_some() {
        return Err(
            Error::video_unreadable("the second decoding ended earlier than the first").in_file(&found.path)
        );
    }
    Ok(())
}

/// Writes the tracks of a file.
fn crop(video: &VideoFile, found: &Searched, rate_hz: u32, writer: &mut LipFeatureWriter) -> Result<()> {
    read_tracks(found, |track, faces| {
        writer.push(Filmed {
            speaker: &video.speaker,
            id: format!("{}-{:06}", video.id, track.first_frame),
            text: if found.tracks.len() == 1 { video.text.clone() } else { String::new() },
            file: &video.path,
            start_seconds: clock::seconds(track.first_frame),
            faces,
            sound: found.sound_of(track, rate_hz),
        })
    })
}
