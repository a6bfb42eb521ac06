//! `cargo xtask fuzz`: runs libFuzzer on everything that reads untrusted files. A run starts with the corpus of earlier runs and continues their counts.

use crate::setup;
use crate::shell::{self, Result, cache, create_dir, files, read, read_text, remove_dir, root, timed, write};
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The targets of `crate/cli/tests/common/hostile.rs`, each with its share of 100 000 inputs. Slow targets get fewer.
const TARGETS: [(&str, u64); 17] = [
    ("wav", 91_285),
    ("features", 3_000),
    ("metadata", 1_600),
    ("lexicon", 1_200),
    ("pytorch", 700),
    ("voice", 500),
    ("vocoder", 500),
    ("lips-features", 400),
    ("text", 250),
    ("lips-base", 200),
    ("lips-tuned", 200),
    ("aligner", 60),
    ("speaker-encoder", 60),
    ("base", 20),
    ("run", 20),
    ("recording", 4),
    ("checkpoint", 1),
];

/// The default number of inputs over all targets.
pub const INPUTS: u64 = 100_000_000;

/// The maximum length of an input, in bytes: more than any target reads to choose its damage.
const MAX_LENGTH: &str = "-max_len=512";

/// The time that a target runs before the next one, and so the most that an interrupted run loses.
const TURN_SECONDS: &str = "-max_total_time=60";

/// The crates that parse untrusted bytes. They are compiled with coverage for libFuzzer and with overflow checks. The crates of burn are not, so that an input
/// takes microseconds and the build minutes.
const READERS: [&str; 21] = [
    "burn_fused",
    "ownvoice",
    "ownvoice_cli",
    "unicode_normalization",
    "symphonia",
    "symphonia_bundle_flac",
    "symphonia_bundle_mp3",
    "symphonia_codec_aac",
    "symphonia_codec_alac",
    "symphonia_codec_pcm",
    "symphonia_codec_vorbis",
    "symphonia_common",
    "symphonia_core",
    "symphonia_format_caf",
    "symphonia_format_isomp4",
    "symphonia_format_mkv",
    "symphonia_format_ogg",
    "symphonia_format_riff",
    "symphonia_metadata",
    "opus_decoder",
    "rustface",
];

/// The readers without overflow checks: the arithmetic of Opus wraps on purpose, as in the reference decoder; the AIFF reader multiplies channels by bytes per
/// sample and refuses a product that wrapped.
const WRAPPING: [&str; 2] = ["opus_decoder", "symphonia_format_riff"];

/// The environment variable that makes this program act as [`rustc`].
const WRAPPER: &str = "OWNVOICE_FUZZ_RUSTC";

/// Runs the fuzzers.
///
/// * `chosen`: targets, or none for all of them
/// * `inputs`: over all targets, including those of earlier runs
pub fn run(chosen: &[&str], inputs: u64) -> Result {
    if let Some(unknown) = chosen.iter().find(|word| TARGETS.iter().all(|(name, _)| name != *word)) {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no target {unknown}; the targets are {}", names.join(", ")));
    }
    let targets: Vec<_> =
        TARGETS.into_iter().filter(|(name, _)| chosen.is_empty() || chosen.contains(name)).collect();
    let shares: u64 = targets.iter().map(|(_, share)| share).sum();
    let folder = cache().join("fuzz");
    create_dir(&folder)?;
    let mut record = Record::open(folder.join("record.tsv"))?;
    let programs = timed("the fuzzers", build)?;
    let mut unfinished: Vec<Fuzzer> = Vec::new();
    for (name, share) in targets {
        unfinished.push(Fuzzer::new(name, inputs * share / shares, &programs, &folder)?);
    }
    // In turns, so that an interrupted run has tried all targets.
    while !unfinished.is_empty() {
        let mut remaining = Vec::new();
        for fuzzer in unfinished {
            let done = record.inputs(fuzzer.name);
            if done < fuzzer.inputs {
                record.add(fuzzer.name, fuzzer.turn(fuzzer.inputs - done)?)?;
                remaining.push(fuzzer);
            } else {
                fuzzer.minimise_corpus()?;
            }
        }
        eprintln!("{record}");
        unfinished = remaining;
    }
    eprintln!("{} holds these counts; without it the next run starts from zero", record.path.display());
    Ok(())
}

/// Builds the fuzzers; returns the folder of their programs.
fn build() -> Result<PathBuf> {
    setup::cpp();
    let target = cache().join("target-fuzz");
    let this_program = env::current_exe().map_err(|e| e.to_string())?;
    let mut cargo = shell::command("cargo");
    cargo.current_dir(root().join("crate/fuzz")).env("CARGO_TARGET_DIR", &target);
    cargo.env("RUSTC_WRAPPER", this_program).env(WRAPPER, "1");
    shell::run(cargo.args(["build", "--release"]))?;
    Ok(target.join("release"))
}

/// Runs rustc with additional flags, if cargo called this program as its compiler wrapper. Returns the exit code then, otherwise `None`.
pub fn rustc() -> Option<ExitCode> {
    env::var_os(WRAPPER)?;
    let mut arguments = env::args_os().skip(1);
    let mut rustc = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let name = arguments.windows(2).find(|pair| pair[0] == "--crate-name").and_then(|pair| pair[1].to_str());
    rustc.args(&arguments).args(name.map(flags).unwrap_or_default());
    let succeeded = rustc.status().is_ok_and(|status| status.success());
    Some(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the flags to compile a crate with: those of cargo-fuzz, without a sanitizer, which would need a nightly compiler.
fn flags(name: &str) -> Vec<&'static str> {
    let mut flags = Vec::new();
    if READERS.contains(&name) {
        flags.extend(["-Cpasses=sancov-module", "-Ccodegen-units=1"]);
        flags.push("-Cllvm-args=-sanitizer-coverage-level=3");
        flags.push("-Cllvm-args=-sanitizer-coverage-inline-8bit-counters");
        flags.push("-Cllvm-args=-sanitizer-coverage-pc-table");
        if !WRAPPING.contains(&name) {
            flags.extend(["-Coverflow-checks=on", "-Cdebug-assertions=on"]);
        }
    }
    flags
}

/// A target with its number of inputs.
struct Fuzzer {
    name: &'static str,
    inputs: u64,
    program: PathBuf,
    /// The working folder.
    folder: PathBuf,
    /// The folder of all interesting inputs, within the working folder.
    found: PathBuf,
    /// The file of the minimised corpus, in the repository.
    corpus: PathBuf,
}

impl Fuzzer {
    fn new(name: &'static str, inputs: u64, programs: &Path, folder: &Path) -> Result<Self> {
        let folder = folder.join(name);
        let (found, corpus) =
            (folder.join("found"), root().join("crate/fuzz/corpus").join(format!("{name}.txt")));
        create_dir(&found)?;
        unpack(&corpus, &found)?;
        let program = programs.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        Ok(Self { name, inputs, program, folder, found, corpus })
    }

    /// Runs libFuzzer; returns its output.
    fn libfuzzer(&self, options: &[&str], folders: &[&Path]) -> Result<String> {
        let mut fuzzer = shell::command(&self.program);
        fuzzer.current_dir(root().join("crate/cli")).args(folders).args(options);
        fuzzer.arg(format!("-artifact_prefix={}/", self.folder.display())).arg(MAX_LENGTH);
        let output = fuzzer.output().map_err(|e| format!("{}: {e}", self.program.display()))?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(log)
        } else {
            Err(format!("{}: {}\n{log}", self.name, output.status))
        }
    }

    /// Runs the target for one turn, with at most `max_inputs` new inputs.
    fn turn(&self, max_inputs: u64) -> Result<Turn> {
        // libFuzzer first runs, and counts, the inputs that it found before.
        let known = files(&self.found).len() as u64;
        let start = Instant::now();
        let runs = format!("-runs={}", max_inputs + known);
        let options = [&runs, TURN_SECONDS, "-len_control=0", "-print_final_stats=1", "-verbosity=0"];
        let log = self.libfuzzer(&options, &[&self.found])?;
        let all =
            executed(&log).ok_or_else(|| format!("{} prints no number of inputs:\n{log}", self.name))?;
        Ok(Turn { inputs: all.saturating_sub(known), seconds: start.elapsed().as_secs_f64() })
    }

    /// Writes the smallest set of inputs with the same coverage into the repository.
    fn minimise_corpus(&self) -> Result {
        let smallest = self.folder.join("least");
        remove_dir(&smallest)?;
        create_dir(&smallest)?;
        self.libfuzzer(
            &["-set_cover_merge=1", "-use_counters=0", "-verbosity=0"],
            &[&smallest, &self.found],
        )?;
        pack(&smallest, &self.corpus)
    }
}

/// Reads the number of inputs from libFuzzer's output: `stat::number_of_executed_units: 123`.
fn executed(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?.trim().parse().ok()
}

/// The inputs and the time of one run of a target, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Turn {
    inputs: u64,
    seconds: f64,
}

/// The turns of all runs, in a file with one line a turn: target, inputs and seconds.
struct Record {
    path: PathBuf,
    turns: Vec<(String, Turn)>,
}

impl Record {
    fn open(path: PathBuf) -> Result<Self> {
        let text = if path.exists() { read_text(&path)? } else { String::new() };
        let turn = |line: &str| {
            let mut fields = line.split('\t');
            let name = fields.next()?.to_string();
            Some((name, Turn { inputs: fields.next()?.parse().ok()?, seconds: fields.next()?.parse().ok()? }))
        };
        let turns: Option<Vec<_>> = text.lines().map(turn).collect();
        let turns = turns.ok_or_else(|| format!("{}: not a list of turns", path.display()))?;
        Ok(Self { path, turns })
    }

    fn add(&mut self, name: &str, turn: Turn) -> Result {
        self.turns.push((name.to_string(), turn));
        let line = |(name, turn): &(String, Turn)| format!("{name}\t{}\t{:.1}\n", turn.inputs, turn.seconds);
        write(&self.path, self.turns.iter().map(line).collect::<String>())
    }

    /// Returns the sum of a target's turns.
    fn total(&self, name: &str) -> Turn {
        let turns = self.turns.iter().filter(|(other, _)| other == name);
        turns.fold(Turn::default(), |sum, (_, turn)| Turn {
            inputs: sum.inputs + turn.inputs,
            seconds: sum.seconds + turn.seconds,
        })
    }

    fn inputs(&self, name: &str) -> u64 {
        self.total(name).inputs
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (name, _) in TARGETS {
            let Turn { inputs, seconds } = self.total(name);
            if inputs > 0 {
                writeln!(f, "{name:16} {inputs:>11} inputs {:>8.0} a second", inputs as f64 / seconds)?;
            }
        }
        let all: u64 = self.turns.iter().map(|(_, turn)| turn.inputs).sum();
        write!(f, "{:16} {all:>11} inputs", "all")
    }
}

/// Writes the inputs of a corpus file, one a line in hexadecimal, as files for libFuzzer.
fn unpack(corpus: &Path, folder: &Path) -> Result {
    if !corpus.exists() {
        return Ok(());
    }
    for (at, line) in read_text(corpus)?.lines().enumerate() {
        let bytes: Option<Vec<u8>> = (0..line.len() / 2)
            .map(|byte| u8::from_str_radix(line.get(2 * byte..2 * byte + 2)?, 16).ok())
            .collect();
        let bytes = bytes.ok_or_else(|| format!("{}:{}: not hexadecimal", corpus.display(), at + 1))?;
        write(&folder.join(format!("kept-{at}")), bytes)?;
    }
    Ok(())
}

/// Writes the files of a folder as one corpus file.
fn pack(folder: &Path, corpus: &Path) -> Result {
    let mut lines = Vec::new();
    for file in files(folder) {
        lines.push(read(&file)?.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n");
    }
    // Sorted, because libFuzzer's file names are arbitrary.
    lines.sort();
    create_dir(corpus.parent().expect("the path has a parent"))?;
    write(corpus, lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_a_program() {
        let programs = files(&root().join("crate/fuzz/src/bin"));
        let mut programs: Vec<_> =
            programs.iter().filter_map(|path| path.file_stem()?.to_str().map(str::to_string)).collect();
        let mut targets = TARGETS.map(|(name, _)| name.to_string());
        programs.sort();
        targets.sort();
        assert_eq!(programs, targets);
        for name in targets {
            let source = read_text(&root().join(format!("crate/fuzz/src/bin/{name}.rs"))).unwrap();
            assert!(source.contains(&format!("fuzz!(\"{name}\")")), "{source}");
        }
    }

    #[test]
    fn only_readers_are_instrumented() {
        assert_eq!(flags("burn_flex"), Vec::<&str>::new());
        assert!(flags("ownvoice").contains(&"-Coverflow-checks=on"));
        assert!(flags("opus_decoder").contains(&"-Cpasses=sancov-module"));
        assert!(!flags("opus_decoder").contains(&"-Coverflow-checks=on"));
    }

    #[test]
    fn counts_continue_after_a_restart() {
        assert_eq!(executed("Done\nstat::number_of_executed_units: 12\nstat::x: 3\n"), Some(12));
        let path = env::temp_dir().join(format!("ownvoice-record-{}.tsv", std::process::id()));
        let mut record = Record::open(path.clone()).unwrap();
        record.add("wav", Turn { inputs: 30, seconds: 2.0 }).unwrap();
        record.add("text", Turn { inputs: 5, seconds: 1.0 }).unwrap();
        record.add("wav", Turn { inputs: 10, seconds: 2.0 }).unwrap();
        let record = Record::open(path.clone()).unwrap();
        assert_eq!(record.total("wav"), Turn { inputs: 40, seconds: 4.0 });
        assert!(record.to_string().ends_with("all                       45 inputs"), "{record}");
        write(&path, "wav\tmany\n").unwrap();
        assert!(Record::open(path.clone()).is_err());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_corpus_survives_packing() {
        let folder = env::temp_dir().join(format!("ownvoice-fuzz-{}", std::process::id()));
        let (corpus, found) = (folder.join("kept/wav.txt"), folder.join("found"));
        create_dir(&found).unwrap();
        write(&found.join("b"), [0u8, 255]).unwrap();
        write(&found.join("a"), [16u8]).unwrap();
        pack(&found, &corpus).unwrap();
        assert_eq!(read_text(&corpus).unwrap(), "00ff\n10\n");
        let again = folder.join("again");
        create_dir(&again).unwrap();
        unpack(&corpus, &again).unwrap();
        assert_eq!(read(&again.join("kept-0")).unwrap(), [0, 255]);
        write(&corpus, "0g\n").unwrap();
        assert!(unpack(&corpus, &again).unwrap_err().ends_with("wav.txt:1: not hexadecimal"));
        remove_dir(&folder).unwrap();
    }
}
