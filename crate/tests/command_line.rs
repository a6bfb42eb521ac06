//! The command line as one thing: help, JSON, silence, errors, former names, and the pages made from its definition.
#![cfg(feature = "cli")]

mod common;

use ownvoice::audio::wav;
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn ownvoice(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ownvoice")).args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The one line of JSON that a command prints where it succeeds.
fn json(arguments: &[&str]) -> Value {
    let done = ownvoice(arguments);
    assert!(done.status.success(), "{arguments:?}: {}", err(&done));
    let printed = out(&done);
    assert_eq!(printed.lines().count(), 1, "{arguments:?}: {printed}");
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed}"))
}

/// A folder of clips, as `--clips` takes it.
fn write_clips(folder: &Path, count: usize) {
    fs::create_dir_all(folder.join("wavs")).unwrap();
    let mut metadata = String::new();
    for (index, clip) in common::held_out_clips(count).iter().enumerate() {
        let sound = wav::write(&clip.audio.samples, clip.audio.sample_rate_hz);
        fs::write(folder.join(format!("wavs/c{index}.wav")), sound).unwrap();
        metadata += &format!("c{index}|{}\n", clip.text);
    }
    fs::write(folder.join("metadata.csv"), metadata).unwrap();
}

const VERBS: [&str; 22] = [
    "clone",
    "say",
    "evaluate",
    "spectrogram",
    "vocode",
    "recipe",
    "corpus",
    "prepare",
    "train-aligner",
    "pretrain",
    "train-vocoder",
    "train-speaker-encoder",
    "import",
    "measure",
    "compare",
    "verify-aligner",
    "verify-speakers",
    "bench",
    "profile",
    "precision",
    "completions",
    "man",
];

#[test]
fn help_groups_the_verbs_and_each_verb_has_examples() {
    let help = out(&ownvoice(&["--help"]));
    for title in ["Use a voice:", "Make a base:", "Measure:", "Set up a shell:"] {
        assert!(help.contains(title), "{title}: {help}");
    }
    for verb in VERBS {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(&format!("{verb} "))),
            "{verb}: {help}"
        );
        let shown = ownvoice(&[verb, "--help"]);
        let (help, examples) = (out(&shown), format!("\n  ownvoice {verb}"));
        assert!(shown.status.success() && help.contains("Examples:") && help.contains(&examples), "{help}");
        assert!(help.contains("--json") && help.contains("--quiet"), "{help}");
    }
}

#[test]
fn results_are_json_where_it_is_asked_for() {
    let models = include!("common/tiny_folder.rs");
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let (base, clips, voice, said) = (path("base"), path("clips"), path("me.ownvoice"), path("say.wav"));
    write_clips(Path::new(&clips), 5);

    let cloned =
        json(&["clone", "--json", "--base", &base, "--clips", &clips, "--out", &voice, "--iterations", "3"]);
    assert_eq!(cloned["iterations"], 3);
    assert_eq!(cloned["bytes"].as_u64().unwrap(), fs::metadata(&voice).unwrap().len());
    assert!(cloned["seconds"].as_f64().unwrap() > 3.0, "{cloned}");

    let spoken =
        json(&["say", "--base", &base, "--voice", &voice, "--text", "Hello.", "--out", &said, "--json"]);
    assert_eq!(
        (spoken["vocoder"].as_str(), spoken["stop"].as_str()),
        (Some("griffin-lim"), Some("durations"))
    );
    let heard = wav::read(&fs::read(&said).unwrap()).unwrap();
    assert!((f64::from(heard.seconds()) - spoken["seconds"].as_f64().unwrap()).abs() < 1e-3);

    let figures = json(&[
        "--json",
        "evaluate",
        "--base",
        &base,
        "--voice",
        &voice,
        "--reference",
        &clips,
        "--sentences",
        "2",
    ]);
    for name in ["similarity.clone", "similarity.same_speaker", "similarity.base", "mcd_db", "logf0_rmse"] {
        assert!(figures[name].is_number(), "{name}: {figures}");
    }

    let prepared = json(&["prepare", &clips, "--out", &path("features"), "--json"]);
    assert_eq!((prepared["utterances"].as_u64(), prepared["speakers"].as_u64()), (Some(5), Some(1)));

    let remade = json(&["vocode", "--in", &said, "--base", &base, "--out", &path("again.wav"), "--json"]);
    assert!(remade["mcd_db"].is_number(), "{remade}");
}

#[test]
fn a_quiet_success_prints_nothing() {
    let models = include!("common/tiny_folder.rs");
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let (base, clips) = (path("base"), path("clips"));
    write_clips(Path::new(&clips), 3);
    for arguments in [
        &["clone", "--quiet", "--base", &base, "--clips", &clips, "--out", &path("me"), "--iterations", "2"]
            [..],
        &["say", "-q", "--base", &base, "--text", "Hello.", "--out", &path("say.wav")],
        &["--quiet", "prepare", &clips, "--out", &path("features")],
        &["spectrogram", &path("say.wav"), "--out", &path("say.png"), "--quiet"],
    ] {
        let done = ownvoice(arguments);
        assert_eq!((out(&done), err(&done)), (String::new(), String::new()), "{arguments:?}");
        assert!(done.status.success());
    }
}

#[test]
fn notes_are_no_results() {
    let models = include!("common/tiny_folder.rs");
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    write_clips(&models.path().join("clips"), 3);
    let done = ownvoice(&[
        "clone",
        "--base",
        &path("base"),
        "--clips",
        &path("clips"),
        "--out",
        &path("me"),
        "--iterations",
        "2",
    ]);
    assert!(out(&done).starts_with(&path("me")), "{}", out(&done));
    assert!(
        err(&done).contains("aligning 3 clips") && err(&done).contains("ended by iterations"),
        "{}",
        err(&done)
    );
    assert!(
        !err(&done).contains('\r') && !err(&done).contains("left)"),
        "a bar needs a terminal: {}",
        err(&done)
    );
}

#[test]
fn errors_have_the_form_that_results_have() {
    let say = ["say", "--base", "no-such-folder", "--text", "Hello.", "--out"];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("say.wav").to_str().unwrap().to_owned();
    let text = ownvoice(&[&say[..], &[&file]].concat());
    assert!(err(&text).starts_with("error[io]: no-such-folder/manifest.json: "), "{}", err(&text));
    let as_json = ownvoice(&[&say[..], &[&file, "--json", "--quiet"]].concat());
    let told: Value = serde_json::from_str(&err(&as_json)).unwrap();
    assert_eq!(told["error"]["code"], "io");
    assert!(told["error"]["message"].as_str().unwrap().starts_with("no-such-folder/manifest.json: "));
    assert_eq!((as_json.status.code(), out(&as_json)), (Some(1), String::new()));

    let misused = ownvoice(&["say", "--json", "--speed", "fast"]);
    let told: Value = serde_json::from_str(&err(&misused)).unwrap();
    assert_eq!((told["error"]["code"].as_str(), misused.status.code()), (Some("usage"), Some(2)));
    assert!(err(&ownvoice(&["say", "--speed", "fast"])).starts_with("error: invalid value"));
}

#[test]
fn completions_and_manual_pages_name_every_verb() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = out(&ownvoice(&["completions", shell]));
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}: {script}");
    }
    let page = out(&ownvoice(&["man"]));
    assert!(page.contains(".TH ownvoice 1") && page.contains("ownvoice\\-clone(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let done = ownvoice(&["man", "--out", folder.path().to_str().unwrap()]);
    assert!(done.status.success(), "{}", err(&done));
    for verb in VERBS {
        let page = fs::read_to_string(folder.path().join(format!("ownvoice-{verb}.1"))).unwrap();
        assert!(page.contains("Examples:") && page.contains(".SH SYNOPSIS"), "{page}");
    }
}
