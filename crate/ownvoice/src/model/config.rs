//! The sizes of the model, and presets.

use serde::{Deserialize, Serialize};

use crate::{
    audio::{
        excitation::EXCITATION_WIDTH,
        mel::{Mel, MelConfig, MelNormalisation},
    },
    text::symbols::SYMBOL_COUNT,
};
use burn_fused::upsample::POSITION_WIDTH;

/// The sizes of a Tacotron 2. Widths are in channels, kernels in taps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TacotronConfig {
    pub symbols: usize,
    /// Rows of the speaker table.
    pub speakers: usize,
    pub speaker_width: usize,
    pub mels: usize,
    /// The network reads and predicts `(log_mel - mel_mean) / mel_scale`.
    pub mel_mean: f32,
    pub mel_scale: f32,
    pub encoder_width: usize,
    pub encoder_kernel: usize,
    pub encoder_layers: usize,
    /// The width of one direction of the LSTMs of the duration and pitch predictors; the range predictor has half of it.
    pub duration_width: usize,
    /// Whether the pitch of each frame is an input of the decoder: from the recording in training, predicted in synthesis. Bases without pitch have manifests
    /// without this field.
    #[serde(default)]
    pub pitch: bool,
    /// Whether the previous frame is an input of the attention path's decoder. The duration path's decoder has no such input.
    #[serde(rename = "feedback")]
    pub autoregressive: bool,
    pub prenet_width: usize,
    pub prenet_dropout: f64,
    pub decoder_width: usize,
    /// Frames per decoder step, R.
    pub reduction: usize,
    pub postnet_width: usize,
    pub postnet_kernel: usize,
    pub postnet_layers: usize,
    /// The dropout of encoder and postnet in pretraining; zero disables it.
    pub dropout: f64,
    pub attention_width: usize,
    pub location_filters: usize,
    pub location_kernel: usize,
}

impl TacotronConfig {
    /// Returns the normalisation of log-mels.
    pub fn mel_normalisation(&self) -> MelNormalisation {
        MelNormalisation { mean: self.mel_mean, scale: self.mel_scale }
    }

    /// Converts the network's output `[T, M]` to log-mels, clamped to the audible range.
    pub fn log_mels(&self, values: Vec<f32>, mel: &MelConfig) -> Mel {
        let data = values
            .into_iter()
            .map(|value| self.mel_normalisation().invert(value).clamp(mel.silence(), 4.0))
            .collect();
        Mel { mels: mel.mels, data }
    }

    /// The sizes of the shipped base: under 20 MB in half precision, trained on two CPU cores.
    pub fn small(speakers: usize) -> Self {
        Self {
            symbols: SYMBOL_COUNT,
            speakers,
            speaker_width: 64,
            mels: 80,
            mel_mean: -5.0,
            mel_scale: 2.5,
            encoder_width: 192,
            encoder_kernel: 5,
            encoder_layers: 3,
            duration_width: 64,
            pitch: true,
            autoregressive: false,
            prenet_width: 128,
            prenet_dropout: 0.5,
            decoder_width: 384,
            reduction: 2,
            postnet_width: 192,
            postnet_kernel: 5,
            postnet_layers: 5,
            dropout: 0.0, // A single pass over three hours of engine speech does not overfit.
            attention_width: 128,
            location_filters: 32,
            location_kernel: 31,
        }
    }

    /// The sizes of the paper, with one frame per step.
    pub fn tacotron2(speakers: usize) -> Self {
        Self {
            speaker_width: 128,
            mel_mean: 0.0,
            mel_scale: 1.0,
            encoder_width: 512,
            duration_width: 256,
            pitch: false,
            prenet_width: 256,
            decoder_width: 1024,
            reduction: 1,
            postnet_width: 512,
            dropout: 0.5,
            ..Self::small(speakers)
        }
    }

    /// Small sizes for tests on software WebGPU, with every part of the model.
    pub fn tiny(speakers: usize) -> Self {
        Self {
            speaker_width: 8,
            encoder_width: 16,
            encoder_layers: 1,
            duration_width: 8,
            pitch: false,
            prenet_width: 16,
            decoder_width: 32,
            postnet_width: 16,
            postnet_layers: 2,
            attention_width: 16,
            location_filters: 4,
            location_kernel: 7,
            ..Self::small(speakers)
        }
    }

    /// Returns the width of a frame's context: the upsampled encoding, the position, and with [`Self::pitch`] the excitation.
    pub fn context_width(&self) -> usize {
        self.encoder_width + POSITION_WIDTH + if self.pitch { EXCITATION_WIDTH } else { 0 }
    }

    /// Checks that a model of these sizes can be built without exhausting memory, since they may come from a hostile file. The error is a sentence.
    pub fn check(&self) -> Result<(), String> {
        let widths = [
            self.encoder_width,
            self.duration_width,
            self.prenet_width,
            self.decoder_width,
            self.postnet_width,
            self.attention_width,
            self.location_filters,
        ];
        let kernels = [self.encoder_kernel, self.postnet_kernel, self.location_kernel];
        let is_valid = widths.iter().all(|width| (2..=MAX_WIDTH).contains(width))
            && [self.symbols, self.speakers, self.speaker_width, self.mels]
                .iter()
                .all(|size| (1..=MAX_WIDTH).contains(size))
            && kernels.iter().all(|taps| taps % 2 == 1 && *taps < 256)
            && self.encoder_layers <= 16
            && [self.postnet_layers, self.reduction].iter().all(|count| (1..=16).contains(count))
            && [self.prenet_dropout, self.dropout].iter().all(|share| (0.0..1.0).contains(share));
        if is_valid { Ok(()) } else { Err("the model's sizes are out of range".into()) }
    }
}

/// The largest width that is accepted.
const MAX_WIDTH: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_pass_the_check_and_hostile_sizes_fail() {
        for preset in [TacotronConfig::small(33), TacotronConfig::tacotron2(1), TacotronConfig::tiny(2)] {
            assert_eq!(preset.check(), Ok(()));
        }
        let small = || TacotronConfig::small(1);
        for hostile in [
            TacotronConfig { decoder_width: 1 << 40, ..small() },
            TacotronConfig { speakers: 0, ..small() },
            TacotronConfig { reduction: 0, ..small() },
            TacotronConfig { location_kernel: 30, ..small() },
            TacotronConfig { postnet_layers: 17, ..small() },
            TacotronConfig { dropout: f64::NAN, ..small() },
        ] {
            assert!(hostile.check().is_err(), "{hostile:?}");
        }
    }
}
