//! Options of a fine-tuning: sizes, learning rates and the stop rule.

use serde::{Deserialize, Serialize};

use std::collections::BTreeSet;

pub use crate::learn::early_stopping::{StopRule, ValidationMetrics};
use burn_fused::{ComputePlan, Operation, Precision, compute::PlantedFault};

/// How a voice is cloned. The defaults are what the project's figures are measured with.
///
/// ```
/// let quick = CloneOptions { iterations: 100, ..Default::default() };
/// assert_eq!((quick.batch, quick.window), (8, 128));
/// ```
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloneOptions {
    /// Iterations at most; early stopping may end sooner.
    pub iterations: usize,
    /// Windows of an iteration.
    pub batch: usize,
    /// Frames of a window: 1.6 s at 16 kHz.
    pub window: usize,
    /// Weight of the rehearsed windows in the loss, relative to the clips', for half a minute of a usual person's speech; 0: no rehearsal. A higher one is
    /// clearer, a lower one nearer to the speaker. Twice the speech has half the weight, a voice twice as far from the nearest of the base four times the
    /// weight; it is 2.5 times as high at most.
    pub rehearsal: f32,
    /// The same seed, clips and device give the same voice.
    pub seed: u64,
    /// Learning rate of the postnet.
    pub rate: f64,
    /// Learning rate of the decoder, relative to `rate`. A higher one is nearer to the recorded sentences, a lower one says new ones more clearly.
    pub decoder_rate_multiplier: f64,
    /// Learning rate of the speaker vector.
    pub speaker_rate: f64,
    /// When the training ends early.
    pub stop_rule: StopRule,
    /// Mixed precision needs a device that has it.
    pub precision: Precision,
    /// Paths of the modules that compute in half where the precision is mixed, with all below them: `decoder.first`.
    #[serde(default = "half")]
    pub half: Vec<String>,
    /// Operations that are computed by plain tensor operations and not by the fused ones.
    #[serde(default)]
    #[doc(hidden)]
    pub plain: BTreeSet<Operation>,
    /// Planted as a drill; no training has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub faults: Vec<PlantedFault>,
}

/// Speech for which [`CloneOptions::rehearsal`] is the weight itself.
const REHEARSAL_SECONDS: f32 = 30.0;
/// Loss of the speaker that a clone starts from, for which it is the weight itself: people have 1.3 to 2.1, engines 1.2.
const REHEARSAL_LOSS: f32 = 1.75;
/// What less speech and a farther voice multiply it by at most.
const MAX_REHEARSAL_FACTOR: f32 = 2.5;

fn half() -> Vec<String> {
    ComputePlan::default().half
}

impl Default for CloneOptions {
    fn default() -> Self {
        Self {
            iterations: 75,
            batch: 8,
            window: 128,
            rehearsal: 0.4,
            seed: 1,
            rate: 4e-3,
            decoder_rate_multiplier: 0.2,
            speaker_rate: 4e-3,
            stop_rule: StopRule::Voice,
            precision: Precision::F32,
            half: half(),
            plain: BTreeSet::new(),
            faults: Vec::new(),
        }
    }
}

impl CloneOptions {
    /// How its operations are computed.
    pub(super) fn compute(&self) -> ComputePlan {
        let (half, plain, faults) = (self.half.clone(), self.plain.clone(), self.faults.clone());
        ComputePlan { half, plain, faults, ..ComputePlan::from_precision(self.precision) }
    }

    /// Weight of the rehearsed windows, the mean of all iterations. Observed errors count by the inverse of their variance (Kendall, Gal and Cipolla 2018,
    /// "Multi-task learning using uncertainty to weigh losses"), and the more, the more of them there are.
    ///
    /// * `seconds`:    of speech
    /// * `start_loss`: of the speaker that the clone starts from, the scale of the errors
    pub(super) fn rehearsal_weight(&self, seconds: f32, start_loss: f32) -> f32 {
        let uncertainty = REHEARSAL_SECONDS / seconds * (start_loss / REHEARSAL_LOSS).powi(2);
        self.rehearsal * uncertainty.min(MAX_REHEARSAL_FACTOR)
    }

    /// Learning rate of the parameter at a path of [`Adapted`](crate::voice::Adapted), before the cooldown.
    pub(super) fn rate_of(&self, path: &str) -> f64 {
        match path.split('.').next() {
            Some("speaker") => self.speaker_rate,
            Some("decoder") => self.rate * self.decoder_rate_multiplier,
            _ => self.rate,
        }
    }

    /// Rehearsed windows of a batch: half as many as of the clips.
    pub(super) fn rehearsed(&self) -> usize {
        if self.rehearsal > 0.0 { self.batch.div_ceil(2) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::global_variance_scale::FLAT;

    #[test]
    fn a_voice_that_is_nearer_but_not_understood_is_no_better() {
        let metrics = |similarity, phoneme_error_rate| ValidationMetrics {
            loss: 0.5,
            similarity,
            phoneme_error_rate,
            global_variance_scale: FLAT,
        };
        let score = |metrics: ValidationMetrics| StopRule::Voice.score(&metrics, 0.1);
        assert!(
            score(metrics(0.8, 0.1)) > score(metrics(0.7, 0.05)),
            "nearer, and no less clear than it has to be"
        );
        assert!(score(metrics(0.8, 0.4)) < score(metrics(0.7, 0.1)), "nearer, but mumbled");
        assert!(
            StopRule::Loss.score(&ValidationMetrics { loss: 0.4, ..metrics(0.1, 0.9) }, 0.1)
                > StopRule::Loss.score(&metrics(0.9, 0.0), 0.1)
        );
    }

    #[test]
    fn who_says_more_rehearses_less() {
        let options = CloneOptions::default();
        for (seconds, weight) in [(3.0, 1.0), (12.0, 1.0), (30.0, 0.4), (60.0, 0.2)] {
            assert!((options.rehearsal_weight(seconds, REHEARSAL_LOSS) - weight).abs() < 1e-6, "{seconds} s");
        }
    }

    #[test]
    fn whose_voice_is_far_from_the_base_rehearses_more() {
        let options = CloneOptions::default();
        for (loss, weight) in [(0.5, 0.1), (1.0, 0.4), (1.5, 0.9), (2.0, 1.0)] {
            let found = options.rehearsal_weight(30.0, loss * REHEARSAL_LOSS);
            assert!((found - weight).abs() < 1e-6, "{found} for {loss} times the usual loss");
        }
    }
}
