//! Trains a base voice on a prepared corpus, along either path.

use burn::{module::Param, prelude::*};

use super::{domain_embedding, warm_start::WarmStart};
use crate::learn::{
    data_loader::Collate,
    hyperparameters::{Hyperparameters, RunConfig},
    run::{Run, split},
    trainable_model::TrainableModel,
};
use burn_fused::{ComputePlan, Mode, Scope, ranks::Ranks, weights::apply};
use ownvoice::{
    Error, Result,
    check::step_dump::Stepped,
    features::Features,
    learn::sampler::BatchKey,
    model::{
        AttentiveTacotron, Tacotron, TacotronConfig,
        batch::{Batch, Extent, UtteranceSource},
    },
    report::Report,
};

impl Hyperparameters {
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
            compute: ComputePlan::default(),
        }
    }

    /// Of its last part, with people among the speakers (decision 104).
    pub fn on_people() -> Self {
        Self { steps: 1100, batch: 32, rate_start: 6e-4, rate_end: 3e-5, ..Self::base() }
    }
}

/// A Tacotron that can be trained on features.
pub trait Pretrained: TrainableModel<Batch = Batch> {
    /// Beginnings of the names that it has in common with a base.
    const SHARED: &'static [&'static str];

    /// Of random weights; its batch statistics are over all ranks.
    fn blank(config: &TacotronConfig, ranks: &Ranks, device: &Device) -> Self;

    /// How much of an utterance it learns from at once.
    fn extent(hyperparameters: &Hyperparameters) -> Extent;

    /// `[S, V]`
    fn speaker_table(&mut self) -> &mut Param<Tensor<2>>;
}

/// The duration path, on windows.
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

/// The attention path, on whole utterances.
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

/// Trains to the recipe's last step and returns the model and its held-out loss. Where speakers are marked, their rows have the mark in the end.
///
/// * `start`: another base to begin with
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
    let config = &TacotronConfig { speakers: features.speaker_rows(), ..config.clone() };
    let mut blank = M::blank(config, ranks, device).computing(&Scope::new(hyperparameters.compute.clone()));
    if config.pitch && !features.have_pitch() {
        return Err(Error::corpus_invalid("the features have no pitch; run `ownvoice prepare` again"));
    }
    let mut average = None;
    if let Some(start) = start {
        let share = start.share;
        let mut shared = start.fit(config, &features.speakers);
        shared.retain(|name, _| M::SHARED.iter().any(|part| name.starts_with(part)));
        average = (share > 0.0).then(|| (shared.clone(), share));
        blank = apply(blank, shared).map_err(Error::base_corrupt)?;
    }
    let run = Run::open(blank, run_config)?.averaged_with(average);
    let source = UtteranceSource::new(
        features,
        (&train, &held_out),
        config,
        M::extent(hyperparameters),
        hyperparameters.batch,
        hyperparameters.seed,
        ranks.shard(),
    )?;
    let (mut model, held_out_loss) = run.finish(&source, report)?;
    if !features.marked.is_empty() {
        let table = model.speaker_table();
        *table = domain_embedding::folded(features, table.clone());
    }
    Ok((model, held_out_loss))
}

impl Collate for UtteranceSource<'_> {
    type Made = Batch;
    type Batch = Batch;

    fn make(&self, draw: BatchKey, cpu: &Device) -> Result<Batch> {
        self.draw(draw, cpu)
    }

    fn place(&self, made: Batch, device: &Device) -> Batch {
        made.to_device(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learn::preflight::{RunFacts, preflight},
        learn::{data_loader::DataLoaderConfig, hyperparameters::WatchConfig, run::curve_path, watch::dump_path},
    };
    use burn_fused::{
        ranks::threads,
        weights::{HostWeights, Metadata, Storage, collect, deserialize, serialize},
    };
    use std::{fs, path::Path};
    use tempfile::TempDir;

    struct Case {
        features: Features,
        /// Where they are read from.
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
            let hyperparameters = Hyperparameters { steps: 60, batch: 6, window: 24, checkpoint_every: 20, ..Hyperparameters::base() };
            let folder = TempDir::new().unwrap();
            ownvoice_testing::noise_features::write(folder.path(), true);
            let features = Features::load(folder.path()).unwrap();
            Self { features, _folder: folder, config, weights: deserialize(&bytes).unwrap().0, hyperparameters }
        }

        /// Trains to the end, or until a batch fails.
        ///
        /// * `fails`: the step whose batch cannot be made
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

        /// Trains on from the case's weights, which have this share of the result; returns the model and its held-out loss.
        fn train_further(&self, features: &Features, steps: usize, share: f32) -> (Tacotron, f32) {
            let start = WarmStart {
                config: self.config.clone(),
                speakers: features.speakers.clone(),
                weights: self.weights.clone(),
                share,
            };
            let folder = TempDir::new().unwrap();
            let hyperparameters = Hyperparameters { steps, ..self.hyperparameters.clone() };
            let run_config = RunConfig::new(hyperparameters, folder.path().to_path_buf(), &Device::flex());
            pretrain(features, &self.config, &run_config, Some(start), &()).unwrap()
        }
    }

    struct Failing<'a> {
        source: UtteranceSource<'a>,
        fails: Option<usize>,
    }

    impl Collate for Failing<'_> {
        type Made = Batch;
        type Batch = Batch;

        fn make(&self, draw: BatchKey, cpu: &Device) -> Result<Batch> {
            match self.fails {
                Some(step) if draw == BatchKey::Train(step) => Err(Error::corpus_invalid("a bad batch")),
                _ => self.source.make(draw, cpu),
            }
        }

        fn place(&self, made: Batch, device: &Device) -> Batch {
            self.source.place(made, device)
        }
    }

    /// Steps and losses; seconds are left out.
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
    fn a_run_is_the_same_whatever_feeds_it_and_wherever_it_was_stopped() {
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
        // Between two checkpoints: what followed the first of them is trained again.
        let error = alone(2, "resumed", false, Some(47)).unwrap_err();
        assert_eq!(error.code(), "corpus-invalid");
        assert_eq!(alone(1, "resumed", true, None).unwrap(), loss);
        assert_same(&curve(&directory("resumed")), &expected, 0.0);
    }

    #[test]
    fn the_start_keeps_its_share() {
        let case = Case::new();
        let trained = |share: f32| {
            let (model, loss) = case.train_further(&case.features, 10, share);
            let bytes =
                pollster::block_on(serialize(collect(&model), Storage::Full, Metadata::new())).unwrap();
            (deserialize(&bytes).unwrap().0, loss)
        };
        let ((end, loss), (average, average_loss)) = (trained(0.0), trained(0.25));
        assert_ne!(loss, average_loss, "the loss is that of the average");
        assert_eq!(end.len(), average.len());
        for (name, (_, begun_with)) in &case.weights {
            for ((from, to), mean) in begun_with.iter().zip(&end[name].1).zip(&average[name].1) {
                assert!((0.25 * from + 0.75 * to - mean).abs() < 1e-6, "{name}: {from}, {to}, {mean}");
            }
        }
        assert!(case.weights.iter().any(|(name, (_, from))| *from != end[name].1), "something was learned");
    }

    #[test]
    fn the_rows_of_people_take_in_their_mark() {
        let mut case = Case::new();
        case.features.speakers = vec!["a".into(), "flite-b".into()];
        // How far a speaker's row moves in Adam's first step, which is as long in the mark as in the row.
        let moved = |features: &Features| {
            let (model, _) = case.train_further(features, 1, 0.0);
            assert_eq!(model.speakers.dims()[0], 2, "the mark has no row of its own in the end");
            let rows = model.speakers.val().into_data().try_to_vec::<f32>().unwrap();
            let begun_with = &case.weights["speakers"].1;
            let moved: Vec<f32> = rows.iter().zip(begun_with).map(|(to, from)| (to - from).abs()).collect();
            let (person, engine) = moved.split_at(moved.len() / 2);
            [person, engine].map(|row| row.iter().sum::<f32>())
        };
        let mut features = case.features.clone();
        let unmarked = moved(&features);
        domain_embedding::add_domain_embedding(&mut features).unwrap();
        let marked = moved(&features);
        assert!((marked[0] / unmarked[0] - 2.0).abs() < 0.01, "{marked:?}, {unmarked:?}");
        assert!((marked[1] / unmarked[1] - 1.0).abs() < 0.01, "{marked:?}, {unmarked:?}");
        features.speakers[0] = "flite-a".into();
        assert_eq!(
            domain_embedding::add_domain_embedding(&mut features).unwrap_err().code(),
            "option-invalid"
        );
    }

    #[test]
    fn two_ranks_train_as_one_and_one_goes_on_where_two_ended() {
        let (case, folder) = (Case::new(), tempfile::tempdir().unwrap());
        let directory = |name: &str| folder.path().join(name);
        let loss = case.train(Ranks::default(), 1, &directory("one"), false, None).unwrap();
        let expected = curve(&directory("one"));
        let losses = threads::run(2, |ranks| case.train(ranks, 1, &directory("two"), false, None).unwrap());
        assert!(losses[0] == losses[1] && (losses[0] - loss).abs() < 1e-4, "{losses:?}, {loss}");
        assert_same(&curve(&directory("two")), &expected, 1e-4);
        // They differ by their number, and not by their parts of the batches.
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
        // The run was saved at the step that failed; the means of its lines are over what was left of their steps.
        assert_eq!(resumed.len(), 3);
        assert_same(&resumed[..2], &expected[..2], 1e-4);
        assert!((resumed[2].last().unwrap() - expected[2].last().unwrap()).abs() < 1e-4, "held out");
    }

    #[test]
    fn two_ranks_dump_a_step_that_is_no_number_and_none_waits_for_the_other() {
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
