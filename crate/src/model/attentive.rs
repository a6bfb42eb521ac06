//! The whole model along the attention path: classic Tacotron 2 (Shen et al. 2018) with a table of speakers.

use burn::{
    module::{Module, Param},
    prelude::*,
};

use super::{
    TacotronConfig,
    attention::AttentionDecoder,
    encoder::Encoder,
    postnet::Postnet,
    tacotron::Symbols,
    teacher_forcing::{Decoded, Spoken, TeacherForcing},
};
use crate::{
    Error, Result,
    nn::{ComputePlan, Mode, Precision, Scope, init::Fill},
    ranks::Ranks,
    weights::{Metadata, Storage, apply_all, collect, deserialize, serialize},
};

#[derive(Module, Debug)]
pub struct AttentiveTacotron {
    pub encoder: Encoder,
    /// `[speakers, V]`
    pub speakers: Param<Tensor<2>>,
    pub decoder: AttentionDecoder,
    pub postnet: Postnet,
    /// How it computes, and with it its loss.
    #[module(skip)]
    pub scope: Scope,
}

impl AttentiveTacotron {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        Self {
            encoder: Encoder::new(config, device),
            speakers: Fill::Normal(0.3).init([config.speakers, config.speaker_width], device),
            decoder: AttentionDecoder::new(config, device),
            postnet: Postnet::new(config, device),
            scope: Scope::default(),
        }
    }

    /// Precision of the matmuls of encoder and postnet; the decoder's, a step at a time, stay f32.
    pub fn with_precision(self, precision: Precision) -> Self {
        self.computing(&Scope::new(ComputePlan::of(precision)))
    }

    /// How its operations are computed; `scope` is that of the whole model.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            encoder: self.encoder.computing(&scope.at("encoder")),
            speakers: self.speakers,
            decoder: self.decoder.computing(&scope.at("decoder").in_single()),
            postnet: self.postnet.computing(&scope.at("postnet")),
            scope: scope.clone(),
        }
    }

    /// In training its batch statistics are those of all ranks together.
    pub fn with_ranks(self, ranks: &Ranks) -> Self {
        Self { encoder: self.encoder.with_ranks(ranks), postnet: self.postnet.with_ranks(ranks), ..self }
    }

    /// Reads a file that [`Self::serialize`] made, for inference. The file is untrusted.
    ///
    /// * `symbols`: how many symbols the table of a version has, where that version is known
    pub fn load(
        bytes: &[u8],
        symbols: impl Fn(&str) -> Option<usize>,
        device: &Device,
    ) -> Result<(Self, TacotronConfig, Metadata)> {
        let corrupt = |what: String| Error::base_corrupt(format!("attention: {what}"));
        let (weights, metadata) = deserialize(bytes).map_err(corrupt)?;
        let config = metadata.get("config").ok_or_else(|| corrupt("it does not say its sizes".into()))?;
        let config: TacotronConfig =
            serde_json::from_str(config).map_err(|error| corrupt(error.to_string()))?;
        config.check().map_err(corrupt)?;
        if metadata.get("symbols").and_then(|version| symbols(version)) != Some(config.symbols) {
            return Err(corrupt("it was made with another symbol table".into()));
        }
        let model = apply_all(Self::new(&config, device), weights).map_err(corrupt)?;
        Ok((model.valid(), config, metadata))
    }

    /// The file that [`Self::load`] reads; `more` is kept beside sizes and symbol table.
    pub async fn serialize(
        &self,
        config: &TacotronConfig,
        symbols: &str,
        storage: Storage,
        mut more: Metadata,
    ) -> Result<Vec<u8>> {
        more.insert("symbols".into(), symbols.into());
        more.insert("config".into(), serde_json::to_string(config).expect("plain data"));
        serialize(collect(self), storage, more).await
    }

    /// Decodes with the true frames as inputs.
    ///
    /// * `speaker`:  `[B, V]`
    /// * `previous`: `[B, N, M]`, the frame before each step's first
    pub fn teacher_force(
        &self,
        symbols: &Symbols,
        speaker: Tensor<2>,
        previous: Tensor<3>,
        mode: Mode,
    ) -> Decoded {
        let encoded = self.encoder.forward(
            symbols.ids.clone(),
            symbols.mask.clone().unsqueeze_dim(2),
            &symbols.lengths,
            mode,
        );
        self.decoder.teacher_force(Spoken { symbols, encoded, speaker, previous: Some(previous) }, ())
    }
}
