//! Searches the pictures of a video one by one: every fifth for faces, each for cuts.

use super::{
    clock::seconds,
    face::FaceDetector,
    track::{MIN_FRAMES, SEARCH_EVERY, Search, Track, UnusableStretch, tracks},
};
use crate::{
    Error,
    image::{Image, Square},
};

/// The mean difference of adjacent thumbnails, from 0 to 255, above which the scene has changed. Moving people cause about 5.
const CUT_DIFFERENCE: f32 = 16.0;
/// The number of cells along each side of a thumbnail.
const CELLS: usize = 8;

type Thumbnail = [f32; CELLS * CELLS];

/// The state of a search through a video.
#[derive(Debug, Default)]
pub struct FaceSearch {
    searches: Vec<Search>,
    pictures: usize,
    before: Option<Thumbnail>,
    after_cut: bool,
}

impl FaceSearch {
    /// Processes the next picture. Returns the faces in it, the largest first, if the picture is one that is searched.
    pub fn look(&mut self, image: &Image, detector: &mut FaceDetector) -> Option<&[Square]> {
        let thumbnail = thumbnail(image);
        self.after_cut |= self.before.is_some_and(|before| difference(&before, &thumbnail) > CUT_DIFFERENCE);
        self.before = Some(thumbnail);
        let frame = self.pictures;
        self.pictures += 1;
        if !frame.is_multiple_of(SEARCH_EVERY) {
            return None;
        }
        let after_cut = std::mem::take(&mut self.after_cut);
        self.searches.push(Search { frame, faces: detector.detect(image), after_cut });
        self.searches.last().map(|search| search.faces.as_slice())
    }

    /// Returns the number of pictures so far.
    pub fn pictures(&self) -> usize {
        self.pictures
    }

    /// Returns the tracks of the first `pictures`, and the unusable stretches between them.
    pub fn tracks(&self, pictures: usize) -> (Vec<Track>, Vec<UnusableStretch>) {
        tracks(&self.searches[..pictures.div_ceil(SEARCH_EVERY)], pictures)
    }
}

/// Converts the faults of a video to errors, each with its seconds. Without tracks there is at least one.
pub fn errors(
    tracks: &[Track],
    faults: &[UnusableStretch],
    video_seconds: f32,
) -> Vec<(Error, Option<[f32; 2]>)> {
    let error = |&UnusableStretch { kind, from_seconds, to_seconds }: &UnusableStretch| {
        (Error::video_unusable(kind, from_seconds, to_seconds), Some([from_seconds, to_seconds]))
    };
    let mut errors: Vec<_> = faults.iter().map(error).collect();
    if tracks.is_empty() && errors.is_empty() {
        errors.push((Error::clip_too_short(video_seconds, seconds(MIN_FRAMES)), None));
    }
    errors
}

/// Returns the mean brightness of each cell, from every fourth pixel.
fn thumbnail(image: &Image) -> Thumbnail {
    const STRIDE: usize = 4;
    let (mut sums, mut counts) = ([0.0; CELLS * CELLS], [0u32; CELLS * CELLS]);
    for y in (0..image.height).step_by(STRIDE) {
        for x in (0..image.width).step_by(STRIDE) {
            let pixel = &image.rgb[(y * image.width + x) * 3..][..3];
            let cell = y * CELLS / image.height * CELLS + x * CELLS / image.width;
            sums[cell] += pixel.iter().map(|&value| f32::from(value)).sum::<f32>() / 3.0;
            counts[cell] += 1;
        }
    }
    std::array::from_fn(|cell| sums[cell] / counts[cell].max(1) as f32)
}

fn difference(one: &Thumbnail, other: &Thumbnail) -> f32 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum::<f32>() / one.len() as f32
}
