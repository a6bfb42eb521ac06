//! A short video whose pictures arrive one by one, from a camera or a browser's decoder, and are kept in memory.

use super::{
    base::LipBase,
    clock::{FRAMES_PER_SECOND, common_pictures, extract_mel, samples, seconds},
    face::{FaceDetector, face_of},
    image::{Image, Square},
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
        let rate_hz = base.manifest.mel.sample_rate_hz;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lips::{
        drawing::Face,
        visemes::{Movement, Posture},
    };

    #[test]
    fn every_fifth_picture_is_searched_and_too_many_are_refused() {
        let face = Face::new(1);
        let image = face.draw(240, 240, &face.pose(0.0), &Posture::REST, 0);
        let mut footage = Footage::default();
        let found: Vec<Option<usize>> =
            (0..6).map(|_| footage.push(image.clone()).unwrap().map(<[Square]>::len)).collect();
        assert_eq!(found, [Some(1), None, None, None, None, Some(1)]);
        let blank = Image::new(1, 1, vec![0; 3]);
        let refused = (6..=MAX_SECONDS * FRAMES_PER_SECOND).find_map(|_| footage.push(blank.clone()).err());
        assert_eq!(refused.unwrap().code(), "clip-too-long");
        footage.clear();
        assert!(footage.push(image).is_ok());
    }

    #[test]
    fn a_moving_face_is_one_track() {
        let phones = crate::text::symbols::parse("_ AA1 M IY1 _ AA1 M IY1 _").unwrap();
        let movement = Movement::new(phones.into_iter().map(|symbol| (symbol, 0.2)));
        let face = Face::new(2);
        let mut footage = Footage::default();
        for frame in 0..30 {
            let at = seconds(frame);
            footage.push(face.draw(240, 240, &face.pose(at), &movement.at(at), frame as u64)).unwrap();
        }
        let (tracks, faults) = footage.search.tracks(30);
        assert_eq!((tracks.len(), faults.len(), tracks[0].squares.len()), (1, 0, 30));
    }

    /// Pictures with or without a face, and a voice of `seconds`.
    fn film(faces: &[bool], seconds: f32) -> (Footage, Audio) {
        let face = Face::new(1);
        let mut footage = Footage::default();
        for (frame, &shown) in faces.iter().enumerate() {
            let image = match shown {
                true => face.draw(240, 240, &face.pose(0.0), &Posture::REST, frame as u64),
                false => Image::new(240, 240, vec![90; 240 * 240 * 3]),
            };
            footage.push(image).unwrap();
        }
        let at = |n: usize| {
            let t = n as f32 / 48_000.0;
            let voiced = t % 0.4 < 0.3;
            0.001 * (n as f32).sin() + if voiced { 0.02 * (900.0 * t).sin() } else { 0.0 }
        };
        let samples = (0..(seconds * 48_000.0) as usize).map(at).collect();
        (footage, Audio { samples, sample_rate_hz: 48_000 })
    }

    #[test]
    fn stretches_with_a_face_become_lessons_and_others_are_reported() {
        let base = crate::lips::tuner::tests::base("one");
        let faces = [vec![true; 40], vec![false; 20], vec![true; 30]].concat();
        let (footage, sound) = film(&faces, 3.6);
        let Taught { lessons, left_out } = footage.teach(&base, &sound).unwrap();
        let seconds: Vec<f32> = lessons.iter().map(Lesson::seconds).collect();
        assert_eq!(seconds, [1.6, 1.2]);
        let codes: Vec<_> = left_out.iter().map(|(error, seconds)| (error.code(), *seconds)).collect();
        assert!(codes.contains(&("no-face", Some([1.6, 2.4]))), "{codes:?}");

        let refused = |footage: &Footage, sound: &Audio| footage.teach(&base, sound).err().unwrap().code();
        assert_eq!(refused(&footage, &film(&[], 6.0).1), "lengths-differ");
        let still = Audio { samples: vec![0.0; sound.samples.len()], ..sound.clone() };
        assert_eq!(refused(&footage, &still), "clip-too-quiet");
        assert_eq!(refused(&Footage::default(), &sound), "video-unreadable");
        assert_eq!(refused(&film(&[false; 90], 0.1).0, &sound), "no-face");
        assert_eq!(refused(&film(&[true; 20], 0.1).0, &film(&[], 1.2).1), "clip-too-short");
    }
}
