//! The preparation of face pictures as model input, with augmentation for training.

use rand::Rng;

use super::face::{FACE_BYTES, SIDE};

/// The mean row of the mouth in a face picture (see `drawn_faces_are_found` in `face.rs`).
const MOUTH_ROW: usize = 64;
/// The largest shift of the window in training, in pixels, about the error of the tracker.
const MAX_SHIFT: i32 = 4;

/// An augmentation of a face: mirroring, shift, brightness and contrast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Augmentation {
    mirrored: bool,
    /// The shift of the window to the right and down, in pixels.
    shift: [i32; 2],
    contrast: f32,
    brightness: f32,
}

impl Augmentation {
    /// No augmentation.
    pub const NONE: Self = Self { mirrored: false, shift: [0, 0], contrast: 1.0, brightness: 0.0 };

    /// Draws a random augmentation.
    pub fn draw(random: &mut impl Rng) -> Self {
        Self {
            mirrored: random.random_bool(0.5),
            shift: [(); 2].map(|()| random.random_range(-MAX_SHIFT..=MAX_SHIFT)),
            contrast: random.random_range(0.7..1.3),
            brightness: random.random_range(-0.2..0.2),
        }
    }

    /// Appends a window around the mouth of a picture to `values`, from -1 to 1 before augmentation. Beyond the edges the last pixels are repeated.
    ///
    /// * `picture`: `[96, 96, 3]`
    /// * `side`:    the side of the window `[side, side, 3]`, at most 96
    pub fn see(self, picture: &[u8], side: usize, values: &mut Vec<f32>) {
        assert!(
            picture.len() == FACE_BYTES && side <= SIDE,
            "the picture is a face, and the window lies within it"
        );
        let place = |from: usize, shift: i32, at: usize| {
            (from as i32 + shift + at as i32).clamp(0, SIDE as i32 - 1) as usize
        };
        let (left, top) = ((SIDE - side) / 2, MOUTH_ROW.saturating_sub(side / 2).min(SIDE - side));
        let (scale, offset) = (self.contrast / 127.5, self.brightness - self.contrast);
        let columns: Vec<usize> = (0..side).map(|at| place(left, self.shift[0], at)).collect();
        for at in 0..side {
            let row = &picture[place(top, self.shift[1], at) * SIDE * 3..][..SIDE * 3];
            for at in 0..side {
                let column = columns[if self.mirrored { side - 1 - at } else { at }];
                let pixel = &row[column * 3..][..3];
                values.extend(pixel.iter().map(|&byte| f32::from(byte) * scale + offset));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(augmentation: Augmentation, picture: &[u8], side: usize) -> Vec<f32> {
        let mut values = Vec::new();
        augmentation.see(picture, side, &mut values);
        assert_eq!(values.len(), side * side * 3);
        values
    }

    /// A black picture with one blue pixel.
    fn dot(row: usize, column: usize) -> Vec<u8> {
        let mut picture = vec![0; FACE_BYTES];
        picture[(row * SIDE + column) * 3 + 2] = 255;
        picture
    }

    /// Returns the row, column and channel of the dot.
    fn place(values: &[f32], side: usize) -> Option<[usize; 3]> {
        let at = values.iter().position(|&value| value > 0.9)?;
        Some([at / 3 / side, at / 3 % side, at % 3])
    }

    #[test]
    fn a_smaller_window_is_centred_on_the_mouth() {
        let plain = Augmentation::NONE;
        assert_eq!(place(&seen(plain, &dot(1, 5), SIDE), SIDE), Some([1, 5, 2]));
        assert_eq!(place(&seen(plain, &dot(MOUTH_ROW, 48), 48), 48), Some([24, 24, 2]));
        assert_eq!(place(&seen(plain, &dot(MOUTH_ROW - 25, 48), 48), 48), None);
        assert_eq!(place(&seen(plain, &dot(95, 48), 80), 80), Some([79, 40, 2]));
        let mirrored = Augmentation { mirrored: true, ..plain };
        assert_eq!(place(&seen(mirrored, &dot(MOUTH_ROW, 26), 48), 48), Some([24, 45, 2]));
    }

    #[test]
    fn a_shifted_window_repeats_the_edge() {
        let moved = Augmentation { shift: [3, -2], ..Augmentation::NONE };
        assert_eq!(place(&seen(moved, &dot(MOUTH_ROW, 48), 48), 48), Some([26, 21, 2]));
        let beyond = seen(Augmentation { shift: [-4, 0], ..Augmentation::NONE }, &dot(0, 0), SIDE);
        assert_eq!(beyond[..15].iter().filter(|&&value| value > 0.9).count(), 5);
    }

    #[test]
    fn contrast_is_relative_to_grey() {
        let picture = vec![127; FACE_BYTES];
        let changed = Augmentation { contrast: 1.3, brightness: 0.1, ..Augmentation::NONE };
        assert!(seen(changed, &picture, SIDE).iter().all(|value| (value - 0.1).abs() < 0.01));
    }
}
