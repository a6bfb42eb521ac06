//! `ownvoice recipe`: the shipped base voice from nothing, in one command.

use clap::Args;
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

use super::{
    aligner::{TrainArguments, train_aligner},
    base,
    clone::{learn, read_clips},
    data::{CorpusArguments, PrepareArguments, corpus, prepare},
    device::DeviceName,
    evaluate::figures,
    pretraining::{ALIGNER, Path, Preset, PretrainArguments, pretrain},
    vocoder::{TrainVocoderArguments, train_vocoder},
};
use crate::{
    Error, Result,
    corpus::HELD_OUT,
    train::{CloneOptions, recogniser, run::Recipe},
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
    #[arg(long, default_value_t = 3.0)]
    hours: f32,
    #[arg(long, default_value_t = Recipe::base().steps)]
    steps: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
}

const VOCODER: &str = "vocoder.safetensors";
/// Speech that a clone is measured with, as of a visitor.
const CLONE_SECONDS: f32 = 60.0;
const SENTENCES: usize = 10;

/// Corpus, features, aligner, base voice, vocoder and what they measure. What is in the work folder already is not made again.
pub fn recipe(arguments: &RecipeArguments) -> Result<()> {
    let RecipeArguments { out, work, hours, steps, seed, device } = arguments;
    let (corpus_folder, features, run) = (work.join("corpus"), work.join("features"), work.join("run"));
    if !corpus_folder.join("corpus.json").exists() {
        println!("1/7 corpus: {hours} h from the installed speech engines");
        corpus(&CorpusArguments { out: corpus_folder.clone(), hours: *hours, seed: *seed })?;
    }
    if !features.join("features.json").exists() {
        println!("2/7 features");
        prepare(&PrepareArguments { corpus: corpus_folder.clone(), out: features.clone() })?;
    }
    let aligner = work.join(ALIGNER);
    if !aligner.exists() {
        println!("3/7 aligner");
        let recipe = recogniser::Recipe::default();
        let partial = aligner.with_extension("partial");
        let arguments =
            TrainArguments { data: features.clone(), out: partial.clone(), device: *device, steps: recipe.steps, batch: recipe.batch, seed: *seed };
        train_aligner(&arguments)?;
        fs::rename(&partial, &aligner).map_err(Error::io(&aligner))?;
    }
    fs::create_dir_all(out).map_err(Error::io(out))?;
    fs::copy(&aligner, out.join(ALIGNER)).map_err(Error::io(&aligner))?;
    println!("4/7 base voice: {steps} steps");
    pretrain(&PretrainArguments {
        data: features,
        out: out.clone(),
        preset: Preset::Small,
        path: Path::Durations,
        device: *device,
        steps: *steps,
        batch: Recipe::base().batch,
        precision: Recipe::base().precision,
        seed: *seed,
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
        println!("5/7 vocoder, on recordings: {} steps", on_recordings.steps);
        train_vocoder(&vocoder)?;
    }
    println!("6/7 vocoder, on what the base says: {} steps", on_base.steps);
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
    manifest.files.vocoder = Some(FileEntry::new(VOCODER, &fs::read(&spoken).map_err(Error::io(&spoken))?));
    base::write_manifest(out, &manifest)?;

    println!("7/7 clones of the held-out voices");
    let device = device.open()?;
    let base = base::load(out, &device)?;
    let mut clones = serde_json::Map::new();
    for speaker in HELD_OUT {
        let folder = corpus_folder.join("held-out").join(speaker);
        let options = CloneOptions { seed: *seed, ..CloneOptions::default() };
        let voice = learn(&base, &read_clips(&folder, Some(CLONE_SECONDS))?, options)?;
        let figures = rounded(figures(&base, Some(&voice), &read_clips(&folder, None)?, SENTENCES)?);
        println!("{speaker}: {figures:#}");
        clones.insert(speaker.to_string(), figures);
    }
    manifest.recipe["command"] = json!(format!("ownvoice recipe --hours {hours} --steps {steps} --seed {seed} --work WORK"));
    manifest.quality["clones"] = Value::Object(clones);
    base::write_manifest(out, &manifest)
}

/// Three decimals: what lies beyond depends on the processor.
fn rounded(figures: Value) -> Value {
    let round = |value: Value| value.as_f64().map_or(value, |number| json!((number * 1000.0).round() / 1000.0));
    match figures {
        Value::Object(entries) => entries.into_iter().map(|(name, value)| (name, round(value))).collect(),
        other => round(other),
    }
}
