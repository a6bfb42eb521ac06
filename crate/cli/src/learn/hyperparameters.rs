//! The configuration of a run: its hyperparameters, its folder and device, and what is monitored.

use std::path::PathBuf;

use burn::prelude::*;
use serde::{Deserialize, Serialize};

use super::data_loader::DataLoaderConfig;
use burn_fused::{ComputePlan, ranks::Ranks};

/// The hyperparameters of a training. They are stored in the manifest of a base as its `recipe`, so that the training can be repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    pub steps: usize,
    pub batch: usize,
    /// The length of a window in frames.
    pub window: usize,
    pub seed: u64,
    pub rate_start: f64,
    pub rate_end: f64,
    /// The number of steps between two checkpoints, each with a held-out loss.
    pub checkpoint_every: usize,
    /// The precision, and which operations are fused.
    #[serde(flatten)]
    pub compute: ComputePlan,
}

impl Hyperparameters {
    /// Returns the learning rate of a step: a linear warm-up, and an exponential decay from `rate_start` to `rate_end`.
    pub(super) fn rate(&self, step: usize) -> f64 {
        const WARM_UP_STEPS: f64 = 100.0;
        let progress = step as f64 / self.steps as f64;
        let decayed = self.rate_start * (self.rate_end / self.rate_start).powf(progress);
        decayed * ((step + 1) as f64 / WARM_UP_STEPS).min(1.0)
    }
}

/// The configuration of a run.
#[derive(Debug, Clone)]
pub struct RunConfig {
    pub hyperparameters: Hyperparameters,
    /// The folder of checkpoint and curve.
    pub directory: PathBuf,
    /// Whether to resume from the checkpoint, if there is one.
    pub resume: bool,
    /// The device, which tracks gradients.
    pub device: Device,
    /// The configuration of the data loader, which does not change the result.
    pub loader: DataLoaderConfig,
    /// The ranks that share each batch. The first rank writes, and all ranks use the same folder. The number of ranks changes the result only by rounding and
    /// dropout, whose random numbers differ between ranks.
    pub ranks: Ranks,
    /// What is monitored, which does not change the result.
    pub watch: WatchConfig,
}

impl RunConfig {
    /// Creates the configuration of a new run on one rank with the default data loader and monitoring.
    ///
    /// * `device`: tracks no gradients
    pub fn new(hyperparameters: Hyperparameters, directory: PathBuf, device: &Device) -> Self {
        Self {
            hyperparameters,
            directory,
            resume: false,
            device: device.clone().autodiff(),
            loader: DataLoaderConfig::default(),
            ranks: Ranks::default(),
            watch: WatchConfig::default(),
        }
    }
}

/// The configuration of [`Watch`](super::watch::Watch).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchConfig {
    /// The number of steps between two statistics of magnitudes; 0 for none.
    pub statistics_every: usize,
    /// The maximum number of dumps of steps with non-finite values. Growing loss scales overflow now and then, so that not every overflow needs a dump.
    pub max_dumps: usize,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self { statistics_every: 25, max_dumps: 3 }
    }
}
