//! Early stopping (Prechelt 1998, "Early Stopping - But When?"): chooses the parameters that are kept, and ends a training that no longer improves.

use serde::{Deserialize, Serialize};

use crate::audio::global_variance_scale::GlobalVarianceScale;

/// The rule by which a training stops early and chooses the parameters to keep.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopRule {
    /// Runs all iterations and keeps the last parameters.
    Fixed,
    /// Stops by the spectrogram loss of the held-out clips, and keeps the parameters with the lowest.
    Loss,
    /// Stops by a score: the similarity of the predicted held-out clips to the speaker, minus the phoneme error rate beyond that of the recordings or of the
    /// base. Keeps the latest parameters whose score lies within a margin of the best.
    Voice,
}

impl StopRule {
    /// Returns how far a score may lie below the best for the later parameters to be kept. A few held-out clips are a noisy measure, and longer training brings
    /// the voice closer to the speaker on other texts.
    pub(crate) fn margin(self) -> f32 {
        match self {
            Self::Fixed => f32::INFINITY,
            Self::Loss => 0.0,
            Self::Voice => 0.02,
        }
    }

    /// Returns the smallest rise of a score that counts as an improvement.
    pub(crate) fn min_delta(self) -> f32 {
        match self {
            Self::Fixed | Self::Loss => 0.0,
            Self::Voice => 0.02,
        }
    }

    /// Returns the score of a validation; higher is better.
    ///
    /// * `per_floor`: the phoneme error rate up to which the score is not reduced
    pub(crate) fn score(self, metrics: &ValidationMetrics, per_floor: f32) -> f32 {
        match self {
            Self::Fixed | Self::Loss => -metrics.loss,
            Self::Voice => metrics.similarity - (metrics.phoneme_error_rate - per_floor).max(0.0),
        }
    }
}

/// The metrics of the held-out clips.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValidationMetrics {
    /// The loss of the spectrogram.
    pub loss: f32,
    /// The similarity of the predictions to the recordings by spectral statistics, 0 to 1.
    pub similarity: f32,
    /// The phoneme error rate of the recogniser on the predictions.
    pub phoneme_error_rate: f32,
    /// The factors that compensate the low spectral variance of the predictions. Similarity and phoneme errors are measured after scaling.
    pub global_variance_scale: GlobalVarianceScale,
}

/// The usual patience: the consecutive validations without improvement that end a training.
pub const PATIENCE: usize = 3;

/// The state of a stop rule between two validations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlyStopping {
    rule: StopRule,
    /// The highest score so far; `None` before the first validation.
    best: Option<f32>,
    /// The score of the last validation that improved. A later score improves if it exceeds this one by [`StopRule::min_delta`].
    reference: Option<f32>,
    /// The number of consecutive validations without improvement.
    checks_without_improvement: usize,
}

/// The consequences of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the parameters are to be kept: their score lies within the margin of the best.
    pub keep: bool,
    /// Whether patience is exhausted. It is true at a single validation.
    pub stop: bool,
}

impl EarlyStopping {
    pub fn new(rule: StopRule) -> Self {
        Self { rule, best: None, reference: None, checks_without_improvement: 0 }
    }

    /// Observes the score of a validation, see `StopRule::score`. Parameters with a score of NaN are not kept.
    ///
    /// * `patience`: the consecutive validations without improvement that end the training
    pub fn observe(&mut self, score: f32, patience: usize) -> Verdict {
        let best = self.best.map_or(score, |best| best.max(score));
        self.best = Some(best);
        if score > self.reference.map_or(f32::NEG_INFINITY, |reference| reference + self.rule.min_delta()) {
            (self.reference, self.checks_without_improvement) = (Some(score), 0);
        } else {
            self.checks_without_improvement += 1;
        }
        Verdict {
            keep: score >= best - self.rule.margin(),
            stop: self.checks_without_improvement == patience && self.rule != StopRule::Fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether each score is kept, and the index of the validation that stops.
    fn run(rule: StopRule, scores: &[f32]) -> (Vec<bool>, Option<usize>) {
        let mut stopping = EarlyStopping::new(rule);
        let verdicts: Vec<Verdict> = scores.iter().map(|&score| stopping.observe(score, PATIENCE)).collect();
        (
            verdicts.iter().map(|verdict| verdict.keep).collect(),
            verdicts.iter().position(|verdict| verdict.stop),
        )
    }

    #[test]
    fn three_validations_without_improvement_stop() {
        assert_eq!(run(StopRule::Loss, &[-3.0, -2.0, -2.5, -2.5, -1.0, -1.5, -1.5, -1.5]).1, Some(7));
        assert_eq!(run(StopRule::Loss, &[-3.0, -2.0, -1.0, -0.5]).1, None);
    }

    #[test]
    fn small_rises_improve_once_they_add_up() {
        // Each score is less than 0.02 above the one before, but every second one is more than that above the reference.
        assert_eq!(run(StopRule::Voice, &[0.50, 0.515, 0.53, 0.545, 0.56]).1, None);
        assert_eq!(run(StopRule::Voice, &[0.50, 0.505, 0.51, 0.515]).1, Some(3));
    }

    #[test]
    fn a_score_within_the_margin_of_the_best_is_kept() {
        assert_eq!(run(StopRule::Voice, &[0.50, 0.60, 0.59, 0.57]).0, [true, true, true, false]);
        assert_eq!(run(StopRule::Loss, &[-2.0, -1.0, -1.1, -1.0]).0, [true, true, false, true]);
    }

    #[test]
    fn the_fixed_rule_keeps_the_last_and_never_stops() {
        assert_eq!(run(StopRule::Fixed, &[-1.0, -2.0, -3.0, -4.0, -5.0]), (vec![true; 5], None));
    }

    #[test]
    fn nan_is_not_kept_and_does_not_improve() {
        let (kept, stopped) = run(StopRule::Loss, &[f32::NAN, f32::NAN, f32::NAN]);
        assert_eq!((kept, stopped), (vec![false; 3], Some(2)));
        assert_eq!(run(StopRule::Loss, &[f32::NAN, -1.0]).0, [false, true]);
    }

    #[test]
    fn a_state_restored_from_json_continues_as_the_original() {
        let mut stopping = EarlyStopping::new(StopRule::Voice);
        let restored = |stopping: &EarlyStopping| -> EarlyStopping {
            serde_json::from_str(&serde_json::to_string(stopping).unwrap()).unwrap()
        };
        for score in [0.1, 0.3, 0.3, 0.3] {
            let mut other = restored(&stopping);
            assert_eq!(other.observe(score, PATIENCE), stopping.observe(score, PATIENCE));
            assert_eq!(other, stopping);
        }
    }
}
