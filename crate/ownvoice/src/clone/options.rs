//! The options of a fine-tuning: what people choose, and the sizes and learning rates that experiments change.

use serde::{Deserialize, Serialize};

use std::collections::BTreeSet;

pub use crate::learn::early_stopping::{StopRule, ValidationMetrics};
use crate::{Error, Result, voice::Base};
use burn_fused::{ComputePlan, Operation, Precision, compute::PlantedFault};

/// How a voice is cloned. The published figures are measured with the defaults.
///
/// ```
/// use ownvoice::{CloneOptions, StopRule};
///
/// let quick = CloneOptions { iterations: 50, ..CloneOptions::default() };
/// assert_eq!((quick.seed, quick.stop_rule), (1, StopRule::Voice));
/// ```
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloneOptions {
    /// The most iterations; early stopping may end sooner.
    pub iterations: usize,
    /// The seed of the sampled windows. The same seed, clips and device give the same voice.
    pub seed: u64,
    /// The arithmetic of a training step. Mixed precision needs a device that supports it.
    pub precision: Precision,
    /// The weight in the loss of rehearsed sentences, relative to 30 s of clips; 0 turns rehearsal off. A higher weight gives clearer speech, a lower one more
    /// similarity to the speaker.
    ///
    /// With twice the speech, the weight is half as large; with twice the loss of the nearest speaker of the base, four times as large; at most it is 2.5
    /// times as large as given.
    pub rehearsal: f32,
    /// The rule by which the training ends early and parameters are kept.
    pub stop_rule: StopRule,
    /// Sizes, learning rates and the computation of a step.
    pub advanced: AdvancedCloneOptions,
}

/// Options of [`CloneOptions`] that only experiments change.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdvancedCloneOptions {
    /// The number of windows of an iteration.
    pub batch: usize,
    /// The number of frames of a window; 128 frames are 1.6 s at 16 kHz.
    pub window: usize,
    /// The learning rate of the postnet.
    pub rate: f64,
    /// The learning rate of the decoder, relative to `rate`. A higher one fits the clips better, a lower one keeps new sentences clearer.
    pub decoder_rate_multiplier: f64,
    /// The learning rate of the speaker embedding.
    pub speaker_rate: f64,
    /// The paths of the modules that compute in half precision if the precision is mixed, such as `decoder.first`, with all modules below them.
    pub half: Vec<String>,
    /// Operations that are computed by plain tensor operations instead of the fused ones.
    #[doc(hidden)]
    pub plain: BTreeSet<Operation>,
    /// Faults that a drill plants.
    #[doc(hidden)]
    pub faults: Vec<PlantedFault>,
}

/// Seconds of speech for which [`CloneOptions::rehearsal`] is the weight itself.
const REHEARSAL_SECONDS: f32 = 30.0;
/// The loss of the nearest speaker for which it is the weight itself: people have 1.3 to 2.1, speech engines 1.2.
const REHEARSAL_LOSS: f32 = 1.75;
/// The largest factor on the weight for little speech and a distant voice.
const MAX_REHEARSAL_FACTOR: f32 = 2.5;
/// The most windows of an iteration, and frames of a window: larger ones exhaust memory.
const MAX_BATCH: usize = 256;
const MAX_WINDOW: usize = 2048;

impl Default for CloneOptions {
    fn default() -> Self {
        Self {
            iterations: 75,
            seed: 1,
            precision: Precision::F32,
            rehearsal: 0.4,
            stop_rule: StopRule::Voice,
            advanced: AdvancedCloneOptions::default(),
        }
    }
}

impl Default for AdvancedCloneOptions {
    fn default() -> Self {
        Self {
            batch: 8,
            window: 128,
            rate: 4e-3,
            decoder_rate_multiplier: 0.2,
            speaker_rate: 4e-3,
            half: ComputePlan::default().half,
            plain: BTreeSet::new(),
            faults: Vec::new(),
        }
    }
}

impl CloneOptions {
    /// Checks the options for a base. They may come from a checkpoint, which is untrusted input.
    pub(super) fn check(&self, base: &Base) -> Result<()> {
        let AdvancedCloneOptions { batch, window, rate, decoder_rate_multiplier, speaker_rate, .. } =
            self.advanced;
        let reduction = base.config().reduction;
        if self.iterations == 0 || batch == 0 || window < reduction || !window.is_multiple_of(reduction) {
            return Err(Error::option_invalid(
                "iterations, batch and window must be positive, and the window a multiple of the reduction",
            ));
        }
        if batch > MAX_BATCH
            || window > MAX_WINDOW
            || ![rate, decoder_rate_multiplier, speaker_rate].iter().all(|rate| (0.0..=1.0).contains(rate))
        {
            return Err(Error::option_invalid(format!(
                "a batch has at most {MAX_BATCH} windows of {MAX_WINDOW} frames, and learning rates lie between 0 and 1"
            )));
        }
        if !(0.0..=10.0).contains(&self.rehearsal) {
            return Err(Error::option_invalid("rehearsal must lie between 0 and 10"));
        }
        if !self.precision.runs_on(&base.device) {
            return Err(Error::precision_unsupported());
        }
        Ok(())
    }

    /// Returns the plan by which a training step is computed.
    pub(super) fn compute(&self) -> ComputePlan {
        let AdvancedCloneOptions { half, plain, faults, .. } = self.advanced.clone();
        ComputePlan { half, plain, faults, ..ComputePlan::from_precision(self.precision) }
    }

    /// Returns the weight of the rehearsed windows, as the mean over all iterations. Tasks are weighted by the inverse variance of their errors (Kendall, Gal
    /// and Cipolla 2018, "Multi-task learning using uncertainty to weigh losses"), and the clips by their length.
    ///
    /// * `seconds`:    the seconds of speech in the clips
    /// * `start_loss`: the loss of the nearest speaker, as the scale of the errors
    pub(super) fn rehearsal_weight(&self, seconds: f32, start_loss: f32) -> f32 {
        let uncertainty = REHEARSAL_SECONDS / seconds * (start_loss / REHEARSAL_LOSS).powi(2);
        self.rehearsal * uncertainty.min(MAX_REHEARSAL_FACTOR)
    }

    /// Returns the learning rate of the parameter at a path of [`Adapted`](crate::voice::Adapted), before the cooldown.
    pub(super) fn rate_of(&self, path: &str) -> f64 {
        let AdvancedCloneOptions { rate, decoder_rate_multiplier, speaker_rate, .. } = self.advanced;
        match path.split('.').next() {
            Some("speaker") => speaker_rate,
            Some("decoder") => rate * decoder_rate_multiplier,
            _ => rate,
        }
    }

    /// Returns the number of rehearsed windows of a batch: half as many as of the clips.
    pub(super) fn rehearsed(&self) -> usize {
        if self.rehearsal > 0.0 { self.advanced.batch.div_ceil(2) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::global_variance_scale::FLAT;

    #[test]
    fn similarity_does_not_outweigh_phoneme_errors() {
        let metrics = |similarity, phoneme_error_rate| ValidationMetrics {
            loss: 0.5,
            similarity,
            phoneme_error_rate,
            global_variance_scale: FLAT,
        };
        let score = |metrics: ValidationMetrics| StopRule::Voice.score(&metrics, 0.1);
        assert!(
            score(metrics(0.8, 0.1)) > score(metrics(0.7, 0.05)),
            "errors below the speaker's own cost nothing"
        );
        assert!(score(metrics(0.8, 0.4)) < score(metrics(0.7, 0.1)), "more similar, but unintelligible");
        assert!(
            StopRule::Loss.score(&ValidationMetrics { loss: 0.4, ..metrics(0.1, 0.9) }, 0.1)
                > StopRule::Loss.score(&metrics(0.9, 0.0), 0.1)
        );
    }

    #[test]
    fn more_speech_has_a_lower_rehearsal_weight() {
        let options = CloneOptions::default();
        for (seconds, weight) in [(3.0, 1.0), (12.0, 1.0), (30.0, 0.4), (60.0, 0.2)] {
            assert!((options.rehearsal_weight(seconds, REHEARSAL_LOSS) - weight).abs() < 1e-6, "{seconds} s");
        }
    }

    #[test]
    fn a_voice_far_from_the_base_has_a_higher_rehearsal_weight() {
        let options = CloneOptions::default();
        for (loss, weight) in [(0.5, 0.1), (1.0, 0.4), (1.5, 0.9), (2.0, 1.0)] {
            let found = options.rehearsal_weight(30.0, loss * REHEARSAL_LOSS);
            assert!((found - weight).abs() < 1e-6, "{found} for {loss} times the usual loss");
        }
    }
}
