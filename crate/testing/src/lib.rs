//! What the tests of several crates share: a base with every part of a real one and nearly no width, recordings of a held-out voice, devices, and pieces of text.
//!
//! Unit tests of `ownvoice` itself can use files and samples from here, but not its types: those belong to the library as it is built without its tests.

pub mod devices;
pub mod librosa;
pub mod noise_features;
pub mod pieces;

use burn::{prelude::Device, tensor::Tensor};
use burn_fused::weights::{HostWeights, Weight, Weights};
use ownvoice::{
    audio::{Audio, wav},
    clone::clip::Clip,
    voice::{Base, BaseFiles, FileEntry, Manifest},
};
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

pub const LEXICON: &[u8] = include_bytes!("../../../models/lexicon/en.lex");
pub const ALIGNER: &[u8] = include_bytes!("../../../models/base/aligner.safetensors");

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folder `tests/fixtures`.
pub fn fixtures() -> PathBuf {
    root().join("tests/fixtures")
}

/// Manifest and weights of a base that was trained briefly.
pub fn tiny_files() -> (Manifest, Vec<u8>) {
    let folder = fixtures().join("tiny-base");
    let manifest = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    (manifest, fs::read(folder.join("weights.safetensors")).unwrap())
}

/// A temporary folder with the tiny base in `base`, laid out as `models` is.
pub fn tiny_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("tests/fixtures/tiny-base/manifest.json", "base/manifest.json"),
        ("tests/fixtures/tiny-base/weights.safetensors", "base/weights.safetensors"),
        ("models/base/aligner.safetensors", "base/aligner.safetensors"),
        ("models/lexicon/en.lex", "lexicon/en.lex"),
    ] {
        let to = folder.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join(from), to).unwrap();
    }
    folder
}

/// Puts weights that were read from a file on the CPU, to be written again.
pub fn on_device(weights: HostWeights) -> Weights {
    let weight = |(name, (shape, values)): (String, (Vec<usize>, Vec<f32>))| {
        (name, Weight { shape, values: Tensor::from_floats(values.as_slice(), &Device::flex()) })
    };
    weights.into_iter().map(weight).collect()
}

/// Loads a base with the shipped lexicon and aligner, without a vocoder.
pub fn load(manifest: &Manifest, weights: &[u8]) -> ownvoice::Result<Base> {
    let manifest_json = serde_json::to_string(manifest).unwrap();
    Base::load(
        BaseFiles {
            manifest_json: &manifest_json,
            weights,
            lexicon: LEXICON,
            aligner: ALIGNER,
            vocoder: None,
        },
        &Device::flex(),
    )
}

/// The tiny base.
pub fn tiny_base() -> Base {
    let (manifest, weights) = tiny_files();
    load(&manifest, &weights).unwrap()
}

/// The tiny base with one bit of one weight changed.
pub fn other_base() -> Base {
    let (mut manifest, mut weights) = tiny_files();
    *weights.last_mut().unwrap() ^= 0x80;
    manifest.files.weights = FileEntry::new("weights.safetensors", &weights);
    load(&manifest, &weights).unwrap()
}

/// The base that ships.
pub fn shipped_base() -> Base {
    Base::open(root().join("models/base"), &Device::flex()).unwrap()
}

/// One sentence of the held-out voice.
pub struct Recording {
    pub samples: Vec<f32>,
    pub sample_rate_hz: u32,
    pub text: String,
}

/// The first sentences of a voice that nothing was trained on.
pub fn held_out_recordings(count: usize) -> Vec<Recording> {
    #[derive(Deserialize)]
    struct Sentence {
        text: String,
        begin: f32,
        end: f32,
    }
    let audio = wav::read(&fs::read(fixtures().join("held-out.wav")).unwrap()).unwrap();
    let sentences: Vec<Sentence> =
        serde_json::from_slice(&fs::read(fixtures().join("held-out.json")).unwrap()).unwrap();
    let at = |seconds: f32| ((seconds * audio.sample_rate_hz as f32) as usize).min(audio.samples.len());
    let recording = |sentence: &Sentence| Recording {
        samples: audio.samples[at(sentence.begin)..at(sentence.end)].to_vec(),
        sample_rate_hz: audio.sample_rate_hz,
        text: sentence.text.clone(),
    };
    sentences.iter().take(count).map(recording).collect()
}

/// The first clips of a voice that nothing was trained on.
pub fn held_out_clips(count: usize) -> Vec<Clip> {
    let clip =
        |Recording { samples, sample_rate_hz, text }| Clip { audio: Audio { samples, sample_rate_hz }, text };
    held_out_recordings(count).into_iter().map(clip).collect()
}
