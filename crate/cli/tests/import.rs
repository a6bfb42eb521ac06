//! NVIDIA's Tacotron 2 imported: against PyTorch's own output, from hostile files, and on the command line until it speaks.
//!
//! `tests/fixtures/nvidia/generate.py` made the fixtures; nothing here needs PyTorch.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use burn::prelude::*;
use burn_fused::{
    Mode,
    weights::{Storage, collect, deserialize},
};
use ownvoice::{
    audio::{mel::MelConfig, wav},
    model::{AttentiveTacotron, tacotron::Symbols},
    synth::{SpeakOptions, speak_attentive_async},
    text::Phonemizer,
    vocoder::GriffinLim,
    voice::{AttentiveVoice, Table},
};
use ownvoice_cli::import::Imported;
use pollster::block_on;

const TOLERANCE: f32 = 1e-4;

fn fixture(name: &str) -> PathBuf {
    Path::new("../../tests/fixtures/nvidia").join(name)
}

/// The reference ran without dropout.
fn without_dropout(checkpoint: &str) -> (Imported, AttentiveTacotron) {
    let mut imported = Imported::read(&fixture(checkpoint)).unwrap();
    imported.config.prenet_dropout = 0.0;
    let model = imported.model(&Device::flex()).unwrap();
    (imported, model)
}

#[test]
fn an_imported_model_is_the_reference() {
    let (expected, _) = deserialize(&fs::read(fixture("expected.safetensors")).unwrap()).unwrap();
    let data = |name: &str| TensorData::new(expected[name].1.clone(), expected[name].0.clone());
    let compare = |name: &str, found: TensorData| {
        assert_eq!(found.shape().to_vec(), expected[name].0, "{name}");
        let found = found.try_to_vec::<f32>().unwrap();
        let worst = found
            .iter()
            .zip(&expected[name].1)
            .map(|(found, expected)| (found - expected).abs())
            .fold(0.0, f32::max);
        println!("{name}: off by {worst:.1e}");
        assert!(
            worst <= TOLERANCE && found.iter().all(|value| value.is_finite()),
            "{name} is off by {worst:.1e}"
        );
    };
    for checkpoint in ["tacotron2.pt", "tacotron2-legacy.pt"] {
        let (_, model) = without_dropout(checkpoint);
        let device = Device::flex();
        let ids: Vec<u8> = expected["symbols"].1.iter().map(|&symbol| symbol as u8).collect();
        let symbols = Symbols::new(&[&ids], None, &device);
        let encoded = model.encoder.forward(
            symbols.ids.clone(),
            symbols.mask.clone().unsqueeze_dim(2),
            &symbols.lengths,
            Mode::Eval,
        );
        let memory = model.decoder.memory(&symbols, encoded.clone(), model.speakers.val());
        let said = model.decoder.forward(
            Tensor::from_data(data("previous"), &device),
            &memory,
            model.decoder.start(&memory),
        );
        let refined = said.frames.clone() + model.postnet.forward(said.frames.clone(), Mode::Eval);
        compare("encoded", encoded.into_data());
        compare("frames", said.frames.into_data());
        compare("gate", said.gate.into_data());
        compare("alignment", said.alignment.into_data());
        compare("refined", refined.into_data());
    }
}

fn serialized() -> (Imported, AttentiveTacotron, Vec<u8>) {
    let imported = Imported::read(&fixture("tacotron2.pt")).unwrap();
    let model = imported.model(&Device::flex()).unwrap();
    let config = imported.config.clone();
    let voice = AttentiveVoice {
        model,
        config,
        mel: MelConfig::nvidia_22k(),
        table: Table::Nvidia,
        speaker: 0,
        device: Device::flex(),
    };
    let bytes = block_on(voice.serialize(Storage::Full)).unwrap();
    (imported, voice.model, bytes)
}

#[test]
fn the_file_keeps_every_bit() {
    let (imported, model, bytes) = serialized();
    let voice = AttentiveVoice::load(&bytes, &Device::flex()).unwrap();
    assert_eq!((&voice.config, &voice.mel), (&imported.config, &MelConfig::nvidia_22k()));
    let values = |model: &AttentiveTacotron| -> HashMap<String, TensorData> {
        collect(model).into_iter().map(|(name, weight)| (name, weight.values.into_data())).collect()
    };
    assert_eq!(values(&voice.model), values(&model));
}

#[test]
fn a_file_that_is_no_imported_model_is_refused() {
    let (_, _, bytes) = serialized();
    let code = |bytes: &[u8]| AttentiveVoice::load(bytes, &Device::flex()).err().map(|error| error.code());
    assert_eq!(code(&bytes), None);
    assert_eq!(code(&bytes[..bytes.len() / 2]), Some("base-corrupt"));
    let sizes = [r#"decoder_width\\\":9"#, r#"decoder_width\\\":8"#];
    for [says, said] in [["nvidia", "nvidio"], sizes, ["decoder.gate.bias", "decoder.gate.bios"]] {
        assert_eq!(code(&replaced(&bytes, says, said)), Some("base-corrupt"), "{said}");
    }
}

#[test]
fn every_end_of_speech_has_its_reason() {
    let (_, _, bytes) = serialized();
    let voice = AttentiveVoice::load(&bytes, &Device::flex()).unwrap();
    let mut vocoder = GriffinLim::new(voice.mel.clone());
    vocoder.iterations = 1;
    let phonemizer = Phonemizer::embedded();
    let say = |text: &str, options: SpeakOptions| {
        block_on(speak_attentive_async(&voice, &phonemizer, text, &options, &vocoder, async |_, _| true))
    };
    let speech = say("Hello there. So it is.", SpeakOptions::default()).unwrap();
    assert_eq!(speech.stop.name(), "gate");
    assert_eq!((speech.durations.len(), speech.sample_rate_hz), (speech.symbols.len(), 22_050));
    assert_eq!(
        say("Hello.", SpeakOptions { speed: 2.0, ..SpeakOptions::default() }).unwrap_err().code(),
        "option-invalid"
    );
    assert_eq!(say("", SpeakOptions::default()).unwrap_err().code(), "text-empty");
}

/// What becomes of a checkpoint of these bytes, up to the model.
fn code_of(bytes: &[u8]) -> Option<(&'static str, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tacotron2.pt");
    fs::write(&path, bytes).unwrap();
    let result = Imported::read(&path).and_then(|imported| imported.model(&Device::flex()));
    result.err().map(|error| (error.code(), error.to_string()))
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "both formats count letters");
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut changed = bytes.to_vec();
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty(), "the file holds {}", String::from_utf8_lossy(from));
    places.into_iter().for_each(|at| changed[at..at + to.len()].copy_from_slice(to));
    changed
}

/// Two tensors change names.
fn swapped(bytes: &[u8], first: &str, second: &str) -> Vec<u8> {
    let neither = "?".repeat(first.len());
    replaced(&replaced(&replaced(bytes, first, &neither), second, first), &neither, second)
}

#[test]
fn wrong_checkpoints_are_refused_in_words() {
    let legacy = fs::read(fixture("tacotron2-legacy.pt")).unwrap();
    let refused = |bytes: &[u8], because: &str| {
        let (code, message) = code_of(bytes).expect("it is refused");
        assert_eq!(code, "checkpoint-unsupported");
        assert!(message.contains(because), "{message}");
    };
    refused(b"", "");
    refused(b"This is no checkpoint.", "");
    refused(&fs::read(fixture("expected.safetensors")).unwrap(), "");
    refused(&replaced(&legacy, "embedding.weight", "embedding.wreath"), "there is no embedding.weight");
    refused(
        &replaced(&legacy, "decoder.gate_layer", "decoder.gate_laser"),
        "there is no decoder.gate_layer.linear_layer.weight",
    );
    refused(
        &replaced(&legacy, "1.1.running_mean", "1.1.running_main"),
        "there is no encoder.convolutions.1.1.running_mean",
    );
    refused(
        &swapped(&legacy, "decoder.decoder_rnn.weight_ih", "decoder.decoder_rnn.weight_hh"),
        "decoder.decoder_lstm.w_",
    );
    let wrong = "decoder.attention_rnn.bias_hh is [6]; it should have 36 values";
    refused(&swapped(&legacy, "decoder.attention_rnn.bias_hh", "postnet.convolutions.0.1.bias"), wrong);
}

#[test]
fn damaged_checkpoints_neither_load_nor_panic() {
    for name in ["tacotron2.pt", "tacotron2-legacy.pt"] {
        let whole = fs::read(fixture(name)).unwrap();
        for length in (0..whole.len()).step_by(1499) {
            assert_eq!(
                code_of(&whole[..length]).map(|(code, _)| code),
                Some("checkpoint-unsupported"),
                "{name} of {length} bytes"
            );
        }
        // One byte of the names, shapes and offsets is another: the values alone may still be read.
        let mut state = 1u32;
        for _ in 0..200 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let mut changed = whole.clone();
            changed[(state >> 8) as usize % 12_000] ^= 1 << (state >> 5 & 7);
            if let Some((code, message)) = code_of(&changed) {
                assert_eq!(code, "checkpoint-unsupported", "{message}");
            }
        }
    }
}

#[test]
fn a_pickle_is_never_executed() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("executed");
    let pickle = format!("\u{80}\u{2}cos\nsystem\n(S'touch {}'\ntR.", proof.display());
    let bytes: Vec<u8> = pickle.chars().map(|letter| letter as u8).collect();
    assert_eq!(code_of(&bytes).map(|(code, _)| code), Some("checkpoint-unsupported"));
    assert!(!proof.exists());
}

fn ownvoice(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ownvoice")).args(arguments).output().unwrap()
}

#[test]
fn the_command_line_imports_and_speaks() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (models, out) = (path("models"), path("say.wav"));
    let import = ownvoice(&["import", fixture("tacotron2.pt").to_str().unwrap(), "--out", &models]);
    assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stderr));
    let say = ownvoice(&["say", "--base", &models, "--text", "Hello, world.", "--out", &out]);
    assert!(say.status.success(), "{}", String::from_utf8_lossy(&say.stderr));
    let told = String::from_utf8_lossy(&say.stdout).into_owned();
    assert!(told.contains("griffin-lim") && told.contains("ended by gate"), "{told}");
    let clip = wav::read(&fs::read(&out).unwrap()).unwrap();
    // The fixture's gate opens after some thirty frames.
    let frames = clip.samples.len() / 256 + 1;
    assert!(
        clip.sample_rate_hz == 22_050 && (25..=35).contains(&frames),
        "{frames} frames at {} Hz",
        clip.sample_rate_hz
    );
    assert!(clip.samples.iter().any(|sample| sample.abs() > 1e-3), "it is silent");

    for (arguments, code) in [
        (vec!["import", &out, "--out", &models], "checkpoint-unsupported"),
        (vec!["import", "no-such-file.pt", "--out", &models], "io"),
        (
            vec!["say", "--base", &models, "--text", "Hello.", "--out", &out, "--vocoder", "neural"],
            "option-invalid",
        ),
        (
            vec!["say", "--base", &models, "--text", "Hello.", "--out", &out, "--voice", &out],
            "option-invalid",
        ),
    ] {
        let refused = ownvoice(&arguments);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && told.contains(&format!("error[{code}]")),
            "{arguments:?}: {told}"
        );
    }
}
