//! What a run keeps an eye on: planted faults are named in its folder, and two runs are told apart before anyone looks at a curve.
#![cfg(feature = "pretraining")]

use std::{
    fs,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use burn::prelude::*;
use ownvoice::{
    Result,
    model::{AttentiveTacotron, Tacotron, TacotronConfig},
    nn::{
        ComputePlan, Operation, Precision,
        compute::{Fault, FaultKind},
    },
    precision::{
        Culprit, Dump, Replayer, first_fault,
        preflight::{Fact, RunFacts, preflight},
    },
    ranks::{Ranks, Shard},
    report::Report,
    train::{
        batch::{Batch, Extent, UtteranceSource},
        features::Features,
        feeder::{FeederConfig, Source},
        order::Draw,
        pretrain::pretrain,
        run::{Recipe, Run, RunConfig},
        step_dump::sample_features,
        watch::{StepStatistics, WatchConfig, dump_path, statistics_path},
    },
};

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Report for Notes {
    fn note(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_string());
    }
}

impl Notes {
    /// Those on faults; the others are lines of the curve.
    fn faults(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|line| line.starts_with("step ")).cloned().collect()
    }
}

fn recipe(steps: usize) -> Recipe {
    Recipe { steps, batch: 2, window: 32, checkpoint_every: 20, ..Recipe::base() }
}

fn run_config(folder: &Path, recipe: Recipe) -> RunConfig {
    RunConfig {
        recipe,
        directory: folder.to_path_buf(),
        resume: false,
        device: Device::flex().autodiff(),
        feeder: FeederConfig::default(),
        ranks: Ranks::default(),
        watch: WatchConfig::default(),
    }
}

fn config(features: &Features) -> TacotronConfig {
    TacotronConfig { pitch: true, ..TacotronConfig::tiny(features.speakers.len()) }
}

/// Random numbers are the device's, and all runs of a process share them: two at once would draw from each other's seed.
static SEEDED: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    SEEDED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn train(folder: &Path, features: &Features, recipe: Recipe, notes: &Notes) -> Result<()> {
    let _alone = alone();
    pretrain::<Tacotron>(features, &config(features), &run_config(folder, recipe), None, notes).map(drop)
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
fn a_sound_run_has_magnitudes_and_no_faults_and_the_same_again_is_the_same() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for folder in &folders {
        let notes = Notes::default();
        train(folder.path(), &sample_features(80), recipe(50), &notes).unwrap();
        assert_eq!(notes.faults(), Vec::<String>::new());
        assert!(!dump_path(folder.path(), 1, 0).exists());
    }
    let lines = fs::read_to_string(statistics_path(folders[0].path())).unwrap();
    let steps: Vec<StepStatistics> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(steps.iter().map(|step| step.step).collect::<Vec<_>>(), [25, 50]);
    let projection = steps[0].parameters.iter().find(|row| row.path == "decoder.projection.weight").unwrap();
    assert!(projection.weight.largest > 0.0 && projection.gradient.unwrap().is_finite(), "{projection:?}");

    let [a, b] = folders.each_ref().map(|folder| facts(folder.path()));
    assert_eq!((a.order.len(), a.order[0].len()), (RunFacts::BATCHES, 2));
    assert!(preflight(&a, &b).iter().all(|fact| fact.same), "{:#?}", preflight(&a, &b));
}

#[test]
fn another_seed_and_a_shuffled_corpus_are_told_apart() {
    let run = |features: &Features, seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        train(folder.path(), features, Recipe { seed, ..recipe(20) }, &Notes::default()).unwrap();
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

/// Gives one clip a spectrogram that is no number. Features are checked as they are read; what is made of them may still be none.
struct Poisoned<'a> {
    source: UtteranceSource<'a>,
    clip: &'a str,
}

impl Source for Poisoned<'_> {
    type Made = Batch;
    type Batch = Batch;

    fn make(&self, draw: Draw, cpu: &Device) -> Result<Batch> {
        let mut batch = self.source.make(draw, cpu)?;
        let (clips, [_, frames, mels]) = (batch.clips.len(), batch.targets.dims());
        for item in (0..clips).filter(|&item| batch.clips[item] == self.clip) {
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
fn a_clip_that_is_no_number_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let features = sample_features(80);
    let notes = Notes::default();
    let run_config = run_config(folder.path(), recipe(40));
    let config = config(&features);
    let source =
        UtteranceSource::new(&features, (&[1, 2, 3], &[0]), &config, Extent::Window(32), 2, 1, Shard::WHOLE);
    let source = Poisoned { source: source.unwrap(), clip: "sample-2" };
    let _alone = alone();
    let run = Run::open(Tacotron::new(&config, &run_config.device), &run_config).unwrap();
    assert_eq!(run.finish(&source, &notes).err().unwrap().code(), "training-diverged");
    let faults = notes.faults();
    assert!(
        !faults.is_empty() && faults[0].contains("clip sample-2: something in its spectrogram"),
        "{faults:?}"
    );
    let step = faults[0].split([' ', ':']).nth(1).unwrap().parse().unwrap();
    assert_eq!(
        culprit(folder.path(), step),
        Culprit::Clip { clip: "sample-2".into(), tensor: "spectrogram".into() }
    );
}

#[test]
fn an_overflow_is_dumped_at_its_step_and_named_and_the_loss_scale_falls() {
    let folder = tempfile::tempdir().unwrap();
    let fault = Fault {
        path: "decoder.projection".into(),
        operation: Operation::Matmul,
        kind: FaultKind::Overflow("input".into()),
    };
    let compute = ComputePlan { faults: vec![fault], ..ComputePlan::of(Precision::Mixed) };
    let notes = Notes::default();
    let trained = train(folder.path(), &sample_features(80), Recipe { compute, ..recipe(20) }, &notes);
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

/// Along the attention path, whose decoder keeps to single precision, in the postnet.
#[test]
fn an_overflow_along_the_attention_path_is_named_too() {
    let (folder, features, notes) = (tempfile::tempdir().unwrap(), sample_features(80), Notes::default());
    let compute = ComputePlan {
        faults: vec!["overflow:postnet.convolutions.0:convolution".parse().unwrap()],
        ..ComputePlan::of(Precision::Mixed)
    };
    let config = TacotronConfig { autoregressive: true, ..TacotronConfig::tiny(features.speakers.len()) };
    let run = run_config(folder.path(), Recipe { compute, ..recipe(20) });
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
