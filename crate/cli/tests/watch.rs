//! Tests that a pretraining writes statistics, dumps and the names of planted faults into its folder, and that `preflight` tells two runs apart.

use std::{
    fs,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use burn::{
    module::{Module, Param},
    prelude::*,
};
use burn_fused::{
    ComputePlan, Mode, Operation, Precision, Scope,
    compute::{PlantedFault, PlantedFaultKind},
    precision::{Culprit, Dump, Replayer, first_fault},
    ranks::Shard,
};
use ownvoice::{
    Result,
    check::step_dump::sample_features,
    features::Features,
    learn::sampler::BatchKey,
    model::{
        AttentiveTacotron, Tacotron, TacotronConfig,
        batch::{Batch, Extent, UtteranceSource},
    },
    report::Report,
};
use ownvoice_cli::{
    learn::preflight::{Fact, RunFacts, preflight},
    learn::{
        data_loader::Collate,
        hyperparameters::{Hyperparameters, RunConfig, WatchConfig},
        run::Run,
        trainable_model::TrainableModel,
        watch::{StepStatistics, dump_path, statistics_path},
    },
    pretrain::training::pretrain,
};

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Report for Notes {
    fn note(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_string());
    }
}

impl Notes {
    /// Returns the notes on faults; the others are lines of the curve.
    fn faults(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|line| line.starts_with("step ")).cloned().collect()
    }
}

fn hyperparameters(steps: usize) -> Hyperparameters {
    Hyperparameters { steps, batch: 2, window: 32, checkpoint_every: 20, ..Hyperparameters::base() }
}

fn run_config(folder: &Path, hyperparameters: Hyperparameters) -> RunConfig {
    RunConfig::new(hyperparameters, folder.to_path_buf(), &Device::flex())
}

fn config(features: &Features) -> TacotronConfig {
    TacotronConfig { pitch: true, ..TacotronConfig::tiny(features.speakers.len()) }
}

/// All runs of a process share the device's random numbers, so that only one may run at a time.
static SEEDED: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    SEEDED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn train(folder: &Path, features: &Features, hyperparameters: Hyperparameters, notes: &Notes) -> Result<()> {
    let _alone = alone();
    pretrain::<Tacotron>(features, &config(features), &run_config(folder, hyperparameters), None, notes)
        .map(drop)
}

fn facts(folder: &Path) -> RunFacts {
    serde_json::from_slice(&fs::read(folder.join(RunFacts::FILE)).unwrap()).unwrap()
}

fn culprit(folder: &Path, step: usize) -> Culprit {
    let dump = Dump::deserialize(&fs::read(dump_path(folder, step, 0)).unwrap()).unwrap();
    let about = &dump.about;
    let replayer =
        Replayer { plan: about.plan.clone(), device: Device::flex(), loss_scale: about.loss_scale };
    pollster::block_on(first_fault(&dump, &replayer)).unwrap().unwrap()
}

#[test]
fn a_sound_run_has_statistics_and_no_faults_and_is_reproducible() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for folder in &folders {
        let notes = Notes::default();
        train(folder.path(), &sample_features(80), hyperparameters(50), &notes).unwrap();
        assert_eq!(notes.faults(), Vec::<String>::new());
        assert!(!dump_path(folder.path(), 1, 0).exists());
    }
    let lines = fs::read_to_string(statistics_path(folders[0].path())).unwrap();
    let steps: Vec<StepStatistics> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(steps.iter().map(|step| step.step).collect::<Vec<_>>(), [25, 50]);
    let projection = steps[0].parameters.iter().find(|row| row.path == "decoder.projection.weight").unwrap();
    assert!(projection.weight.largest > 0.0 && projection.gradient.unwrap().is_finite(), "{projection:?}");
    // The outputs of the operations of that step, in the order of the forward pass.
    let outputs = &steps[1].outputs;
    let place = |path: &str, operation| {
        let found = outputs.iter().position(|row| row.call.path == path && row.call.operation == operation);
        found.unwrap_or_else(|| panic!("{path}: {outputs:?}"))
    };
    let embedded = place("encoder.convolutions.0", Operation::Convolution);
    assert!(embedded < place("decoder.second", Operation::Lstm), "{outputs:?}");
    assert!(outputs.iter().all(|row| row.output.is_finite() && row.output.largest > 0.0), "{outputs:?}");
    // The output of a ReLU has zeros, and its input has almost none.
    let rectified = &outputs[place("encoder.convolutions.0", Operation::Activate)].output;
    assert!(rectified.zeros > 0.1 && outputs[embedded].output.zeros < 0.1, "{rectified:?}");

    let [a, b] = folders.each_ref().map(|folder| facts(folder.path()));
    assert_eq!((a.order.len(), a.order[0].len(), a.ranks), (RunFacts::BATCHES, 2, 1));
    assert!(preflight(&a, &b).iter().all(|fact| fact.same), "{:#?}", preflight(&a, &b));
}

#[test]
fn another_seed_and_a_shuffled_corpus_are_distinguished() {
    let run = |features: &Features, seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        train(folder.path(), features, Hyperparameters { seed, ..hyperparameters(20) }, &Notes::default())
            .unwrap();
        facts(folder.path())
    };
    let features = sample_features(80);
    let first = run(&features, 1);
    let differing = |other: &RunFacts| {
        let differs: Vec<Fact> = preflight(&first, other).into_iter().filter(|fact| !fact.same).collect();
        differs.into_iter().map(|fact| fact.name).collect::<Vec<_>>()
    };
    let seeded = differing(&run(&features, 2));
    assert!(
        ["recipe.seed", "weights_sha256", "data order"].iter().all(|name| seeded.contains(&name.to_string())),
        "{seeded:?}"
    );
    let mut shuffled = sample_features(80);
    shuffled.utterances[1..].reverse();
    assert_eq!(differing(&run(&shuffled, 1)), ["data order"]);
}

/// Makes the spectrogram of one clip NaN. Features are checked when they are read, but batches made of them may still be non-finite.
struct Poisoned<'a> {
    source: UtteranceSource<'a>,
    clip: &'a str,
}

impl Collate for Poisoned<'_> {
    type HostBatch = Batch;
    type Batch = Batch;

    fn make(&self, key: BatchKey, cpu: &Device) -> Result<Batch> {
        let mut batch = self.source.make(key, cpu)?;
        let (clips, [_, frames, mels]) = (batch.clips.here().to_vec(), batch.targets.dims());
        for item in (0..clips.len()).filter(|&item| clips[item] == self.clip) {
            let poison = Tensor::full([1, frames, mels], f32::NAN, cpu);
            let range = [item..item + 1, 0..frames, 0..mels];
            batch.targets = batch.targets.slice_assign(range, poison);
        }
        Ok(batch)
    }

    fn place(&self, made: Batch, device: &Device) -> Batch {
        self.source.place(made, device)
    }
}

#[test]
fn a_clip_with_non_finite_data_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let features = sample_features(80);
    let notes = Notes::default();
    let run_config = run_config(folder.path(), hyperparameters(40));
    let config = config(&features);
    let source =
        UtteranceSource::new(&features, (&[1, 2, 3], &[0]), &config, Extent::Window(32), 2, 1, Shard::WHOLE);
    let source = Poisoned { source: source.unwrap(), clip: "sample-2" };
    let _alone = alone();
    let run = Run::open(Tacotron::new(&config, &run_config.device), &run_config).unwrap();
    assert_eq!(run.finish(&source, &notes).err().unwrap().code(), "training-diverged");
    let faults = notes.faults();
    assert!(
        !faults.is_empty() && faults[0].contains("clip sample-2: its spectrogram has non-finite values"),
        "{faults:?}"
    );
    let step = faults[0].split([' ', ':']).nth(1).unwrap().parse().unwrap();
    assert_eq!(
        culprit(folder.path(), step),
        Culprit::Clip { clip: "sample-2".into(), tensor: "spectrogram".into() }
    );
}

#[test]
fn an_overflow_is_dumped_and_named_and_lowers_the_loss_scale() {
    let folder = tempfile::tempdir().unwrap();
    let fault = PlantedFault {
        path: "decoder.projection".into(),
        operation: Operation::Matmul,
        kind: PlantedFaultKind::Overflow("input".into()),
    };
    let compute = ComputePlan { faults: vec![fault], ..ComputePlan::from_precision(Precision::Mixed) };
    let notes = Notes::default();
    let trained = train(
        folder.path(),
        &sample_features(80),
        Hyperparameters { compute, ..hyperparameters(20) },
        &notes,
    );
    assert_eq!(trained.unwrap_err().code(), "training-diverged");
    let faults = notes.faults();
    assert_eq!(faults.len(), WatchConfig::default().max_dumps, "{faults:?}");
    assert!(
        faults[0].starts_with("step 1: decoder.projection: matmul overflows in half precision"),
        "{faults:?}"
    );
    assert!(
        matches!(culprit(folder.path(), 1), Culprit::Forward { path, .. } if path == "decoder.projection")
    );
    assert!(facts(folder.path()).loss_scale < 4096.0 && facts(folder.path()).overflows > 0);
}

/// The decoder of the attentive model always uses single precision; the overflow is in the postnet.
#[test]
fn an_overflow_in_the_attentive_model_is_named() {
    let (folder, features, notes) = (tempfile::tempdir().unwrap(), sample_features(80), Notes::default());
    let compute = ComputePlan {
        faults: vec!["overflow:postnet.convolutions.0:convolution".parse().unwrap()],
        ..ComputePlan::from_precision(Precision::Mixed)
    };
    let config = TacotronConfig { autoregressive: true, ..TacotronConfig::tiny(features.speakers.len()) };
    let run = run_config(folder.path(), Hyperparameters { compute, ..hyperparameters(20) });
    let trained = pretrain::<AttentiveTacotron>(&features, &config, &run, None, &notes);
    assert_eq!(trained.unwrap_err().code(), "training-diverged");
    let faults = notes.faults();
    assert!(
        faults[0].starts_with("step 1: postnet.convolutions.0: convolution overflows in half precision"),
        "{faults:?}"
    );
    let dump = Dump::deserialize(&fs::read(dump_path(folder.path(), 1, 0)).unwrap()).unwrap();
    let attention =
        dump.calls.iter().find(|record| record.call.operation == Operation::AttentionLstm).unwrap();
    assert_eq!((attention.call.path.as_str(), attention.precision), ("decoder.attention", Precision::F32));
}

/// The first convolution of the encoder overflows, and the ReLU after it returns zeros, so that losses and gradients are finite.
#[test]
fn an_overflow_behind_a_relu_is_named_where_magnitudes_are_counted() {
    let train_watched = |statistics_every: usize| {
        let (folder, features, notes) = (tempfile::tempdir().unwrap(), sample_features(80), Notes::default());
        let compute = ComputePlan {
            faults: vec!["overflow:encoder.convolutions.0:convolution".parse().unwrap()],
            ..ComputePlan::from_precision(Precision::Mixed)
        };
        let mut run = run_config(folder.path(), Hyperparameters { compute, ..hyperparameters(20) });
        run.watch.statistics_every = statistics_every;
        let _alone = alone();
        // The result of the training does not matter here.
        let _ = pretrain::<Tacotron>(&features, &config(&features), &run, None, &notes);
        notes.faults()
    };
    let named = train_watched(5);
    assert!(
        named[0].contains("encoder.convolutions.0: convolution overflows in half precision"),
        "{named:?}"
    );
}

/// A model with a fault between its recorded operations.
#[derive(Module, Debug)]
struct Faulty {
    model: Tacotron,
    /// `[1]`, zero
    extra: Param<Tensor<1>>,
    #[module(skip)]
    wrong: Wrong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// The gradient of a loss is NaN.
    Loss,
    /// The gradient of a parameter that no operation reads is NaN.
    Parameter,
    /// The table of speakers, which no recorded operation reads, is NaN.
    Speakers,
    Nothing,
}

impl TrainableModel for Faulty {
    type Batch = Batch;

    const LOSSES: &'static [&'static str] = Tacotron::LOSSES;
    const CRITERION: usize = Tacotron::CRITERION;

    fn losses(&self, batch: &Batch, mode: Mode) -> Vec<Tensor<1>> {
        let mut losses = self.model.losses(batch, mode);
        // The square root of 0 is 0, and its derivative is infinite.
        let zero = match self.wrong {
            Wrong::Loss => losses[0].clone() - losses[0].clone().detach(),
            Wrong::Parameter => self.extra.val(),
            Wrong::Speakers | Wrong::Nothing => return losses,
        };
        losses[0] = losses[0].clone() + zero.sqrt();
        losses
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { model: self.model.computing(scope), ..self }
    }
}

/// Returns the notes on faults of a run, and the fault in its first dump.
fn named(plan: ComputePlan, wrong: Wrong) -> (Vec<String>, Culprit) {
    let (folder, features, notes) = (tempfile::tempdir().unwrap(), sample_features(80), Notes::default());
    let run_config =
        run_config(folder.path(), Hyperparameters { compute: plan.clone(), ..hyperparameters(20) });
    let (config, device) = (config(&features), &run_config.device);
    let source =
        UtteranceSource::new(&features, (&[1, 2, 3], &[0]), &config, Extent::Window(32), 2, 1, Shard::WHOLE);
    let _alone = alone();
    device.seed(1);
    let extra = Param::from_tensor(Tensor::zeros([1], device));
    let model = Faulty { model: Tacotron::new(&config, device), extra, wrong };
    let mut run = Run::open(model.computing(&Scope::new(plan)), &run_config).unwrap();
    if wrong == Wrong::Speakers {
        let speakers = run.model.model.speakers.clone();
        run.model.model.speakers = speakers.map(|table| (table * f32::NAN).detach().require_grad());
    }
    // The result of the training does not matter here.
    let _ = run.finish(&source.unwrap(), &notes);
    (notes.faults(), culprit(folder.path(), 1))
}

#[test]
fn every_kind_of_fault_is_named() {
    let planted = |fault: &str, precision| ComputePlan {
        faults: vec![fault.parse().unwrap()],
        ..ComputePlan::from_precision(precision)
    };
    let nan = planted("nan:decoder.second:lstm:w_hh", Precision::F32);
    let (notes, found) = named(nan, Wrong::Nothing);
    let (path, operation) = ("decoder.second".to_string(), Operation::Lstm);
    assert_eq!(found, Culprit::Backward { path, operation, gradient: "w_hh".into() });
    assert!(
        notes[0].starts_with("step 1: decoder.second: the backward pass of lstm returns a non-finite"),
        "{notes:?}"
    );

    let (notes, found) = named(ComputePlan::default(), Wrong::Loss);
    assert_eq!(found, Culprit::Behind { path: "loss.before".into(), operation: Operation::Loss });
    assert!(
        notes[0].starts_with("step 1: the gradient of the output of loss.before: loss is non-finite"),
        "{notes:?}"
    );

    let (notes, found) = named(ComputePlan::default(), Wrong::Parameter);
    assert_eq!(found, Culprit::Parameter { path: "extra".into() });
    assert!(notes[0].starts_with("step 1: the gradient of extra is non-finite"), "{notes:?}");

    let (notes, found) = named(ComputePlan::default(), Wrong::Speakers);
    let (path, operation) = ("durations.lstm.forward".to_string(), Operation::Matmul);
    assert_eq!(found, Culprit::Given { path, operation, input: "input".into() });
    assert!(
        notes[0].starts_with("step 1: durations.lstm.forward: matmul is given a non-finite input"),
        "{notes:?}"
    );

    let overflow = planted("overflow:postnet.convolutions.0:convolution", Precision::Mixed);
    let (_, found) = named(overflow, Wrong::Nothing);
    assert!(matches!(found, Culprit::Forward { overflows: true, .. }), "{found}");
}

#[test]
fn a_sound_run_in_half_precision_has_no_faults() {
    let (folder, notes) = (tempfile::tempdir().unwrap(), Notes::default());
    let hyperparameters =
        Hyperparameters { compute: ComputePlan::from_precision(Precision::Mixed), ..hyperparameters(40) };
    train(folder.path(), &sample_features(80), hyperparameters, &notes).unwrap();
    assert_eq!(notes.faults(), Vec::<String>::new());
    assert_eq!((facts(folder.path()).overflows, facts(folder.path()).loss_scale), (0, 4096.0));
    assert!((1..=40).all(|step| !dump_path(folder.path(), step, 0).exists()));
}
