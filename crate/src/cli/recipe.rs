//! `ownvoice recipe`: the shipped base voice from nothing, in one command.

use clap::Args;
use serde_json::json;
use std::{fs, path::PathBuf};

use super::{
    aligner::{TrainArguments, train_aligner},
    base,
    data::{CorpusArguments, PrepareArguments, corpus, prepare},
    device::DeviceName,
    measure::{MeasureArguments, SPEAKER_ENCODER, measure},
    pretraining::{ALIGNER, Path, Preset, PretrainArguments, pretrain},
    speaker_encoder::{TrainArguments as TrainEncoderArguments, train_speaker_encoder},
    vocoder::{TrainVocoderArguments, train_vocoder},
};
use crate::{
    Error, Result,
    corpus::MakeOptions,
    files,
    train::{recogniser, run::Recipe},
    voice::FileEntry,
};

#[derive(Args)]
pub struct RecipeArguments {
    /// Folder for the base voice
    #[arg(long, default_value = "models/base")]
    out: PathBuf,
    /// Folder for corpus, features and checkpoints: some gigabytes, and what lets a run that was cut short go on
    #[arg(long)]
    work: PathBuf,
    #[arg(long, default_value_t = MakeOptions::default().hours)]
    hours: f32,
    #[arg(long, default_value_t = Recipe::base().steps)]
    steps: usize,
    /// Corpus folder of people, as `corpus --people` makes it: those to train on join the base, the others are measured
    #[arg(long)]
    people: Option<PathBuf>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

const VOCODER: &str = "vocoder.safetensors";

/// Corpus, features, aligner, base voice, vocoder and what they measure. What is in the work folder already is not made again.
pub fn recipe(arguments: &RecipeArguments) -> Result<()> {
    let RecipeArguments { out, work, hours, steps, people, seed, device } = arguments;
    files::check_folder(out)?;
    let (corpus_folder, features, run) = (work.join("corpus"), work.join("features"), work.join("run"));
    if !corpus_folder.join("corpus.json").exists() {
        println!("1/9 corpus: {hours} h from the installed speech engines");
        let held_out_seconds = MakeOptions::default().held_out_seconds;
        corpus(&CorpusArguments {
            out: corpus_folder.clone(),
            hours: *hours,
            seed: *seed,
            held_out_seconds,
            people: false,
        })?;
    }
    let corpora: Vec<PathBuf> = [corpus_folder.clone()].into_iter().chain(people.clone()).collect();
    if !features.join("features.json").exists() {
        println!("2/9 features");
        prepare(&PrepareArguments { corpora: corpora.clone(), out: features.clone(), aligner: None })?;
    }
    let aligner = work.join(ALIGNER);
    if !aligner.exists() {
        println!("3/9 aligner");
        let recipe = recogniser::RecogniserConfig::default();
        let partial = aligner.with_extension("partial");
        let arguments = TrainArguments {
            data: features.clone(),
            out: partial.clone(),
            device: *device,
            steps: recipe.steps,
            batch: recipe.batch,
            seed: *seed,
        };
        train_aligner(&arguments)?;
        fs::rename(&partial, &aligner).map_err(Error::io(&aligner))?;
    }
    let aligned = work.join("aligned");
    if !aligned.join("features.json").exists() {
        println!("4/9 features of voices without phone times as well");
        prepare(&PrepareArguments { corpora, out: aligned.clone(), aligner: Some(aligner.clone()) })?;
    }
    base::write_part(&out.join(ALIGNER), &files::read(&aligner)?)?;
    println!("5/9 base voice: {steps} steps");
    pretrain(&PretrainArguments {
        data: aligned,
        out: out.clone(),
        preset: Preset::Small,
        path: Path::Durations,
        device: *device,
        steps: *steps,
        batch: Recipe::base().batch,
        rate: Recipe::base().rate_start,
        precision: Recipe::base().precision,
        seed: *seed,
        from: None,
        resume: true,
        run: Some(run),
    })?;
    let (on_recordings, on_base) = (Recipe::vocoder(), Recipe::vocoder_end());
    let heard = work.join("vocoder-heard.safetensors");
    let vocoder = TrainVocoderArguments {
        corpus: corpus_folder.clone(),
        out: heard.clone(),
        base: None,
        from: None,
        run: work.join("vocoder-heard"),
        device: *device,
        steps: on_recordings.steps,
        rate: on_recordings.rate_start,
        seed: *seed,
        resume: true,
    };
    if !heard.exists() {
        println!("6/9 vocoder, on recordings: {} steps", on_recordings.steps);
        train_vocoder(&vocoder)?;
    }
    println!("7/9 vocoder, on what the base says: {} steps", on_base.steps);
    let spoken = out.join(VOCODER);
    train_vocoder(&TrainVocoderArguments {
        out: spoken.clone(),
        base: Some(out.clone()),
        from: Some(heard),
        run: work.join("vocoder-spoken"),
        steps: on_base.steps,
        rate: on_base.rate_start,
        ..vocoder
    })?;
    let mut manifest = base::read_manifest(out)?;
    manifest.files.vocoder = Some(FileEntry::new(VOCODER, &files::read(&spoken)?));
    base::write_manifest(out, &manifest)?;

    let encoder = out.join(SPEAKER_ENCODER);
    println!("8/9 speaker encoder: {} steps", Recipe::speaker_encoder().steps);
    train_speaker_encoder(&TrainEncoderArguments {
        corpus: corpus_folder.clone(),
        out: encoder,
        run: work.join("speaker-encoder"),
        device: *device,
        steps: Recipe::speaker_encoder().steps,
        seed: *seed,
        resume: true,
    })?;
    manifest.recipe["command"] =
        json!(format!("ownvoice recipe --hours {hours} --steps {steps} --seed {seed} --work WORK"));
    base::write_manifest(out, &manifest)?;

    println!("9/9 clones of the held-out voices");
    measure(&MeasureArguments {
        base: out.clone(),
        corpus: Some(corpus_folder),
        people: people.clone(),
        wavs: None,
        seed: *seed,
        device: *device,
    })
}
