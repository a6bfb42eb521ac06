//! The decoder of the duration path: two LSTMs that make R frames per step.
//!
//! All contexts are known beforehand and no frame is fed back, so that training and synthesis both run each layer over the whole sequence at once.

use burn::{module::Module, nn::Linear, prelude::*};

use super::TacotronConfig;
use burn_fused::{
    Compute, Scope, init,
    lstm::{Lstm, ScanOptions},
};

/// Two LSTMs and a projection, from contexts to frames.
#[derive(Module, Debug)]
pub struct Decoder {
    pub first: Lstm,
    pub second: Lstm,
    pub projection: Linear,
    reduction: usize,
    /// How the projection is computed.
    #[module(skip)]
    compute: Compute,
}

/// The hidden and cell states of both LSTMs, `[B, 2H]` each.
#[derive(Debug, Clone)]
pub struct DecoderState {
    pub first: Tensor<2>,
    pub second: Tensor<2>,
}

impl Decoder {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let (width, reduction) = (config.decoder_width, config.reduction);
        let context = reduction * config.context_width() + config.speaker_width;
        Self {
            first: Lstm::new(context, width, device),
            second: Lstm::new(width, width, device),
            projection: init::linear(width + context, reduction * config.mels, device),
            reduction,
            compute: Compute::default(),
        }
    }

    /// Sets how its operations are computed; `scope` is that of the decoder.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            first: self.first.computing(&scope.at("first")),
            second: self.second.computing(&scope.at("second")),
            compute: scope.at("projection").compute(),
            ..self
        }
    }

    /// Returns the frames per step, R.
    pub fn reduction(&self) -> usize {
        self.reduction
    }

    /// Returns the state before the first step.
    pub fn start(&self, batch: usize, device: &Device) -> DecoderState {
        DecoderState {
            first: self.first.zero_state(batch, device),
            second: self.second.zero_state(batch, device),
        }
    }

    /// Decodes N steps.
    ///
    /// * `context`: `[B, N R, C]`
    /// * `speaker`: `[B, V]`
    ///
    /// Returns frames `[B, N R, M]` and the state after the last step.
    pub fn forward(
        &self,
        context: Tensor<3>,
        speaker: Tensor<2>,
        state: DecoderState,
    ) -> (Tensor<3>, DecoderState) {
        let [batch, frames, width] = context.dims();
        let steps = frames / self.reduction;
        let speaker_width = speaker.dims()[1];
        let context = context.reshape([batch, steps, self.reduction * width]).swap_dims(0, 1);
        // The reshape to two dimensions makes the tensor contiguous once; otherwise each of its readers would copy it.
        let context = context.reshape([steps * batch, self.reduction * width]).reshape([
            steps,
            batch,
            self.reduction * width,
        ]);
        let (hidden, first) = self.first.forward_with_constant_inputs(
            context.clone(),
            speaker.clone(),
            state.first,
            ScanOptions::default(),
        );
        let (hidden, second) = self.second.forward(hidden, state.second, ScanOptions::default());
        let speaker = speaker.unsqueeze_dim::<3>(0).expand([steps, batch, speaker_width]);
        let output = self.compute.linear(&self.projection, Tensor::cat(vec![hidden, context, speaker], 2)); // (N, B, R M)
        let mels = output.dims()[2] / self.reduction;
        (output.swap_dims(0, 1).reshape([batch, frames, mels]), DecoderState { first, second })
    }
}
