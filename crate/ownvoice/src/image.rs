//! A colour image, with conversion to grey, shrinking and cropping.

/// An RGB image: rows from the top, pixels from the left, three bytes for each pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// `[height, width, 3]`.
    pub rgb: Vec<u8>,
}

/// A square of an image in pixels; it may reach beyond the edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Square {
    pub centre_x: f32,
    pub centre_y: f32,
    pub side: f32,
}

impl Square {
    /// Interpolates linearly between this square and another.
    pub fn towards(self, other: Self, share: f32) -> Self {
        let between = |from: f32, to: f32| from + (to - from) * share;
        Self {
            centre_x: between(self.centre_x, other.centre_x),
            centre_y: between(self.centre_y, other.centre_y),
            side: between(self.side, other.side),
        }
    }

    /// Returns the larger of the distance of the centres and the difference of the sides, relative to the side of this square.
    pub fn distance(self, other: Self) -> f32 {
        let moved = (self.centre_x - other.centre_x).hypot(self.centre_y - other.centre_y);
        moved.max((self.side - other.side).abs()) / self.side
    }
}

impl Image {
    pub fn new(width: usize, height: usize, rgb: Vec<u8>) -> Self {
        assert_eq!(rgb.len(), width * height * 3, "three bytes a pixel");
        Self { width, height, rgb }
    }

    /// Converts RGBA, as browsers provide it, by dropping the alpha channel. Returns `None` if the number of bytes does not match the size.
    pub fn from_rgba(width: usize, height: usize, rgba: &[u8]) -> Option<Self> {
        let bytes = width.checked_mul(height)?.checked_mul(4)?;
        let rgb = || rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        (bytes == rgba.len() && bytes > 0).then(|| Self::new(width, height, rgb()))
    }

    /// Returns the luma of each pixel (Rec. 601), `[height, width]`.
    pub fn grey(&self) -> Vec<u8> {
        let luma = |pixel: &[u8]| {
            (299 * u32::from(pixel[0]) + 587 * u32::from(pixel[1]) + 114 * u32::from(pixel[2])) / 1000
        };
        self.rgb.chunks_exact(3).map(|pixel| luma(pixel) as u8).collect()
    }

    /// Crops a square, scaled to `side` x `side` pixels; beyond the edges the last pixels are repeated.
    ///
    /// A pixel of the result is the mean of bilinear samples, at most one source pixel apart.
    pub fn crop(&self, square: Square, side: usize) -> Self {
        let step = square.side / side as f32;
        let samples = (step.ceil() as usize).clamp(1, 16);
        let left = square.centre_x - square.side / 2.0;
        let top = square.centre_y - square.side / 2.0;
        // The positions of the samples along one axis: two neighbours, and the weight of the second.
        let places = |start: f32, size: usize| -> Vec<(usize, usize, f32)> {
            let place = |index: usize| {
                let at = start + (index as f32 + 0.5) / samples as f32 * step - 0.5;
                let at = at.clamp(0.0, size as f32 - 1.0);
                let first = at as usize;
                (first, (first + 1).min(size - 1), at - first as f32)
            };
            (0..side * samples).map(place).collect()
        };
        let (columns, rows) = (places(left, self.width), places(top, self.height));
        let mut rgb = Vec::with_capacity(side * side * 3);
        for rows in rows.chunks_exact(samples) {
            for columns in columns.chunks_exact(samples) {
                let mut sum = [0.0f32; 3];
                for &(above, below, down) in rows {
                    for &(before, after, right) in columns {
                        for (channel, sum) in sum.iter_mut().enumerate() {
                            let value = |row: usize, column: usize| {
                                f32::from(self.rgb[(row * self.width + column) * 3 + channel])
                            };
                            let upper = value(above, before) * (1.0 - right) + value(above, after) * right;
                            let lower = value(below, before) * (1.0 - right) + value(below, after) * right;
                            *sum += upper * (1.0 - down) + lower * down;
                        }
                    }
                }
                let count = (samples * samples) as f32;
                rgb.extend(sum.map(|sum| (sum / count).round() as u8));
            }
        }
        Self::new(side, side, rgb)
    }

    /// Shrinks by an integer factor, so that no side is longer than `longest`, by averaging. Returns the image and the factor.
    pub fn shrunk(&self, longest: usize) -> (Self, usize) {
        let factor = self.width.max(self.height).div_ceil(longest).max(1);
        if factor == 1 {
            return (self.clone(), 1);
        }
        let (width, height) = ((self.width / factor).max(1), (self.height / factor).max(1));
        let (reach_x, reach_y) = (factor.min(self.width), factor.min(self.height));
        let mut rgb = Vec::with_capacity(width * height * 3);
        for row in 0..height {
            for column in 0..width {
                for channel in 0..3 {
                    let mut sum = 0;
                    for y in row * factor..row * factor + reach_y {
                        for x in column * factor..column * factor + reach_x {
                            sum += usize::from(self.rgb[(y * self.width + x) * 3 + channel]);
                        }
                    }
                    rgb.push((sum / (reach_x * reach_y)) as u8);
                }
            }
        }
        (Self::new(width, height, rgb), factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image whose red grows to the right and green downwards.
    fn ramp(width: usize, height: usize) -> Image {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x as u8, y as u8, 7]));
        Image::new(width, height, pixels.flatten().collect())
    }

    #[test]
    fn a_crop_of_the_same_size_is_the_pixels_themselves() {
        let square = Square { centre_x: 10.0, centre_y: 6.0, side: 4.0 };
        let crop = ramp(20, 12).crop(square, 4);
        let expected: Vec<u8> = (4..8).flat_map(|y| (8..12).flat_map(move |x| [x, y, 7])).collect();
        assert_eq!(crop.rgb, expected);
    }

    #[test]
    fn a_crop_is_scaled_and_repeats_the_edges() {
        let halved = ramp(200, 200).crop(Square { centre_x: 100.0, centre_y: 100.0, side: 40.0 }, 20);
        // The first pixel is the mean of columns 80 and 81, rounded.
        assert_eq!((halved.rgb[0], halved.rgb[1], halved.rgb[3]), (81, 81, 83));
        let beyond = ramp(10, 10).crop(Square { centre_x: 0.0, centre_y: 0.0, side: 8.0 }, 8);
        assert_eq!((beyond.rgb[0], beyond.rgb[3 * 7]), (0, 3));
    }

    #[test]
    fn rgba_loses_its_alpha_channel() {
        assert_eq!(Image::from_rgba(2, 1, &[1, 2, 3, 255, 4, 5, 6, 0]).unwrap().rgb, [1, 2, 3, 4, 5, 6]);
        for (width, height) in [(0, 1), (1, 1), (usize::MAX, 2)] {
            assert_eq!(Image::from_rgba(width, height, &[0; 8]), None);
        }
    }

    #[test]
    fn shrinking_is_by_an_integer_factor() {
        let (small, factor) = ramp(200, 100).shrunk(80);
        assert_eq!((small.width, small.height, factor), (66, 33, 3));
        assert_eq!(&small.rgb[3..5], [4, 1]);
        assert_eq!(ramp(80, 3).shrunk(80).1, 1);
        assert_eq!(ramp(200, 1).shrunk(50).0.height, 1);
    }
}
