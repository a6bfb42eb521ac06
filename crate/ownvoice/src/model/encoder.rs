//! The encoder of text: an embedding, convolutions, and a bidirectional LSTM (Tacotron 2, section 2.2).

use burn::{
    module::{Module, Param},
    prelude::*,
};

use super::TacotronConfig;
use burn_fused::{
    Mode, Scope,
    conv::{Activation, ConvNorm},
    dropout::dropout,
    init::Fill,
    lstm::BiLstm,
    ranks::Ranks,
};

/// Encodes symbols.
#[derive(Module, Debug)]
pub struct Encoder {
    /// `[symbols, E]`
    pub embedding: Param<Tensor<2>>,
    pub convolutions: Vec<ConvNorm>,
    /// Each direction has a width of E/2.
    pub lstm: BiLstm,
    dropout: f64,
}

impl Encoder {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let width = config.encoder_width;
        Self {
            embedding: Fill::Normal(0.3).init([config.symbols, width], device),
            convolutions: (0..config.encoder_layers)
                .map(|_| ConvNorm::new(width, width, config.encoder_kernel, device))
                .collect(),
            lstm: BiLstm::new(width, width / 2, device),
            dropout: config.dropout,
        }
    }

    /// Sets how its operations are computed; `scope` is that of the encoder.
    pub fn computing(self, scope: &Scope) -> Self {
        let convolutions = ConvNorm::all_computing(self.convolutions, &scope.at("convolutions"));
        Self { convolutions, lstm: self.lstm.computing(&scope.at("lstm")), ..self }
    }

    /// Shares batch statistics among all ranks in training, see [`ConvNorm::with_ranks`].
    pub fn with_ranks(self, ranks: &Ranks) -> Self {
        let convolutions =
            self.convolutions.into_iter().map(|convolution| convolution.with_ranks(ranks.clone())).collect();
        Self { convolutions, ..self }
    }

    /// Encodes a batch.
    ///
    /// * `symbols`: `[B, L]`, with any padding
    /// * `mask`:    `[B, L, 1]`, one where there is a symbol and zero elsewhere
    /// * `lengths`: symbols of each item
    ///
    /// Returns `[B, L, E]`. The mask zeroes padding before each convolution, so that it does not affect the symbols.
    pub fn forward(
        &self,
        symbols: Tensor<2, Int>,
        mask: Tensor<3>,
        lengths: &[usize],
        mode: Mode,
    ) -> Tensor<3> {
        let mut hidden = burn::tensor::module::embedding(self.embedding.val(), symbols) * mask.clone();
        for convolution in &self.convolutions {
            hidden = convolution.forward(hidden, Activation::Relu, mode);
            if mode == Mode::Train {
                hidden = dropout(hidden, self.dropout);
            }
            hidden = hidden * mask.clone();
        }
        self.lstm.forward(hidden, lengths)
    }
}
