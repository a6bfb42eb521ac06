//! Face detection and cropping.
//!
//! The detector is SeetaFace's frontal one (Wu et al. 2016, "Funnel-structured cascade for multi-view face detection with alignment-awareness") as ported to Rust
//! by the crate `rustface`; its weights are part of the program.

use rustface::{Detector, ImageData, Model};

use crate::image::{Image, Square};

/// The width and height of a face in pixels, as model input.
pub const SIDE: usize = 96;
/// The number of bytes of a face picture.
pub const FACE_BYTES: usize = SIDE * SIDE * 3;

/// The weights of the detector (BSD-2-Clause, see the licence beside them).
static WEIGHTS: &[u8] = include_bytes!("../../data/seeta_fd_frontal_v1.0.bin");
/// Pictures are shrunk to at most this size for the detector, which finds faces that are at least 40 of these pixels high.
const MAX_SIDE: usize = 320;
/// Smaller pictures are not searched.
const MIN_SIDE: usize = 48;
/// The least score of a face. The detector's own examples use 2; drawn and photographed faces score 5 and more.
const MIN_SCORE: f64 = 2.5;

/// A detector of faces in pictures.
pub struct FaceDetector(Box<dyn Detector>);

impl Default for FaceDetector {
    fn default() -> Self {
        let model: Model =
            rustface::read_model(std::io::Cursor::new(WEIGHTS)).expect("the program's own weights");
        let mut detector = rustface::create_detector_with_model(model);
        detector.set_score_thresh(MIN_SCORE);
        detector.set_pyramid_scale_factor(0.8);
        detector.set_slide_window_step(4, 4);
        Self(detector)
    }
}

impl FaceDetector {
    /// Returns the squares of the faces, the largest first.
    pub fn detect(&mut self, image: &Image) -> Vec<Square> {
        let (small, factor) = image.shrunk(MAX_SIDE);
        if small.width.min(small.height) < MIN_SIDE {
            return Vec::new();
        }
        let grey = small.grey();
        let found = self.0.detect(&ImageData::new(&grey, small.width as u32, small.height as u32));
        let factor = factor as f32;
        let mut squares: Vec<Square> = found
            .iter()
            .map(|face| {
                let bounds = face.bbox();
                Square {
                    centre_x: (bounds.x() as f32 + bounds.width() as f32 / 2.0) * factor,
                    centre_y: (bounds.y() as f32 + bounds.height() as f32 / 2.0) * factor,
                    side: bounds.width() as f32 * factor,
                }
            })
            .collect();
        squares.sort_by(|one, other| other.side.total_cmp(&one.side));
        squares
    }
}

/// The side of the crop relative to the detected face.
const CROP_SIDE: f32 = 1.1;
/// The downward shift of the crop relative to the face's side, so that an open jaw lies within.
const CROP_DOWN: f32 = 0.12;

/// Returns the square of a detected face that the model reads: mouth, chin and eyes.
pub fn around_mouth(face: Square) -> Square {
    Square { centre_y: face.centre_y + CROP_DOWN * face.side, side: face.side * CROP_SIDE, ..face }
}

/// Crops a detected face as model input, `[96, 96, 3]`.
pub fn face_of(picture: &Image, face: Square) -> Vec<u8> {
    picture.crop(around_mouth(face), SIDE).rgb
}
