//! How long each symbol lasts and how widely it spreads (Non-Attentive Tacotron, sections 3.1 and 3.2).

use burn::{module::Module, nn::Linear, prelude::*, tensor::activation::softplus};

use super::{TacotronConfig, head_delta::HeadDelta};
use burn_fused::{Compute, Scope, init, lstm::BiLstm};

/// Natural logarithm of each symbol's frames, from its encoding and the speaker.
#[derive(Module, Debug)]
pub struct DurationPredictor {
    pub lstm: BiLstm,
    pub projection: Linear,
    /// Of the projection.
    #[module(skip)]
    compute: Compute,
}

impl DurationPredictor {
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

    /// * `encoded`: `[B, L, E]`
    /// * `speaker`: `[B, V]`
    ///
    /// Returns ln frames, `[B, L]`.
    pub fn forward(&self, encoded: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<2> {
        self.read_out(self.hidden(encoded, speaker, lengths))
    }

    /// The states that durations are read out of, `[B, L, 2 W]`; the arguments are those of [`Self::forward`].
    pub fn hidden(&self, encoded: Tensor<3>, speaker: Tensor<2>, lengths: &[usize]) -> Tensor<3> {
        let [batch, symbols, _] = encoded.dims();
        let width = speaker.dims()[1];
        let speaker = speaker.unsqueeze_dim::<3>(1).expand([batch, symbols, width]);
        self.lstm.forward(Tensor::cat(vec![encoded, speaker], 2), lengths)
    }

    /// What [`Self::forward`] returns, from [`Self::hidden`].
    pub fn read_out(&self, hidden: Tensor<3>) -> Tensor<2> {
        self.compute.linear(&self.projection, hidden).squeeze_dim::<2>(2)
    }

    /// Numbers of a [`HeadDelta`] of it.
    pub fn readout_width(&self) -> usize {
        HeadDelta::width_of(&self.projection)
    }

    /// The same with a speaker's own readout, added to the base's.
    pub fn with_readout(&self, readout: &HeadDelta) -> Self {
        Self { projection: readout.added_to(&self.projection, |_| true), ..self.clone() }
    }
}

/// Standard deviation of each symbol's Gaussian in frames. The speaker has no part in it, so that a clone's upsampled
/// encodings are computed once.
#[derive(Module, Debug)]
pub struct RangePredictor {
    pub lstm: BiLstm,
    pub projection: Linear,
    /// Of the projection.
    #[module(skip)]
    compute: Compute,
}

/// Below this a Gaussian falls between two frames.
const MIN_RANGE_FRAMES: f32 = 0.3;

impl RangePredictor {
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

    /// * `encoded`:   `[B, L, E]`
    /// * `durations`: `[B, L]`, frames
    ///
    /// Returns `[B, L]`, frames.
    pub fn forward(&self, encoded: Tensor<3>, durations: Tensor<2>, lengths: &[usize]) -> Tensor<2> {
        let log_durations = durations.clamp_min(1.0).log().unsqueeze_dim::<3>(2);
        let hidden = self.lstm.forward(Tensor::cat(vec![encoded, log_durations], 2), lengths);
        // One at the start: a typical phone of six frames then blends over its edges only.
        let width = self.compute.linear(&self.projection, hidden).squeeze_dim::<2>(2) + 0.5;
        softplus(width, 1.0) + MIN_RANGE_FRAMES
    }
}
