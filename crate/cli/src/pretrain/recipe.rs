//! The shipped base voice from nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use burn::prelude::Device;
use serde_json::{Value, json};

use super::base::{ALIGNER, PretrainConfig, WEIGHTS, pretrain};
use crate::{
    align::{
        train_aligner::{AlignerConfig, train_aligner},
        training::RecogniserConfig,
    },
    corpus::{
        self, MakeOptions,
        people::{PEOPLE, Person},
        prepare::{PrepareConfig, prepare},
    },
    evaluate::measure::{MeasureConfig, measure},
    learn::hyperparameters::{Hyperparameters, RunConfig},
    speaker_encoder::train_speaker_encoder::{SpeakerEncoderConfig, train_speaker_encoder},
    vocoder::train_vocoder::{TrainVocoderConfig, train_vocoder},
};
use ownvoice::{
    Error, Result, files,
    report::{Progress, Report},
    text::Phonemizer,
    voice::folder::{MANIFEST, SPEAKER_ENCODER, VOCODER, read_manifest, write_manifest, write_part},
};

/// What a base is made of, and where.
#[derive(Debug, Clone)]
pub struct RecipeConfig {
    /// Folder for the base.
    pub out: PathBuf,
    /// Folder for corpus, features and checkpoints, from which a run that was cut short goes on.
    pub work: PathBuf,
    /// Hours of speech from engines.
    pub hours: f32,
    /// Steps of the base's training.
    pub steps: usize,
    /// Corpus folder of people: those to train on join the base, the others are measured.
    pub people: Option<PathBuf>,
    pub seed: u64,
    pub device: Device,
}

/// Corpus, features, aligner, base voice, vocoder, speaker encoder, and what they measure. What is in the work folder already is not made again.
pub fn recipe(config: &RecipeConfig, report: &dyn Report) -> Result<Value> {
    let RecipeConfig { out, work, hours, steps, people, seed, device } = config;
    let (hours, steps, seed) = (*hours, *steps, *seed);
    files::check_folder(out)?;
    let corpus_folder = work.join("corpus");
    if !corpus_folder.join("corpus.json").exists() {
        report.note(&format!("1/9 corpus: {hours} h from the installed speech engines"));
        let options = MakeOptions { hours, seed, ..MakeOptions::default() };
        make_corpus(&corpus_folder, &options, report)?;
    }
    let trained_on = people.as_deref().map(trained_on).unwrap_or_default();
    let joining = people.clone().filter(|_| !trained_on.is_empty());
    let corpora: Vec<PathBuf> = [corpus_folder.clone()].into_iter().chain(joining).collect();
    let features = work.join("features");
    if !features.join("features.json").exists() {
        report.note("2/9 features");
        prepare(
            &PrepareConfig {
                corpora: corpora.clone(),
                out: features.clone(),
                aligner: None,
                pseudo_phones: Vec::new(),
            },
            report,
        )?;
    }
    let aligner = work.join(ALIGNER);
    if !aligner.exists() {
        report.note("3/9 aligner");
        let partial = aligner.with_extension("partial");
        let aligner_config = AlignerConfig {
            data: features,
            out: partial.clone(),
            recogniser: RecogniserConfig { seed, ..RecogniserConfig::default() },
            device: device.clone(),
        };
        train_aligner(&aligner_config, report)?;
        fs::rename(&partial, &aligner).map_err(Error::io(&aligner))?;
    }
    let aligned = work.join("aligned");
    if !aligned.join("features.json").exists() {
        report.note("4/9 features of voices without phone times as well");
        let without_text = trained_on.iter().filter(|person| person.is_without_text());
        let pseudo_phones = without_text.map(|person| person.name.to_string()).collect();
        let config = PrepareConfig {
            corpora: corpora.clone(),
            out: aligned.clone(),
            aligner: Some(aligner.clone()),
            pseudo_phones,
        };
        prepare(&config, report)?;
    }
    write_part(&out.join(ALIGNER), &files::read(&aligner)?)?;
    report.note(&format!("5/9 base voice: {steps} steps"));
    let pretraining = |recipe: Hyperparameters, run: &str| PretrainConfig {
        training: RunConfig {
            resume: true,
            ..RunConfig::new(Hyperparameters { seed, ..recipe }, work.join(run), device)
        },
        ..PretrainConfig::new(aligned.clone(), out.clone(), device)
    };
    pretrain(&pretraining(Hyperparameters { steps, ..Hyperparameters::base() }, "run"), report)?;
    if !trained_on.is_empty() {
        let on_people = Hyperparameters::on_people();
        report.note(&format!("5/9 base voice, with people marked: {} steps", on_people.steps));
        let start = work.join("start");
        files::check_folder(&start)?;
        for name in [WEIGHTS, MANIFEST] {
            fs::copy(out.join(name), start.join(name)).map_err(Error::io(&start))?;
        }
        let on_people = PretrainConfig {
            from: Some(start),
            start_share: 0.5,
            mark_people: true,
            ..pretraining(on_people, "run-people")
        };
        pretrain(&on_people, report)?;
    }
    let (on_recordings, on_base) = (Hyperparameters::vocoder(), Hyperparameters::vocoder_end());
    let on_recordings_only = work.join("vocoder-heard.safetensors");
    let vocoder = TrainVocoderConfig {
        corpus: corpus_folder.clone(),
        out: on_recordings_only.clone(),
        base: None,
        from: None,
        training: RunConfig {
            resume: true,
            ..RunConfig::new(Hyperparameters { seed, ..on_recordings.clone() }, work.join("vocoder-heard"), device)
        },
    };
    if !on_recordings_only.exists() {
        report.note(&format!("6/9 vocoder, on recordings: {} steps", on_recordings.steps));
        train_vocoder(&vocoder, report)?;
    }
    report.note(&format!("7/9 vocoder, on the base's spectrograms: {} steps", on_base.steps));
    let end = TrainVocoderConfig {
        out: out.join(VOCODER),
        base: Some(out.clone()),
        from: Some(on_recordings_only),
        training: RunConfig {
            directory: work.join("vocoder-spoken"),
            recipe: Hyperparameters { seed, ..on_base },
            ..vocoder.training
        },
        ..vocoder
    };
    train_vocoder(&end, report)?;

    report.note(&format!("8/9 speaker encoder: {} steps", Hyperparameters::speaker_encoder().steps));
    let encoder = SpeakerEncoderConfig {
        corpora,
        out: out.join(SPEAKER_ENCODER),
        run: work.join("speaker-encoder"),
        device: device.clone(),
        recipe: Hyperparameters { seed, ..Hyperparameters::speaker_encoder() },
        resume: true,
    };
    train_speaker_encoder(&encoder, report)?;
    let mut manifest = read_manifest(out)?;
    manifest.recipe["command"] =
        json!(format!("ownvoice recipe --hours {hours} --steps {steps} --seed {seed} --work WORK"));
    write_manifest(out, &manifest)?;

    report.note("9/9 clones of the held-out voices");
    let measurement = MeasureConfig {
        base: out.clone(),
        corpus: Some(corpus_folder),
        people: people.clone(),
        wavs: None,
        seed,
        device: device.clone(),
    };
    measure(&measurement, report)
}

/// Those of a corpus of people who join the base.
fn trained_on(people: &Path) -> Vec<&'static Person> {
    PEOPLE.iter().filter(|person| !person.is_held_out() && person.folder(people).is_dir()).collect()
}

/// Makes a corpus from the installed speech engines.
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
