//! `ownvoice pretrain`.

use burn::prelude::Device;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::{fs, path::PathBuf};

use super::device::DeviceName;
use crate::{
    Error, Result,
    corpus::HELD_OUT,
    model::TacotronConfig,
    text::symbols,
    train::{
        features::Features,
        pretrain::{Recipe, pretrain as train},
    },
    voice::{
        FileEntry, Files, Manifest,
        weights::{Metadata, Precision, collect, pack},
    },
};

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Preset {
    Small,
    Tacotron2,
    Tiny,
}

#[derive(Args)]
pub struct PretrainArguments {
    /// Features that `ownvoice prepare` wrote
    #[arg(long)]
    data: PathBuf,
    /// Folder for the base voice
    #[arg(long)]
    out: PathBuf,
    #[arg(long, value_enum, default_value = "small")]
    preset: Preset,
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    #[arg(long, default_value_t = Recipe::default().steps)]
    steps: usize,
    #[arg(long, default_value_t = Recipe::default().batch)]
    batch: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go on from the checkpoint in the folder for runs
    #[arg(long)]
    resume: bool,
    /// Folder for checkpoint and curve [default: OUT/run]
    #[arg(long)]
    run: Option<PathBuf>,
}

pub fn pretrain(arguments: &PretrainArguments) -> Result<()> {
    let device: Device = arguments.device.open()?;
    let features = Features::load(&arguments.data)?;
    let speakers = features.speakers.len();
    let config = match arguments.preset {
        Preset::Small => TacotronConfig::small(speakers),
        Preset::Tacotron2 => TacotronConfig::tacotron2(speakers),
        Preset::Tiny => TacotronConfig::tiny(speakers),
    };
    let recipe = Recipe { steps: arguments.steps, batch: arguments.batch, seed: arguments.seed, ..Recipe::default() };
    let run = arguments.run.clone().unwrap_or_else(|| arguments.out.join("run"));
    let (model, held_out_loss) = train(&features, &config, &recipe, &run, arguments.resume, &device)?;
    let weights = pollster::block_on(pack(collect(&model), Precision::Half, Metadata::new()));
    let aligner_path = arguments.out.join(ALIGNER);
    let aligner = fs::read(&aligner_path).map_err(Error::io(&aligner_path))?;
    let lexicon_path = arguments.out.join(LEXICON);
    let lexicon = fs::read(&lexicon_path).map_err(Error::io(&lexicon_path))?;
    let manifest = Manifest {
        name: "ownvoice base, English, engine voices".into(),
        licence: "MIT OR Apache-2.0".into(),
        files: Files {
            weights: FileEntry::new(WEIGHTS, &weights),
            lexicon: FileEntry::new(LEXICON, &lexicon),
            aligner: FileEntry::new(ALIGNER, &aligner),
        },
        model: config,
        mel: features.mel.clone(),
        symbols: symbols::version(),
        default_speaker: features.speakers.iter().find(|name| *name == DEFAULT_SPEAKER).unwrap_or(&features.speakers[0]).clone(),
        held_out: HELD_OUT.iter().map(|name| name.to_string()).collect(),
        speakers: features.speakers.clone(),
        recipe: json!({
            "training": recipe,
            "hours": features.seconds() / 3600.0,
            "utterances": features.utterances.len(),
            "commands": [
                "ownvoice corpus --out CORPUS --hours 3",
                "ownvoice prepare CORPUS --out FEATURES",
                "ownvoice train-aligner --data FEATURES --out models/base/aligner.safetensors",
                format!("ownvoice pretrain --data FEATURES --out models/base --steps {}", recipe.steps),
            ],
        }),
        quality: json!({ "held_out_loss": held_out_loss }),
    };
    let write = |name: &str, content: &[u8]| {
        let path = arguments.out.join(name);
        fs::write(&path, content).map_err(Error::io(&path))
    };
    write(WEIGHTS, &weights)?;
    write("manifest.json", (serde_json::to_string_pretty(&manifest).expect("plain data") + "\n").as_bytes())?;
    println!("{}: {:.1} MB of weights, held-out loss {held_out_loss:.4}", arguments.out.display(), weights.len() as f32 / 1e6);
    Ok(())
}

const WEIGHTS: &str = "weights.safetensors";
const ALIGNER: &str = "aligner.safetensors";
/// Shared by all bases.
const LEXICON: &str = "../lexicon/en.lex";
/// The most natural of the engines' voices.
const DEFAULT_SPEAKER: &str = "flite-slt";
