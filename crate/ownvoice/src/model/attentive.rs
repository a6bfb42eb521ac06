//! Tacotron 2 with attention (Shen et al. 2018) and a table of speakers. It is generic over the encoder, which reads text for voices and faces for
//! lip-to-speech.

use burn::{
    module::{Module, ModuleDisplay, Param},
    prelude::*,
};

use super::{
    TacotronConfig,
    attention::AttentionDecoder,
    encoder::Encoder,
    postnet::Postnet,
    tacotron::Symbols,
    teacher_forcing::{Decoded, TeacherForcing, TeacherForcingInput},
};
use crate::{Error, Result};
use burn_fused::{
    ComputePlan, Mode, Precision, Scope,
    init::Fill,
    ranks::Ranks,
    weights::{Metadata, Storage, apply_all, collect, deserialize, serialize},
};

/// An encoder of the positions that an [`AttentionTacotron`] attends to.
pub trait AttendedEncoder: Module + ModuleDisplay {
    /// The sizes of the whole model.
    type Config;
    /// The input beside the mask and lengths of the positions.
    type Input;

    /// Creates an encoder with random weights.
    fn new(config: &Self::Config, device: &Device) -> Self;

    /// Returns the sizes of the decoder, the postnet and the speaker table.
    fn tacotron(config: &Self::Config) -> &TacotronConfig;

    /// Sets how operations are computed; `scope` is that of the encoder.
    #[must_use]
    fn computing(self, scope: &Scope) -> Self;

    /// Shares batch statistics among all ranks in training.
    #[must_use]
    fn with_ranks(self, ranks: &Ranks) -> Self;

    /// Encodes a batch. Returns `[B, L, E]`.
    fn encode(&self, input: Self::Input, positions: &Symbols, mode: Mode) -> Tensor<3>;
}

/// Text: the ids are part of the symbols.
impl AttendedEncoder for Encoder {
    type Config = TacotronConfig;
    type Input = ();

    fn new(config: &TacotronConfig, device: &Device) -> Self {
        Encoder::new(config, device)
    }

    fn tacotron(config: &TacotronConfig) -> &TacotronConfig {
        config
    }

    fn computing(self, scope: &Scope) -> Self {
        Encoder::computing(self, scope)
    }

    fn with_ranks(self, ranks: &Ranks) -> Self {
        Encoder::with_ranks(self, ranks)
    }

    fn encode(&self, (): (), symbols: &Symbols, mode: Mode) -> Tensor<3> {
        let mask = symbols.mask.clone().unsqueeze_dim(2);
        self.forward(symbols.ids.clone(), mask, &symbols.lengths, mode)
    }
}

/// Tacotron 2 with attention.
#[derive(Module, Debug)]
pub struct AttentionTacotron<E: Module> {
    pub encoder: E,
    /// `[speakers, V]`
    pub speakers: Param<Tensor<2>>,
    pub decoder: AttentionDecoder,
    pub postnet: Postnet,
    /// How its operations and losses are computed.
    #[module(skip)]
    pub scope: Scope,
}

/// The model that reads text.
pub type AttentiveTacotron = AttentionTacotron<Encoder>;

impl<E: AttendedEncoder> AttentionTacotron<E> {
    /// Creates a model with random weights.
    pub fn new(config: &E::Config, device: &Device) -> Self {
        let tacotron = E::tacotron(config);
        Self {
            encoder: E::new(config, device),
            speakers: Fill::Normal(0.3).init([tacotron.speakers, tacotron.speaker_width], device),
            decoder: AttentionDecoder::new(tacotron, device),
            postnet: Postnet::new(tacotron, device),
            scope: Scope::default(),
        }
    }

    /// Sets how operations are computed; `scope` is that of the whole model. The decoder, which runs step by step, always computes in f32.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            encoder: self.encoder.computing(&scope.at("encoder")),
            speakers: self.speakers,
            decoder: self.decoder.computing(&scope.at("decoder").in_single()),
            postnet: self.postnet.computing(&scope.at("postnet")),
            scope: scope.clone(),
        }
    }

    /// Shares batch statistics among all ranks in training.
    pub fn with_ranks(self, ranks: &Ranks) -> Self {
        Self { encoder: self.encoder.with_ranks(ranks), postnet: self.postnet.with_ranks(ranks), ..self }
    }

    /// Decodes without feedback of frames, in training as in synthesis. The postnet is not applied.
    ///
    /// * `speaker`: `[B, V]`
    pub fn decode(
        &self,
        input: E::Input,
        positions: &Symbols,
        speaker: Tensor<2>,
        steps: usize,
        mode: Mode,
    ) -> Decoded {
        let encoded = self.encoder.encode(input, positions, mode);
        self.decoder
            .teacher_force(TeacherForcingInput::without_feedback(positions, encoded, speaker, steps), ())
    }
}

impl AttentiveTacotron {
    /// Sets the precision of the matmuls of encoder and postnet; those of the decoder, which runs step by step, stay f32.
    pub fn with_precision(self, precision: Precision) -> Self {
        self.computing(&Scope::new(ComputePlan::from_precision(precision)))
    }

    /// Decodes a file of [`Self::serialize`] for inference. The file is untrusted.
    ///
    /// * `symbols`: returns the number of symbols of a known version of the table
    pub fn load(
        bytes: &[u8],
        symbols: impl Fn(&str) -> Option<usize>,
        device: &Device,
    ) -> Result<(Self, TacotronConfig, Metadata)> {
        let corrupt = |what: String| Error::base_corrupt(format!("attention: {what}"));
        let (weights, metadata) = deserialize(bytes).map_err(corrupt)?;
        let config = metadata.get("config").ok_or_else(|| corrupt("its configuration is missing".into()))?;
        let config: TacotronConfig =
            serde_json::from_str(config).map_err(|error| corrupt(error.to_string()))?;
        config.check().map_err(corrupt)?;
        if metadata.get("symbols").and_then(|version| symbols(version)) != Some(config.symbols) {
            return Err(corrupt("it was made with another symbol table".into()));
        }
        let model = apply_all(Self::new(&config, device), weights).map_err(corrupt)?;
        Ok((model.valid(), config, metadata))
    }

    /// Encodes the file that [`Self::load`] reads; `more` is stored with the sizes and the version of the symbol table.
    pub async fn serialize(
        &self,
        config: &TacotronConfig,
        symbols: &str,
        storage: Storage,
        mut more: Metadata,
    ) -> Result<Vec<u8>> {
        more.insert("symbols".into(), symbols.into());
        more.insert("config".into(), serde_json::to_string(config).expect("plain data"));
        Ok(serialize(collect(self), storage, more).await?)
    }

    /// Decodes with the recorded frames as inputs. The postnet is not applied.
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
        let encoded = self.encoder.encode((), symbols, mode);
        self.decoder
            .teacher_force(TeacherForcingInput { symbols, encoded, speaker, previous: Some(previous) }, ())
    }
}
