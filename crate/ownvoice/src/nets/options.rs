//! The options of a tuning of a net.

use burn::prelude::*;
use serde::{Deserialize, Serialize};

use super::{config::MAX_SIDE, loss::LossKind};
use crate::{
    Error, Result,
    learn::{early_stopping::PATIENCE, tuner::Schedule},
};
use burn_fused::{
    Precision,
    adam::{AdamConfig, Rule},
};

/// The options of a tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetTuneOptions {
    /// The most iterations.
    pub iterations: usize,
    /// The number of examples in a batch.
    pub batch: usize,
    pub optimizer: Rule,
    /// The initial learning rate.
    pub rate: f64,
    /// Whether the learning rate falls linearly, to zero after the last iteration.
    pub decay: bool,
    /// The momentum of stochastic gradient descent.
    pub momentum: f32,
    pub weight_decay: f32,
    pub loss: LossKind,
    /// The layers that are not trained, by the beginnings of their public names, or `trunk` for all but the classifier. They keep their running statistics.
    pub frozen: Vec<String>,
    /// Whether the other layers normalise by the statistics of the batch, as in training from random weights. The default is by running statistics, since few
    /// examples give poor ones.
    pub batch_statistics: bool,
    /// The validations without improvement, one every 25 iterations, that end the tuning.
    pub patience: usize,
    /// The most pixels by which pictures are moved at random in each direction, so that a net learns from more than it is given.
    pub translation: usize,
    /// One example in this many is held out, of each class.
    pub held_out_every: usize,
    pub seed: u64,
    /// The precision of products; the classifier stays in single precision.
    pub precision: Precision,
}

impl Default for NetTuneOptions {
    fn default() -> Self {
        Self {
            iterations: 200,
            batch: 16,
            optimizer: Rule::Adam,
            rate: 1e-3,
            decay: false,
            momentum: 0.9,
            weight_decay: 0.0,
            loss: LossKind::CrossEntropy,
            frozen: Vec::new(),
            batch_statistics: false,
            patience: PATIENCE,
            translation: 0,
            held_out_every: 5,
            seed: 1,
            precision: Precision::F32,
        }
    }
}

/// What [`NetTuneOptions::frozen`] calls all layers but the classifier.
pub const TRUNK: &str = "trunk";

impl NetTuneOptions {
    /// Returns the options for few examples and pretrained weights: only the classifier is trained, on features that are computed once.
    pub fn quick() -> Self {
        Self { frozen: vec![TRUNK.into()], rate: 5e-3, ..Self::default() }
    }

    /// Fails with `option-invalid`, or with `precision-unsupported`.
    pub(super) fn check(&self, device: &Device) -> Result<()> {
        let Self {
            iterations, batch, rate, momentum, weight_decay, patience, held_out_every, precision, ..
        } = self;
        if [iterations, batch, patience].contains(&&0) || *held_out_every < 2 {
            return Err(Error::option_invalid(
                "a tuning needs an iteration, a batch and patience, and holds out at most every second example",
            ));
        }
        if self.translation > MAX_SIDE {
            return Err(Error::option_invalid(format!("pictures are moved by at most {MAX_SIDE} pixels")));
        }
        if self.translation > 0 && self.frozen.iter().any(|layers| layers == TRUNK) {
            return Err(Error::option_invalid(
                "with a frozen trunk, pictures are not moved: their features are computed once",
            ));
        }
        if !(rate.is_finite()
            && *rate > 0.0
            && (0.0..1.0).contains(momentum)
            && (0.0..1.0).contains(weight_decay))
        {
            return Err(Error::option_invalid(
                "the learning rate is positive; momentum and weight decay lie between 0 and 1",
            ));
        }
        if precision.runs_on(device) { Ok(()) } else { Err(Error::precision_unsupported()) }
    }

    pub(super) fn schedule(&self) -> Schedule {
        let Self { iterations, batch, seed, decay, patience, .. } = *self;
        Schedule { iterations, batch, seed, decay, patience }
    }

    /// Returns the hyperparameters of PyTorch's optimizers, which do not clip.
    pub fn adam(&self) -> AdamConfig {
        let beta_1 = if self.optimizer == Rule::Sgd { self.momentum } else { 0.9 };
        AdamConfig {
            rule: self.optimizer,
            beta_1,
            epsilon: 1e-8,
            epsilon_is_corrected: true,
            weight_decay: self.weight_decay,
            clip_norm: f32::MAX,
            precision: self.precision,
            ..AdamConfig::default()
        }
    }
}
