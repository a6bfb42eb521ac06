//! The Tacotrons of both alignment paths as models that can be trained on features.

use burn::{module::Param, prelude::*};

use crate::learn::{data_loader::Collate, hyperparameters::Hyperparameters, trainable_model::TrainableModel};
use burn_fused::{Mode, Scope, ranks::Ranks};
use ownvoice::{
    Result,
    check::step_dump::Stepped,
    learn::sampler::BatchKey,
    model::{
        AttentiveTacotron, Tacotron, TacotronConfig,
        batch::{Batch, Extent, UtteranceSource},
    },
};

/// A Tacotron that can be trained on features.
pub trait Pretrained: TrainableModel<Batch = Batch> {
    /// The prefixes of the names of the weights that a warm start takes from a base.
    const SHARED: &'static [&'static str];

    /// Creates a model with random weights, whose batch statistics are computed over all ranks.
    fn blank(config: &TacotronConfig, ranks: &Ranks, device: &Device) -> Self;

    /// Returns which part of an utterance an item of a batch has.
    fn extent(hyperparameters: &Hyperparameters) -> Extent;

    /// Returns the speaker table, `[S, V]`.
    fn speaker_table(&mut self) -> &mut Param<Tensor<2>>;
}

/// The duration path, which is trained on windows.
impl TrainableModel for Tacotron {
    type Batch = Batch;

    const LOSSES: &'static [&'static str] = &["before", "after", "durations", "pitch"];
    const CRITERION: usize = 1;

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        self.named_losses(batch, mode).into_iter().map(|(_, loss)| loss).collect()
    }

    fn computing(self, scope: &Scope) -> Self {
        self.computing(scope)
    }
}

impl Pretrained for Tacotron {
    const SHARED: &'static [&'static str] =
        &["encoder.", "speakers", "durations.", "ranges.", "pitch.", "decoder.", "postnet."];

    fn blank(config: &TacotronConfig, ranks: &Ranks, device: &Device) -> Self {
        Self::new(config, device).with_ranks(ranks)
    }

    fn extent(hyperparameters: &Hyperparameters) -> Extent {
        Extent::Window(hyperparameters.window)
    }

    fn speaker_table(&mut self) -> &mut Param<Tensor<2>> {
        &mut self.speakers
    }
}

/// The attention path, which is trained on whole utterances.
impl TrainableModel for AttentiveTacotron {
    type Batch = Batch;

    const LOSSES: &'static [&'static str] = &["before", "after", "gate", "guide"];
    const CRITERION: usize = 1;

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        self.named_losses(batch, mode).into_iter().map(|(_, loss)| loss).collect()
    }

    fn computing(self, scope: &Scope) -> Self {
        self.computing(scope)
    }
}

impl Pretrained for AttentiveTacotron {
    const SHARED: &'static [&'static str] = &["encoder.", "speakers", "postnet."];

    fn blank(config: &TacotronConfig, ranks: &Ranks, device: &Device) -> Self {
        Self::new(config, device).with_ranks(ranks)
    }

    fn extent(_: &Hyperparameters) -> Extent {
        Extent::Whole
    }

    fn speaker_table(&mut self) -> &mut Param<Tensor<2>> {
        &mut self.speakers
    }
}

impl Collate for UtteranceSource<'_> {
    type HostBatch = Batch;
    type Batch = Batch;

    fn make(&self, key: BatchKey, cpu: &Device) -> Result<Batch> {
        self.draw(key, cpu)
    }

    fn place(&self, made: Batch, device: &Device) -> Batch {
        made.to_device(device)
    }
}
