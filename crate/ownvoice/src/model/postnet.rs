//! The postnet: convolutions that predict a residual of the whole spectrogram (Tacotron 2, section 2.2).

use burn::{module::Module, prelude::*};

use super::TacotronConfig;
use burn_fused::{
    Mode, Scope,
    conv::{Activation, ConvNorm},
    dropout::dropout,
    ranks::Ranks,
};

/// A stack of convolutions with batch norm.
#[derive(Module, Debug)]
pub struct Postnet {
    pub convolutions: Vec<ConvNorm>,
    dropout: f64,
}

impl Postnet {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let layers = config.postnet_layers;
        let width =
            |edge: usize| if edge == 0 || edge == layers { config.mels } else { config.postnet_width };
        let convolution =
            |layer| ConvNorm::new(width(layer), width(layer + 1), config.postnet_kernel, device);
        Self { convolutions: (0..layers).map(convolution).collect(), dropout: config.dropout }
    }

    /// Sets how its operations are computed; `scope` is that of the postnet.
    pub fn computing(self, scope: &Scope) -> Self {
        Self { convolutions: ConvNorm::all_computing(self.convolutions, &scope.at("convolutions")), ..self }
    }

    /// Shares batch statistics among all ranks in training, see [`ConvNorm::with_ranks`].
    pub fn with_ranks(self, ranks: &Ranks) -> Self {
        let convolutions =
            self.convolutions.into_iter().map(|convolution| convolution.with_ranks(ranks.clone())).collect();
        Self { convolutions, ..self }
    }

    /// Returns the residual that is to be added to `frames`, both `[B, T, M]`.
    pub fn forward(&self, frames: Tensor<3>, mode: Mode) -> Tensor<3> {
        let mut hidden = frames;
        for (layer, convolution) in self.convolutions.iter().enumerate() {
            let activation =
                if layer + 1 < self.convolutions.len() { Activation::Tanh } else { Activation::None };
            hidden = convolution.forward(hidden, activation, mode);
            if mode == Mode::Train {
                hidden = dropout(hidden, self.dropout);
            }
        }
        hidden
    }
}
