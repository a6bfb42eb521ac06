//! Pictures of faces as a model takes them, and what changes a face without changing its lips.

use rand::Rng;

use super::features::{FACE_BYTES, SIDE};

/// How a face is looked at in training: mirrored, lighter or darker, of more or less contrast. No lips do that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    mirrored: bool,
    contrast: f32,
    brightness: f32,
}

impl Look {
    pub const PLAIN: Self = Self { mirrored: false, contrast: 1.0, brightness: 0.0 };

    pub fn draw(random: &mut impl Rng) -> Self {
        Self {
            mirrored: random.random_bool(0.5),
            contrast: random.random_range(0.7..1.3),
            brightness: random.random_range(-0.2..0.2),
        }
    }

    /// Adds a picture to values, -1 to 1 as it was filmed.
    ///
    /// * `picture`: `[96, 96, 3]`
    /// * `side`:    of what is added, `[side, side, 3]`: a whole part of 96, each pixel the mean of a square
    pub fn see(self, picture: &[u8], side: usize, values: &mut Vec<f32>) {
        assert!(picture.len() == FACE_BYTES && SIDE.is_multiple_of(side), "a face, and a part of it");
        let square = SIDE / side;
        let scale = self.contrast / (127.5 * (square * square) as f32);
        let shift = self.brightness - self.contrast;
        for rows in picture.chunks_exact(square * SIDE * 3) {
            for at in 0..side {
                let column = if self.mirrored { side - 1 - at } else { at };
                for channel in 0..3 {
                    let row = |row: &[u8]| -> u32 {
                        let pixels = row[column * square * 3..][..square * 3].iter();
                        pixels.skip(channel).step_by(3).map(|&byte| u32::from(byte)).sum()
                    };
                    let sum: u32 = rows.chunks_exact(SIDE * 3).map(row).sum();
                    values.push(sum as f32 * scale + shift);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(look: Look, picture: &[u8], side: usize) -> Vec<f32> {
        let mut values = Vec::new();
        look.see(picture, side, &mut values);
        assert_eq!(values.len(), side * side * 3);
        values
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_square_and_keeps_its_channel() {
        let mut picture = vec![0; FACE_BYTES];
        // Blue of the first two pixels of the second row.
        picture[SIDE * 3 + 2] = 255;
        picture[SIDE * 3 + 5] = 255;
        let whole = seen(Look::PLAIN, &picture, SIDE);
        assert!((whole[SIDE * 3 + 2] - 1.0).abs() < 1e-6 && whole[SIDE * 3 + 1] == -1.0);
        let half = seen(Look::PLAIN, &picture, SIDE / 2);
        assert!(half[2].abs() < 1e-6 && half[0] == -1.0 && half[5] == -1.0, "{:?}", &half[..6]);
        let mirrored = seen(Look { mirrored: true, ..Look::PLAIN }, &picture, SIDE / 2);
        assert_eq!(mirrored[(SIDE / 2 - 1) * 3..][..3], half[..3]);
    }

    #[test]
    fn contrast_is_around_grey() {
        let picture = vec![127; FACE_BYTES];
        let look = Look { contrast: 1.3, brightness: 0.1, ..Look::PLAIN };
        assert!(seen(look, &picture, SIDE).iter().all(|value| (value - 0.1).abs() < 0.01));
    }
}
