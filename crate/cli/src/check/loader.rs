//! Profiles the data loader: whole steps of a pretraining with the blocking loader and with threads, and how long each step waits for its batch.

use burn::prelude::*;
use serde::Serialize;
use web_time::Instant;

use crate::learn::{
    data_loader::{Collate, DataLoaderConfig, LoadedBatch, with_loader},
    run::split,
    trainable_model::TrainableModel,
};
use burn_fused::{
    Mode, Precision,
    adam::{Adam, AdamConfig},
    ranks::Shard,
    readback::read_data,
};
use ownvoice::{
    Error, Result,
    check::profile::{ProfileOptions, WARM_UP, model_sizes},
    features::Features,
    model::{
        Tacotron, TacotronConfig,
        batch::{Extent, UtteranceSource},
    },
};

/// The means of the timed steps with one data loader.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoaderProfile {
    pub loader: &'static str,
    /// The number of threads that prepare batches ahead; 0 for the blocking loader.
    pub threads: usize,
    pub step_ms: f64,
    /// The part of a step that waited for its batch.
    pub waited_ms: f64,
    /// The share of the time in which the device had no batch, in percent.
    pub idle_percent: f64,
    /// The mean number of batches that were ready when a step took one.
    pub queue_depth: f64,
}

/// Profiles a training on features with the blocking loader, then with `config`.
pub fn profile_loaders(
    sizes: &TacotronConfig,
    features: &Features,
    device: &Device,
    options: &ProfileOptions,
    config: DataLoaderConfig,
) -> Result<Vec<LoaderProfile>> {
    [("blocking", DataLoaderConfig::BLOCKING), ("feeder", config)]
        .into_iter()
        .map(|(name, config)| measure(name, sizes, features, device, options, config))
        .collect()
}

fn measure(
    name: &'static str,
    sizes: &TacotronConfig,
    features: &Features,
    device: &Device,
    options: &ProfileOptions,
    config: DataLoaderConfig,
) -> Result<LoaderProfile> {
    let &ProfileOptions { batch, window, runs, precision, .. } = options;
    let device = &device.clone().autodiff();
    let sizes = &model_sizes(sizes, features.speakers.len(), options, device)?;
    if sizes.pitch && !features.have_pitch() {
        return Err(Error::corpus_invalid("the features have no pitch; run `ownvoice prepare` again"));
    }
    let aligned =
        (0..features.utterances.len()).filter(|&index| features.utterances[index].durations.is_some());
    let (train, held_out) = split(aligned)?;
    let from = (&train[..], &held_out[..]);
    let extent = Extent::Window(window);
    let source = UtteranceSource::new(features, from, sizes, extent, batch, 0, Shard::WHOLE)?;
    let model = Tacotron::new(sizes, device).with_precision(precision);
    time_loader(name, &source, model, device, (runs, precision), config)
}

/// Times whole steps of a model on the batches of `source`, after [`WARM_UP`] steps that are not timed.
///
/// * `device`: tracks gradients
pub fn time_loader<M: TrainableModel, S: Collate<Batch = M::Batch>>(
    name: &'static str,
    source: &S,
    mut model: M,
    device: &Device,
    (runs, precision): (usize, Precision),
    config: DataLoaderConfig,
) -> Result<LoaderProfile> {
    let mut adam = Adam::new(AdamConfig { precision, ..AdamConfig::default() });
    with_loader(source, config, 0..WARM_UP + runs, device, |loader| {
        let (mut waited_ms, mut ready, mut begun) = (0.0, 0, Instant::now());
        for step in 0..WARM_UP + runs {
            if step == WARM_UP {
                (waited_ms, ready, begun) = (0.0, 0, Instant::now());
            }
            let LoadedBatch { batch, waited, ready: found } = loader.take()?;
            (waited_ms, ready) = (waited_ms + waited.as_secs_f64() * 1e3, ready + found);
            let total = Tensor::cat(model.losses(&batch, Mode::Train), 0).sum();
            let gradients = adam.scaled(total.clone()).backward();
            model = adam.step(model, &gradients, |_| 1e-4);
            // Waits for the device, because its queue would hide the waiting for batches.
            pollster::block_on(read_data(total.inner()))?;
        }
        let (step_ms, count) = (begun.elapsed().as_secs_f64() * 1e3 / runs as f64, runs as f64);
        let waited_ms = waited_ms / count;
        Ok(LoaderProfile {
            loader: name,
            threads: config.threads,
            step_ms,
            waited_ms,
            idle_percent: 100.0 * waited_ms / step_ms,
            queue_depth: ready as f64 / count,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::check::profile::corpus;

    #[test]
    fn the_blocking_loader_is_compared_with_threads() {
        let (config, options) = (
            TacotronConfig::tiny(1),
            ProfileOptions { batch: 2, window: 16, runs: 3, ..ProfileOptions::default() },
        );
        let threads = DataLoaderConfig { threads: 1, depth: 2 };
        let rows = profile_loaders(&config, &corpus(80, 60), &Device::flex(), &options, threads).unwrap();
        let [blocking, ahead] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((blocking.loader, ahead.loader), ("blocking", "feeder"));
        assert!(blocking.waited_ms > 0.0 && blocking.waited_ms < blocking.step_ms, "{blocking:?}");
        assert!(blocking.queue_depth == 0.0 && ahead.queue_depth > 0.0, "{rows:?}");
        assert!((0.0..100.0).contains(&ahead.idle_percent), "{ahead:?}");
    }
}
