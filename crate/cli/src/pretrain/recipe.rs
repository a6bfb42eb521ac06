//! The recipe of a base: all steps from the corpora to the measurement.

use std::{
    fs,
    path::{Path, PathBuf},
};

use burn::prelude::Device;
use serde_json::{Value, json};

use super::base::{ALIGNER, PretrainConfig, pretrain};
use crate::{
    align::{
        from_files::{AlignerConfig, train_aligner},
        training::RecogniserConfig,
    },
    corpus::{
        self, MakeOptions,
        make_people::make_people,
        prepare::{PrepareConfig, prepare},
        teacher::{TeacherOptions, make_teacher},
    },
    evaluate::measure::{MeasureConfig, SENTENCES, measure},
    learn::hyperparameters::{Hyperparameters, RunConfig},
    speaker_encoder::from_files::{SpeakerEncoderConfig, train_speaker_encoder},
    vocoder::from_files::{SMOOTHING, TrainVocoderConfig, train_vocoder},
};
use ownvoice::{
    Error, Result, files,
    report::{Progress, Report},
    text::Phonemizer,
    voice::folder::{SPEAKER_ENCODER, VOCODER, read_manifest, write_manifest, write_part},
};

/// The configuration of a recipe.
#[derive(Debug, Clone)]
pub struct RecipeConfig {
    /// The folder for the base.
    pub out: PathBuf,
    /// The folder for corpora, features and checkpoints, from which an interrupted recipe is resumed.
    pub work: PathBuf,
    /// The folder `voices` of the npm package kokoro-js.
    pub teacher: PathBuf,
    /// The hours of speech from the teacher.
    pub hours: f32,
    /// The number of steps of the base's training.
    pub steps: usize,
    /// The folder of the external evaluators, `tests/evaluators`.
    pub evaluators: Option<PathBuf>,
    pub seed: u64,
    pub device: Device,
}

/// Makes a base: corpora, features, aligner, base, vocoder, speaker encoder, measurement. Results in the work folder are not made again. Returns the measured
/// quality.
pub fn recipe(config: &RecipeConfig, report: &dyn Report) -> Result<Value> {
    files::check_folder(&config.out)?;
    let steps = Steps::new(config, report);
    steps.make_corpora()?;
    let features = steps.features()?;
    steps.aligner(&features)?;
    steps.base(features)?;
    steps.vocoder()?;
    steps.speaker_encoder()?;
    let RecipeConfig { out, hours, steps: base_steps, seed, .. } = config;
    let mut manifest = read_manifest(out)?;
    manifest.recipe["command"] = json!(format!(
        "ownvoice recipe --teacher VOICES --hours {hours} --steps {base_steps} --seed {seed} --work WORK"
    ));
    write_manifest(out, &manifest)?;
    steps.measurement()
}

/// The steps of a recipe.
struct Steps<'a> {
    config: &'a RecipeConfig,
    report: &'a dyn Report,
    /// The corpus of the teacher, which is trained on.
    teacher: PathBuf,
    /// The corpora of people and of speech engines, which are only measured on.
    people: PathBuf,
    engines: PathBuf,
}

impl<'a> Steps<'a> {
    fn new(config: &'a RecipeConfig, report: &'a dyn Report) -> Self {
        let [teacher, people, engines] = ["teacher", "people", "engines"].map(|name| config.work.join(name));
        Self { config, report, teacher, people, engines }
    }

    /// The configuration of a run whose checkpoints are in a folder of the work folder.
    fn run(&self, hyperparameters: Hyperparameters, folder: &str) -> RunConfig {
        let RecipeConfig { work, seed, device, .. } = self.config;
        let hyperparameters = Hyperparameters { seed: *seed, ..hyperparameters };
        RunConfig { resume: true, ..RunConfig::new(hyperparameters, work.join(folder), device) }
    }

    fn make_corpora(&self) -> Result<()> {
        let &RecipeConfig { teacher: ref voices, hours, seed, .. } = self.config;
        let Self { teacher, people, engines, report, .. } = self;
        if !people.join("people.json").exists() {
            report.note("1/8 corpus of people, from installed packages");
            make_people(people, &|person| report.note(&person.name))?;
        }
        if !engines.join("corpus.json").exists() {
            report.note("1/8 corpus of the speech engines that are measured on");
            let options =
                MakeOptions { seed, speakers: Vec::new(), foreign: Vec::new(), ..MakeOptions::default() };
            make_corpus(engines, &options, *report)?;
        }
        if !teacher.join("corpus.json").exists() {
            report.note(&format!("1/8 corpus of the teacher: {hours} h"));
            let options = TeacherOptions { voices: voices.clone(), hours, seed };
            make_teacher(teacher, &options, &Phonemizer::embedded(), *report)?;
        }
        Ok(())
    }

    /// Prepares the features of the teacher's corpus, which has phone times.
    fn features(&self) -> Result<PathBuf> {
        let out = self.config.work.join("features");
        if !out.join("features.json").exists() {
            self.report.note("2/8 features");
            let config =
                PrepareConfig { corpora: vec![self.teacher.clone()], out: out.clone(), aligner: None };
            prepare(&config, self.report)?;
        }
        Ok(out)
    }

    fn aligner(&self, features: &Path) -> Result<()> {
        let RecipeConfig { out, work, seed, device, .. } = self.config;
        let aligner = work.join(ALIGNER);
        if !aligner.exists() {
            self.report.note("3/8 aligner");
            let partial = aligner.with_extension("partial");
            let config = AlignerConfig {
                data: features.to_owned(),
                out: partial.clone(),
                recogniser: RecogniserConfig { seed: *seed, ..RecogniserConfig::default() },
                device: device.clone(),
            };
            train_aligner(&config, self.report)?;
            fs::rename(&partial, &aligner).map_err(Error::io(&aligner))?;
        }
        write_part(&out.join(ALIGNER), &files::read(&aligner)?)
    }

    /// Trains the base on the teacher's speakers.
    fn base(&self, features: PathBuf) -> Result<()> {
        let RecipeConfig { out, steps, device, .. } = self.config;
        self.report.note(&format!("4/8 base voice: {steps} steps"));
        let config = PretrainConfig {
            training: self.run(Hyperparameters { steps: *steps, ..Hyperparameters::base() }, "run"),
            ..PretrainConfig::new(features, out.clone(), device)
        };
        pretrain(&config, self.report)?;
        Ok(())
    }

    /// Trains the vocoder on recordings, then also on spectrograms that the base synthesises.
    fn vocoder(&self) -> Result<()> {
        let RecipeConfig { out, work, .. } = self.config;
        let (on_recordings, on_base) = (Hyperparameters::vocoder(), Hyperparameters::vocoder_end());
        let first = work.join("vocoder-heard.safetensors");
        if !first.exists() {
            self.report.note(&format!("5/8 vocoder, on recordings: {} steps", on_recordings.steps));
            let config = TrainVocoderConfig {
                corpus: self.teacher.clone(),
                out: first.clone(),
                base: None,
                from: None,
                smoothing: SMOOTHING,
                training: self.run(on_recordings, "vocoder-heard"),
            };
            train_vocoder(&config, self.report)?;
        }
        self.report.note(&format!("6/8 vocoder, on the base's spectrograms: {} steps", on_base.steps));
        let config = TrainVocoderConfig {
            corpus: self.teacher.clone(),
            out: out.join(VOCODER),
            base: Some(out.clone()),
            from: Some(first),
            smoothing: SMOOTHING,
            training: self.run(on_base, "vocoder-spoken"),
        };
        train_vocoder(&config, self.report)?;
        Ok(())
    }

    fn speaker_encoder(&self) -> Result<()> {
        let RecipeConfig { out, work, seed, device, .. } = self.config;
        let hyperparameters = Hyperparameters { seed: *seed, ..Hyperparameters::speaker_encoder() };
        self.report.note(&format!("7/8 speaker encoder: {} steps", hyperparameters.steps));
        let config = SpeakerEncoderConfig {
            corpora: vec![self.teacher.clone()],
            out: out.join(SPEAKER_ENCODER),
            run: work.join("speaker-encoder"),
            device: device.clone(),
            hyperparameters,
            resume: true,
        };
        train_speaker_encoder(&config, self.report)?;
        Ok(())
    }

    fn measurement(&self) -> Result<Value> {
        let RecipeConfig { out, work, evaluators, seed, device, .. } = self.config;
        self.report.note("8/8 clones of the held-out speakers");
        let config = MeasureConfig {
            base: out.clone(),
            corpora: [&self.teacher, &self.people, &self.engines].map(PathBuf::clone).to_vec(),
            speakers: Vec::new(),
            sentences: SENTENCES,
            wavs: Some(work.join("wavs")),
            evaluators: evaluators.clone(),
            seed: *seed,
            device: device.clone(),
        };
        measure(&config, self.report)
    }
}

/// Makes a corpus from the installed speech engines, and reports its progress.
pub fn make_corpus(out: &Path, options: &MakeOptions, report: &dyn Report) -> Result<corpus::make::Summary> {
    corpus::make(out, options, Phonemizer::embedded().lexicon(), &|progress| {
        let seconds = |seconds: f32| seconds.max(0.0) as usize;
        report.progress(&Progress {
            done: seconds(progress.seconds_done),
            of: Some(seconds(progress.seconds_wanted)),
            message: progress.speaker,
        });
    })
}
