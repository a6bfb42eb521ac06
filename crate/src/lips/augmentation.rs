//! Pictures of faces as a model takes them, and what changes a face without changing what its lips say.

use rand::Rng;

use super::face::{FACE_BYTES, SIDE};

/// Row of a face on which mouths lie, open ones and closed ones taken together (`drawn_faces_are_found` in `face.rs`).
const MOUTH_ROW: usize = 64;
/// How far a window may be moved in training, in pixels: as far as a tracker errs.
const MAX_SHIFT: i32 = 4;

/// How a face is changed in training: mirrored, moved, lighter or darker, of more or less contrast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Augmentation {
    mirrored: bool,
    /// Of the window, right and down, in pixels.
    shift: [i32; 2],
    contrast: f32,
    brightness: f32,
}

impl Augmentation {
    pub const NONE: Self = Self { mirrored: false, shift: [0, 0], contrast: 1.0, brightness: 0.0 };

    pub fn draw(random: &mut impl Rng) -> Self {
        Self {
            mirrored: random.random_bool(0.5),
            shift: [(); 2].map(|()| random.random_range(-MAX_SHIFT..=MAX_SHIFT)),
            contrast: random.random_range(0.7..1.3),
            brightness: random.random_range(-0.2..0.2),
        }
    }

    /// Adds what is seen of a picture to values, -1 to 1 as it was filmed: a window around the mouth, which goes on beyond the edges as it ends there.
    ///
    /// * `picture`: `[96, 96, 3]`
    /// * `side`:    of what is added, `[side, side, 3]`, at most 96
    pub fn see(self, picture: &[u8], side: usize, values: &mut Vec<f32>) {
        assert!(picture.len() == FACE_BYTES && side <= SIDE, "a face, and no more of it than there is");
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

    /// Black, but for the blue of one pixel.
    fn dot(row: usize, column: usize) -> Vec<u8> {
        let mut picture = vec![0; FACE_BYTES];
        picture[(row * SIDE + column) * 3 + 2] = 255;
        picture
    }

    /// Where the dot is seen: row, column and channel.
    fn place(values: &[f32], side: usize) -> Option<[usize; 3]> {
        let at = values.iter().position(|&value| value > 0.9)?;
        Some([at / 3 / side, at / 3 % side, at % 3])
    }

    #[test]
    fn a_whole_face_is_seen_as_it_is_and_a_part_of_it_is_around_the_mouth() {
        let plain = Augmentation::NONE;
        assert_eq!(place(&seen(plain, &dot(1, 5), SIDE), SIDE), Some([1, 5, 2]));
        assert_eq!(place(&seen(plain, &dot(MOUTH_ROW, 48), 48), 48), Some([24, 24, 2]));
        assert_eq!(place(&seen(plain, &dot(MOUTH_ROW - 25, 48), 48), 48), None);
        assert_eq!(place(&seen(plain, &dot(95, 48), 80), 80), Some([79, 40, 2]));
        let mirrored = Augmentation { mirrored: true, ..plain };
        assert_eq!(place(&seen(mirrored, &dot(MOUTH_ROW, 26), 48), 48), Some([24, 45, 2]));
    }

    #[test]
    fn a_window_that_moves_shows_what_is_there_and_goes_on_beyond_the_edge() {
        let moved = Augmentation { shift: [3, -2], ..Augmentation::NONE };
        assert_eq!(place(&seen(moved, &dot(MOUTH_ROW, 48), 48), 48), Some([26, 21, 2]));
        let beyond = seen(Augmentation { shift: [-4, 0], ..Augmentation::NONE }, &dot(0, 0), SIDE);
        assert_eq!(beyond[..15].iter().filter(|&&value| value > 0.9).count(), 5);
    }

    #[test]
    fn contrast_is_around_grey() {
        let picture = vec![127; FACE_BYTES];
        let changed = Augmentation { contrast: 1.3, brightness: 0.1, ..Augmentation::NONE };
        assert!(seen(changed, &picture, SIDE).iter().all(|value| (value - 0.1).abs() < 0.01));
    }
}
