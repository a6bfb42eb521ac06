//! Frames from contexts that are known before it runs: two LSTMs, R frames a step.
//!
//! At most the last frame feeds back, through the prenet, so training runs each layer over its whole sequence. Synthesis is
//! the same code: for one step with feedback, for all of them without.

use burn::{module::Module, nn::Linear, prelude::*, tensor::activation::relu};

use super::TacotronConfig;
use crate::nn::{
    Compute, Scope,
    dropout::dropout,
    init,
    lstm::{Lstm, ScanOptions},
};

/// Two ReLU layers whose dropout is always on, as the paper has it (section 2.2).
#[derive(Module, Debug)]
pub struct Prenet {
    pub first: Linear,
    pub second: Linear,
    dropout: f64,
    /// Of both layers.
    #[module(skip)]
    compute: [Compute; 2],
}

impl Prenet {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let linear = |inputs| init::unbiased(inputs, config.prenet_width, device);
        Self {
            first: linear(config.mels),
            second: linear(config.prenet_width),
            dropout: config.prenet_dropout,
            compute: Default::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: ["first", "second"].map(|layer| scope.at(layer).compute()), ..self }
    }

    /// `[.., M]` to `[.., P]`.
    pub fn forward<const D: usize>(&self, frame: Tensor<D>) -> Tensor<D> {
        let [of_first, of_second] = &self.compute;
        let hidden = dropout(relu(of_first.linear(&self.first, frame)), self.dropout);
        dropout(relu(of_second.linear(&self.second, hidden)), self.dropout)
    }
}

#[derive(Module, Debug)]
pub struct Decoder {
    /// Takes the frame before each step; `None` where the decoder is not autoregressive.
    pub prenet: Option<Prenet>,
    pub first: Lstm,
    pub second: Lstm,
    pub projection: Linear,
    reduction: usize,
    /// Of the projection.
    #[module(skip)]
    compute: Compute,
}

/// Both LSTMs' hidden and cell states, `[B, 2H]` each.
#[derive(Debug, Clone)]
pub struct DecoderState {
    pub first: Tensor<2>,
    pub second: Tensor<2>,
}

impl Decoder {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let (width, reduction) = (config.decoder_width, config.reduction);
        let context = reduction * config.context_width() + config.speaker_width;
        let fed_back = if config.autoregressive { config.prenet_width } else { 0 };
        Self {
            prenet: config.autoregressive.then(|| Prenet::new(config, device)),
            first: Lstm::new(fed_back + context, width, device),
            second: Lstm::new(width, width, device),
            projection: init::linear(width + context, reduction * config.mels, device),
            reduction,
            compute: Compute::default(),
        }
    }

    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            prenet: self.prenet.map(|prenet| prenet.computing(&scope.at("prenet"))),
            first: self.first.computing(&scope.at("first")),
            second: self.second.computing(&scope.at("second")),
            compute: scope.at("projection").compute(),
            ..self
        }
    }

    /// Frames a step, R.
    pub fn reduction(&self) -> usize {
        self.reduction
    }

    pub fn start(&self, batch: usize, device: &Device) -> DecoderState {
        DecoderState {
            first: self.first.zero_state(batch, device),
            second: self.second.zero_state(batch, device),
        }
    }

    /// * `previous`: `[B, N, M]`, the frame before each step's first; `None` where nothing feeds back
    /// * `context`:  `[B, N R, C]`, the upsampled encoder outputs of each frame
    /// * `speaker`:  `[B, V]`
    ///
    /// Returns frames `[B, N R, M]` and the state after the last step.
    pub fn forward(
        &self,
        previous: Option<Tensor<3>>,
        context: Tensor<3>,
        speaker: Tensor<2>,
        state: DecoderState,
    ) -> (Tensor<3>, DecoderState) {
        let [batch, frames, width] = context.dims();
        let steps = frames / self.reduction;
        let speaker_width = speaker.dims()[1];
        let context = context.reshape([batch, steps, self.reduction * width]).swap_dims(0, 1);
        // By way of two dimensions, so that it is laid out anew once and not by everyone who reads it.
        let context = context.reshape([steps * batch, self.reduction * width]).reshape([
            steps,
            batch,
            self.reduction * width,
        ]);
        let input = match &self.prenet {
            None => context.clone(),
            Some(prenet) => {
                let fed_back = prenet
                    .forward(previous.expect("an autoregressive decoder is given previous frames"))
                    .swap_dims(0, 1);
                Tensor::cat(vec![fed_back, context.clone()], 2)
            }
        };
        let (hidden, first) =
            self.first.forward_beside(input, speaker.clone(), state.first, ScanOptions::default());
        let (hidden, second) = self.second.forward(hidden, state.second, ScanOptions::default());
        let speaker = speaker.unsqueeze_dim::<3>(0).expand([steps, batch, speaker_width]);
        let output = self.compute.linear(&self.projection, Tensor::cat(vec![hidden, context, speaker], 2)); // (N, B, R M)
        let mels = output.dims()[2] / self.reduction;
        (output.swap_dims(0, 1).reshape([batch, frames, mels]), DecoderState { first, second })
    }
}
