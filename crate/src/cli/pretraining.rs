//! `ownvoice pretrain`.

use burn::{module::Module, prelude::Device};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::{fs, path::PathBuf};

use super::{base, curve::plot, device::DeviceName};
use crate::{
    Error, Result,
    align::ForcedAligner,
    corpus::HELD_OUT,
    files,
    model::{AttentiveTacotron, Tacotron, TacotronConfig},
    nn::Precision,
    text::{Phonemizer, symbols},
    train::{
        features::Features,
        pretrain::pretrain as train,
        run::{Recipe, RunConfig, curve_path},
        warm_start::WarmStart,
    },
    voice::{AttentiveVoice, FileEntry, Files, Manifest, Table},
    weights::{Metadata, Storage, collect, deserialize, serialize},
};

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Preset {
    Small,
    Tacotron2,
    Tiny,
}

/// How text and sound are brought together.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Path {
    /// By known durations: the base voice
    Durations,
    /// By location-sensitive attention: classic Tacotron 2
    Attention,
}

#[derive(Args)]
pub struct PretrainArguments {
    /// Features that `ownvoice prepare` wrote
    #[arg(long)]
    pub data: PathBuf,
    /// Folder for the base voice; the aligner must be in it
    #[arg(long)]
    pub out: PathBuf,
    #[arg(long, value_enum, default_value = "small")]
    pub preset: Preset,
    #[arg(long, value_enum, default_value = "durations")]
    pub path: Path,
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
    #[arg(long, default_value_t = Recipe::base().steps)]
    pub steps: usize,
    #[arg(long, default_value_t = Recipe::base().batch)]
    pub batch: usize,
    /// Mixed: products in half precision, where the device has it
    #[arg(long, value_enum, default_value = "f32")]
    pub precision: Precision,
    /// Learning rate at the start; it falls to a twentieth
    #[arg(long, default_value_t = Recipe::base().rate_start)]
    pub rate: f64,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder of a base that training begins with
    #[arg(long)]
    pub from: Option<PathBuf>,
    /// Go on from the checkpoint in the folder for runs
    #[arg(long)]
    pub resume: bool,
    /// Folder for checkpoint and curve [default: OUT/run]
    #[arg(long)]
    pub run: Option<PathBuf>,
}

pub fn pretrain(arguments: &PretrainArguments) -> Result<()> {
    files::check_folder(&arguments.out)?;
    if let Path::Durations = arguments.path {
        check_parts(&arguments.out)?;
    }
    let device: Device = arguments.device.open()?;
    let features = Features::load(&arguments.data)?;
    let speakers = features.speakers.len();
    let config = match arguments.preset {
        Preset::Small => TacotronConfig::small(speakers),
        Preset::Tacotron2 => TacotronConfig::tacotron2(speakers),
        Preset::Tiny => TacotronConfig::tiny(speakers),
    };
    let recipe = Recipe {
        steps: arguments.steps,
        batch: arguments.batch,
        seed: arguments.seed,
        precision: arguments.precision,
        rate_start: arguments.rate,
        rate_end: arguments.rate / 20.0,
        ..Recipe::base()
    };
    if !recipe.precision.runs_on(&device) {
        return Err(Error::precision_unsupported());
    }
    let run = arguments.run.clone().unwrap_or_else(|| arguments.out.join("run"));
    let run_config =
        RunConfig { recipe, directory: run.clone(), resume: arguments.resume, device: device.autodiff() };
    let start = arguments.from.as_ref().map(|base| {
        let Manifest { model: config, speakers, .. } = base::read_manifest(base)?;
        let path = base.join(WEIGHTS);
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        let (weights, _) = deserialize(&bytes).map_err(Error::base_corrupt)?;
        Ok(WarmStart { config, speakers, weights })
    });
    let start = start.transpose()?;
    match arguments.path {
        Path::Durations => {
            let (model, held_out_loss) = train::<Tacotron>(&features, &config, &run_config, start)?;
            write_base(&arguments.out, &features, config, &run_config.recipe, &model, held_out_loss)?;
            plot(&curve_path(&run), &arguments.out.join(WEIGHTS).with_extension("svg"))
        }
        Path::Attention => {
            // Attention is always autoregressive, and finds its own timing: no pitch could be given by frame.
            let config = TacotronConfig { autoregressive: true, pitch: false, ..config };
            let (model, held_out_loss) = train::<AttentiveTacotron>(&features, &config, &run_config, start)?;
            let (mel, speaker) = (features.mel.clone(), default_speaker(&features));
            let voice = AttentiveVoice {
                model: model.valid(),
                config,
                mel,
                table: Table::Own,
                speaker,
                device: run_config.device.clone().inner(),
            };
            let path = arguments.out.join(AttentiveVoice::FILE);
            let bytes = pollster::block_on(voice.serialize(Storage::Half))?;
            files::write(&path, &bytes)?;
            println!(
                "{}: {:.1} MB, held-out loss {held_out_loss:.4}",
                path.display(),
                bytes.len() as f32 / 1e6
            );
            plot(&curve_path(&run), &path.with_extension("svg"))
        }
    }
}

/// Whether the files that a base's manifest names beside its weights are there and of use, asked before hours of training.
fn check_parts(out: &std::path::Path) -> Result<()> {
    let read = |name: &str| files::read(&out.join(name));
    Phonemizer::new(&read(LEXICON)?)?;
    ForcedAligner::load(&read(ALIGNER)?, &Device::flex())?;
    Ok(())
}

/// Weights and manifest. The aligner and the lexicon that the manifest names must be there.
fn write_base(
    out: &std::path::Path,
    features: &Features,
    config: TacotronConfig,
    recipe: &Recipe,
    model: &Tacotron,
    held_out_loss: f32,
) -> Result<()> {
    let read = |name: &str| files::read(&out.join(name));
    let weights = pollster::block_on(serialize(collect(model), Storage::Half, Metadata::new()))?;
    let manifest = Manifest {
        name: "ownvoice base, English, engine voices".into(),
        licence: "MIT OR Apache-2.0".into(),
        files: Files {
            weights: FileEntry::new(WEIGHTS, &weights),
            lexicon: FileEntry::new(LEXICON, &read(LEXICON)?),
            aligner: FileEntry::new(ALIGNER, &read(ALIGNER)?),
            vocoder: None,
            speaker_encoder: None,
        },
        mel: features.mel.clone(),
        symbols: symbols::version(),
        default_speaker: features.speakers[default_speaker(features)].clone(),
        held_out: HELD_OUT.iter().map(|name| name.to_string()).collect(),
        speakers: features.speakers.clone(),
        mean_pitches_hz: if config.pitch { features.mean_pitches_hz().to_vec() } else { Vec::new() },
        recipe: json!({
            "training": recipe,
            "hours": features.seconds() / 3600.0,
            "utterances": features.utterances.len(),
        }),
        quality: json!({ "held_out_loss": held_out_loss }),
        model: config,
    };
    files::write(&out.join(WEIGHTS), &weights)?;
    base::write_manifest(out, &manifest)?;
    println!(
        "{}: {:.1} MB of weights, held-out loss {held_out_loss:.4}",
        out.display(),
        weights.len() as f32 / 1e6
    );
    Ok(())
}

/// The row of the speaker that speaks when nobody was cloned.
fn default_speaker(features: &Features) -> usize {
    features.speakers.iter().position(|name| *name == DEFAULT_SPEAKER).unwrap_or(0)
}

const WEIGHTS: &str = "weights.safetensors";
pub const ALIGNER: &str = "aligner.safetensors";
/// Shared by all bases.
const LEXICON: &str = "../lexicon/en.lex";
/// The most natural of the engines' voices.
const DEFAULT_SPEAKER: &str = "flite-slt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_aligner_is_found_before_training() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("base");
        let arguments = PretrainArguments {
            data: folder.path().join("features"),
            out: out.clone(),
            preset: Preset::Tiny,
            path: Path::Durations,
            device: DeviceName::Cpu,
            steps: 1,
            batch: 1,
            rate: Recipe::base().rate_start,
            precision: Precision::F32,
            seed: 1,
            from: None,
            resume: false,
            run: None,
        };
        let missing = || pretrain(&arguments).unwrap_err().to_string();
        assert!(missing().contains("en.lex"), "{}", missing());
        fs::create_dir_all(folder.path().join("lexicon")).unwrap();
        fs::copy("../models/lexicon/en.lex", out.join(LEXICON)).unwrap();
        assert!(missing().contains(ALIGNER), "{}", missing());
        fs::copy("../models/base/aligner.safetensors", out.join(ALIGNER)).unwrap();
        assert!(missing().contains("features"), "the next that is missing is the features: {}", missing());
    }
}
