//! One iteration of a fine-tuning.
//!
//! An iteration gathers windows from tensors on the device, runs decoder and postnet forward and backward, and updates both and the speaker embedding. The
//! learning rates are constant, then fall in a cooldown (warmup-stable-decay without the warmup).

use burn::{prelude::*, tensor::Gradients};
use web_time::Instant;

use super::{
    FineTuner,
    frame_store::loss,
    helper::{self, FlatBuffer},
    options::ValidationMetrics,
    rounding::{round_moments, round_parameters},
};
use crate::{
    Error, Result,
    learn::tuner::{EVALUATE_EVERY, READ_EVERY, TuneStop},
};
use burn_fused::{precision::Culprit, ranks::Shard, readback::read};

/// The state of a training after one iteration.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of iterations done.
    pub iteration: usize,
    /// The number of planned iterations, which is lower than in the options once the stop rule has started the cooldown.
    pub iterations: usize,
    /// The latest loss that was read back: the mean over the frames of clips and rehearsal, with their weights.
    pub loss: f32,
    /// Seconds since the first iteration of this process.
    pub seconds: f32,
    /// The metrics of the held-out clips, if this iteration validated. No iteration of the cooldown does.
    pub validation: Option<ValidationMetrics>,
    /// The number of updates that were skipped because half precision overflowed, as of the latest loss.
    pub overflows: usize,
    /// The operation at which an overflow began, in words, if this iteration found more of them. Only the first few are traced, since that repeats
    /// iterations.
    pub fault: Option<String>,
    /// The reason why the training ended, if this was the last iteration.
    pub stop: Option<TuneStop>,
}

/// The number of iterations of the cooldown. They train on the held-out clips too, which are no longer needed for validation.
const COOLDOWN: usize = 25;
/// The learning rates of the last iteration, relative to the constant ones.
const RATE_END: f64 = 0.1;
/// The most overflows that are traced: a growing loss scale overflows now and then.
const MAX_TRACED: usize = 3;

/// The course of a training so far.
pub(super) struct Progress {
    /// The number of planned iterations, the last [`COOLDOWN`] of them at falling rates.
    pub end: usize,
    /// The latest loss that was read back.
    pub loss: f32,
    /// The number of skipped updates, as of this loss.
    overflows: usize,
    /// The number of overflows that were traced.
    traced: usize,
    /// The time of the first iteration of this process.
    begun: Option<Instant>,
}

impl Progress {
    /// Creates the state before the first iteration.
    pub fn new(iterations: usize) -> Self {
        Self { end: iterations, loss: f32::NAN, overflows: 0, traced: 0, begun: None }
    }
}

#[warn(missing_docs)]
impl FineTuner {
    /// Returns the number of iterations done.
    pub fn iteration(&self) -> usize {
        self.adam.updates
    }

    /// Returns whether the next iteration belongs to the cooldown, with falling rates and all clips.
    pub fn in_cooldown(&self) -> bool {
        self.iteration() + COOLDOWN >= self.progress.end
    }

    /// Runs one iteration. The loss is read back every few iterations only, so that the device does not wait for the host.
    pub async fn step_async(&mut self) -> Result<Step> {
        self.step_with_async(0, async || None::<Vec<Vec<f32>>>).await
    }

    /// Runs one iteration data-parallel, with helpers made from [`Self::worker_init_async`].
    ///
    /// * `helped`: awaited after this process has computed its own shard. It resolves to the buffer of each helper, or to `None` if one failed, in which case
    ///   this process computes the whole batch
    #[doc(hidden)]
    pub async fn step_with_async<E: FlatBuffer>(
        &mut self,
        helpers: usize,
        helped: impl AsyncFnOnce() -> Option<Vec<E>>,
    ) -> Result<Step> {
        let begun = *self.progress.begun.get_or_insert_with(Instant::now);
        let in_cooldown = self.in_cooldown();
        let (loss, gradients) = self.gradients(in_cooldown, helpers, helped).await?;
        let weight = self.dataset.total_weight(self.iteration());
        let factor = self.rate_factor();
        self.parts =
            self.adam.step(self.parts.clone(), &gradients, |path| factor * self.options.rate_of(path));
        let iteration = self.iteration();
        let last = iteration >= self.progress.end;
        let fault = match iteration.is_multiple_of(READ_EVERY) || iteration == 1 || last {
            true => self.read_loss(loss, weight).await?,
            false => None,
        };
        let validation = match last {
            true => self.keep_last().await.map(|()| None)?,
            false => self.validate(in_cooldown).await?,
        };
        let stop = match last {
            false => None,
            true if self.progress.end < self.options.iterations => Some(TuneStop::HeldOut),
            true => Some(TuneStop::Iterations),
        };
        Ok(Step {
            iteration,
            iterations: self.progress.end,
            loss: self.progress.loss,
            seconds: begun.elapsed().as_secs_f32(),
            validation,
            overflows: self.progress.overflows,
            fault: fault.map(|(iteration, culprit)| format!("iteration {iteration}: {culprit}")),
            stop,
        })
    }

    /// Returns the factor on the learning rates of the next iteration: 1, then half a cosine down to [`RATE_END`].
    fn rate_factor(&self) -> f64 {
        let end = self.progress.end;
        let cooldown = COOLDOWN.min(end);
        let cooled = (self.iteration() + cooldown).saturating_sub(end) as f64 / cooldown as f64;
        RATE_END + (1.0 - RATE_END) * 0.5 * (1.0 + (std::f64::consts::PI * cooled).cos())
    }

    /// Computes the loss and the gradients of the next iteration.
    async fn gradients<E: FlatBuffer>(
        &mut self,
        in_cooldown: bool,
        helpers: usize,
        helped: impl AsyncFnOnce() -> Option<Vec<E>>,
    ) -> Result<(Tensor<1>, Gradients)> {
        let iteration = self.iteration();
        let mut compute = |shard| {
            let loss = loss(&self.parts, &self.dataset.windows(iteration, in_cooldown, shard));
            let gradients = self.adam.scaled(loss.clone()).backward();
            (loss, gradients)
        };
        if helpers == 0 {
            return Ok(compute(Shard::WHOLE));
        }
        let (mut loss, mut gradients) = compute(Shard { rank: 0, world_size: helpers + 1 });
        let Some(helped) = helped().await else { return Ok(compute(Shard::WHOLE)) };
        for helped in &helped {
            loss = helper::add(&self.parts, &mut gradients, loss, helped)?;
        }
        Ok((loss, gradients))
    }

    /// Reads back the loss of the iteration that was just done. Returns the operation at fault if updates have been skipped since the last one.
    ///
    /// * `weight`: the total weight of the windows, by which the loss is divided
    ///
    /// # Errors
    /// Fails with `training-diverged` if the loss is not finite.
    async fn read_loss(&mut self, loss: Tensor<1>, weight: f32) -> Result<Option<(usize, Culprit)>> {
        let overflows = self.adam.overflows(&self.base.device.clone().inner());
        let values = read(Tensor::cat(vec![loss.inner(), overflows], 0)).await?;
        self.progress.loss = values[0] / weight;
        let before = std::mem::replace(&mut self.progress.overflows, values[1] as usize);
        let is_finite = self.progress.loss.is_finite();
        let mut fault = None;
        if !is_finite || (self.progress.overflows > before && self.progress.traced < MAX_TRACED) {
            self.progress.traced += 1;
            fault = self.fault_async().await?;
        }
        match (is_finite, fault) {
            (true, fault) => Ok(fault),
            (false, Some((_, culprit))) => Err(Error::training_diverged_by(self.iteration(), culprit)),
            (false, None) => Err(Error::training_diverged(self.iteration())),
        }
    }

    /// Validates if it is due, and rounds the state where callers store a checkpoint.
    ///
    /// * `in_cooldown`: whether the iteration that was just done belongs to the cooldown
    async fn validate(&mut self, in_cooldown: bool) -> Result<Option<ValidationMetrics>> {
        let stores = self.iteration().is_multiple_of(EVALUATE_EVERY);
        let validates = !in_cooldown && (stores || self.in_cooldown());
        if stores || validates {
            round_moments(&mut self.adam);
            self.parts = round_parameters(self.parts.clone(), &self.base_weights);
        }
        if !validates {
            return Ok(None);
        }
        let metrics = self.validation.measure(&self.parts, &self.dataset).await?;
        if let Some(metrics) = metrics {
            self.observe(metrics);
        }
        Ok(metrics)
    }

    /// Applies the stop rule. The cooldown starts once the metrics no longer improve, and continues from the parameters that are kept.
    fn observe(&mut self, metrics: ValidationMetrics) {
        if self.validation.observe(metrics, &self.parts) {
            self.progress.end = self.progress.end.min(self.iteration() + COOLDOWN);
        }
        if let (true, Some((_, best))) = (self.in_cooldown(), &self.validation.best) {
            self.parts = best.clone();
        }
    }

    /// Keeps the parameters after the last iteration, if clips are held out.
    async fn keep_last(&mut self) -> Result<()> {
        if let Some(metrics) = self.validation.measure(&self.parts, &self.dataset).await? {
            self.validation.keep_last(metrics, &self.parts);
        }
        Ok(())
    }
}
