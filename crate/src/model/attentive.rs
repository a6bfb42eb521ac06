//! The whole model along the attention path: classic Tacotron 2 (Shen et al. 2018) with a table of speakers.

use burn::{
    module::{Module, Param},
    nn::Initializer,
    prelude::*,
};

use super::{
    TacotronConfig,
    aligner::{Aligner, Decoded, Spoken},
    attention::AttentionDecoder,
    encoder::Encoder,
    postnet::Postnet,
    tacotron::Symbols,
};
use crate::nn::Mode;

#[derive(Module, Debug)]
pub struct AttentiveTacotron {
    pub encoder: Encoder,
    /// `[speakers, V]`
    pub speakers: Param<Tensor<2>>,
    pub decoder: AttentionDecoder,
    pub postnet: Postnet,
}

impl AttentiveTacotron {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        Self {
            encoder: Encoder::new(config, device),
            speakers: Initializer::Normal { mean: 0.0, std: 0.3 }.init([config.speakers, config.speaker_width], device),
            decoder: AttentionDecoder::new(config, device),
            postnet: Postnet::new(config, device),
        }
    }

    /// Decodes while hearing the true frames.
    ///
    /// * `speaker`:  `[B, V]`
    /// * `previous`: `[B, N, M]`, the frame before each step's first
    pub fn teacher_force(&self, symbols: &Symbols, speaker: Tensor<2>, previous: Tensor<3>, mode: Mode) -> Decoded {
        let encoded = self.encoder.forward(symbols.ids.clone(), symbols.mask.clone().unsqueeze_dim(2), &symbols.lengths, mode);
        self.decoder.teacher_force(Spoken { symbols, encoded, speaker, previous: Some(previous) }, ())
    }
}
