//! How a voice is learned: what adapts, how fast, and what decides when it is enough.

use burn::module::{Lora, Module, ParamGroup};
use serde::{Deserialize, Serialize};

use crate::{nn::Precision, voice::Adapted};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloneOptions {
    pub iterations: usize,
    pub batch: usize,
    /// Frames of a window: 1.6 s at 16 kHz.
    pub window: usize,
    /// What goes into the loss of what the base can say already, in its own voices, beside what is learned; 0: nothing is rehearsed.
    pub rehearsal: f32,
    pub seed: u64,
    pub rate: f64,
    pub speaker_rate: f64,
    pub adapts: Adapts,
    pub stop_rule: StopRule,
    /// Without effect once training has begun, so a checkpoint leaves it out.
    #[serde(skip)]
    pub start: Start,
    pub precision: Precision,
}

impl Default for CloneOptions {
    fn default() -> Self {
        Self {
            iterations: 200,
            batch: 8,
            window: 128,
            rehearsal: 0.2,
            seed: 1,
            rate: 2e-3,
            speaker_rate: 2e-3,
            adapts: Adapts::Everything,
            stop_rule: StopRule::Voice,
            start: Start::Nearest,
            precision: Precision::F32,
        }
    }
}

impl CloneOptions {
    /// Windows that are rehearsed in an iteration: half as many as are learned from.
    pub(super) fn rehearsed(&self) -> usize {
        if self.rehearsal > 0.0 { self.batch.div_ceil(2) } else { 0 }
    }
}

/// The speaker vector that learning begins with.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Start {
    /// Of the base's speaker whose model errs least on the clips.
    #[default]
    Nearest,
    /// A mean of the base's speakers, each weighted by this; the weights add up to one. Timing is the nearest speaker's in any case.
    Mixture(Vec<f32>),
}

/// What learns beside the speaker vector. The encoder never does: what a frame says does not depend on who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adapts {
    Speaker,
    Decoder,
    Postnet,
    /// Decoder and postnet, each matrix by a product of two of this rank (Hu et al. 2021, "LoRA"). For comparison: it cannot be resumed.
    LowRank(usize),
    /// Decoder and postnet.
    Everything,
}

impl Adapts {
    pub(super) fn includes(self, path: &str) -> bool {
        match self {
            Self::Speaker => false,
            Self::Decoder => path.starts_with("decoder."),
            Self::Postnet => path.starts_with("postnet."),
            Self::LowRank(_) | Self::Everything => true,
        }
    }

    /// Attaches what is to learn instead of the weights themselves.
    pub(super) fn prepare(self, parts: Adapted) -> Adapted {
        let Self::LowRank(rank) = self else { return parts };
        let speaker = ParamGroup::from_paths(vec!["speaker"]);
        parts.apply_lora(Lora::new(rank, rank as f64).set_param_group(ParamGroup::all().exclude(speaker.clone()))).unfreeze_group(speaker)
    }
}

/// When learning ends before its last iteration, and which weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopRule {
    /// Never; the last.
    Fixed,
    /// By the held-out clips' spectrogram loss.
    Loss,
    /// By how near the speaker the held-out clips' words sound, as long as they are understood as well as the speaker is, or as the base; of what is about
    /// as good, the latest.
    Voice,
}

impl StopRule {
    /// What a score may lie below the best and the weights still be kept for being later. A few held-out clips are a noisy measure, and what learned
    /// for longer is nearer to the speaker in what no clip says.
    pub(super) fn margin(self) -> f32 {
        match self {
            Self::Fixed => f32::INFINITY,
            Self::Loss => 0.0,
            Self::Voice => 0.02,
        }
    }

    /// By how much a score has to rise to be worth more iterations.
    pub(super) fn gain(self) -> f32 {
        match self {
            Self::Fixed | Self::Loss => 0.0,
            Self::Voice => 0.02,
        }
    }

    /// The higher, the better.
    ///
    /// * `granted`: phoneme error rate that costs nothing
    pub(super) fn score(self, metrics: &ValidationMetrics, granted: f32) -> f32 {
        match self {
            Self::Fixed | Self::Loss => -metrics.loss,
            Self::Voice => metrics.similarity - (metrics.phoneme_error_rate - granted).max(0.0),
        }
    }
}

/// Metrics of the held-out clips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValidationMetrics {
    pub loss: f32,
    /// Of the voice to that of the recordings, by the statistics of their spectra: 0 to 1.
    pub similarity: f32,
    /// Of the recogniser in what is said.
    pub phoneme_error_rate: f32,
    /// By how much the voice's spectra swing too little, see [`crate::audio::variance_scale`]. The two above are taken with it made up for.
    #[serde(alias = "contrast")]
    pub variance_scale: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_that_is_nearer_but_not_understood_is_no_better() {
        let metrics = |similarity, phoneme_error_rate| ValidationMetrics { loss: 0.5, similarity, phoneme_error_rate, variance_scale: 1.0 };
        let score = |metrics: ValidationMetrics| StopRule::Voice.score(&metrics, 0.1);
        assert!(score(metrics(0.8, 0.1)) > score(metrics(0.7, 0.05)), "nearer, and no less clear than it has to be");
        assert!(score(metrics(0.8, 0.4)) < score(metrics(0.7, 0.1)), "nearer, but mumbled");
        assert!(StopRule::Loss.score(&ValidationMetrics { loss: 0.4, ..metrics(0.1, 0.9) }, 0.1) > StopRule::Loss.score(&metrics(0.9, 0.0), 0.1));
    }
}
