//! Pretrains a base with either alignment path and writes its files.

use std::path::{Path, PathBuf};

use burn::{module::Module, prelude::Device};
use clap::ValueEnum;
use serde_json::json;

use super::{training::pretrain as train, warm_start::WarmStart};
use crate::learn::Trained;
use crate::learn::{
    hyperparameters::{Hyperparameters, RunConfig},
    run::curve_path,
};
use burn_fused::weights::{Metadata, Storage, collect, deserialize, serialize};
use ownvoice::{
    Error, Result,
    align::ForcedAligner,
    features::Features,
    files,
    model::{AttentiveTacotron, Tacotron, TacotronConfig},
    report::Report,
    text::{Phonemizer, symbols},
    voice::{
        AttentiveVoice, FileEntry, Files, Manifest, Table,
        folder::{self, SPEAKER_ENCODER, VOCODER},
    },
};

/// The presets of a model's sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// The sizes of the base voice
    Small,
    /// The sizes of Tacotron 2
    Tacotron2,
    /// Sizes for tests
    Tiny,
}

impl Preset {
    fn config(self, speakers: usize) -> TacotronConfig {
        match self {
            Self::Small => TacotronConfig::small(speakers),
            Self::Tacotron2 => TacotronConfig::tacotron2(speakers),
            Self::Tiny => TacotronConfig::tiny(speakers),
        }
    }
}

/// How symbols are aligned with frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlignmentPath {
    /// By durations, as in the base voice
    Durations,
    /// By location-sensitive attention, as in Tacotron 2
    Attention,
}

/// The configuration of a pretraining.
#[derive(Debug, Clone)]
pub struct PretrainConfig {
    /// The folder of the features.
    pub data: PathBuf,
    /// The folder for the base. It contains the aligner, and optionally a vocoder and a speaker encoder.
    pub out: PathBuf,
    pub preset: Preset,
    pub path: AlignmentPath,
    /// The folder of a base whose weights are the initial ones.
    pub from: Option<PathBuf>,
    pub training: RunConfig,
}

impl PretrainConfig {
    /// Creates the configuration of a small model on the duration path.
    ///
    /// * `device`: tracks no gradients
    pub fn new(data: PathBuf, out: PathBuf, device: &Device) -> Self {
        Self {
            data,
            preset: Preset::Small,
            path: AlignmentPath::Durations,
            from: None,
            training: RunConfig::new(Hyperparameters::base(), out.join("run"), device),
            out,
        }
    }
}

/// Pretrains a model. Writes the weights and manifest of a base, or the single file of an attention model.
pub fn pretrain(config: &PretrainConfig, report: &dyn Report) -> Result<Trained> {
    let PretrainConfig { data, out, preset, path, from, training } = config;
    let RunConfig { hyperparameters, directory, device, ranks, .. } = training;
    files::check_folder(out)?;
    if let AlignmentPath::Durations = path {
        check_parts(out)?;
    }
    let features = Features::load(data)?;
    let model_config = preset.config(features.speakers.len());
    if !hyperparameters.compute.precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let start = from.as_ref().map(|base| -> Result<_> {
        let Manifest { model: config, speakers, .. } = folder::read_manifest(base)?;
        let (weights, _) = deserialize(&files::read(&base.join(WEIGHTS))?).map_err(Error::base_corrupt)?;
        Ok(WarmStart { config, speakers, weights })
    });
    let start = start.transpose()?;
    let trained = match path {
        AlignmentPath::Durations => {
            let (model, held_out_loss) =
                train::<Tacotron>(&features, &model_config, training, start, report)?;
            write_base(config, &features, model_config, &model, held_out_loss, report)?
        }
        AlignmentPath::Attention => {
            // Attention is always autoregressive, and it chooses the durations, so that no pitch can be given by frame.
            let sizes = TacotronConfig { autoregressive: true, pitch: false, ..model_config };
            let (model, held_out_loss) =
                train::<AttentiveTacotron>(&features, &sizes, training, start, report)?;
            let voice = AttentiveVoice {
                model: model.valid(),
                config: sizes,
                mel: features.mel.clone(),
                table: Table::Own,
                speaker: default_speaker(&features),
                device: device.clone().inner(),
            };
            let path = out.join(AttentiveVoice::FILE);
            let bytes = pollster::block_on(voice.serialize(Storage::Half))?;
            if ranks.is_first() {
                files::write(&path, &bytes)?;
            }
            Trained::new(&path, &bytes, held_out_loss)
        }
    };
    if ranks.is_first() {
        report.curve(&curve_path(directory), &trained.path.with_extension(""))?;
    }
    Ok(trained)
}

/// Checks the files that the manifest of a base names beside its weights, before hours of training.
fn check_parts(out: &Path) -> Result<()> {
    let read = |name: &str| files::read(&out.join(name));
    Phonemizer::new(&read(LEXICON)?)?;
    ForcedAligner::load(&read(ALIGNER)?, &Device::flex())?;
    Ok(())
}

/// Writes weights and manifest, on the first rank. The manifest names the aligner and the lexicon, which must exist, and the vocoder and the speaker encoder if
/// they exist.
fn write_base(
    config: &PretrainConfig,
    features: &Features,
    sizes: TacotronConfig,
    model: &Tacotron,
    held_out_loss: f32,
    report: &dyn Report,
) -> Result<Trained> {
    let PretrainConfig { out, training, .. } = config;
    let RunConfig { hyperparameters, ranks, .. } = training;
    let read = |name: &str| files::read(&out.join(name));
    let named = |name: &str| {
        out.join(name).is_file().then(|| -> Result<_> { Ok(FileEntry::new(name, &read(name)?)) }).transpose()
    };
    let weights = pollster::block_on(serialize(collect(model), Storage::Half, Metadata::new()))?;
    let manifest = Manifest {
        name: "ownvoice base, English".into(),
        licence: "MIT OR Apache-2.0".into(),
        files: Files {
            weights: FileEntry::new(WEIGHTS, &weights),
            lexicon: FileEntry::new(LEXICON, &read(LEXICON)?),
            aligner: FileEntry::new(ALIGNER, &read(ALIGNER)?),
            vocoder: named(VOCODER)?,
            speaker_encoder: named(SPEAKER_ENCODER)?,
        },
        mel: features.mel.clone(),
        symbols: symbols::version(),
        default_speaker: features.speakers[default_speaker(features)].clone(),
        held_out: Vec::new(), // `ownvoice measure` names them.
        speakers: features.speakers.clone(),
        mean_pitches_hz: if sizes.pitch { features.mean_pitches_hz()?.to_vec() } else { Vec::new() },
        recipe: json!({
            "training": hyperparameters,
            "hours": features.seconds() / 3600.0,
            "utterances": features.utterances.len(),
        }),
        quality: json!({ "held_out_loss": held_out_loss }),
        model: sizes,
    };
    if ranks.is_first() {
        files::write(&out.join(WEIGHTS), &weights)?;
        folder::write_manifest(out, &manifest)?;
        if manifest.files.vocoder.is_none() {
            report.note(&format!(
                "there is no {VOCODER} beside the weights; without one, the base uses Griffin-Lim"
            ));
        }
    }
    Ok(Trained::new(&out.join(WEIGHTS), &weights, held_out_loss))
}

/// Returns the row of the default speaker.
fn default_speaker(features: &Features) -> usize {
    features.speakers.iter().position(|name| *name == DEFAULT_SPEAKER).unwrap_or(0)
}

/// The file name of the weights in the folder of a base.
pub const WEIGHTS: &str = "weights.safetensors";
/// The file name of the aligner in the folder of a base.
pub const ALIGNER: &str = "aligner.safetensors";
/// The path of the lexicon, which all bases share.
const LEXICON: &str = "../lexicon/en.lex";
/// The most natural voice of the teacher.
const DEFAULT_SPEAKER: &str = "kokoro-af_heart";

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice_testing::noise_features;
    use std::fs;

    #[test]
    fn a_missing_aligner_is_found_before_training() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("base");
        let config = PretrainConfig {
            preset: Preset::Tiny,
            training: RunConfig::new(
                Hyperparameters { steps: 1, batch: 1, ..Hyperparameters::base() },
                out.join("run"),
                &Device::flex(),
            ),
            ..PretrainConfig::new(folder.path().join("features"), out.clone(), &Device::flex())
        };
        let missing = || pretrain(&config, &()).unwrap_err().to_string();
        assert!(missing().contains("en.lex"), "{}", missing());
        fs::create_dir_all(folder.path().join("lexicon")).unwrap();
        fs::copy("../../models/lexicon/en.lex", out.join(LEXICON)).unwrap();
        assert!(missing().contains(ALIGNER), "{}", missing());
        fs::copy("../../models/base/aligner.safetensors", out.join(ALIGNER)).unwrap();
        assert!(missing().contains("features"), "then the features are missing: {}", missing());
    }

    #[test]
    fn the_manifest_names_the_parts_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (data, out) = (folder.path().join("features"), folder.path().join("base"));
        noise_features::write(&data, false);
        fs::create_dir_all(&out).unwrap();
        fs::create_dir_all(folder.path().join("lexicon")).unwrap();
        fs::copy("../../models/lexicon/en.lex", out.join(LEXICON)).unwrap();
        let copy = |name: &str| fs::copy(Path::new("../../models/base").join(name), out.join(name)).unwrap();
        copy(ALIGNER);
        let hyperparameters = Hyperparameters { steps: 1, batch: 1, window: 4, ..Hyperparameters::base() };
        let config = PretrainConfig {
            preset: Preset::Tiny,
            training: RunConfig::new(hyperparameters, folder.path().join("run"), &Device::flex()),
            ..PretrainConfig::new(data, out.clone(), &Device::flex())
        };
        let named = || {
            pretrain(&config, &()).unwrap();
            let Files { vocoder, speaker_encoder, .. } = folder::read_manifest(&out).unwrap().files;
            [vocoder, speaker_encoder].map(|entry| entry.map(|entry| entry.path))
        };
        assert_eq!(named(), [None, None]);
        copy(VOCODER);
        copy(SPEAKER_ENCODER);
        assert_eq!(named(), [VOCODER, SPEAKER_ENCODER].map(|name| Some(name.to_string())));
    }
}
