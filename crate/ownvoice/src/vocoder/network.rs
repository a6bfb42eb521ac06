//! A neural source-filter vocoder: a ConvNeXt trunk (Siuzdak 2023, "Vocos", section 3) maps the mel spectrogram, frame by
//! frame, the pitch and two filters: one for a train of pulses, one for noise (Engel et al. 2020, "DDSP"; Agrawal et al. 2023).
//!
//! Vocos predicts phases, which takes adversaries and a million steps. Here the pulses bring their phases along, so amplitudes are
//! all there is to learn, and two hours of two CPU cores are enough.

use burn::{
    module::{Module, Param},
    nn::Linear,
    prelude::*,
    tensor::activation::relu,
};
use serde::{Deserialize, Serialize};

use crate::audio::{
    mel::{MelConfig, MelExtractor, MelNormalisation},
    pitch::MIN_TRACKED_HZ,
    resample::RATES_HZ,
};
use burn_fused::{
    Compute, Scope,
    init::{self, Fill},
    norm::LayerNorm,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VocoderConfig {
    pub mels: usize,
    pub width: usize,
    pub layers: usize,
    /// Frames in the kernel of each layer.
    pub kernel: usize,
    /// The rate of the samples. Files of vocoders whose samples have the rate of the spectrograms lack it.
    #[serde(default = "VocoderConfig::first_sample_rate_hz")]
    pub sample_rate_hz: u32,
    /// Frequencies of the filters, from 0 Hz to half the sample rate.
    pub bins: usize,
    /// Log-mels meet the network as `(mel - mel_mean) / mel_scale`.
    pub mel_mean: f32,
    pub mel_scale: f32,
}

impl VocoderConfig {
    /// Returns the normalisation of log-mels.
    pub fn mel_normalisation(&self) -> MelNormalisation {
        MelNormalisation { mean: self.mel_mean, scale: self.mel_scale }
    }

    /// The shipped vocoder: it makes samples at 24 kHz from spectrograms of recordings at 16 kHz.
    pub fn small() -> Self {
        Self {
            mels: 80,
            width: 192,
            layers: 6,
            kernel: 7,
            sample_rate_hz: 24_000,
            bins: 769,
            mel_mean: -5.0,
            mel_scale: 2.5,
        }
    }

    fn first_sample_rate_hz() -> u32 {
        MelConfig::speech_16k().sample_rate_hz
    }

    /// Returns an extractor of the spectrograms that the network reads from the vocoder's samples. Returns `None` if the network cannot read them.
    pub fn extractor(&self, mel: &MelConfig) -> Option<MelExtractor> {
        MelExtractor::at_rate(mel, self.sample_rate_hz)
            .filter(|extractor| (mel.mels, extractor.stft().bins()) == (self.mels, self.bins))
    }

    /// Whether a network can be made of it. Configurations from files are checked with this before anything is allocated.
    pub fn is_sound(&self) -> bool {
        (1..=1024).contains(&self.mels)
            && (1..=2048).contains(&self.width)
            && (1..=64).contains(&self.layers)
            && self.kernel % 2 == 1
            && self.kernel <= 63
            && RATES_HZ.contains(&self.sample_rate_hz)
            && (2..=8193).contains(&self.bins)
            && self.mel_scale.is_normal()
            && self.mel_mean.is_finite()
    }
}

/// Pitch classes, a sixth of a semitone from one to the next: 60 to 427 Hz, as far as the pitch tracker looks.
pub const PITCH_CLASSES: usize = 205;
const CLASSES_AN_OCTAVE: f32 = 72.0;

/// The place of a pitch among the classes; between two of them it is a fraction.
pub fn pitch_class(hz: f32) -> f32 {
    ((hz / MIN_TRACKED_HZ).log2() * CLASSES_AN_OCTAVE).clamp(0.0, (PITCH_CLASSES - 1) as f32)
}

pub fn pitch_hz(class: f32) -> f32 {
    MIN_TRACKED_HZ * (class / CLASSES_AN_OCTAVE).exp2()
}

/// A layer of ConvNeXt (Liu et al. 2022): a convolution of each channel by itself, then a perceptron of each frame.
#[derive(Module, Debug)]
struct Block {
    /// `[K, C]`
    depthwise: Param<Tensor<2>>,
    norm: LayerNorm,
    widen: Linear,
    narrow: Linear,
    /// `[C]`, small at first, so that a deep stack starts as nothing.
    scale: Param<Tensor<1>>,
    /// Of the perceptron's two layers.
    #[module(skip)]
    compute: [Compute; 2],
}

impl Block {
    fn new(config: &VocoderConfig, device: &Device) -> Self {
        let (width, kernel) = (config.width, config.kernel);
        let bound = 1.0 / (kernel as f64).sqrt();
        Self {
            depthwise: Fill::Uniform(bound).init([kernel, width], device),
            norm: LayerNorm::new(width, device),
            widen: init::linear(width, 3 * width, device),
            narrow: init::linear(3 * width, width, device),
            scale: Param::from_tensor(Tensor::full([width], 1.0 / config.layers as f32, device)),
            compute: Default::default(),
        }
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { compute: ["widen", "narrow"].map(|layer| scope.at(layer).compute()), ..self }
    }

    /// `[B, T, C]` to `[B, T, C]`. ReLU in place of GELU: erf has no vector form on the CPU.
    fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let [batch, frames, width] = input.dims();
        let kernel = self.depthwise.dims()[0];
        let edge = Tensor::zeros([batch, kernel / 2, width], &input.device());
        let padded = Tensor::cat(vec![edge.clone(), input.clone(), edge], 1);
        let tap = |index: usize| {
            padded.clone().narrow(1, index, frames)
                * self.depthwise.val().narrow(0, index, 1).unsqueeze::<3>()
        };
        let mixed = (1..kernel).map(tap).fold(tap(0), |sum, tap| sum + tap);
        let [widen, narrow] = &self.compute;
        let hidden = relu(widen.linear(&self.widen, self.norm.forward(mixed)));
        input + narrow.linear(&self.narrow, hidden) * self.scale.val().unsqueeze::<3>()
    }
}

#[derive(Module, Debug)]
pub struct SourceFilter {
    embedding: Linear,
    blocks: Vec<Block>,
    norm: LayerNorm,
    pitch: Linear,
    voicing: Linear,
    harmonic: Linear,
    noise: Linear,
    kernel: usize,
    #[module(skip)]
    compute: FilterCompute,
}

/// How the layers outside the blocks compute.
#[derive(Debug, Clone, Default)]
struct FilterCompute {
    embedding: Compute,
    pitch: Compute,
    voicing: Compute,
    harmonic: Compute,
    noise: Compute,
}

/// What a source needs to sound like a spectrogram.
#[derive(Debug, Clone)]
pub struct Filters {
    /// Logits, `[B, T, PITCH_CLASSES]`
    pub pitch: Tensor<3>,
    /// Logits of being voiced, `[B, T, 1]`
    pub voicing: Tensor<3>,
    /// Log amplitudes for pulses of unit power, `[B, T, F]`
    pub harmonic: Tensor<3>,
    /// Log amplitudes for noise of unit power, `[B, T, F]`
    pub noise: Tensor<3>,
}

impl SourceFilter {
    pub fn new(config: &VocoderConfig, device: &Device) -> Self {
        assert!(config.kernel % 2 == 1, "a convolution that keeps its length has an odd number of taps");
        let linear = |inputs, outputs| init::linear(inputs, outputs, device);
        let width = config.width;
        Self {
            embedding: linear(config.kernel * config.mels, width),
            blocks: (0..config.layers).map(|_| Block::new(config, device)).collect(),
            norm: LayerNorm::new(width, device),
            pitch: linear(width, PITCH_CLASSES),
            voicing: linear(width, 1),
            harmonic: linear(width, config.bins),
            noise: linear(width, config.bins),
            kernel: config.kernel,
            compute: FilterCompute::default(),
        }
    }

    /// How its operations are computed; `scope` is that of the whole network.
    pub fn computing(self, scope: &Scope) -> Self {
        let (list, of) = (scope.at("blocks"), |layer: &str| scope.at(layer).compute());
        let blocks = self.blocks.into_iter().enumerate();
        Self {
            blocks: blocks.map(|(number, block)| block.computing(&list.at(number))).collect(),
            compute: FilterCompute {
                embedding: of("embedding"),
                pitch: of("pitch"),
                voicing: of("voicing"),
                harmonic: of("harmonic"),
                noise: of("noise"),
            },
            ..self
        }
    }

    /// * `mel`:      `[B, T, M]`, normalised
    /// * `envelope`: `[B, T, F]`, log amplitudes that the mel itself suggests, see [`crate::audio::mel::MelExtractor::envelope`]
    pub fn forward(&self, mel: Tensor<3>, envelope: Tensor<3>) -> Filters {
        let compute = &self.compute;
        let mut hidden =
            compute.embedding.linear(&self.embedding, compute.embedding.unfold(mel, self.kernel));
        for block in &self.blocks {
            hidden = block.forward(hidden);
        }
        let hidden = self.norm.forward(hidden);
        let filter = |compute: &Compute, head: &Linear| {
            (compute.linear(head, hidden.clone()) + envelope.clone()).clamp(MIN_LOG, MAX_LOG)
        };
        Filters {
            pitch: compute.pitch.linear(&self.pitch, hidden.clone()),
            voicing: compute.voicing.linear(&self.voicing, hidden.clone()),
            harmonic: filter(&compute.harmonic, &self.harmonic),
            noise: filter(&compute.noise, &self.noise),
        }
    }
}

/// Between these all speech lies; beyond them exp() is no help.
const MIN_LOG: f32 = -16.0;
const MAX_LOG: f32 = 6.0;
