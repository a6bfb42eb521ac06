//! A short video whose pictures arrive one by one, from a camera or a browser's decoder, and are kept in memory.

use super::{
    base::LipBase,
    clock::{FRAMES_PER_SECOND, common_pictures, extract_mel, samples, seconds},
    face::{FaceDetector, face_of},
    lesson::Lesson,
    say::{LipSpeech, speak_track},
    search::{FaceSearch, errors},
    track::Track,
};
use crate::{
    Error, Result,
    audio::{
        Audio, SPEECH_LEVEL_DB,
        level::{check_clip, normalize},
        mel::MelExtractor,
        resample::resample,
    },
    image::{Image, Square},
};

/// The longest video: its pictures take 170 MB at 320 x 240 pixels, and more would exhaust a small machine's memory.
pub const MAX_SECONDS: usize = 30;

/// The lessons of a video with sound.
#[derive(Debug)]
pub struct Taught {
    /// One lesson for each stretch with one face.
    pub lessons: Vec<Lesson>,
    /// The reasons why parts were left out, each with its seconds.
    pub left_out: Vec<(Error, Option<[f32; 2]>)>,
}

/// Pictures at 25 a second, and the faces found in them.
#[derive(Default)]
pub struct Footage {
    detector: FaceDetector,
    search: FaceSearch,
    pictures: Vec<Image>,
}

impl Footage {
    /// Appends the next picture. Returns the faces in it, the largest first, if the picture is one that is searched.
    ///
    /// # Errors
    /// Fails with `clip-too-long`.
    pub fn push(&mut self, image: Image) -> Result<Option<&[Square]>> {
        if self.pictures.len() == MAX_SECONDS * FRAMES_PER_SECOND {
            return Err(Error::clip_too_long(seconds(self.pictures.len() + 1), MAX_SECONDS as f32));
        }
        let found = self.search.look(&image, &mut self.detector);
        self.pictures.push(image);
        Ok(found)
    }

    /// Removes all pictures.
    pub fn clear(&mut self) {
        self.search = FaceSearch::default();
        self.pictures.clear();
    }

    /// Synthesises speech from the pictures.
    ///
    /// # Errors
    /// If no part can be used, fails with the reason: `no-face`, `several-faces`, `video-cut`, `clip-too-short` or `video-unreadable`.
    pub async fn speak(&self, base: &LipBase, speaker: usize) -> Result<LipSpeech> {
        if self.pictures.is_empty() {
            return Err(Error::video_unreadable("it holds no pictures"));
        }
        let count = self.pictures.len();
        let (tracks, faults) = self.search.tracks(count);
        let mut left_out = errors(&tracks, &faults, seconds(count));
        if tracks.is_empty() {
            return Err(left_out.swap_remove(0).0);
        }
        let rate_hz = base.vocoder.sample_rate_hz();
        let mut speech = vec![0.0; samples(count, rate_hz)];
        for track in &tracks {
            let faces = self.faces(track);
            speak_track(base, (track, faces.as_slice()), speaker, &*base.vocoder, &mut speech).await?;
        }
        Ok(LipSpeech { samples: speech, sample_rate_hz: rate_hz, tracks: tracks.len(), left_out })
    }

    /// Makes lessons of the pictures and their sound, which begin together. The sound is normalised to the common speech level.
    ///
    /// # Errors
    /// If no part can be used, fails with the reason, as [`Self::speak`] and [`check_clip`] do, or with `lengths-differ`.
    pub fn teach(&self, base: &LipBase, sound: &Audio) -> Result<Taught> {
        if self.pictures.is_empty() {
            return Err(Error::video_unreadable("it holds no pictures"));
        }
        check_clip(sound)?;
        let mel = &base.manifest.mel;
        let rate_hz = mel.sample_rate_hz;
        let resampled = resample(&sound.samples, sound.sample_rate_hz, rate_hz)?;
        let count = common_pictures(self.pictures.len(), resampled.len(), rate_hz)?;
        let spoken = normalize(&resampled, SPEECH_LEVEL_DB);
        let (tracks, faults) = self.search.tracks(count);
        let mut left_out = errors(&tracks, &faults, seconds(count));
        if tracks.is_empty() {
            return Err(left_out.swap_remove(0).0);
        }
        let extractor = MelExtractor::new(mel.clone());
        let lesson = |track: &Track| {
            let (first, pictures) = (samples(track.first_frame, rate_hz), track.squares.len());
            let sound = &spoken[first..first + samples(pictures, rate_hz)];
            Lesson::new(base, &self.faces(track), &extract_mel(&extractor, sound, pictures).data)
        };
        Ok(Taught { lessons: tracks.iter().map(lesson).collect(), left_out })
    }

    /// Crops the faces of a track, `[pictures, 96, 96, 3]`.
    fn faces(&self, track: &Track) -> Vec<u8> {
        let pictures = self.pictures[track.first_frame..].iter().zip(&track.squares);
        pictures.flat_map(|(picture, &square)| face_of(picture, square)).collect()
    }
}
