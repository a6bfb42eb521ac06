//! `cargo xtask fuzz`: libFuzzer on all that reads untrusted files, from the inputs that earlier runs kept, and on from where they ended.

use crate::setup;
use crate::shell::{self, Result, cache, create_dir, files, read, read_text, remove_dir, root, timed, write};
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Targets of `crate/tests/common/hostile.rs`, and of a hundred thousand inputs how many are theirs: slow ones get fewer.
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

/// Over all targets.
pub const INPUTS: u64 = 100_000_000;

/// More than any damage needs, in bytes.
const DECISIONS: &str = "-max_len=512";

/// How long a target runs before the next has its turn; a run that is ended loses no more.
const TURN_SECONDS: &str = "-max_total_time=60";

/// Crates that make values of untrusted bytes. What they do is what libFuzzer looks at, and their arithmetic is checked; those below burn are left out,
/// so that an input takes microseconds and the build minutes.
const READERS: [&str; 20] = [
    "ownvoice",
    "hound",
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

/// Of these the arithmetic is not checked: that of Opus wraps around on purpose, as that of the reference decoder does; that of AIFF multiplies channels
/// by their bytes, and what wraps around is refused.
const WRAPPING: [&str; 2] = ["opus_decoder", "symphonia_format_riff"];

/// Asks [`rustc`] to be the compiler that cargo calls.
const WRAPPER: &str = "OWNVOICE_FUZZ_RUSTC";

/// * `chosen`: targets, or none for all of them
/// * `inputs`: over all targets, those of earlier runs included
pub fn run(chosen: &[&str], inputs: u64) -> Result {
    if let Some(unknown) = chosen.iter().find(|word| TARGETS.iter().all(|(name, _)| name != *word)) {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no target is called {unknown}: there are {}", names.join(", ")));
    }
    let targets: Vec<_> =
        TARGETS.into_iter().filter(|(name, _)| chosen.is_empty() || chosen.contains(name)).collect();
    let shares: u64 = targets.iter().map(|(_, share)| share).sum();
    let folder = cache().join("fuzz");
    create_dir(&folder)?;
    let mut record = Record::open(folder.join("record.tsv"))?;
    let programs = timed("the fuzzers", build)?;
    let mut waiting: Vec<Fuzzer> = Vec::new();
    for (name, share) in targets {
        waiting.push(Fuzzer::new(name, inputs * share / shares, &programs, &folder)?);
    }
    // In turns, so that a run that is ended has tried all of them.
    while !waiting.is_empty() {
        let mut unfinished = Vec::new();
        for fuzzer in waiting {
            let done = record.inputs(fuzzer.name);
            if done < fuzzer.inputs {
                record.add(fuzzer.name, fuzzer.turn(fuzzer.inputs - done)?)?;
                unfinished.push(fuzzer);
            } else {
                fuzzer.keep_least()?;
            }
        }
        eprintln!("{record}");
        waiting = unfinished;
    }
    eprintln!("{} counts these inputs: without it the next run begins anew", record.path.display());
    Ok(())
}

/// The folder of the fuzzers' programs.
fn build() -> Result<PathBuf> {
    setup::cpp();
    let target = cache().join("target-fuzz");
    let itself = env::current_exe().map_err(|e| e.to_string())?;
    let mut cargo = shell::command("cargo");
    cargo.current_dir(root().join("crate/fuzz")).env("CARGO_TARGET_DIR", &target);
    cargo.env("RUSTC_WRAPPER", itself).env(WRAPPER, "1");
    shell::run(cargo.args(["build", "--release"]))?;
    Ok(target.join("release"))
}

/// What cargo calls in place of rustc while the fuzzers are built, with rustc and its arguments: how it ended, or nothing where this is no such call.
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

/// What a crate is compiled with: as cargo-fuzz does it without a sanitizer, which would need a nightly compiler.
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

/// A target with its share.
struct Fuzzer {
    name: &'static str,
    inputs: u64,
    program: PathBuf,
    /// Where libFuzzer works, and what it has found there.
    folder: PathBuf,
    found: PathBuf,
    kept: PathBuf,
}

impl Fuzzer {
    fn new(name: &'static str, inputs: u64, programs: &Path, folder: &Path) -> Result<Self> {
        let folder = folder.join(name);
        let (found, kept) =
            (folder.join("found"), root().join("crate/fuzz/corpus").join(format!("{name}.txt")));
        create_dir(&found)?;
        unpack(&kept, &found)?;
        let program = programs.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        Ok(Self { name, inputs, program, folder, found, kept })
    }

    /// The output of libFuzzer's run.
    fn libfuzzer(&self, options: &[&str], folders: &[&Path]) -> Result<String> {
        let mut fuzzer = shell::command(&self.program);
        fuzzer.current_dir(root().join("crate")).args(folders).args(options);
        fuzzer.arg(format!("-artifact_prefix={}/", self.folder.display())).arg(DECISIONS);
        let output = fuzzer.output().map_err(|e| format!("{}: {e}", self.program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(said)
        } else {
            Err(format!("{}: {}\n{said}", self.name, output.status))
        }
    }

    /// At most so many inputs more, in some time.
    fn turn(&self, most: u64) -> Result<Turn> {
        // libFuzzer reads first what was found before: that is nothing new.
        let before = files(&self.found).len() as u64;
        let begun = Instant::now();
        let runs = format!("-runs={}", most + before);
        let options = [&runs, TURN_SECONDS, "-len_control=0", "-print_final_stats=1", "-verbosity=0"];
        let said = self.libfuzzer(&options, &[&self.found])?;
        let all = executed(&said).ok_or_else(|| format!("{} does not say its inputs:\n{said}", self.name))?;
        Ok(Turn { inputs: all.saturating_sub(before), seconds: begun.elapsed().as_secs_f64() })
    }

    /// Keeps the fewest inputs that reach all code that any of them reaches.
    fn keep_least(&self) -> Result {
        let least = self.folder.join("least");
        remove_dir(&least)?;
        create_dir(&least)?;
        self.libfuzzer(&["-set_cover_merge=1", "-use_counters=0", "-verbosity=0"], &[&least, &self.found])?;
        pack(&least, &self.kept)
    }
}

/// Of `stat::number_of_executed_units: 123`.
fn executed(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?.trim().parse().ok()
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Turn {
    inputs: u64,
    seconds: f64,
}

/// Inputs over all runs: a line a turn, of target, inputs and seconds.
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
        let turns = turns.ok_or_else(|| format!("{}: not a record of turns", path.display()))?;
        Ok(Self { path, turns })
    }

    fn add(&mut self, name: &str, turn: Turn) -> Result {
        self.turns.push((name.to_string(), turn));
        let line = |(name, turn): &(String, Turn)| format!("{name}\t{}\t{:.1}\n", turn.inputs, turn.seconds);
        write(&self.path, self.turns.iter().map(line).collect::<String>())
    }

    fn of(&self, name: &str) -> Turn {
        let turns = self.turns.iter().filter(|(other, _)| other == name);
        turns.fold(Turn::default(), |sum, (_, turn)| Turn {
            inputs: sum.inputs + turn.inputs,
            seconds: sum.seconds + turn.seconds,
        })
    }

    fn inputs(&self, name: &str) -> u64 {
        self.of(name).inputs
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (name, _) in TARGETS {
            let Turn { inputs, seconds } = self.of(name);
            if inputs > 0 {
                writeln!(f, "{name:16} {inputs:>11} inputs {:>8.0} a second", inputs as f64 / seconds)?;
            }
        }
        let all: u64 = self.turns.iter().map(|(_, turn)| turn.inputs).sum();
        write!(f, "{:16} {all:>11} inputs", "all")
    }
}

/// Kept inputs, a line in hexadecimal each, as files for libFuzzer.
fn unpack(kept: &Path, folder: &Path) -> Result {
    if !kept.exists() {
        return Ok(());
    }
    for (at, line) in read_text(kept)?.lines().enumerate() {
        let bytes: Option<Vec<u8>> = (0..line.len() / 2)
            .map(|byte| u8::from_str_radix(line.get(2 * byte..2 * byte + 2)?, 16).ok())
            .collect();
        let bytes = bytes.ok_or_else(|| format!("{}:{}: not hexadecimal", kept.display(), at + 1))?;
        write(&folder.join(format!("kept-{at}")), bytes)?;
    }
    Ok(())
}

fn pack(folder: &Path, kept: &Path) -> Result {
    let mut lines = Vec::new();
    for file in files(folder) {
        lines.push(read(&file)?.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n");
    }
    // In one order, whatever libFuzzer called them.
    lines.sort();
    create_dir(kept.parent().expect("it is in a folder"))?;
    write(kept, lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program a target, and a target a program.
    #[test]
    fn targets_have_programs() {
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
    fn readers_are_watched() {
        assert_eq!(flags("burn_flex"), Vec::<&str>::new());
        assert!(flags("ownvoice").contains(&"-Coverflow-checks=on"));
        assert!(flags("opus_decoder").contains(&"-Cpasses=sancov-module"));
        assert!(!flags("opus_decoder").contains(&"-Coverflow-checks=on"));
    }

    #[test]
    fn counts_go_on() {
        assert_eq!(executed("Done\nstat::number_of_executed_units: 12\nstat::x: 3\n"), Some(12));
        let path = env::temp_dir().join(format!("ownvoice-record-{}.tsv", std::process::id()));
        let mut record = Record::open(path.clone()).unwrap();
        record.add("wav", Turn { inputs: 30, seconds: 2.0 }).unwrap();
        record.add("text", Turn { inputs: 5, seconds: 1.0 }).unwrap();
        record.add("wav", Turn { inputs: 10, seconds: 2.0 }).unwrap();
        let record = Record::open(path.clone()).unwrap();
        assert_eq!(record.of("wav"), Turn { inputs: 40, seconds: 4.0 });
        assert!(record.to_string().ends_with("all                       45 inputs"), "{record}");
        write(&path, "wav\tmany\n").unwrap();
        assert!(Record::open(path.clone()).is_err());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn inputs_are_kept() {
        let folder = env::temp_dir().join(format!("ownvoice-fuzz-{}", std::process::id()));
        let (kept, found) = (folder.join("kept/wav.txt"), folder.join("found"));
        create_dir(&found).unwrap();
        write(&found.join("b"), [0u8, 255]).unwrap();
        write(&found.join("a"), [16u8]).unwrap();
        pack(&found, &kept).unwrap();
        assert_eq!(read_text(&kept).unwrap(), "00ff\n10\n");
        let again = folder.join("again");
        create_dir(&again).unwrap();
        unpack(&kept, &again).unwrap();
        assert_eq!(read(&again.join("kept-0")).unwrap(), [0, 255]);
        write(&kept, "0g\n").unwrap();
        assert!(unpack(&kept, &again).unwrap_err().ends_with("wav.txt:1: not hexadecimal"));
        remove_dir(&folder).unwrap();
    }
}
