//! The sizes of lip-to-speech models.

use serde::{Deserialize, Serialize};

use super::face::SIDE;
use crate::model::TacotronConfig;

/// The sizes of a lip-to-speech model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipConfig {
    /// The height and width of the window around the mouth, in pixels; 96 is the whole face.
    pub side: usize,
    /// The channels of each block. Each block except the first halves height and width.
    pub channels: Vec<usize>,
    /// The factor by which the first block divides height and width.
    pub first_stride: usize,
    /// The number of residual layers of a block, after the strided one.
    pub residuals: usize,
    /// The kernel size of the first layer in time and space; all others have three.
    pub first_kernel: usize,
    /// The factor by which the last layer divides height and width.
    pub last_stride: usize,
    /// The sizes of the other parts; `encoder_width` is that of both directions of the LSTM together.
    pub tacotron: TacotronConfig,
}

impl LipConfig {
    /// The sizes of the paper's public code.
    pub fn lips(speakers: usize) -> Self {
        let tacotron = TacotronConfig { symbols: 1, reduction: 2, ..TacotronConfig::tacotron2(speakers) };
        Self {
            side: 96,
            channels: vec![32, 64, 128, 256],
            first_stride: 2,
            residuals: 2,
            first_kernel: 5,
            last_stride: 3,
            // This crate's normalisation of mels.
            tacotron: TacotronConfig { mel_mean: -5.0, mel_scale: 2.5, autoregressive: false, ..tacotron },
        }
    }

    /// Sizes for training on two CPU cores: the input is the mouth alone, and a step lasts longer than a picture.
    pub fn lips_small(speakers: usize) -> Self {
        Self {
            side: 48,
            channels: vec![8, 16, 32],
            first_stride: 3,
            residuals: 1,
            last_stride: 2,
            tacotron: TacotronConfig {
                symbols: 1,
                speaker_width: 16,
                encoder_width: 160,
                pitch: false,
                decoder_width: 256,
                reduction: 4,
                postnet_width: 96,
                attention_width: 64,
                location_filters: 16,
                location_kernel: 15,
                ..TacotronConfig::small(speakers)
            },
            ..Self::lips(speakers)
        }
    }

    /// Sizes for tests: every part with minimal width.
    pub fn tiny(speakers: usize) -> Self {
        Self {
            side: 16,
            channels: vec![3, 4],
            first_stride: 2,
            last_stride: 2,
            first_kernel: 3,
            tacotron: TacotronConfig { symbols: 1, ..TacotronConfig::tiny(speakers) },
            ..Self::lips_small(speakers)
        }
    }

    /// Returns the height and width after the last convolution.
    pub(super) fn last_side(&self) -> usize {
        let first = self.side.div_ceil(self.first_stride);
        let halved = self.channels.iter().skip(1).fold(first, |side, _| side.div_ceil(2));
        halved.div_ceil(self.last_stride)
    }

    /// Checks that a model of these sizes can be made without exhausting memory, because they may come from an untrusted file.
    pub fn check(&self) -> Result<(), String> {
        let valid = (8..=SIDE).contains(&self.side)
            && (1..=8).contains(&self.channels.len())
            && self.channels.iter().all(|channels| (1..=1024).contains(channels))
            && self.residuals <= 8
            && [1, 3, 5, 7].contains(&self.first_kernel)
            && [self.first_stride, self.last_stride].iter().all(|stride| (1..=8).contains(stride))
            && self.tacotron.encoder_width.is_multiple_of(2);
        if valid { self.tacotron.check() } else { Err("the model's sizes are invalid".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_hostile_sizes_are_not() {
        for (preset, side) in
            [(LipConfig::lips(5), 2), (LipConfig::lips_small(5), 2), (LipConfig::tiny(2), 2)]
        {
            assert_eq!((preset.check(), preset.last_side()), (Ok(()), side));
        }
        let small = || LipConfig::lips_small(1);
        for hostile in [
            LipConfig { side: 1 << 40, ..small() },
            LipConfig { channels: Vec::new(), ..small() },
            LipConfig { channels: vec![1 << 40], ..small() },
            LipConfig { first_kernel: 4, ..small() },
            LipConfig { first_stride: 0, ..small() },
            LipConfig { last_stride: 0, ..small() },
            LipConfig { tacotron: TacotronConfig { encoder_width: 5, ..small().tacotron }, ..small() },
            LipConfig { tacotron: TacotronConfig { speakers: 0, ..small().tacotron }, ..small() },
        ] {
            assert!(hostile.check().is_err(), "{hostile:?}");
        }
    }
}
