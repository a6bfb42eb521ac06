//! Sizes of the model, and its presets.

use serde::{Deserialize, Serialize};

use crate::{
    audio::{
        excitation::EXCITATION_WIDTH,
        mel::{Mel, MelConfig, MelNormalisation},
    },
    text::symbols::SYMBOL_COUNT,
};
use burn_fused::upsample::POSITION_WIDTH;

/// Sizes of one Tacotron 2. Widths are channels, kernels are taps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TacotronConfig {
    pub symbols: usize,
    /// Rows of the speaker table.
    pub speakers: usize,
    pub speaker_width: usize,
    pub mels: usize,
    /// Log-mels meet the network as `(mel - mel_mean) / mel_scale`.
    pub mel_mean: f32,
    pub mel_scale: f32,
    pub encoder_width: usize,
    pub encoder_kernel: usize,
    pub encoder_layers: usize,
    /// Of one direction, in the duration and range predictors, and in the pitch predictor.
    pub duration_width: usize,
    /// Whether the decoder is given each frame's pitch: from the recording in training, predicted in synthesis. Manifests without the field are of bases without pitch.
    #[serde(default)]
    pub pitch: bool,
    /// Whether the previous frame is an input of the attention path's decoder. That of the duration path has no such input.
    #[serde(rename = "feedback")]
    pub autoregressive: bool,
    pub prenet_width: usize,
    pub prenet_dropout: f64,
    pub decoder_width: usize,
    /// Frames a decoder step.
    pub reduction: usize,
    pub postnet_width: usize,
    pub postnet_kernel: usize,
    pub postnet_layers: usize,
    /// Dropout of encoder and postnet while pretraining; zero leaves it out.
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

    /// Network output `[T, M]` as the log-mels it stands for, within what is audible.
    pub fn log_mels(&self, values: Vec<f32>, mel: &MelConfig) -> Mel {
        let data = values
            .into_iter()
            .map(|value| self.mel_normalisation().invert(value).clamp(mel.silence(), 4.0))
            .collect();
        Mel { mels: mel.mels, data }
    }

    /// The shipped base: under 20 MB in half precision, trained on two CPU cores.
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
            dropout: 0.0, // One pass over three hours of engine speech does not overfit.
            attention_width: 128,
            location_filters: 32,
            location_kernel: 31,
        }
    }

    /// The paper's sizes, one frame a step.
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

    /// For tests on software WebGPU: every part, nearly no width.
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

    /// What the decoder is given of each frame: its encoding, its position, and with [`Self::pitch`] its excitation.
    pub fn context_width(&self) -> usize {
        self.encoder_width + POSITION_WIDTH + if self.pitch { EXCITATION_WIDTH } else { 0 }
    }

    /// Whether a model of these sizes can be made at all, and without exhausting memory: they may come from a hostile file. The error names what is wrong.
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
        let sound = widths.iter().all(|width| (2..=MAX_WIDTH).contains(width))
            && [self.symbols, self.speakers, self.speaker_width, self.mels]
                .iter()
                .all(|size| (1..=MAX_WIDTH).contains(size))
            && kernels.iter().all(|taps| taps % 2 == 1 && *taps < 256)
            && self.encoder_layers <= 16
            && [self.postnet_layers, self.reduction].iter().all(|count| (1..=16).contains(count))
            && [self.prenet_dropout, self.dropout].iter().all(|share| (0.0..1.0).contains(share));
        if sound { Ok(()) } else { Err("the model's sizes make no sense".into()) }
    }
}

/// Widths beyond this are no Tacotron.
const MAX_WIDTH: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound_and_hostile_sizes_are_not() {
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
