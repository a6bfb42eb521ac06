//! The predictor of each frame's pitch and voicing, from its context and the speaker (as FastPitch, Łańcucki 2020, section 2.2, but per frame). A decoder with
//! [`super::TacotronConfig::pitch`] reads the predictions in synthesis; in training it reads the recording's pitch.

use burn::{module::Module, nn::Linear, prelude::*};

use super::{TacotronConfig, head_delta::HeadDelta};
use crate::audio::pitch::{MAX_PITCH_HZ, MIN_PITCH_HZ};
use burn_fused::{Compute, Scope, init, lstm::BiLstm, upsample::POSITION_WIDTH};

/// Predicts ln F0 relative to the speaker's mean, and the voicing of each frame, R frames per step.
#[derive(Module, Debug)]
pub struct PitchPredictor {
    pub lstm: BiLstm,
    pub projection: Linear,
    reduction: usize,
    /// How the projection is computed.
    #[module(skip)]
    compute: Compute,
}

/// The unit in which ln F0 above the speaker's mean is predicted, about two semitones.
pub const CONTOUR_SCALE: f32 = 0.12;

impl PitchPredictor {
    /// Sets how its operations are computed; `scope` is that of the predictor.
    pub fn computing(self, scope: &Scope) -> Self {
        let compute = scope.at("projection").compute();
        Self { lstm: self.lstm.computing(&scope.at("lstm")), compute, ..self }
    }

    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let (width, reduction) = (config.duration_width, config.reduction);
        let inputs = reduction * (config.encoder_width + POSITION_WIDTH) + config.speaker_width;
        Self {
            lstm: BiLstm::new(inputs, width, device),
            projection: init::linear(2 * width, 2 * reduction, device),
            reduction,
            compute: Compute::default(),
        }
    }

    /// Predicts pitch and voicing.
    ///
    /// * `context`: `[B, N R, E + 4]`, upsampled encodings and positions
    /// * `speaker`: `[B, V]`
    /// * `lengths`: valid steps N of each item
    ///
    /// Returns `[B, N R, 2]`: ln F0 above the speaker's mean in units of [`CONTOUR_SCALE`], and the logit of voicing.
    pub fn forward(&self, context: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<3> {
        self.read_out(self.hidden(context, speaker, lengths))
    }

    /// Returns the hidden states that the projection reads, `[B, N, 2 W]`; the arguments are those of [`Self::forward`].
    pub fn hidden(&self, context: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<3> {
        let [batch, frames, width] = context.dims();
        let (steps, speaker_width) = (frames / self.reduction, speaker.dims()[1]);
        let context = context.reshape([batch, steps, self.reduction * width]);
        let speaker = speaker.unsqueeze_dim::<3>(1).expand([batch, steps, speaker_width]);
        self.lstm.forward(Tensor::cat(vec![context, speaker], 2), lengths)
    }

    /// Projects the hidden states of [`Self::hidden`] to the output of [`Self::forward`].
    pub fn read_out(&self, hidden: Tensor<3>) -> Tensor<3> {
        let [batch, steps, _] = hidden.dims();
        self.compute.linear(&self.projection, hidden).reshape([batch, steps * self.reduction, 2])
    }

    /// Projects hidden states of one item that were read back, `[N, 2 W]`.
    pub fn read_out_values(&self, hidden: &[f32]) -> Tensor<3> {
        let width = self.head_delta_width() - 1;
        let shape = [1, hidden.len() / width, width];
        let device = self.projection.weight.device();
        self.read_out(Tensor::from_data(TensorData::new(hidden.to_vec(), shape), &device))
    }

    /// Returns the number of values of a [`HeadDelta`] for the projection.
    pub fn head_delta_width(&self) -> usize {
        HeadDelta::width_of(&self.projection)
    }

    /// Returns a copy whose projection to voicing is the base's plus a speaker's head delta.
    pub fn with_head_delta(&self, delta: &HeadDelta) -> Self {
        // Each frame of a step has two outputs, the second of which is voicing.
        Self { projection: delta.added_to(&self.projection, |output| output % 2 == 1), ..self.clone() }
    }
}

/// A predicted pitch contour, with one value per frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Contour {
    /// ln F0 above the speaker's mean; undefined in unvoiced frames.
    pub ln_hz: Vec<f32>,
    /// `ln_hz`, smoothed: the part of the contour that [`Intonation::spread`] scales.
    pub smooth: Vec<f32>,
    /// The logit of voicing.
    pub voicing: Vec<f32>,
}

/// A speaker's pitch: the mean, and the variation around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intonation {
    /// The geometric mean of F0 in voiced frames.
    pub mean_hz: f32,
    /// The factor on the smoothed predicted contour.
    pub spread: f32,
}

impl Intonation {
    /// Whether the values lie within human ranges; values of untrusted files are checked by it.
    pub fn is_human(self) -> bool {
        (MIN_PITCH_HZ..=MAX_PITCH_HZ).contains(&self.mean_hz) && SPREADS.contains(&self.spread)
    }
}

impl Contour {
    /// Creates a contour from the output of [`PitchPredictor::forward`] for one item, `[T, 2]`.
    pub fn new(predicted: &[f32]) -> Self {
        let (ln_hz, voicing): (Vec<f32>, Vec<f32>) =
            predicted.chunks_exact(2).map(|frame| (frame[0] * CONTOUR_SCALE, frame[1])).unzip();
        Self { smooth: smooth(&ln_hz, &voicing), ln_hz, voicing }
    }

    /// Returns the F0 of each frame in Hz, 0 where unvoiced.
    ///
    /// The spread scales only the smoothed contour. Scaling the whole contour would also amplify the predictor's errors between frames, which sounds hoarse.
    pub fn f0_hz(&self, Intonation { mean_hz, spread }: Intonation) -> Vec<f32> {
        let hz = |frame: usize| {
            let ln_hz = self.ln_hz[frame] + (spread - 1.0) * self.smooth[frame];
            (mean_hz * ln_hz.exp()).clamp(MIN_PITCH_HZ, MAX_PITCH_HZ)
        };
        (0..self.ln_hz.len()).map(|frame| if self.voicing[frame] > 0.0 { hz(frame) } else { 0.0 }).collect()
    }
}

/// Smooths a contour by a moving average, weighted by a Gaussian and by the probability of voicing.
fn smooth(rough: &[f32], voicing: &[f32]) -> Vec<f32> {
    let weights: Vec<f32> =
        (0..=SMOOTH_REACH).map(|distance| (-0.5 * (distance as f32 / SMOOTH_FRAMES).powi(2)).exp()).collect();
    let mean = |frame: usize| {
        let around = frame.saturating_sub(SMOOTH_REACH)..(frame + SMOOTH_REACH + 1).min(rough.len());
        let (sum, total) = around.fold((0.0, 0.0), |(sum, total), other| {
            // The weight is never zero, so that the average exists without any voiced frame.
            let weight = weights[frame.abs_diff(other)] / (1.0 + (-voicing[other]).clamp(-20.0, 20.0).exp());
            (sum + weight * rough[other], total + weight)
        });
        sum / total
    };
    (0..rough.len()).map(mean).collect()
}

/// The standard deviation of the Gaussian: 50 ms, a third of a syllable.
const SMOOTH_FRAMES: f32 = 4.0;
/// The frames on each side that the average includes, three standard deviations.
const SMOOTH_REACH: usize = 12;

/// The range of [`Intonation::spread`].
pub const SPREADS: std::ops::RangeInclusive<f32> = 0.2..=4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intonation_sets_mean_and_range_of_voiced_frames() {
        let ln_hz = vec![0.0, 2.0 * CONTOUR_SCALE, 0.6];
        let contour = Contour { smooth: ln_hz.clone(), ln_hz, voicing: vec![1.0, 1.0, -1.0] };
        let intonation = Intonation { mean_hz: 100.0, spread: 0.5 };
        let f0_hz = contour.f0_hz(intonation);
        assert_eq!((f0_hz[0], f0_hz[2]), (100.0, 0.0));
        assert!((f0_hz[1] - 100.0 * CONTOUR_SCALE.exp()).abs() < 1e-3);
        assert_eq!(contour.f0_hz(Intonation { mean_hz: 1e6, spread: 1.0 })[0], MAX_PITCH_HZ);
    }

    #[test]
    fn spread_scales_the_smooth_contour_and_not_its_jitter() {
        // A rise over 80 frames with a jitter that alternates each frame; unvoiced frames within it hold large values.
        let frames = 80;
        let predicted: Vec<f32> = (0..frames)
            .flat_map(|frame| {
                let jitter = if frame % 2 == 0 { 0.05 } else { -0.05 };
                let voiced = !(18..22).contains(&frame);
                if voiced { [frame as f32 / 40.0 + jitter, 8.0] } else { [50.0, -8.0] }
            })
            .collect();
        let contour = Contour::new(&predicted);
        let scaled = |spread: f32| -> Vec<f32> {
            let intonation = Intonation { mean_hz: 150.0, spread };
            let f0_hz = contour.f0_hz(intonation);
            f0_hz.iter().map(|hz| (hz / 150.0).ln() / CONTOUR_SCALE).collect()
        };
        let (base, wide) = (scaled(1.0), scaled(3.0));
        assert!((base[50] - 1.30).abs() < 1e-3, "a spread of one keeps the prediction: {}", base[50]);
        // From frame 44 to 54 the prediction rises by 0.25; the jitter between frames is 0.1.
        assert!(((wide[54] - wide[44]) - 0.75).abs() < 0.05, "{} to {}", wide[44], wide[54]);
        let steps: Vec<f32> = (44..53).map(|frame| wide[frame + 1] - wide[frame]).collect();
        let jitter = steps.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        assert!(jitter < 0.25, "0.2 as predicted, 0.6 if it were scaled: {jitter}");
    }
}
