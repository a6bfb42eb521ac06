//! The prenet of an autoregressive decoder (Tacotron 2, section 2.2).

use burn::{module::Module, nn::Linear, prelude::*, tensor::activation::relu};

use super::TacotronConfig;
use burn_fused::{Compute, Scope, dropout::dropout, init};

/// Two ReLU layers whose dropout is always on, in synthesis too.
#[derive(Module, Debug)]
pub struct Prenet {
    pub first: Linear,
    pub second: Linear,
    dropout: f64,
    /// How `first` and `second` are computed.
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

    /// Sets how its operations are computed; `scope` is that of the prenet.
    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: ["first", "second"].map(|layer| scope.at(layer).compute()), ..self }
    }

    /// Maps frames `[.., M]` to `[.., P]`.
    pub fn forward<const D: usize>(&self, frames: Tensor<D>) -> Tensor<D> {
        let [first, second] = &self.compute;
        let hidden = dropout(relu(first.linear(&self.first, frames)), self.dropout);
        dropout(relu(second.linear(&self.second, hidden)), self.dropout)
    }
}
