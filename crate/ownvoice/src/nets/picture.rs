//! A picture in the size of a net's input.

use burn::prelude::*;

use super::config::NetConfig;
use crate::{
    Error, Result,
    image::{Image, Square},
};

/// The least pixels of a side: less shows nothing that can be told apart.
pub const MIN_SIDE: usize = 8;
/// The most pixels of a picture, such as those of a phone's camera; decoded, they take 150 MB.
pub const MAX_PIXELS: usize = 50_000_000;

/// A picture as bytes, `[side, side, channels]`: the middle square of the original, scaled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    bytes: Vec<u8>,
}

/// Checks the size of a picture before its pixels are decoded. Fails with `picture-size`.
pub fn check_size(width: usize, height: usize) -> Result<()> {
    let pixels = width.checked_mul(height).filter(|&pixels| pixels <= MAX_PIXELS);
    match pixels {
        Some(_) if width.min(height) >= MIN_SIDE => Ok(()),
        _ => Err(Error::picture_size([width, height], [MIN_SIDE, MAX_PIXELS])),
    }
}

impl Picture {
    /// Scales a picture of three bytes a pixel.
    ///
    /// # Errors
    /// Fails with `picture-size`, or with `picture-unreadable` if the number of bytes does not match the size.
    pub fn from_rgb(width: usize, height: usize, rgb: &[u8], config: &NetConfig) -> Result<Self> {
        check_size(width, height)?;
        if rgb.len() != width * height * 3 {
            return Err(mismatched());
        }
        Ok(Self::from_image(&Image::new(width, height, rgb.to_vec()), config))
    }

    /// Scales a picture of four bytes a pixel, whose alpha channel is dropped. Fails as [`Self::from_rgb`] does.
    pub fn from_rgba(width: usize, height: usize, rgba: &[u8], config: &NetConfig) -> Result<Self> {
        check_size(width, height)?;
        let image = Image::from_rgba(width, height, rgba).ok_or_else(mismatched)?;
        Ok(Self::from_image(&image, config))
    }

    /// Restores a picture from [`Self::bytes`]. Fails with `picture-unreadable` if the number of bytes is not that of the net's input.
    pub fn from_bytes(bytes: &[u8], config: &NetConfig) -> Result<Self> {
        match bytes.len() == config.side.pow(2) * config.channels {
            true => Ok(Self { bytes: bytes.to_vec() }),
            false => Err(mismatched()),
        }
    }

    /// Crops and scales an image of a size that was checked.
    fn from_image(image: &Image, config: &NetConfig) -> Self {
        let side = image.width.min(image.height) as f32;
        let square = Square { centre_x: image.width as f32 / 2.0, centre_y: image.height as f32 / 2.0, side };
        let scaled = image.crop(square, config.side);
        Self { bytes: if config.channels == 1 { scaled.grey() } else { scaled.rgb } }
    }

    /// Returns the picture moved by some pixels down and to the right. What is uncovered is black.
    pub(super) fn translated(&self, [down, right]: [isize; 2], config: &NetConfig) -> Self {
        let mut bytes = vec![0; self.bytes.len()];
        // What remains of a row and of a column begins here, and here after the move.
        let [[from_row, to_row], [from_column, to_column]] =
            [down, right].map(|offset| [(-offset).max(0) as usize, offset.max(0) as usize]);
        let row_bytes = config.side * config.channels;
        let (from, to) = (from_column * config.channels, to_column * config.channels);
        let length = row_bytes.saturating_sub(from.max(to));
        let rows = self.bytes.chunks_exact(row_bytes).skip(from_row);
        for (row, moved) in rows.zip(bytes.chunks_exact_mut(row_bytes).skip(to_row)) {
            moved[to.min(row_bytes)..][..length].copy_from_slice(&row[from.min(row_bytes)..][..length]);
        }
        Self { bytes }
    }

    /// Returns the bytes, `[side, side, channels]`.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn mismatched() -> Error {
    Error::picture_unreadable("the number of bytes does not match the size")
}

/// Returns pictures as input of a net, `[B, D, W, C]`.
pub(super) fn input<'a>(
    pictures: impl ExactSizeIterator<Item = &'a Picture>,
    config: &NetConfig,
    device: &Device,
) -> Tensor<4> {
    let NetConfig { side, channels, mean, deviation, .. } = *config;
    let shape = [pictures.len(), side, side, channels];
    let mut values = Vec::with_capacity(shape.iter().product());
    for picture in pictures {
        values.extend(
            picture.bytes.iter().enumerate().map(|(at, &byte)| {
                (f32::from(byte) / 255.0 - mean[at % channels]) / deviation[at % channels]
            }),
        );
    }
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::NetKind;

    #[test]
    fn pictures_are_the_normalised_middle_square() {
        let config = NetConfig { side: 16, ..NetConfig::of(NetKind::ResNet18, 2) };
        // The outer columns are white and the middle square is red.
        let row = |_| (0..32).flat_map(|x| if (8..24).contains(&x) { [255, 0, 0] } else { [255; 3] });
        let rgb: Vec<u8> = (0..16).flat_map(row).collect();
        let picture = Picture::from_rgb(32, 16, &rgb, &config).unwrap();
        assert!(picture.bytes().chunks(3).all(|pixel| pixel == [255, 0, 0]));
        let values = input([&picture].into_iter(), &config, &Device::flex());
        assert_eq!(values.dims(), [1, 16, 16, 3]);
        let first = values.slice([0..1, 0..1, 0..1, 0..3]).into_data().try_to_vec::<f32>().unwrap();
        let expected = [(1.0 - 0.485) / 0.229, -0.456 / 0.224, -0.406 / 0.225];
        assert!(
            first.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5),
            "{first:?}"
        );
        let rgba: Vec<u8> = rgb.chunks(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 9]).collect();
        assert_eq!(Picture::from_rgba(32, 16, &rgba, &config).unwrap(), picture);
        let grey = Picture::from_rgb(32, 16, &rgb, &NetConfig { channels: 1, ..config.clone() }).unwrap();
        assert_eq!(grey.bytes(), [76; 256], "the luma of red");
        assert_eq!(Picture::from_bytes(picture.bytes(), &config).unwrap(), picture);
    }

    #[test]
    fn a_picture_is_translated_within_its_frame() {
        let config = NetConfig { side: 16, ..NetConfig::of(NetKind::LeNet, 2) };
        let mut bytes = [0; 256];
        bytes[3 * 16 + 5] = 9;
        let picture = Picture::from_bytes(&bytes, &config).unwrap();
        let lit = |offset| picture.translated(offset, &config).bytes.iter().position(|&byte| byte == 9);
        assert_eq!(lit([0, 0]), Some(3 * 16 + 5));
        assert_eq!(lit([2, -4]), Some(5 * 16 + 1));
        assert_eq!((lit([-4, 0]), lit([0, 11])), (None, None), "it has left the picture");
    }

    #[test]
    fn sizes_are_checked_before_the_bytes() {
        let config = NetConfig::of(NetKind::LeNet, 2);
        let code = |width, height, bytes: &[u8]| {
            Picture::from_rgb(width, height, bytes, &config).unwrap_err().code()
        };
        assert_eq!(code(1, 1, &[0; 3]), "picture-size");
        assert_eq!(code(8000, 8000, &[]), "picture-size");
        assert_eq!(code(usize::MAX, usize::MAX, &[]), "picture-size");
        assert_eq!(code(8, 8, &[0; 191]), "picture-unreadable");
        assert!(check_size(8000, 6000).is_ok() && check_size(8, 8).is_ok());
        assert_eq!(Picture::from_bytes(&[0; 3], &config).unwrap_err().code(), "picture-unreadable");
    }
}
