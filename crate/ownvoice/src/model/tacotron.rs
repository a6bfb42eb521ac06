//! The whole model of the duration path.

use burn::{
    module::{Module, Param},
    prelude::*,
};

use super::{
    TacotronConfig,
    decoder::Decoder,
    duration::{DurationPredictor, RangePredictor},
    encoder::Encoder,
    pitch::PitchPredictor,
    postnet::Postnet,
};
use burn_fused::{
    ComputePlan, Mode, Precision, Scope, init::Fill, matmul::batched, ranks::Ranks,
    upsample::gaussian_weights,
};

/// Tacotron 2 with durations and a table of speakers.
#[derive(Module, Debug)]
pub struct Tacotron {
    pub encoder: Encoder,
    /// `[speakers, V]`
    pub speakers: Param<Tensor<2>>,
    pub durations: DurationPredictor,
    pub ranges: RangePredictor,
    /// `None` without [`TacotronConfig::pitch`].
    pub pitch: Option<PitchPredictor>,
    pub decoder: Decoder,
    pub postnet: Postnet,
    /// How its operations and losses are computed.
    #[module(skip)]
    pub scope: Scope,
}

/// The symbols of a batch on the device.
#[derive(Debug, Clone)]
pub struct Symbols {
    /// `[B, L]`
    pub ids: Tensor<2, Int>,
    /// `[B, L]`, one where there is a symbol
    pub mask: Tensor<2>,
    pub lengths: Vec<usize>,
}

impl Symbols {
    /// Pads the items to the longest, or to `width` where a fixed shape is needed.
    pub fn new<S: Copy + Into<i32>>(items: &[&[S]], width: Option<usize>, device: &Device) -> Self {
        let lengths: Vec<usize> = items.iter().map(|item| item.len()).collect();
        let width = width.unwrap_or_else(|| lengths.iter().copied().max().unwrap_or(0));
        let padded = |value: &dyn Fn(Option<&S>) -> i32| {
            items.iter().flat_map(|item| (0..width).map(|index| value(item.get(index)))).collect::<Vec<i32>>()
        };
        let shape = [items.len(), width];
        let ids = padded(&|symbol| symbol.map_or(0, |&symbol| symbol.into()));
        let mask: Vec<f32> =
            padded(&|symbol| i32::from(symbol.is_some())).into_iter().map(|one| one as f32).collect();
        Self {
            ids: Tensor::from_data(TensorData::new(ids, shape), device),
            mask: Tensor::from_data(TensorData::new(mask, shape), device),
            lengths,
        }
    }
}

impl Tacotron {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        Self {
            encoder: Encoder::new(config, device),
            speakers: Fill::Normal(0.3).init([config.speakers, config.speaker_width], device),
            durations: DurationPredictor::new(config, device),
            ranges: RangePredictor::new(config, device),
            pitch: config.pitch.then(|| PitchPredictor::new(config, device)),
            decoder: Decoder::new(config, device),
            postnet: Postnet::new(config, device),
            scope: Scope::default(),
        }
    }

    /// Sets the precision of its matmuls, except those of the predictors, which are small.
    pub fn with_precision(self, precision: Precision) -> Self {
        self.computing(&Scope::new(ComputePlan::from_precision(precision)))
    }

    /// Sets how its operations are computed; `scope` is that of the whole model.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            encoder: self.encoder.computing(&scope.at("encoder")),
            speakers: self.speakers,
            durations: self.durations.computing(&scope.at("durations")),
            ranges: self.ranges.computing(&scope.at("ranges")),
            pitch: self.pitch.map(|pitch| pitch.computing(&scope.at("pitch"))),
            decoder: self.decoder.computing(&scope.at("decoder")),
            postnet: self.postnet.computing(&scope.at("postnet")),
            scope: scope.clone(),
        }
    }

    /// Shares batch statistics among all ranks in training.
    pub fn with_ranks(self, ranks: &Ranks) -> Self {
        Self { encoder: self.encoder.with_ranks(ranks), postnet: self.postnet.with_ranks(ranks), ..self }
    }

    /// Encodes symbols. Returns `[B, L, E]`.
    pub fn encode(&self, symbols: &Symbols, mode: Mode) -> Tensor<3> {
        self.encoder.forward(
            symbols.ids.clone(),
            symbols.mask.clone().unsqueeze_dim(2),
            &symbols.lengths,
            mode,
        )
    }

    /// Upsamples the encodings to frames by Gaussians and appends the positions, which gives the context of each frame.
    ///
    /// * `encoded`:   `[B, L, E]`
    /// * `durations`: `[B, L]`, frames
    /// * `times`:     `[B, T]`, the centres of the wanted frames, in frames
    /// * `positions`: `[B, T, 4]`, see [`burn_fused::upsample::frame_positions`]
    ///
    /// Returns `[B, T, E + 4]`.
    pub fn upsample(
        &self,
        symbols: &Symbols,
        encoded: Tensor<3>,
        durations: Tensor<2>,
        times: Tensor<2>,
        positions: Tensor<3>,
    ) -> Tensor<3> {
        let weights = self.alignment(symbols, encoded.clone(), durations, times);
        Tensor::cat(vec![batched(weights, encoded), positions], 2) // (B, T, L) x (B, L, E)
    }

    /// Returns the weight of each symbol in each frame, `[B, T, L]`. The arguments are those of [`Tacotron::upsample`].
    pub fn alignment(
        &self,
        symbols: &Symbols,
        encoded: Tensor<3>,
        durations: Tensor<2>,
        times: Tensor<2>,
    ) -> Tensor<3> {
        let ranges = self.ranges.forward(encoded, durations.clone(), &symbols.lengths);
        gaussian_weights(durations, ranges, times, symbols.mask.clone().equal_elem(0.0))
    }
}
