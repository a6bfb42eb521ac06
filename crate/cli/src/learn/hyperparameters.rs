//! The configuration of a run: what is trained and how, where, and what is watched meanwhile.

use std::path::PathBuf;

use burn::prelude::*;
use serde::{Deserialize, Serialize};

use super::data_loader::DataLoaderConfig;
use burn_fused::{ComputePlan, ranks::Ranks};

/// How a model is trained; kept beside it, so that the same command makes it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    pub steps: usize,
    pub batch: usize,
    /// Frames.
    pub window: usize,
    pub seed: u64,
    pub rate_start: f64,
    pub rate_end: f64,
    /// Every how many steps the state is saved and the held-out loss taken.
    pub checkpoint_every: usize,
    /// Precision, and which operations are fused.
    #[serde(flatten)]
    pub compute: ComputePlan,
}

impl Hyperparameters {
    /// Short warm-up, then exponential decay from start to end.
    pub(super) fn rate(&self, step: usize) -> f64 {
        const WARM_UP_STEPS: f64 = 100.0;
        let progress = step as f64 / self.steps as f64;
        let decayed = self.rate_start * (self.rate_end / self.rate_start).powf(progress);
        decayed * ((step + 1) as f64 / WARM_UP_STEPS).min(1.0)
    }
}

/// A hyperparameters, and where and on which device it runs.
#[derive(Debug, Clone)]
pub struct RunConfig {
    pub hyperparameters: Hyperparameters,
    /// Holds checkpoint and curve.
    pub directory: PathBuf,
    /// Go on from the checkpoint, where there is one.
    pub resume: bool,
    /// Tracks gradients.
    pub device: Device,
    /// How batches are made ahead; the result is the same in any way.
    pub loader: DataLoaderConfig,
    /// With whom the batches are shared; the first rank writes, and the folder is the same for all. The result is the same with any number of ranks, but for rounding and for dropout, which each rank makes of its own.
    pub ranks: Ranks,
    /// What is watched meanwhile; the result is the same in any way.
    pub watch: WatchConfig,
}

impl RunConfig {
    /// From the beginning, on one device, watched as usual.
    ///
    /// * `device`: without gradients
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

/// What the watch over a run examines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchConfig {
    /// Steps from one count of magnitudes to the next; 0: none.
    pub statistics_every: usize,
    /// Steps at most whose dump is written where something is no number: a loss' scale that grows overflows now and then.
    pub max_dumps: usize,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self { statistics_every: 25, max_dumps: 3 }
    }
}
