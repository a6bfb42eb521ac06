//! The loop that fine-tunes any module on a few examples: batches, updates, losses that are read back, held-out examples, early stopping, checkpoints.
//!
//! What is trained is a [`Task`]: it computes losses and measures the held-out examples. Everything else is here. It awaits its device and starts no threads, so
//! that it runs in a page.

use std::future::Future;

use burn::{module::Module, prelude::*};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    early_stopping::{EarlyStopping, StopRule, Verdict},
    optimizer_state::{optimizer_weights, restore_optimizer},
    sampler::BatchSampler,
};
use crate::{Error, Result};
use burn_fused::{
    adam::{Adam, AdamConfig},
    readback::read,
    weights::{HostWeights, Metadata, Storage, apply, collect, deserialize, serialize},
};

/// The number of iterations between two losses that are read back, so that the device does not wait for the host.
pub(crate) const READ_EVERY: usize = 5;
/// The number of iterations between two validations; callers store a checkpoint as often.
pub const EVALUATE_EVERY: usize = 25;

/// The reason why a fine-tuning ended.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuneStop {
    /// The given number of iterations is done.
    Iterations,
    /// The held-out clips or examples no longer improved.
    HeldOut,
}

#[warn(missing_docs)]
impl TuneStop {
    /// Returns a hyphenated name for programs: `iterations` or `held-out`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::HeldOut => "held-out",
        }
    }
}

/// What a [`Tuner`] trains, and on which examples. Examples are numbered from 0.
pub trait Task {
    /// The trained parameters.
    type Parts: Module;
    /// The measures of the held-out examples.
    type Metrics: Clone + Serialize + DeserializeOwned;
    /// The index of the loss that is reported.
    const REPORTED: usize = 0;

    /// Computes the losses of a batch, each `[1]`. Their sum is minimised.
    ///
    /// * `iteration`: the number of iterations before this one, for what is drawn at random
    fn losses(&self, parts: &Self::Parts, batch: &[usize], iteration: usize) -> Result<Vec<Tensor<1>>>;

    /// Measures examples without gradients.
    fn measure(&self, parts: &Self::Parts, examples: &[usize])
    -> impl Future<Output = Result<Self::Metrics>>;

    /// Returns the loss by which parameters are kept.
    fn criterion(metrics: &Self::Metrics) -> f32;

    /// Returns the initial learning rate of a parameter.
    fn rate(&self, path: &str) -> f64;

    /// Returns whether training changes a parameter or running statistic, so that a checkpoint has to hold it.
    fn changes(&self, _path: &str) -> bool {
        true
    }
}

/// How long and in which batches a task is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The most iterations.
    pub iterations: usize,
    /// The number of examples in a batch.
    pub batch: usize,
    /// Selects the order of the batches.
    pub seed: u64,
    /// Whether the learning rates fall linearly, to zero after the last iteration.
    pub decay: bool,
    /// The consecutive validations without improvement that end the training.
    pub patience: usize,
}

/// The state of a training after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct TunerStep<M> {
    /// The number of iterations so far.
    pub iteration: usize,
    /// The loss, which is read back every few iterations.
    pub loss: f32,
    /// The metrics of the held-out examples, if they were measured.
    pub held_out: Option<M>,
    /// The reason for stopping, if this was the last iteration.
    pub stop: Option<TuneStop>,
}

/// A training in progress.
pub struct Tuner<T: Task> {
    pub task: T,
    schedule: Schedule,
    sampler: BatchSampler,
    held_out: Vec<usize>,
    parts: T::Parts,
    adam: Adam,
    stopping: EarlyStopping,
    /// The metrics before the first iteration.
    before: T::Metrics,
    /// The lowest criterion, with its parameters.
    best: (T::Metrics, T::Parts),
    loss: f32,
    /// The last iteration after which the held-out examples were measured.
    measured_at: usize,
}

/// The state that a checkpoint holds beside tensors.
#[derive(Serialize, Deserialize)]
struct State<M> {
    /// Identifies what is trained, and on which examples.
    identity: String,
    schedule: Schedule,
    updates: usize,
    loss: f32,
    stopping: EarlyStopping,
    before: M,
    best: M,
    measured_at: usize,
}

/// The key in the metadata of the [`State`], as JSON.
const STATE: &str = "state";
/// The prefixes of the names of the tensors.
const CURRENT: &str = "now.";
const BEST: &str = "best.";

impl<T: Task> Tuner<T> {
    /// Starts a training, and measures the held-out examples. Fails with `training-diverged` if their loss is not finite.
    ///
    /// * `train`, `held_out`: the examples, at least one of each
    pub async fn start(
        task: T,
        parts: T::Parts,
        [train, held_out]: [Vec<usize>; 2],
        schedule: Schedule,
        adam: AdamConfig,
    ) -> Result<Self> {
        let batch = schedule.batch.clamp(1, train.len());
        let before = task.measure(&parts, &held_out).await?;
        let loss = T::criterion(&before);
        if !loss.is_finite() {
            return Err(Error::training_diverged(0));
        }
        let mut stopping = EarlyStopping::new(StopRule::Loss);
        stopping.observe(-loss, schedule.patience);
        Ok(Self {
            sampler: BatchSampler::new(train.into_iter().map(|example| (example, 1)), batch, schedule.seed),
            schedule,
            held_out,
            best: (before.clone(), parts.clone()),
            parts,
            adam: Adam::new(adam),
            stopping,
            before,
            loss,
            measured_at: 0,
            task,
        })
    }

    /// Performs one iteration.
    ///
    /// # Errors
    /// Fails with `training-diverged` if a loss is not finite, and with `device-lost`.
    pub async fn step(&mut self) -> Result<TunerStep<T::Metrics>> {
        let (done, Schedule { iterations, decay, patience, .. }) = (self.iteration(), self.schedule);
        let losses = self.task.losses(&self.parts, &self.sampler.batch(done), done)?;
        let reported = losses[T::REPORTED].clone();
        let gradients = self.adam.scaled(Tensor::cat(losses, 0).sum()).backward();
        let scale = if decay { 1.0 - done as f64 / iterations as f64 } else { 1.0 };
        self.parts = self.adam.step(self.parts.clone(), &gradients, |path| self.task.rate(path) * scale);
        let (iteration, last) = (self.iteration(), self.iteration() >= iterations);
        if iteration.is_multiple_of(READ_EVERY) || iteration == 1 || last {
            self.loss = read(reported.inner()).await?[0];
            if !self.loss.is_finite() {
                return Err(Error::training_diverged(iteration));
            }
        }
        let mut step = TunerStep { iteration, loss: self.loss, held_out: None, stop: None };
        if iteration.is_multiple_of(EVALUATE_EVERY) || last {
            let now = self.measure().await?;
            let loss = T::criterion(&now);
            if !loss.is_finite() {
                return Err(Error::training_diverged(iteration));
            }
            let Verdict { keep, stop } = self.stopping.observe(-loss, patience);
            if keep {
                self.best = (now.clone(), self.parts.clone());
            }
            self.measured_at = iteration;
            step.held_out = Some(now);
            step.stop = stop.then_some(TuneStop::HeldOut);
        }
        step.stop = step.stop.or(last.then_some(TuneStop::Iterations));
        Ok(step)
    }

    /// Measures the held-out examples with the current parameters. Fails with `device-lost`.
    pub async fn measure(&self) -> Result<T::Metrics> {
        self.task.measure(&self.parts, &self.held_out).await
    }

    /// Returns the number of iterations so far.
    pub fn iteration(&self) -> usize {
        self.adam.updates
    }

    /// Returns the metrics of the held-out examples before the first iteration.
    pub fn before(&self) -> &T::Metrics {
        &self.before
    }

    /// Returns the current parameters.
    pub fn parts(&self) -> &T::Parts {
        &self.parts
    }

    /// Returns the task, and the parameters with the lowest criterion of the held-out examples with their metrics. Fails with `device-lost`.
    pub async fn finish(mut self) -> Result<(T, T::Parts, T::Metrics)> {
        if self.iteration() > self.measured_at {
            let now = self.measure().await?;
            // NaN does not compare as less.
            if T::criterion(&now) < T::criterion(&self.best.0) {
                self.best = (now, self.parts);
            }
        }
        let (metrics, parts) = self.best;
        Ok((self.task, parts, metrics))
    }

    /// Encodes the state between two iterations.
    ///
    /// * `identity`: identifies what is trained, and on which examples; [`Self::restore`] compares it
    pub async fn checkpoint(&self, identity: &str) -> Result<Vec<u8>> {
        let mut weights = optimizer_weights(&self.adam);
        for (prefix, parts) in [(CURRENT, &self.parts), (BEST, &self.best.1)] {
            let changed = collect(parts).into_iter().filter(|(path, _)| self.task.changes(path));
            weights.extend(changed.map(|(path, weight)| (format!("{prefix}{path}"), weight)));
        }
        let state = State {
            identity: identity.to_string(),
            schedule: self.schedule,
            updates: self.adam.updates,
            loss: self.loss,
            stopping: self.stopping.clone(),
            before: self.before.clone(),
            best: self.best.0.clone(),
            measured_at: self.measured_at,
        };
        let json = serde_json::to_string(&state).expect("plain data");
        Ok(serialize(weights, Storage::Full, Metadata::from([(STATE.to_string(), json)])).await?)
    }

    /// Restores a training that was started as the checkpoint's was. The checkpoint is untrusted input.
    ///
    /// # Errors
    /// Fails with `checkpoint-corrupt`, or with `base-mismatch` if the checkpoint is of another training.
    pub fn restore(&mut self, identity: &str, checkpoint: &[u8], device: &Device) -> Result<()> {
        let corrupt = |reason: String| Error::checkpoint_corrupt(reason);
        let (mut weights, metadata) = deserialize(checkpoint).map_err(corrupt)?;
        let json = metadata.get(STATE).ok_or_else(|| corrupt("it has no state".into()))?;
        let state: State<T::Metrics> =
            serde_json::from_str(json).map_err(|error| corrupt(format!("its state: {error}")))?;
        if state.identity != identity || state.schedule != self.schedule {
            return Err(Error::checkpoint_of_another(state.identity));
        }
        let start = collect(&self.parts);
        let restored = |weights: &mut HostWeights, prefix: &str| -> Result<T::Parts> {
            let mut stored = HostWeights::new();
            for path in start.keys().filter(|path| self.task.changes(path)) {
                let weight = weights.remove(&format!("{prefix}{path}"));
                stored
                    .insert(path.clone(), weight.ok_or_else(|| corrupt(format!("it lacks {prefix}{path}")))?);
            }
            apply(self.parts.clone(), stored).map_err(corrupt)
        };
        let (parts, best) = (restored(&mut weights, CURRENT)?, restored(&mut weights, BEST)?);
        restore_optimizer(&mut self.adam, &start, &mut weights, device)?;
        (self.parts, self.best) = (parts, (state.best, best));
        self.adam.updates = state.updates;
        (self.stopping, self.before) = (state.stopping, state.before);
        (self.loss, self.measured_at) = (state.loss, state.measured_at);
        Ok(())
    }
}
