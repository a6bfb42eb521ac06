//! A base of minimal width with every part of a real one, and recordings of a held-out voice.

#![allow(dead_code)] // Each test file uses a part.

use burn::{prelude::Device, tensor::Tensor};
use ownvoice::{
    audio::{Audio, wav},
    evaluate::encoder::SpeakerVerifier,
    train::Clip,
    voice::{Base, BaseFiles, FileEntry, Manifest},
    weights::{HostWeights, Weight, Weights},
};
use serde::Deserialize;
use std::{fs, path::PathBuf};

pub const LEXICON: &[u8] = include_bytes!("../../../models/lexicon/en.lex");
pub const ALIGNER: &[u8] = include_bytes!("../../../models/base/aligner.safetensors");

fn fixtures() -> PathBuf {
    PathBuf::from("../tests/fixtures")
}

/// Returns the manifest and weights of a briefly trained base.
pub fn tiny_files() -> (Manifest, Vec<u8>) {
    let folder = fixtures().join("tiny-base");
    let manifest = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    (manifest, fs::read(folder.join("weights.safetensors")).unwrap())
}

/// Moves weights that were read from a file to a device, to be written again.
pub fn on_device(weights: HostWeights) -> Weights {
    let weight = |(name, (shape, values)): (String, (Vec<usize>, Vec<f32>))| {
        (name, Weight { shape, values: Tensor::from_floats(values.as_slice(), &Device::flex()) })
    };
    weights.into_iter().map(weight).collect()
}

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

pub fn tiny_base() -> Base {
    let (manifest, weights) = tiny_files();
    load(&manifest, &weights).unwrap()
}

/// Returns the tiny base with one bit of one weight changed.
pub fn other_base() -> Base {
    let (mut manifest, mut weights) = tiny_files();
    *weights.last_mut().unwrap() ^= 0x80;
    manifest.files.weights = FileEntry::new("weights.safetensors", &weights);
    load(&manifest, &weights).unwrap()
}

/// Returns the shipped base.
pub fn shipped_base() -> Base {
    Base::open("../models/base", &Device::flex()).unwrap()
}

/// Returns the shipped speaker encoder.
pub fn shipped_verifier() -> SpeakerVerifier {
    SpeakerVerifier::load(&fs::read("../models/base/speaker_encoder.safetensors").unwrap()).unwrap()
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    begin: f32,
    end: f32,
}

/// Returns the first clips of a voice that nothing was trained on.
pub fn held_out_clips(count: usize) -> Vec<Clip> {
    let audio = wav::read(&fs::read(fixtures().join("held-out.wav")).unwrap()).unwrap();
    let sentences: Vec<Sentence> =
        serde_json::from_slice(&fs::read(fixtures().join("held-out.json")).unwrap()).unwrap();
    let at = |seconds: f32| ((seconds * audio.sample_rate_hz as f32) as usize).min(audio.samples.len());
    let clip = |sentence: &Sentence| Clip {
        audio: Audio {
            samples: audio.samples[at(sentence.begin)..at(sentence.end)].to_vec(),
            sample_rate_hz: audio.sample_rate_hz,
        },
        text: sentence.text.clone(),
    };
    sentences.iter().take(count).map(clip).collect()
}
