//! Pitch and voicing of each frame, from what it says and the speaker: what a decoder with [`super::TacotronConfig::pitch`] is given in synthesis, where
//! training takes both from the recording (FastPitch, Łańcucki 2020, section 2.2, frame by frame).

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    prelude::*,
};

use super::TacotronConfig;
use crate::nn::{lstm::BiLstm, upsample::POSITION_WIDTH};

/// Predicts a contour relative to the speaker's mean, and whether a frame is voiced, R frames a step.
#[derive(Module, Debug)]
pub struct PitchPredictor {
    pub lstm: BiLstm,
    pub projection: Linear,
    reduction: usize,
}

/// ln F0 above the speaker's mean is predicted as a multiple of this: some two semitones.
pub const CONTOUR_SCALE: f32 = 0.12;

impl PitchPredictor {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let (width, reduction) = (config.duration_width, config.reduction);
        let inputs = reduction * (config.encoder_width + POSITION_WIDTH) + config.speaker_width;
        Self {
            lstm: BiLstm::new(inputs, width, device),
            projection: LinearConfig::new(2 * width, 2 * reduction).init(device),
            reduction,
        }
    }

    /// * `context`: `[B, N R, E + 4]`, upsampled encodings and positions
    /// * `speaker`: `[B, V]`
    /// * `lengths`: valid steps N of each item
    ///
    /// Returns `[B, N R, 2]`: ln F0 above the speaker's mean in [`CONTOUR_SCALE`], and the logit of being voiced.
    pub fn forward(&self, context: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<3> {
        let [batch, frames, width] = context.dims();
        let (steps, speaker_width) = (frames / self.reduction, speaker.dims()[1]);
        let context = context.reshape([batch, steps, self.reduction * width]);
        let speaker = speaker.unsqueeze_dim::<3>(1).expand([batch, steps, speaker_width]);
        let hidden = self.lstm.forward(Tensor::cat(vec![context, speaker], 2), lengths);
        self.projection.forward(hidden).reshape([batch, frames, 2])
    }
}

/// A predicted melody, a value a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Contour {
    /// ln F0 above the speaker's mean; means nothing where unvoiced.
    pub ln_hz: Vec<f32>,
    pub voiced: Vec<bool>,
}

/// How high and how lively somebody speaks: what makes a contour that person's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intonation {
    /// Geometric mean of the voiced frames.
    pub mean_hz: f32,
    /// Factor on what the predictor makes of the melody.
    pub spread: f32,
}

impl Intonation {
    /// Whether a person can speak so: untrusted files are asked.
    pub fn is_human(self) -> bool {
        (MIN_PITCH_HZ..=MAX_PITCH_HZ).contains(&self.mean_hz) && SPREADS.contains(&self.spread)
    }
}

impl Contour {
    /// From what [`PitchPredictor::forward`] returned for one item, `[T, 2]`.
    pub fn new(predicted: &[f32]) -> Self {
        let (ln_hz, voiced) =
            predicted.chunks_exact(2).map(|frame| (frame[0] * CONTOUR_SCALE, frame[1] > 0.0)).unzip();
        Self { ln_hz, voiced }
    }

    /// F0 of each frame in Hz, 0 where unvoiced.
    pub fn f0_hz(&self, intonation: Intonation) -> Vec<f32> {
        let Intonation { mean_hz, spread } = intonation;
        let hz = |ln_hz: f32| (mean_hz * (spread * ln_hz).exp()).clamp(MIN_PITCH_HZ, MAX_PITCH_HZ);
        self.ln_hz
            .iter()
            .zip(&self.voiced)
            .map(|(&ln_hz, &voiced)| if voiced { hz(ln_hz) } else { 0.0 })
            .collect()
    }
}

/// Of a melody against the predictor's.
pub const SPREADS: std::ops::RangeInclusive<f32> = 0.2..=4.0;
/// No voice lies beyond.
pub const MIN_PITCH_HZ: f32 = 50.0;
pub const MAX_PITCH_HZ: f32 = 500.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contour_becomes_a_speakers() {
        let contour = Contour::new(&[0.0, 1.0, 2.0, 1.0, 5.0, -1.0]);
        let f0_hz = contour.f0_hz(Intonation { mean_hz: 100.0, spread: 0.5 });
        assert_eq!((f0_hz[0], f0_hz[2]), (100.0, 0.0));
        assert!((f0_hz[1] - 100.0 * CONTOUR_SCALE.exp()).abs() < 1e-3);
        assert_eq!(contour.f0_hz(Intonation { mean_hz: 1e6, spread: 1.0 })[0], MAX_PITCH_HZ);
    }
}
