//! A base with every part of a real one and nearly no width, and a held-out voice's recordings.

#![allow(dead_code)] // Each test file uses its own share.

use burn::prelude::Device;
use ownvoice::{
    audio::{mel::MelConfig, wav},
    model::{Tacotron, TacotronConfig},
    text::symbols,
    train::Clip,
    voice::{
        Base, BaseFiles, FileEntry, Files, Manifest,
        weights::{Precision, collect, pack},
    },
};
use serde::Deserialize;
use std::collections::HashMap;

pub const LEXICON: &[u8] = include_bytes!("../../../models/lexicon/en.lex");
pub const ALIGNER: &[u8] = include_bytes!("../../../models/base/aligner.safetensors");

/// Manifest and weights of an untrained base.
pub fn tiny_files(seed: u64) -> (Manifest, Vec<u8>) {
    let device = Device::flex();
    device.seed(seed);
    let model = TacotronConfig::tiny(2);
    let weights = pollster::block_on(pack(collect(&Tacotron::new(&model, &device)), Precision::Half, HashMap::new()));
    let manifest = Manifest {
        name: "tiny".into(),
        licence: "MIT".into(),
        files: Files {
            weights: FileEntry::new("weights.safetensors", &weights),
            lexicon: FileEntry::new("en.lex", LEXICON),
            aligner: FileEntry::new("aligner.safetensors", ALIGNER),
        },
        model,
        mel: MelConfig::speech_16k(),
        symbols: symbols::version(),
        speakers: vec!["one".into(), "two".into()],
        default_speaker: "two".into(),
        held_out: Vec::new(),
        recipe: serde_json::Value::Null,
        quality: serde_json::Value::Null,
    };
    (manifest, weights)
}

pub fn load(manifest: &Manifest, weights: &[u8]) -> ownvoice::Result<Base> {
    let manifest_json = serde_json::to_string(manifest).unwrap();
    Base::load(BaseFiles { manifest_json: &manifest_json, weights, lexicon: LEXICON, aligner: ALIGNER }, &Device::flex())
}

pub fn tiny_base(seed: u64) -> Base {
    let (manifest, weights) = tiny_files(seed);
    load(&manifest, &weights).unwrap()
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    begin: f32,
    end: f32,
}

/// The first clips of a voice that nothing was trained on.
pub fn held_out_clips(count: usize) -> Vec<Clip> {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let audio = wav::read(&std::fs::read(fixtures.join("held-out.wav")).unwrap()).unwrap();
    let sentences: Vec<Sentence> = serde_json::from_slice(&std::fs::read(fixtures.join("held-out.json")).unwrap()).unwrap();
    let at = |seconds: f32| ((seconds * audio.sample_rate_hz as f32) as usize).min(audio.samples.len());
    let clip = |sentence: &Sentence| Clip {
        samples: audio.samples[at(sentence.begin)..at(sentence.end)].to_vec(),
        sample_rate_hz: audio.sample_rate_hz,
        text: sentence.text.clone(),
    };
    sentences.iter().take(count).map(clip).collect()
}
