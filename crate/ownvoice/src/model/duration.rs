//! Predictors of each symbol's duration and of the width of its Gaussian (Non-Attentive Tacotron, sections 3.1 and 3.2).

use burn::{module::Module, nn::Linear, prelude::*, tensor::activation::softplus};

use super::{TacotronConfig, head_delta::HeadDelta};
use burn_fused::{Compute, Scope, init, lstm::BiLstm};

/// Predicts the natural logarithm of each symbol's duration in frames, from its encoding and the speaker.
#[derive(Module, Debug)]
pub struct DurationPredictor {
    pub lstm: BiLstm,
    pub projection: Linear,
    /// How the projection is computed.
    #[module(skip)]
    compute: Compute,
}

impl DurationPredictor {
    /// Sets how its operations are computed; `scope` is that of the predictor.
    pub fn computing(self, scope: &Scope) -> Self {
        let compute = scope.at("projection").compute();
        Self { lstm: self.lstm.computing(&scope.at("lstm")), compute, ..self }
    }

    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let width = config.duration_width;
        Self {
            lstm: BiLstm::new(config.encoder_width + config.speaker_width, width, device),
            projection: init::linear(2 * width, 1, device),
            compute: Compute::default(),
        }
    }

    /// Predicts durations.
    ///
    /// * `encoded`: `[B, L, E]`
    /// * `speaker`: `[B, V]`
    /// * `lengths`: symbols of each item
    ///
    /// Returns ln frames, `[B, L]`.
    pub fn forward(&self, encoded: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<2> {
        self.read_out(self.hidden(encoded, speaker, lengths))
    }

    /// Returns the hidden states that the projection reads, `[B, L, 2 W]`; the arguments are those of [`Self::forward`].
    pub fn hidden(&self, encoded: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<3> {
        let [batch, symbols, _] = encoded.dims();
        let width = speaker.dims()[1];
        let speaker = speaker.unsqueeze_dim::<3>(1).expand([batch, symbols, width]);
        self.lstm.forward(Tensor::cat(vec![encoded, speaker], 2), lengths)
    }

    /// Projects the hidden states of [`Self::hidden`] to the output of [`Self::forward`].
    pub fn read_out(&self, hidden: Tensor<3>) -> Tensor<2> {
        self.compute.linear(&self.projection, hidden).squeeze_dim::<2>(2)
    }

    /// Returns the number of values of a [`HeadDelta`] for the projection.
    pub fn head_delta_width(&self) -> usize {
        HeadDelta::width_of(&self.projection)
    }

    /// Returns a copy whose projection is the base's plus a speaker's head delta.
    pub fn with_head_delta(&self, delta: &HeadDelta) -> Self {
        Self { projection: delta.added_to(&self.projection, |_| true), ..self.clone() }
    }
}

/// Predicts the standard deviation of each symbol's Gaussian in frames. The speaker is no input, so that cloning computes the upsampled encodings only once.
#[derive(Module, Debug)]
pub struct RangePredictor {
    pub lstm: BiLstm,
    pub projection: Linear,
    /// How the projection is computed.
    #[module(skip)]
    compute: Compute,
}

/// The smallest standard deviation: a narrower Gaussian could fall between two frames.
const MIN_RANGE_FRAMES: f32 = 0.3;

impl RangePredictor {
    /// Sets how its operations are computed; `scope` is that of the predictor.
    pub fn computing(self, scope: &Scope) -> Self {
        let compute = scope.at("projection").compute();
        Self { lstm: self.lstm.computing(&scope.at("lstm")), compute, ..self }
    }

    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let width = config.duration_width / 2;
        Self {
            lstm: BiLstm::new(config.encoder_width + 1, width, device),
            projection: init::linear(2 * width, 1, device),
            compute: Compute::default(),
        }
    }

    /// Predicts standard deviations.
    ///
    /// * `encoded`:   `[B, L, E]`
    /// * `durations`: `[B, L]`, frames
    /// * `lengths`:   symbols of each item
    ///
    /// Returns `[B, L]`, frames.
    pub fn forward(&self, encoded: Tensor<3>, durations: Tensor<2>, lengths: &[usize]) -> Tensor<2> {
        let log_durations = durations.clamp_min(1.0).log().unsqueeze_dim::<3>(2);
        let hidden = self.lstm.forward(Tensor::cat(vec![encoded, log_durations], 2), lengths);
        // The initial output is about one frame, so that a typical phone of six frames blends with its neighbours only at its edges.
        let width = self.compute.linear(&self.projection, hidden).squeeze_dim::<2>(2) + 0.5;
        softplus(width, 1.0) + MIN_RANGE_FRAMES
    }
}
