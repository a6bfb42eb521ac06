//! The validation of a training: its metrics on the held-out clips, and the parameters that the stop rule keeps.

use burn::module::Module;

use super::{
    clip_dataset::ClipDataset,
    held_out::HeldOut,
    options::{StopRule, ValidationMetrics},
};
use crate::{
    Result,
    audio::global_variance_scale::{FLAT, GlobalVarianceScale},
    learn::early_stopping::{EarlyStopping, PATIENCE, Verdict},
    voice::Adapted,
};

/// The held-out clips, and what has been found of them so far.
pub struct Validation {
    /// `None` if no clip is held out.
    held_out: Option<HeldOut>,
    rule: StopRule,
    pub stopping: EarlyStopping,
    /// The metrics before the first iteration.
    start: Option<ValidationMetrics>,
    /// The latest parameters that the stop rule keeps, with their metrics.
    pub best: Option<(ValidationMetrics, Adapted)>,
}

impl Validation {
    /// Measures the parameters that a training starts from.
    pub async fn start(
        held_out: Option<HeldOut>,
        rule: StopRule,
        parts: &Adapted,
        dataset: &ClipDataset,
    ) -> Result<Self> {
        let mut validation =
            Self { held_out, rule, stopping: EarlyStopping::new(rule), start: None, best: None };
        validation.start = validation.measure(parts, dataset).await?;
        Ok(validation)
    }

    /// Measures parameters on the held-out clips. Returns `None` if no clip is held out.
    pub async fn measure(&self, parts: &Adapted, dataset: &ClipDataset) -> Result<Option<ValidationMetrics>> {
        match &self.held_out {
            Some(held_out) => {
                held_out.validate(&parts.valid(), &dataset.store, dataset.sampler.window).await.map(Some)
            }
            None => Ok(None),
        }
    }

    /// Keeps the parameters if the stop rule does. Returns whether the training at constant rates should end.
    pub fn observe(&mut self, metrics: ValidationMetrics, parts: &Adapted) -> bool {
        let score = self.rule.score(&metrics, self.per_floor());
        let Verdict { keep, stop } = self.stopping.observe(score, PATIENCE);
        if keep {
            self.best = Some((metrics, parts.clone()));
        }
        stop
    }

    /// Keeps the parameters after the cooldown, with their variance scale. The other metrics stay those from before the cooldown, because the held-out clips
    /// have been trained on since.
    pub fn keep_last(&mut self, metrics: ValidationMetrics, parts: &Adapted) {
        let found = self.best.as_ref().map_or(metrics, |&(found, _)| found);
        let global_variance_scale = metrics.global_variance_scale;
        self.best = Some((ValidationMetrics { global_variance_scale, ..found }, parts.clone()));
    }

    /// Returns the phoneme error rate below which errors cost no score: that of the recordings, or of the parameters before training if it is higher.
    fn per_floor(&self) -> f32 {
        let of_speaker = self.held_out.as_ref().map_or(0.0, |held_out| held_out.phoneme_error_rate);
        self.start.map_or(of_speaker, |start| start.phoneme_error_rate.max(of_speaker))
    }

    /// Returns the factors of the parameters that are kept, see [`crate::audio::global_variance_scale`].
    pub fn global_variance_scale(&self) -> GlobalVarianceScale {
        self.best.as_ref().map_or(FLAT, |(metrics, _)| metrics.global_variance_scale)
    }

    /// Returns the loss of the held-out clips before training, and with the parameters that are kept.
    pub fn losses(&self) -> Option<[f32; 2]> {
        self.start.zip(self.best.as_ref()).map(|(before, (after, _))| [before.loss, after.loss])
    }
}
