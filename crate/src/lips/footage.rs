//! A short video whose pictures come once, from a camera or a browser's decoder: they are kept until all of it was seen.

use super::{
    base::LipBase,
    clock::{FRAMES_PER_SECOND, samples, seconds},
    face::{FaceDetector, face_of},
    image::{Image, Square},
    say::{LipSpeech, speak_track},
    search::{FaceSearch, errors},
};
use crate::{Error, Result};

/// Of more the pictures would fill the memory of a small machine: of 320 x 240 pixels, these are 170 MB.
pub const MAX_SECONDS: usize = 30;

/// Pictures, 25 a second, and where faces are in them.
#[derive(Default)]
pub struct Footage {
    detector: FaceDetector,
    search: FaceSearch,
    pictures: Vec<Image>,
}

impl Footage {
    /// Takes the next picture. Returns the faces in it, the largest first, where it is one that is searched.
    ///
    /// # Errors
    /// `clip-too-long`.
    pub fn push(&mut self, image: Image) -> Result<Option<&[Square]>> {
        if self.pictures.len() == MAX_SECONDS * FRAMES_PER_SECOND {
            return Err(Error::clip_too_long(seconds(self.pictures.len() + 1), MAX_SECONDS as f32));
        }
        let found = self.search.look(&image, &mut self.detector);
        self.pictures.push(image);
        Ok(found)
    }

    /// Forgets all pictures.
    pub fn clear(&mut self) {
        self.search = FaceSearch::default();
        self.pictures.clear();
    }

    /// Speaks what the pictures show.
    ///
    /// # Errors
    /// Where nothing of it can be read, why: `no-face`, `several-faces`, `video-cut`, `clip-too-short`, `video-unreadable`.
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
            let pictures = self.pictures[track.first_frame..].iter().zip(&track.squares);
            let faces: Vec<u8> = pictures.flat_map(|(picture, &square)| face_of(picture, square)).collect();
            speak_track(base, (track, faces.as_slice()), speaker, &*base.vocoder, &mut speech).await?;
        }
        Ok(LipSpeech { samples: speech, sample_rate_hz: rate_hz, tracks: tracks.len(), left_out })
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
    fn faces_are_found_in_every_fifth_picture_and_too_many_pictures_are_refused() {
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
    fn faces_are_those_that_a_track_shows() {
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
}
