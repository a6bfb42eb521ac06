//! Tests of the import of NVIDIA's Tacotron 2: comparison with PyTorch's output, damaged files, and synthesis on the command line.
//!
//! `tests/fixtures/nvidia/generate.py` generated the fixtures. The tests do not need PyTorch.

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

/// Imports a checkpoint without dropout, as in the reference.
fn without_dropout(checkpoint: &str) -> (Imported, AttentiveTacotron) {
    let mut imported = Imported::read(&fixture(checkpoint)).unwrap();
    imported.config.prenet_dropout = 0.0;
    let model = imported.model(&Device::flex()).unwrap();
    (imported, model)
}

#[test]
fn an_imported_model_matches_pytorch() {
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
        println!("{name}: maximum difference {worst:.1e}");
        assert!(
            worst <= TOLERANCE && found.iter().all(|value| value.is_finite()),
            "{name} differs by {worst:.1e}"
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
        let decoded = model.decoder.forward(
            Tensor::from_data(data("previous"), &device),
            &memory,
            model.decoder.start(&memory),
        );
        let refined = decoded.frames.clone() + model.postnet.forward(decoded.frames.clone(), Mode::Eval);
        compare("encoded", encoded.into_data());
        compare("frames", decoded.frames.into_data());
        compare("gate", decoded.gate.into_data());
        compare("alignment", decoded.alignment.into_data());
        compare("refined", refined.into_data());
    }
}

/// Returns the imported fixture, its model and its file.
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
fn the_file_keeps_all_bits() {
    let (imported, model, bytes) = serialized();
    let voice = AttentiveVoice::load(&bytes, &Device::flex()).unwrap();
    assert_eq!((&voice.config, &voice.mel), (&imported.config, &MelConfig::nvidia_22k()));
    let values = |model: &AttentiveTacotron| -> HashMap<String, TensorData> {
        collect(model).into_iter().map(|(name, weight)| (name, weight.values.into_data())).collect()
    };
    assert_eq!(values(&voice.model), values(&model));
}

#[test]
fn damaged_files_of_imported_models_are_refused() {
    let (_, _, bytes) = serialized();
    let code = |bytes: &[u8]| AttentiveVoice::load(bytes, &Device::flex()).err().map(|error| error.code());
    assert_eq!(code(&bytes), None);
    assert_eq!(code(&bytes[..bytes.len() / 2]), Some("base-corrupt"));
    let sizes = [r#"decoder_width\\\":9"#, r#"decoder_width\\\":8"#];
    for [from, to] in [["nvidia", "nvidio"], sizes, ["decoder.gate.bias", "decoder.gate.bios"]] {
        assert_eq!(code(&replaced(&bytes, from, to)), Some("base-corrupt"), "{to}");
    }
}

#[test]
fn speech_ends_by_the_gate_and_unsupported_options_are_refused() {
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

/// Imports a checkpoint of these bytes. Returns the code and the message of the error, if any.
fn code_of(bytes: &[u8]) -> Option<(&'static str, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tacotron2.pt");
    fs::write(&path, bytes).unwrap();
    let result = Imported::read(&path).and_then(|imported| imported.model(&Device::flex()));
    result.err().map(|error| (error.code(), error.to_string()))
}

/// Replaces all occurrences of a text by another one of the same length.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "the formats store lengths");
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut changed = bytes.to_vec();
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty(), "the file does not contain {}", String::from_utf8_lossy(from));
    places.into_iter().for_each(|at| changed[at..at + to.len()].copy_from_slice(to));
    changed
}

/// Writes a checkpoint as `torch.save` does, with the tensors of the fixture.
///
/// * `prefix`:   before each name
/// * `wrappers`: the keys of the dictionaries around them, from the outermost
/// * `storage`:  the class of the storages
/// * `encode`:   the bytes of a value
fn checkpoint(
    prefix: &str,
    wrappers: &[&str],
    storage: &str,
    encode: fn(f32) -> Vec<u8>,
    protocol: u8,
) -> Vec<u8> {
    let text = |text: &str| [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let number = |number: usize| [b"J", &(number as u32).to_le_bytes()[..]].concat();
    let tuple = |items: &[Vec<u8>]| [b"(", &items.concat()[..], b"t"].concat();
    let global = |module: &str, name: &str| match protocol {
        4 => [&text(module)[..], &[0x94], &text(name), &[0x94, 0x93, 0x94]].concat(),
        _ => format!("c{module}\n{name}\n").into_bytes(),
    };
    let imported = Imported::fixture_tensors(&fixture("tacotron2.pt")).unwrap();
    let (mut dict, mut storages) = (vec![b'}', b'('], Vec::new());
    for (index, (name, (shape, values))) in imported.iter().enumerate() {
        let place = index.to_string();
        let persistent =
            [text("storage"), global("torch", storage), text(&place), text("cpu"), number(values.len())];
        let strides: Vec<usize> =
            (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<usize>()).collect();
        let sizes = |sizes: &[usize]| tuple(&sizes.iter().map(|&size| number(size)).collect::<Vec<_>>());
        let arguments = [
            [tuple(&persistent), vec![b'Q']].concat(),
            number(0),
            sizes(shape),
            sizes(&strides),
            vec![0x89],
            vec![b'}'],
        ];
        dict.extend(text(&format!("{prefix}{name}")));
        dict.extend([global("torch._utils", "_rebuild_tensor_v2"), tuple(&arguments), vec![b'R']].concat());
        storages
            .push((format!("model/data/{place}"), values.iter().flat_map(|&value| encode(value)).collect()));
    }
    dict.push(b'u');
    for key in wrappers.iter().rev() {
        // Beside other state of a training run.
        let other = [text("iteration"), number(7), text("optimizer"), vec![b'}']].concat();
        dict = [vec![b'}', b'('], other, text(key), dict, vec![b'u']].concat();
    }
    let frame = if protocol == 4 { [&[0x95][..], &[0; 8]].concat() } else { Vec::new() };
    let pickle = [&[0x80, protocol][..], &frame, &dict, b"."].concat();
    storages.insert(0, ("model/data.pkl".into(), pickle));
    zip(&storages)
}

/// Stores files in a zip archive, without checksums, which are not read.
fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let sizes = [bytes.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        let head = [&[0; 14][..], &sizes, &(name.len() as u16).to_le_bytes(), &[0; 2]].concat();
        let start = (archive.len() as u32).to_le_bytes();
        directory.extend([&b"PK\x01\x02\0\0"[..], &head, &[0; 10], &start, name.as_bytes()].concat());
        archive.extend([&b"PK\x03\x04"[..], &head, name.as_bytes(), bytes].concat());
    }
    let counts = [files.len() as u16; 2].map(u16::to_le_bytes).concat();
    let places = [directory.len() as u32, archive.len() as u32].map(u32::to_le_bytes).concat();
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &counts, &places, &[0; 2]].concat();
    [archive, directory, end].concat()
}

#[test]
fn checkpoints_of_other_trainings_are_unwrapped() {
    let expected = Imported::read(&fixture("tacotron2.pt")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    let float: (&str, fn(f32) -> Vec<u8>, f32) = ("FloatStorage", |x| x.to_le_bytes().into(), 0.0);
    let bfloat: (&str, fn(f32) -> Vec<u8>, f32) =
        ("BFloat16Storage", |x| half::bf16::from_f32(x).to_le_bytes().into(), 1.0 / 128.0);
    let half: (&str, fn(f32) -> Vec<u8>, f32) =
        ("HalfStorage", |x| half::f16::from_f32(x).to_le_bytes().into(), 1.0 / 1024.0);
    let double: (&str, fn(f32) -> Vec<u8>, f32) =
        ("DoubleStorage", |x| f64::from(x).to_le_bytes().into(), 0.0);
    let prefixes = ["", "module.", "model.", "module.model.", "generator.", "tacotron2.", "_orig_mod."];
    let wrappers: [&[&str]; 7] = [
        &[],
        &["state_dict"],
        &["model"],
        &["model_state_dict"],
        &["net"],
        &["model", "state_dict"],
        &["checkpoint", "model", "module"],
    ];
    let mut count = 0;
    for prefix in prefixes {
        for wrappers in wrappers {
            for (storage, encode, tolerance) in [float, bfloat, half, double] {
                for protocol in [2, 4] {
                    let name = format!("{prefix} {wrappers:?} {storage} {protocol}");
                    fs::write(&path, checkpoint(prefix, wrappers, storage, encode, protocol)).unwrap();
                    let found = Imported::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert_eq!(found.config, expected.config, "{name}");
                    assert_eq!(found.weights.len(), expected.weights.len(), "{name}");
                    for (weight, (shape, values)) in &found.weights {
                        let (expected_shape, expected_values) = &expected.weights[weight];
                        assert_eq!(shape, expected_shape);
                        // A value may be the sum of two that are rounded.
                        let near = |(found, expected): (&f32, &f32)| {
                            (found - expected).abs() <= tolerance * (2.0 * expected.abs() + 1.0)
                        };
                        assert!(values.iter().zip(expected_values).all(near), "{name}: {weight}");
                    }
                    count += 1;
                }
            }
        }
    }
    println!("{count} checkpoints");
    let unknown = checkpoint("other_", &[], "FloatStorage", float.1, 2);
    assert!(code_of(&unknown).unwrap().1.contains("there is no embedding.weight"));
}

/// Swaps the names of two tensors.
fn swapped(bytes: &[u8], first: &str, second: &str) -> Vec<u8> {
    let temporary = "?".repeat(first.len());
    replaced(&replaced(&replaced(bytes, first, &temporary), second, first), &temporary, second)
}

#[test]
fn wrong_checkpoints_are_refused_with_a_reason() {
    let legacy = fs::read(fixture("tacotron2-legacy.pt")).unwrap();
    let refused = |bytes: &[u8], because: &str| {
        let (code, message) = code_of(bytes).expect("it is refused");
        assert_eq!(code, "checkpoint-unsupported");
        assert!(message.contains(because), "{message}");
    };
    refused(b"", "");
    refused(b"This is not a checkpoint.", "");
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
fn damaged_checkpoints_do_not_panic() {
    for name in ["tacotron2.pt", "tacotron2-legacy.pt"] {
        let whole = fs::read(fixture(name)).unwrap();
        for length in (0..whole.len()).step_by(1499) {
            assert_eq!(
                code_of(&whole[..length]).map(|(code, _)| code),
                Some("checkpoint-unsupported"),
                "{name} of {length} bytes"
            );
        }
        // One bit of names, shapes and offsets is flipped. If only values change, the checkpoint can still be read.
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
    let printed = String::from_utf8_lossy(&say.stdout).into_owned();
    assert!(printed.contains("griffin-lim") && printed.contains("ended by gate"), "{printed}");
    let clip = wav::read(&fs::read(&out).unwrap()).unwrap();
    // The gate of the fixture ends the speech after about thirty frames.
    let frames = clip.samples.len() / 256 + 1;
    assert!(
        clip.sample_rate_hz == 22_050 && (25..=35).contains(&frames),
        "{frames} frames at {} Hz",
        clip.sample_rate_hz
    );
    assert!(clip.samples.iter().any(|sample| sample.abs() > 1e-3), "the speech is not silent");

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
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && message.contains(&format!("error[{code}]")),
            "{arguments:?}: {message}"
        );
    }
}
