//! Early stopping (Prechelt 1998, "Early Stopping - But When?"): which validation is kept, and when further iterations no longer pay.

use serde::{Deserialize, Serialize};

use crate::audio::global_variance_scale::GlobalVarianceScale;

/// When a training stops early, and which parameters it keeps.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopRule {
    /// Never early; the last parameters.
    Fixed,
    /// By the spectrogram loss of the held-out clips.
    Loss,
    /// By the similarity of the held-out clips to the speaker, less the phoneme errors beyond those of the recordings or of the base; of scores within the
    /// margin, the latest.
    Voice,
}

impl StopRule {
    /// How far a score may lie below the best for the later parameters to be kept. A few held-out clips are a noisy measure, and longer training is closer to
    /// the speaker on other texts.
    pub(crate) fn margin(self) -> f32 {
        match self {
            Self::Fixed => f32::INFINITY,
            Self::Loss => 0.0,
            Self::Voice => 0.02,
        }
    }

    /// The least rise of a score that counts as a gain.
    pub(crate) fn min_delta(self) -> f32 {
        match self {
            Self::Fixed | Self::Loss => 0.0,
            Self::Voice => 0.02,
        }
    }

    /// The score of a check, the higher the better.
    ///
    /// * `per_floor`: phoneme error rate that costs no score
    pub(crate) fn score(self, metrics: &ValidationMetrics, per_floor: f32) -> f32 {
        match self {
            Self::Fixed | Self::Loss => -metrics.loss,
            Self::Voice => metrics.similarity - (metrics.phoneme_error_rate - per_floor).max(0.0),
        }
    }
}

/// Metrics of the held-out clips.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValidationMetrics {
    /// Loss of the spectrogram.
    pub loss: f32,
    /// Similarity of the predictions to the recordings by spectral statistics, 0 to 1.
    pub similarity: f32,
    /// Phoneme error rate of the recogniser on the predictions.
    pub phoneme_error_rate: f32,
    /// Factors that compensate the predictions' loss of spectral variance. Similarity and phoneme errors are measured with it.
    pub global_variance_scale: GlobalVarianceScale,
}

/// Checks in a row without a gain that end the training at full learning rates.
const PATIENCE: usize = 3;

/// The state of a stop rule between two checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlyStopping {
    rule: StopRule,
    /// The highest score so far; `None` before the first check.
    best: Option<f32>,
    /// The score of the last check that gained; a later one gains if it exceeds this by [`StopRule::min_delta`].
    reference: Option<f32>,
    /// Checks in a row that did not gain.
    checks_without_improvement: usize,
}

/// What follows from a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The parameters score as well as any before, up to the margin of the stop rule.
    pub keep: bool,
    /// Patience is exhausted. True at one check only.
    pub stop: bool,
}

impl EarlyStopping {
    pub fn new(rule: StopRule) -> Self {
        Self { rule, best: None, reference: None, checks_without_improvement: 0 }
    }

    /// VocoderDataset the score of a check, the higher the better, see [`StopRule::score`]. A score that is no number is never kept.
    pub fn observe(&mut self, score: f32) -> Verdict {
        let best = self.best.map_or(score, |best| best.max(score));
        self.best = Some(best);
        if score > self.reference.map_or(f32::NEG_INFINITY, |reference| reference + self.rule.min_delta()) {
            (self.reference, self.checks_without_improvement) = (Some(score), 0);
        } else {
            self.checks_without_improvement += 1;
        }
        Verdict {
            keep: score >= best - self.rule.margin(),
            stop: self.checks_without_improvement == PATIENCE && self.rule != StopRule::Fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the scores are kept, and the index of the check that stops.
    fn run(rule: StopRule, scores: &[f32]) -> (Vec<bool>, Option<usize>) {
        let mut stopping = EarlyStopping::new(rule);
        let verdicts: Vec<Verdict> = scores.iter().map(|&score| stopping.observe(score)).collect();
        (
            verdicts.iter().map(|verdict| verdict.keep).collect(),
            verdicts.iter().position(|verdict| verdict.stop),
        )
    }

    #[test]
    fn three_checks_without_a_gain_stop_and_a_gain_starts_anew() {
        assert_eq!(run(StopRule::Loss, &[-3.0, -2.0, -2.5, -2.5, -1.0, -1.5, -1.5, -1.5]).1, Some(7));
        assert_eq!(run(StopRule::Loss, &[-3.0, -2.0, -1.0, -0.5]).1, None);
    }

    #[test]
    fn small_steps_gain_once_they_add_up() {
        // Each is less than 0.02 above the last, every second one more than that above the reference.
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
    fn no_number_is_neither_kept_nor_a_gain() {
        let (kept, stopped) = run(StopRule::Loss, &[f32::NAN, f32::NAN, f32::NAN]);
        assert_eq!((kept, stopped), (vec![false; 3], Some(2)));
        assert_eq!(run(StopRule::Loss, &[f32::NAN, -1.0]).0, [false, true]);
    }

    #[test]
    fn a_state_restored_from_json_goes_on_as_the_original() {
        let mut stopping = EarlyStopping::new(StopRule::Voice);
        let restored = |stopping: &EarlyStopping| -> EarlyStopping {
            serde_json::from_str(&serde_json::to_string(stopping).unwrap()).unwrap()
        };
        for score in [0.1, 0.3, 0.3, 0.3] {
            let mut again = restored(&stopping);
            assert_eq!(again.observe(score), stopping.observe(score));
            assert_eq!(again, stopping);
        }
    }
}
