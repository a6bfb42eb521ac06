//! Trains a base voice on a prepared corpus, along either path.

use burn::prelude::*;

use super::{
    batch::{Batch, Batcher},
    features::Features,
    loss::{attention_losses, losses},
    run::{Draw, Learner, Recipe, Run, RunConfig, split},
    warm_start::WarmStart,
};
use crate::{
    Error, Result,
    model::{AttentiveTacotron, Tacotron, TacotronConfig},
    nn::{Mode, Precision},
    report::Report,
    weights::apply,
};

impl Recipe {
    /// The shipped base's.
    pub fn base() -> Self {
        Self {
            steps: 10_000,
            batch: 16,
            window: 160,
            seed: 1,
            rate_start: 1e-3,
            rate_end: 5e-5,
            checkpoint_every: 100,
            precision: Precision::F32,
        }
    }
}

/// A Tacotron that can be trained on features.
pub trait Pretrained: Learner<Batch = Batch> {
    /// Beginnings of the names that it has in common with a base.
    const SHARED: &'static [&'static str];

    /// Computes its products in `precision`.
    fn blank(config: &TacotronConfig, precision: Precision, device: &Device) -> Self;

    fn draw(
        batcher: &mut Batcher,
        features: &Features,
        from: &[usize],
        config: &TacotronConfig,
        device: &Device,
    ) -> Batch;
}

/// The duration path, on windows.
impl Learner for Tacotron {
    type Batch = Batch;

    const LOSSES: &'static [&'static str] = &["before", "after", "durations", "pitch"];
    const CRITERION: usize = 1;

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        let losses = losses(self, batch, mode);
        vec![losses.before, losses.after, losses.durations, losses.pitch]
    }
}

impl Pretrained for Tacotron {
    const SHARED: &'static [&'static str] =
        &["encoder.", "speakers", "durations.", "ranges.", "pitch.", "decoder.", "postnet."];

    fn blank(config: &TacotronConfig, precision: Precision, device: &Device) -> Self {
        Self::new(config, device).with_precision(precision)
    }

    fn draw(
        batcher: &mut Batcher,
        features: &Features,
        from: &[usize],
        config: &TacotronConfig,
        device: &Device,
    ) -> Batch {
        batcher.draw(features, from, config, device)
    }
}

/// The attention path, on whole utterances.
impl Learner for AttentiveTacotron {
    type Batch = Batch;

    const LOSSES: &'static [&'static str] = &["before", "after", "gate", "guide"];
    const CRITERION: usize = 1;

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        let losses = attention_losses(self, batch, mode);
        vec![losses.before, losses.after, losses.gate, losses.guide]
    }
}

impl Pretrained for AttentiveTacotron {
    const SHARED: &'static [&'static str] = &["encoder.", "speakers", "postnet."];

    fn blank(config: &TacotronConfig, precision: Precision, device: &Device) -> Self {
        Self::new(config, device).with_precision(precision)
    }

    fn draw(
        batcher: &mut Batcher,
        features: &Features,
        from: &[usize],
        config: &TacotronConfig,
        device: &Device,
    ) -> Batch {
        batcher.draw_whole(features, from, config, device)
    }
}

/// Trains to the recipe's last step and returns the model and its held-out loss.
///
/// * `start`: another base to begin with
pub fn pretrain<M: Pretrained>(
    features: &Features,
    config: &TacotronConfig,
    run_config: &RunConfig,
    start: Option<WarmStart>,
    report: &dyn Report,
) -> Result<(M, f32)> {
    let RunConfig { recipe, device, .. } = run_config;
    let aligned =
        (0..features.utterances.len()).filter(|&index| features.utterances[index].durations.is_some());
    let (train, held_out) = split(aligned)?;
    device.seed(recipe.seed);
    let mut blank = M::blank(config, recipe.precision, device);
    if config.pitch && !features.have_pitch() {
        return Err(Error::corpus_invalid("the features have no pitch; run `ownvoice prepare` again"));
    }
    if let Some(start) = start {
        let mut shared = start.fit(config, &features.speakers);
        shared.retain(|name, _| M::SHARED.iter().any(|part| name.starts_with(part)));
        blank = apply(blank, &shared).map_err(Error::base_corrupt)?;
    }
    let run = Run::open(blank, run_config)?;
    let mut batcher = Batcher::new(recipe.batch, recipe.window, recipe.seed + run.step() as u64);
    run.finish(report, |draw| match draw {
        Draw::Train => M::draw(&mut batcher, features, &train, config, device),
        Draw::HeldOut(index) => M::draw(
            &mut Batcher::new(recipe.batch, recipe.window, index as u64),
            features,
            &held_out,
            config,
            device,
        ),
    })
}
