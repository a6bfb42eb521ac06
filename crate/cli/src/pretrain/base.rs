//! Pretraining of a base, along either path.

use std::path::{Path, PathBuf};

use burn::{module::Module, prelude::Device};
use serde_json::json;

use super::{domain_embedding, training::pretrain as train, warm_start::WarmStart};
use crate::learn::Trained;
use crate::{
    corpus::HELD_OUT,
    learn::{
        hyperparameters::{Hyperparameters, RunConfig},
        run::curve_path,
    },
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

/// Sizes of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    Small,
    Tacotron2,
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

/// How text and sound are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlignmentPath {
    /// By known durations: the base voice.
    Durations,
    /// By location-sensitive attention: classic Tacotron 2.
    Attention,
}

/// From features to a base.
#[derive(Debug, Clone)]
pub struct PretrainConfig {
    /// Features to train on.
    pub data: PathBuf,
    /// Folder for the base; the aligner must be in it, and a vocoder and a speaker encoder may be.
    pub out: PathBuf,
    pub preset: Preset,
    pub path: AlignmentPath,
    /// Folder of a base that training begins with.
    pub from: Option<PathBuf>,
    /// Share of that base in the weights that are written, 0 to 1.
    pub start_share: f32,
    /// Whether the speaker vectors of people share one vector while they are learned, see [`super::people_mark`].
    pub mark_people: bool,
    pub training: RunConfig,
}

impl PretrainConfig {
    /// The shipped base's.
    ///
    /// * `device`: without gradients
    pub fn new(data: PathBuf, out: PathBuf, device: &Device) -> Self {
        Self {
            data,
            preset: Preset::Small,
            path: AlignmentPath::Durations,
            from: None,
            start_share: 0.0,
            mark_people: false,
            training: RunConfig::new(Hyperparameters::base(), out.join("run"), device),
            out,
        }
    }
}

/// Trains, and writes weights and manifest of a base, or the one file of an attention model.
pub fn pretrain(config: &PretrainConfig, report: &dyn Report) -> Result<Trained> {
    let PretrainConfig { data, out, preset, path, from, start_share, mark_people, training } = config;
    let RunConfig { hyperparameters, directory, device, ranks, .. } = training;
    files::check_folder(out)?;
    if !(0.0..=1.0).contains(start_share) {
        return Err(Error::option_invalid("the share of the start must lie between 0 and 1"));
    }
    if let AlignmentPath::Durations = path {
        check_parts(out)?;
    }
    let mut features = Features::load(data)?;
    if *mark_people {
        domain_embedding::add_domain_embedding(&mut features)?;
    }
    let model_config = preset.config(features.speakers.len());
    if !hyperparameters.compute.precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let start = from.as_ref().map(|base| -> Result<_> {
        let Manifest { model: config, speakers, .. } = folder::read_manifest(base)?;
        let (weights, _) = deserialize(&files::read(&base.join(WEIGHTS))?).map_err(Error::base_corrupt)?;
        Ok(WarmStart { config, speakers, weights, share: *start_share })
    });
    let start = start.transpose()?;
    let trained = match path {
        AlignmentPath::Durations => {
            let (model, held_out_loss) =
                train::<Tacotron>(&features, &model_config, training, start, report)?;
            write_base(config, &features, model_config, &model, held_out_loss, report)?
        }
        AlignmentPath::Attention => {
            // Attention is always autoregressive, and finds its own timing: no pitch could be given by frame.
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

/// Whether the files that a base's manifest names beside its weights exist and are valid, checked before hours of training.
fn check_parts(out: &Path) -> Result<()> {
    let read = |name: &str| files::read(&out.join(name));
    Phonemizer::new(&read(LEXICON)?)?;
    ForcedAligner::load(&read(ALIGNER)?, &Device::flex())?;
    Ok(())
}

/// Weights and manifest, by the first rank. The aligner and the lexicon that the manifest names must be there; a vocoder and a speaker encoder are named where
/// they lie there.
fn write_base(
    config: &PretrainConfig,
    features: &Features,
    sizes: TacotronConfig,
    model: &Tacotron,
    held_out_loss: f32,
    report: &dyn Report,
) -> Result<Trained> {
    let PretrainConfig { out, start_share, mark_people, training: RunConfig { hyperparameters, ranks, .. }, .. } =
        config;
    let read = |name: &str| files::read(&out.join(name));
    let named = |name: &str| {
        out.join(name).is_file().then(|| -> Result<_> { Ok(FileEntry::new(name, &read(name)?)) }).transpose()
    };
    let weights = pollster::block_on(serialize(collect(model), Storage::Half, Metadata::new()))?;
    let manifest = Manifest {
        name: "ownvoice base, English, engine voices".into(),
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
        held_out: HELD_OUT.iter().map(|name| name.to_string()).collect(),
        speakers: features.speakers.clone(),
        people: domain_embedding::people(features).map(|(_, name)| name.clone()).collect(),
        mean_pitches_hz: if sizes.pitch { features.mean_pitches_hz()?.to_vec() } else { Vec::new() },
        recipe: json!({
            "training": hyperparameters,
            "start_share": start_share,
            "mark_people": mark_people,
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
                "no {VOCODER} lies beside the weights: until one is trained there, the base speaks through Griffin-Lim"
            ));
        }
    }
    Ok(Trained::new(&out.join(WEIGHTS), &weights, held_out_loss))
}

/// The row of the speaker that speaks when nobody was cloned.
fn default_speaker(features: &Features) -> usize {
    features.speakers.iter().position(|name| *name == DEFAULT_SPEAKER).unwrap_or(0)
}

pub const WEIGHTS: &str = "weights.safetensors";
pub const ALIGNER: &str = "aligner.safetensors";
/// Shared by all bases.
const LEXICON: &str = "../lexicon/en.lex";
/// The most natural of the engines' voices.
const DEFAULT_SPEAKER: &str = "flite-slt";

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
        assert!(missing().contains("features"), "the next that is missing is the features: {}", missing());
    }

    #[test]
    fn the_parts_that_lie_in_the_folder_are_named() {
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
