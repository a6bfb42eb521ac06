//! Trains a Tacotron of either alignment path on features.

use super::{pretrained::Pretrained, warm_start::WarmStart};
use crate::learn::{
    hyperparameters::{Hyperparameters, RunConfig},
    run::{Run, split},
};
use burn_fused::{ComputePlan, Scope, weights::apply};
use ownvoice::{
    Error, Result,
    features::Features,
    model::{TacotronConfig, batch::UtteranceSource},
    report::Report,
};

impl Hyperparameters {
    /// The hyperparameters of a base.
    pub fn base() -> Self {
        Self {
            steps: 10_000,
            batch: 16,
            window: 160,
            seed: 1,
            rate_start: 1e-3,
            rate_end: 5e-5,
            checkpoint_every: 100,
            compute: ComputePlan::default(),
        }
    }
}

/// Trains to the last step. Returns the model and its held-out loss.
///
/// * `start`: the base whose weights are the initial ones
pub fn pretrain<M: Pretrained>(
    features: &Features,
    config: &TacotronConfig,
    run_config: &RunConfig,
    start: Option<WarmStart>,
    report: &dyn Report,
) -> Result<(M, f32)> {
    let RunConfig { hyperparameters, device, ranks, .. } = run_config;
    let aligned =
        (0..features.utterances.len()).filter(|&index| features.utterances[index].durations.is_some());
    let (train, held_out) = split(aligned)?;
    device.seed(hyperparameters.seed);
    let mut blank = M::blank(config, ranks, device).computing(&Scope::new(hyperparameters.compute.clone()));
    if config.pitch && !features.have_pitch() {
        return Err(Error::corpus_invalid("the features have no pitch; run `ownvoice prepare` again"));
    }
    if let Some(start) = start {
        let mut shared = start.fit(config, &features.speakers);
        shared.retain(|name, _| M::SHARED.iter().any(|part| name.starts_with(part)));
        blank = apply(blank, shared).map_err(Error::base_corrupt)?;
    }
    let run = Run::open(blank, run_config)?;
    let source = UtteranceSource::new(
        features,
        (&train, &held_out),
        config,
        M::extent(hyperparameters),
        hyperparameters.batch,
        hyperparameters.seed,
        ranks.shard(),
    )?;
    run.finish(&source, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learn::preflight::{RunFacts, preflight},
        learn::{
            data_loader::{Collate, DataLoaderConfig},
            hyperparameters::WatchConfig,
            run::curve_path,
            watch::dump_path,
        },
    };
    use burn::prelude::*;
    use burn_fused::{
        ranks::{Ranks, threads},
        weights::{HostWeights, Metadata, Storage, collect, deserialize, serialize},
    };
    use ownvoice::{
        learn::sampler::BatchKey,
        model::{Tacotron, batch::Batch},
    };
    use std::{fs, path::Path};
    use tempfile::TempDir;

    struct Case {
        features: Features,
        /// The folder of the features.
        _folder: TempDir,
        config: TacotronConfig,
        weights: HostWeights,
        hyperparameters: Hyperparameters,
    }

    impl Case {
        fn new() -> Self {
            let config = TacotronConfig { pitch: true, ..TacotronConfig::tiny(2) };
            Device::flex().seed(1);
            let weights = collect(&Tacotron::new(&config, &Device::flex()));
            let bytes = pollster::block_on(serialize(weights, Storage::Full, Metadata::new())).unwrap();
            let hyperparameters = Hyperparameters {
                steps: 60,
                batch: 6,
                window: 24,
                checkpoint_every: 20,
                ..Hyperparameters::base()
            };
            let folder = TempDir::new().unwrap();
            ownvoice_testing::noise_features::write(folder.path(), true);
            let features = Features::load(folder.path()).unwrap();
            Self {
                features,
                _folder: folder,
                config,
                weights: deserialize(&bytes).unwrap().0,
                hyperparameters,
            }
        }

        /// Trains to the end, or until a batch fails.
        ///
        /// * `fails`: the step whose batch fails
        fn train(
            &self,
            ranks: Ranks,
            threads: usize,
            directory: &Path,
            resume: bool,
            fails: Option<usize>,
        ) -> Result<f32> {
            let run_config = RunConfig {
                resume,
                loader: DataLoaderConfig { threads, depth: 4 },
                ranks: ranks.clone(),
                ..RunConfig::new(self.hyperparameters.clone(), directory.to_path_buf(), &Device::flex())
            };
            let blank = Tacotron::blank(&self.config, &ranks, &run_config.device);
            let run = Run::open(apply(blank, self.weights.clone()).unwrap(), &run_config)?;
            let (train, held_out) = split(0..self.features.utterances.len())?;
            let Hyperparameters { batch, seed, .. } = self.hyperparameters;
            let source = UtteranceSource::new(
                &self.features,
                (&train, &held_out),
                &self.config,
                Tacotron::extent(&self.hyperparameters),
                batch,
                seed,
                ranks.shard(),
            )?;
            run.finish(&Failing { source, fails }, &()).map(|(_, loss)| loss)
        }
    }

    /// A source of which one batch may fail.
    struct Failing<'a> {
        source: UtteranceSource<'a>,
        fails: Option<usize>,
    }

    impl Collate for Failing<'_> {
        type HostBatch = Batch;
        type Batch = Batch;

        fn make(&self, key: BatchKey, cpu: &Device) -> Result<Batch> {
            match self.fails {
                Some(step) if key == BatchKey::Train(step) => Err(Error::corpus_invalid("a bad batch")),
                _ => self.source.make(key, cpu),
            }
        }

        fn place(&self, made: Batch, device: &Device) -> Batch {
            self.source.place(made, device)
        }
    }

    /// Returns the steps and losses of a curve, without the seconds.
    fn curve(directory: &Path) -> Vec<Vec<f32>> {
        let text = fs::read_to_string(curve_path(directory)).unwrap();
        let numbers = |line: &str| {
            let columns =
                line.split(',').enumerate().filter(|(column, text)| *column != 1 && !text.is_empty());
            columns.map(|(_, text)| text.parse().unwrap()).collect()
        };
        text.lines().skip(1).map(numbers).collect()
    }

    fn assert_same(found: &[Vec<f32>], expected: &[Vec<f32>], tolerance: f32) {
        assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}");
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() <= tolerance, "{found}, {expected}");
        }
    }

    #[test]
    fn the_result_does_not_depend_on_threads_or_on_a_resumption() {
        let (case, folder) = (Case::new(), tempfile::tempdir().unwrap());
        let directory = |name: &str| folder.path().join(name);
        let alone = |threads, name: &str, resume, fails| {
            case.train(Ranks::default(), threads, &directory(name), resume, fails)
        };
        let loss = alone(0, "blocking", false, None).unwrap();
        let expected = curve(&directory("blocking"));
        assert_eq!(expected.len(), 3);
        assert_eq!(alone(3, "threads", false, None).unwrap(), loss);
        assert_same(&curve(&directory("threads")), &expected, 0.0);
        // The run fails between two checkpoints, so that the steps after the first of them are trained again.
        let error = alone(2, "resumed", false, Some(47)).unwrap_err();
        assert_eq!(error.code(), "corpus-invalid");
        assert_eq!(alone(1, "resumed", true, None).unwrap(), loss);
        assert_same(&curve(&directory("resumed")), &expected, 0.0);
    }

    #[test]
    fn two_ranks_have_the_losses_of_one_and_one_rank_resumes_their_run() {
        let (case, folder) = (Case::new(), tempfile::tempdir().unwrap());
        let directory = |name: &str| folder.path().join(name);
        let loss = case.train(Ranks::default(), 1, &directory("one"), false, None).unwrap();
        let expected = curve(&directory("one"));
        let losses = threads::run(2, |ranks| case.train(ranks, 1, &directory("two"), false, None).unwrap());
        assert!(losses[0] == losses[1] && (losses[0] - loss).abs() < 1e-4, "{losses:?}, {loss}");
        assert_same(&curve(&directory("two")), &expected, 1e-4);
        // The facts have whole batches and not shards, so that only the number of ranks differs.
        let facts = |name: &str| -> RunFacts {
            serde_json::from_slice(&fs::read(directory(name).join(RunFacts::FILE)).unwrap()).unwrap()
        };
        let differing = preflight(&facts("one"), &facts("two")).into_iter().filter(|fact| !fact.same);
        let differing: Vec<String> =
            differing.map(|fact| format!("{}: {}, {}", fact.name, fact.a, fact.b)).collect();
        assert_eq!(differing, ["ranks: 1, 2"]);

        let codes = threads::run(2, |ranks| {
            // Only one rank has the bad batch.
            let fails = (ranks.shard().rank == 1).then_some(47);
            case.train(ranks, 1, &directory("resumed"), false, fails).unwrap_err().code()
        });
        assert_eq!(codes, ["rank-lost", "corpus-invalid"]);
        case.train(Ranks::default(), 1, &directory("resumed"), true, None).unwrap();
        let resumed = curve(&directory("resumed"));
        // The run was saved at the failed step, so that the mean of the last line is over fewer steps.
        assert_eq!(resumed.len(), 3);
        assert_same(&resumed[..2], &expected[..2], 1e-4);
        assert!((resumed[2].last().unwrap() - expected[2].last().unwrap()).abs() < 1e-4, "held-out loss");
    }

    #[test]
    fn two_ranks_dump_a_non_finite_step_and_neither_waits_for_the_other() {
        let mut case = Case::new();
        (case.hyperparameters.rate_start, case.hyperparameters.rate_end) = (1e30, 1e30);
        let folder = tempfile::tempdir().unwrap();
        let codes =
            threads::run(2, |ranks| case.train(ranks, 1, folder.path(), false, None).unwrap_err().code());
        assert_eq!(codes, ["training-diverged"; 2]);
        let dumped = |rank| (1..=20).filter(|&step| dump_path(folder.path(), step, rank).exists()).collect();
        let dumped: [Vec<usize>; 2] = [dumped(0), dumped(1)];
        assert_eq!(dumped[0].len(), WatchConfig::default().max_dumps);
        assert_eq!(dumped[0], dumped[1]);
    }
}
