//! Sound on the host: WAV files, sample rates, levels, mel spectrograms and pitch. Knows nothing of models.

pub mod mel;
pub mod resample;
pub mod stft;
pub mod wav;

/// One channel of sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Audio {
    /// `[S]`, full scale is -1 to 1.
    pub samples: Vec<f32>,
    pub sample_rate_hz: u32,
}

impl Audio {
    pub fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.sample_rate_hz as f32
    }
}
