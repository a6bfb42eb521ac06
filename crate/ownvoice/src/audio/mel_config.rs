//! The parameters of mel spectrograms.

use serde::{Deserialize, Serialize};

use super::resample::RATES_HZ;
use crate::{Error, Result};

/// The parameters of a mel spectrogram. A voice and its base must agree on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MelConfig {
    pub sample_rate_hz: u32,
    /// The length of the Fourier transform, in samples; even.
    pub fft_length: usize,
    /// The length of the window, in samples; it is zero-padded to `fft_length`.
    pub window_length: usize,
    /// The number of samples from one frame to the next.
    pub hop_length: usize,
    /// The number of channels, M.
    pub mels: usize,
    pub f_min_hz: f32,
    pub f_max_hz: f32,
    /// The least amplitude: smaller ones are raised to it before the logarithm.
    pub log_floor: f32,
}

impl MelConfig {
    /// The configuration of this project's models: 16 kHz, frames of 12.5 ms, windows of 50 ms.
    pub fn speech_16k() -> Self {
        Self {
            sample_rate_hz: 16_000,
            fft_length: 1024,
            window_length: 800,
            hop_length: 200,
            mels: 80,
            f_min_hz: 55.0,
            f_max_hz: 7600.0,
            log_floor: 1e-5,
        }
    }

    /// The configuration of NVIDIA's public checkpoints: 22.05 kHz, frames of 11.6 ms, windows of 46.4 ms.
    pub fn nvidia_22k() -> Self {
        Self {
            sample_rate_hz: 22_050,
            fft_length: 1024,
            window_length: 1024,
            hop_length: 256,
            mels: 80,
            f_min_hz: 0.0,
            f_max_hz: 8000.0,
            log_floor: 1e-5,
        }
    }

    /// Checks that an extractor can be made of this configuration. Configurations from files are checked before they are used.
    pub fn check(&self) -> Result<()> {
        let half_rate_hz = self.sample_rate_hz as f32 / 2.0;
        let valid = RATES_HZ.contains(&self.sample_rate_hz)
            && (16..=16_384).contains(&self.fft_length)
            && self.fft_length.is_multiple_of(2)
            && (1..=self.fft_length).contains(&self.window_length)
            && (1..=self.window_length).contains(&self.hop_length)
            && (1..=1024).contains(&self.mels)
            && 0.0 <= self.f_min_hz
            && self.f_min_hz < self.f_max_hz
            && self.f_max_hz <= half_rate_hz
            && self.log_floor.is_normal()
            && self.log_floor > 0.0;
        if valid {
            Ok(())
        } else {
            Err(Error::option_invalid(format!("the mel configuration is invalid: {self:?}")))
        }
    }

    /// Returns the configuration with another rate and the lengths of the same frames, windows and bins. Returns `None` if they would not be whole numbers of
    /// samples, or the rate too low for the filters.
    pub fn at_rate(&self, sample_rate_hz: u32) -> Option<Self> {
        let length = |samples: usize| {
            let scaled = samples as u64 * u64::from(sample_rate_hz);
            scaled
                .is_multiple_of(self.sample_rate_hz.into())
                .then(|| (scaled / u64::from(self.sample_rate_hz)) as usize)
        };
        let scaled = Self {
            sample_rate_hz,
            fft_length: length(self.fft_length)?,
            window_length: length(self.window_length)?,
            hop_length: length(self.hop_length)?,
            ..self.clone()
        };
        scaled.check().is_ok().then_some(scaled)
    }

    /// Returns the number of frames, T, of a clip of `samples` samples.
    pub fn frames(&self, samples: usize) -> usize {
        1 + samples / self.hop_length
    }

    /// Returns the number of samples at a rate that last as long as `frames`.
    pub fn samples(&self, frames: usize, sample_rate_hz: u32) -> usize {
        (frames as u64 * self.hop_length as u64 * u64::from(sample_rate_hz) / u64::from(self.sample_rate_hz))
            as usize
    }

    /// Returns the length of one frame in seconds.
    pub fn frame_seconds(&self) -> f32 {
        self.hop_length as f32 / self.sample_rate_hz as f32
    }

    /// Returns the value of silence, the logarithm of the floor.
    pub fn silence(&self) -> f32 {
        self.log_floor.ln()
    }
}
