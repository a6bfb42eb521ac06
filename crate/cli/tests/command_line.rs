//! Tests of what all verbs have in common: help, JSON, quiet mode, errors, output paths, completions and manual pages.

use ownvoice::audio::wav;
use serde_json::Value;
use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
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

/// Runs a command that succeeds and prints one line of JSON. Returns the JSON.
fn json(arguments: &[&str]) -> Value {
    let done = ownvoice(arguments);
    assert!(done.status.success(), "{arguments:?}: {}", err(&done));
    let printed = out(&done);
    assert_eq!(printed.lines().count(), 1, "{arguments:?}: {printed}");
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed}"))
}

/// Writes a folder of clips for `--clips`.
fn write_clips(folder: &Path, count: usize) {
    fs::create_dir_all(folder.join("wavs")).unwrap();
    let mut metadata = String::new();
    for (index, clip) in ownvoice_testing::held_out_clips(count).iter().enumerate() {
        let sound = wav::write(&clip.audio.samples, clip.audio.sample_rate_hz);
        fs::write(folder.join(format!("wavs/c{index}.wav")), sound).unwrap();
        metadata += &format!("c{index}|{}\n", clip.text);
    }
    fs::write(folder.join("metadata.csv"), metadata).unwrap();
}

/// Returns the verbs that `--help` lists.
fn verbs() -> Vec<String> {
    let help = out(&ownvoice(&["--help"]));
    let listed = help.split("Options:").next().unwrap().lines().filter_map(|line| line.strip_prefix("  "));
    let verbs: Vec<String> = listed.filter_map(|line| Some(line.split(' ').next()?.to_string())).collect();
    assert!(verbs.len() > 20 && ["clone", "lips", "man"].iter().all(|verb| verbs.iter().any(|v| v == verb)));
    verbs
}

#[test]
fn help_groups_the_verbs_and_each_verb_has_examples() {
    let help = out(&ownvoice(&["--help"]));
    for title in ["Use a voice:", "Make a base:", "Measure:", "Set up a shell:"] {
        assert!(help.contains(title), "{title}: {help}");
    }
    for verb in verbs() {
        let shown = ownvoice(&[&verb, "--help"]);
        let (help, examples) = (out(&shown), format!("\n  ownvoice {verb}"));
        assert!(shown.status.success() && help.contains("Examples:") && help.contains(&examples), "{help}");
        assert!(help.contains("--json") && help.contains("--quiet"), "{help}");
    }
}

#[test]
fn results_are_json_with_the_flag() {
    let models = ownvoice_testing::tiny_folder();
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
    let read = wav::read(&fs::read(&said).unwrap()).unwrap();
    assert!((f64::from(read.seconds()) - spoken["seconds"].as_f64().unwrap()).abs() < 1e-3);

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

    let remade = json(&["vocode", &said, "--base", &base, "--out", &path("again.wav"), "--json"]);
    assert!(remade["mcd_db"].is_number(), "{remade}");
}

/// All verbs with an output path, with inputs that do not exist.
const WRITING: [&str; 22] = [
    "clone --clips nowhere --out OUT",
    "say --voice nowhere --text Hello. --out OUT",
    "evaluate --reference nowhere --wavs OUT",
    "spectrogram nowhere.wav --out OUT",
    "vocode nowhere.wav --out OUT",
    "recipe --teacher nowhere --work nowhere --out OUT",
    "corpus --out OUT",
    "corpus --people --out OUT",
    "prepare nowhere --aligner nowhere --out OUT",
    "train-aligner --data nowhere --out OUT",
    "pretrain --data nowhere --out OUT",
    "train-vocoder --corpus nowhere --out OUT",
    "train-speaker-encoder --corpus nowhere --out OUT",
    "import nowhere.pt --out OUT",
    "lips prepare nowhere --out OUT",
    "lips corpus --base nowhere --out OUT",
    "lips train --data nowhere --out OUT",
    "lips say nowhere.mp4 --base nowhere --out OUT",
    "lips evaluate nowhere --base nowhere --wavs OUT",
    "measure --corpus nowhere --wavs OUT",
    "tune-net --net lenet --data nowhere --out OUT",
    "man --out OUT",
];
const LIPS: [&str; 5] = ["prepare", "corpus", "train", "say", "evaluate"];
/// The verb of `precision` with an output path.
const PRECISION: &str = "precision compare --base nowhere --data nowhere --out OUT";

/// The output path is checked before anything is read, so that the error is not about a missing input.
#[test]
fn an_output_path_that_cannot_be_written_is_reported_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "a file, not a folder").unwrap();
    let place = file.join("out").to_str().unwrap().to_owned();
    for line in WRITING.iter().chain([&PRECISION]) {
        let arguments: Vec<&str> =
            line.split(' ').map(|word| if word == "OUT" { &place } else { word }).chain(["--json"]).collect();
        let done = ownvoice(&arguments);
        let told: Value =
            serde_json::from_str(&err(&done)).unwrap_or_else(|_| panic!("{line}: {}", err(&done)));
        let message = told["error"]["message"].as_str().unwrap();
        assert_eq!(told["error"]["code"], "io", "{line}: {message}");
        assert!(message.starts_with(file.to_str().unwrap()), "{line}: {message}");
    }
    // The list above is complete.
    let verbs = verbs();
    let verbs = verbs
        .iter()
        .filter(|verb| *verb != "lips")
        .map(|verb| vec![verb.as_str()])
        .chain(LIPS.map(|verb| vec!["lips", verb]));
    for verb in verbs {
        let help = out(&ownvoice(&[&verb[..], &["--help"]].concat()));
        for flag in ["--out", "--wavs"] {
            let writes = help.contains(&format!("{flag} <"));
            let begin = format!("{} ", verb.join(" "));
            let is_listed = WRITING.iter().any(|line| line.starts_with(&begin) && line.contains(flag));
            assert_eq!(writes, is_listed, "{verb:?} {flag}");
        }
    }
}

#[test]
fn only_outputs_of_the_same_kind_are_replaced_with_a_note() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let say =
        |out: &str| ownvoice(&["say", "--base", &path("base"), "--text", "Hello.", "--out", &path(out)]);
    assert_eq!(err(&say("say.wav")), "");
    assert_eq!(err(&say("say.wav")), format!("{}: a WAV file is replaced\n", path("say.wav")));
    let weights = "base/weights.safetensors";
    let before = fs::read(path(weights)).unwrap();
    let refused = say(weights);
    let expected = format!("error[option-invalid]: {} holds weights of a model", path(weights));
    assert!(err(&refused).starts_with(&expected), "{}", err(&refused));
    assert_eq!(fs::read(path(weights)).unwrap(), before);
    let prepared = ownvoice(&["prepare", &path("clips"), "--out", &path("base")]);
    assert!(err(&prepared).contains("holds a base, and features would replace it"), "{}", err(&prepared));
}

#[test]
fn synthetic_speech_of_all_verbs_is_marked() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let (base, clips, voice) = (path("base"), path("clips"), path("me.ownvoice"));
    write_clips(Path::new(&clips), 5);
    let run = |line: &str| {
        let done = ownvoice(&line.split(' ').collect::<Vec<_>>());
        assert!(done.status.success(), "{line}: {}", err(&done));
    };
    run(&format!("clone --base {base} --clips {clips} --out {voice} --iterations 2 --quiet"));
    run(&format!("say --base {base} --voice {voice} --text Hello. --out {} --quiet", path("say.wav")));
    run(&format!("vocode {} --base {base} --out {} --quiet", path("clips/wavs/c0.wav"), path("vocode.wav")));
    let evaluate = "--sentences 1 --quiet --wavs";
    run(&format!(
        "evaluate --base {base} --voice {voice} --reference {clips} {evaluate} {}",
        path("evaluate")
    ));

    let mark = |file: &Path| {
        let bytes = fs::read(file).unwrap();
        let holds = |words: &str| bytes.windows(words.len()).any(|window| window == words.as_bytes());
        match (holds("Synthetic speech, made by ownvoice with voice "), holds("made again by ownvoice")) {
            (true, false) => "synthetic",
            (false, true) => "made again",
            _ => "none",
        }
    };
    assert_eq!(mark(Path::new(&path("say.wav"))), "synthetic");
    assert_eq!(mark(Path::new(&path("vocode.wav"))), "made again");
    let mut counts = std::collections::BTreeMap::new();
    for file in wavs_below(Path::new(&path("evaluate"))) {
        let recorded = ["target", "same-speaker"].iter().any(|name| file.parent().unwrap().ends_with(name));
        assert_eq!(mark(&file), if recorded { "none" } else { "synthetic" }, "{}", file.display());
        *counts.entry(recorded).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 2, "there are recordings and synthetic files: {counts:?}");
}

fn wavs_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(wavs_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "wav") {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_single_recording_with_its_text_can_be_cloned() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    // The file has the first two sentences of `tests/fixtures/held-out.wav`, encoded by ffmpeg.
    fs::copy("../ownvoice/tests/data/two-sentences.m4a", path("minute.m4a")).unwrap();
    let clone = [
        "clone",
        "--base",
        &path("base"),
        "--clips",
        &path("minute.m4a"),
        "--out",
        &path("me"),
        "--iterations",
        "2",
    ];
    assert!(err(&ownvoice(&clone)).contains("minute.txt"), "the text is missing");
    let texts: Vec<String> = ownvoice_testing::held_out_clips(2).into_iter().map(|clip| clip.text).collect();
    fs::write(path("minute.txt"), texts.join(" ")).unwrap();
    let cloned = json(&[&clone[..], &["--json"]].concat());
    assert_eq!((cloned["clips"].as_u64(), cloned["iterations"].as_u64()), (Some(1), Some(2)));
}

/// One bad clip does not refuse the others; the notes and the result name its file, and show the text that was compared.
#[test]
fn bad_clips_are_left_out_and_named() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let clips = models.path().join("clips");
    write_clips(&clips, 4);
    fs::write(clips.join("wavs/c2.wav"), "no sound").unwrap();
    let list = fs::read_to_string(clips.join("metadata.csv")).unwrap();
    let texts: Vec<&str> = list.lines().map(|line| line.split_once('|').unwrap().1).collect();
    let list = format!("c0|{}\nc1|{}\nc2|{}\nc3|{}\nc9|Missing.\n", texts[0], texts[0], texts[2], texts[3]);
    fs::write(clips.join("metadata.csv"), list).unwrap();
    let clone = [
        "clone",
        "--base",
        &path("base"),
        "--clips",
        &path("clips"),
        "--out",
        &path("me"),
        "--iterations",
        "2",
    ];
    let done = ownvoice(&clone);
    let notes = err(&done);
    assert!(done.status.success(), "{notes}");
    for (file, reason) in [
        ("c1.wav", &texts[0][..40]),
        ("c2.wav", "no sound in a supported format"),
        ("metadata.csv, line 5", "c9.wav"),
    ] {
        let line = notes.lines().find(|line| line.starts_with("left out: ") && line.contains(file));
        assert!(line.is_some_and(|line| line.contains(reason)), "{file}: {notes}");
    }
    assert!(!notes.contains("clip 2"), "{notes}");
    let told = json(&[&clone[..], &["--json", "--quiet"]].concat());
    assert_eq!(told["clips"], 2);
    let codes: Vec<_> = told["left_out"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["audio-unreadable", "clip-mismatch"]);
    assert!(told["left_out"][1]["file"].as_str().unwrap().ends_with("c1.wav"), "{told}");

    // Nothing is left.
    fs::write(clips.join("metadata.csv"), format!("c0|{}\nc1|{}\n", texts[1], texts[0])).unwrap();
    let refused = err(&ownvoice(&clone));
    let expected =
        format!("error[clip-mismatch]: {}: the clip and its text differ", path("clips/wavs/c0.wav"));
    assert!(refused.contains(&expected) && refused.contains(&texts[1][..40]), "{refused}");
    // The silent damage of issue trackers: a column of seconds is no text.
    fs::write(clips.join("metadata.csv"), format!("c0|{}|2.35\n", texts[0])).unwrap();
    let refused = err(&ownvoice(&clone));
    assert!(
        refused.contains("error[corpus-invalid]") && refused.contains("metadata.csv, line 1: "),
        "{refused}"
    );
}

/// Runs a command with an input.
fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn text_comes_from_an_option_a_file_or_standard_input() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let (base, out_path) = (path("base"), path("say.wav"));
    let say = |options: &[&str], input: &[u8]| {
        let done =
            piped(&[&["say", "--quiet", "--base", &base, "--out", &out_path], options].concat(), input);
        assert!(done.status.success(), "{options:?}: {}", err(&done));
        wav::read(&fs::read(&out_path).unwrap()).unwrap().samples
    };
    let text = "-5 degrees. Again.";
    let spoken = say(&["--text", text], b"");
    assert_eq!(say(&[&format!("--text={text}")], b""), spoken);
    let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes().to_vec(), format!("\u{feff}{text}\r\n").into_bytes(), utf16] {
        fs::write(path("story.txt"), &bytes).unwrap();
        assert_eq!(say(&["--text-file", &path("story.txt")], b""), spoken);
        assert_eq!(say(&["--text-file", "-"], &bytes), spoken);
    }
    // Longer than what can be spoken at once: three pieces, of which one is blank.
    let long = format!("Yes.{}No.", " ".repeat(30_000));
    let samples = say(&["--text-file", "-"], long.as_bytes()).len();
    let [yes, no] = ["Yes.", "No."].map(|text| say(&["--text", text], b"").len());
    assert_eq!(samples, yes + 2400 + no);
    for (options, code) in [(&["--text-file", "missing.txt"][..], "io"), (&["--text", ""], "text-empty")] {
        let done = ownvoice(&[&["say", "--base", &base, "--out", &out_path], options].concat());
        assert!(err(&done).contains(&format!("error[{code}]")), "{}", err(&done));
    }
    for options in [&[][..], &["--text", "a", "--text-file", "b"]] {
        let done = ownvoice(&[&["say", "--base", &base, "--out", &out_path], options].concat());
        assert_eq!(done.status.code(), Some(2), "{}", err(&done));
    }
}

#[test]
fn a_file_is_made_on_standard_output_alone() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    let base = path("base");
    write_clips(&models.path().join("clips"), 3);
    let said = path("say.wav");
    let say = ["say", "--base", &base, "--text", "Hello.", "--out"];
    assert!(ownvoice(&[&say[..], &[&said]].concat()).status.success());
    for options in [&["-"][..], &["/dev/stdout"], &["-", "--json"]] {
        let done = ownvoice(&[&say[..], options].concat());
        assert!(done.status.success() && done.stdout == fs::read(&said).unwrap(), "{options:?}");
        assert!(err(&done).contains("griffin-lim"), "the result is on standard error: {}", err(&done));
    }
    let clips = path("clips");
    let clone = ["clone", "--base", &base, "--clips", &clips, "--iterations", "2", "--quiet", "--out"];
    let voice = ownvoice(&[&clone[..], &["-"]].concat()).stdout;
    assert!(ownvoice(&[&clone[..], &[&path("me")]].concat()).status.success());
    assert!(voice == fs::read(path("me")).unwrap());
    let refused = ownvoice(&["prepare", &clips, "--out", "-"]);
    assert!(err(&refused).contains("features cannot be written to standard output"), "{}", err(&refused));
    assert!(!Path::new("-").exists());
}

/// A disk may fill during the training. `/dev/full` has room until it is written to.
#[cfg(target_os = "linux")]
#[test]
fn a_voice_that_cannot_be_written_is_kept_elsewhere() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    write_clips(&models.path().join("clips"), 3);
    fs::create_dir(path("temporary")).unwrap();
    let clone = [
        "clone",
        "--base",
        &path("base"),
        "--clips",
        &path("clips"),
        "--iterations",
        "2",
        "--quiet",
        "--out",
    ];
    let run = |out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ownvoice"));
        command.args(clone).arg(out).env("TMPDIR", path("temporary")).output().unwrap()
    };
    assert!(run(&path("me")).status.success());
    let failed = run("/dev/full");
    let message = err(&failed);
    assert!(!failed.status.success() && message.starts_with("error[io]: /dev/full: "), "{message}");
    let kept = message.split("it was written to ").nth(1).unwrap().strip_suffix(" instead\n").unwrap();
    assert!(Path::new(kept).starts_with(path("temporary")), "{message}");
    assert!(fs::read(kept).unwrap() == fs::read(path("me")).unwrap());
}

#[test]
fn a_success_in_quiet_mode_prints_nothing() {
    let models = ownvoice_testing::tiny_folder();
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
fn notes_are_printed_to_standard_error() {
    let models = ownvoice_testing::tiny_folder();
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
        err(&done).contains("aligning the clips") && err(&done).contains("ended by iterations"),
        "{}",
        err(&done)
    );
    assert!(
        !err(&done).contains('\r') && !err(&done).contains("left)"),
        "a progress bar needs a terminal: {}",
        err(&done)
    );
}

#[test]
fn errors_are_printed_as_text_or_json() {
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
    let verbs = verbs();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = out(&ownvoice(&["completions", shell]));
        assert!(verbs.iter().all(|verb| script.contains(verb.as_str())), "{shell}: {script}");
    }
    let page = out(&ownvoice(&["man"]));
    assert!(page.contains(".TH ownvoice 1") && page.contains("ownvoice\\-clone(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let done = ownvoice(&["man", "--out", folder.path().to_str().unwrap()]);
    assert!(done.status.success(), "{}", err(&done));
    for verb in verbs {
        let page = fs::read_to_string(folder.path().join(format!("ownvoice-{verb}.1"))).unwrap();
        assert!(page.contains("Examples:") && page.contains(".SH SYNOPSIS"), "{page}");
    }
}

/// Voices are not blended without a word: neither two that a list names, nor two in one folder.
#[test]
fn clips_of_two_speakers_are_refused() {
    let models = ownvoice_testing::tiny_folder();
    let path = |name: &str| models.path().join(name).to_str().unwrap().to_owned();
    // The tiny base with the speaker encoder of the shipped one.
    let manifest = |file: &str| serde_json::from_slice::<Value>(&fs::read(file).unwrap()).unwrap();
    let mut tiny = manifest(&path("base/manifest.json"));
    tiny["files"]["speaker_encoder"] =
        manifest("../../models/base/manifest.json")["files"]["speaker_encoder"].clone();
    fs::write(path("base/manifest.json"), tiny.to_string()).unwrap();
    fs::copy("../../models/base/speaker_encoder.safetensors", path("base/speaker_encoder.safetensors"))
        .unwrap();
    let clips = models.path().join("clips");
    write_clips(&clips, 4);
    let clone = [
        "clone",
        "--base",
        &path("base"),
        "--clips",
        &path("clips"),
        "--out",
        &path("me"),
        "--iterations",
        "1",
    ];
    let one = ownvoice(&clone);
    assert!(one.status.success(), "{}", err(&one));
    // A lower and slower voice: the samples of a clip at three quarters of their rate.
    let file = clips.join("wavs/c3.wav");
    let audio = wav::read(&fs::read(&file).unwrap()).unwrap();
    fs::write(&file, wav::write(&audio.samples, audio.sample_rate_hz * 3 / 4)).unwrap();
    let refused = ownvoice(&clone);
    assert!(
        err(&refused).contains("error[several-speakers]") && err(&refused).contains("wavs/c3.wav"),
        "{}",
        err(&refused)
    );
    let blended = ownvoice(&[&clone[..], &["--several-speakers"]].concat());
    assert!(blended.status.success(), "{}", err(&blended));

    let list = fs::read_to_string(clips.join("metadata.csv")).unwrap();
    let named: String =
        list.lines().enumerate().map(|(n, line)| format!("{line}|speaker{}\n", n % 2)).collect();
    fs::write(clips.join("metadata.csv"), format!("id|text|speaker\n{named}")).unwrap();
    let refused = ownvoice(&clone);
    assert!(
        err(&refused).contains("error[corpus-invalid]") && err(&refused).contains("speaker0 and speaker1"),
        "{}",
        err(&refused)
    );
}
