//! `cargo xtask fuzz`: libFuzzer on all that reads untrusted files, from the inputs that earlier runs kept.

use crate::shell::{self, Result, cache, cargo, create_dir, files, read, read_text, remove_dir, root, write};
use std::path::Path;

/// Targets of `crate/tests/common/hostile.rs`, and of ten thousand inputs how many are theirs: slow ones get fewer.
const TARGETS: [(&str, u64); 16] = [
    ("wav", 8446),
    ("metadata", 1000),
    ("text", 300),
    ("voice", 150),
    ("features", 30),
    ("lips-features", 30),
    ("pytorch", 15),
    ("recording", 10),
    ("lips-base", 5),
    ("aligner", 3),
    ("speaker-encoder", 3),
    ("run", 3),
    ("lexicon", 2),
    ("vocoder", 1),
    ("base", 1),
    ("checkpoint", 1),
];

/// Over all targets.
pub const INPUTS: u64 = 100_000_000;

/// More than any damage needs, in bytes.
const DECISIONS: &str = "-max_len=512";

/// * `chosen`: targets, or none for all of them
/// * `inputs`: over all targets
pub fn run(chosen: &[&str], inputs: u64) -> Result {
    if let Some(unknown) = chosen.iter().find(|word| TARGETS.iter().all(|(name, _)| name != *word)) {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no target is called {unknown}: there are {}", names.join(", ")));
    }
    if !cargo().args(["fuzz", "--version"]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("installing cargo-fuzz");
        shell::run(cargo().args(["install", "--locked", "cargo-fuzz"]))?;
    }
    let targets: Vec<_> =
        TARGETS.iter().filter(|(name, _)| chosen.is_empty() || chosen.contains(name)).collect();
    let shares: u64 = targets.iter().map(|(_, share)| share).sum();
    for (name, share) in targets {
        let kept = root().join("crate/fuzz/corpus").join(format!("{name}.txt"));
        let [found, least] = ["found", "least"].map(|folder| cache().join("fuzz").join(name).join(folder));
        create_dir(&found)?;
        unpack(&kept, &found)?;
        remove_dir(&least)?;
        create_dir(&least)?;
        let libfuzzer = |options: &[&str], folders: &[&Path]| {
            // Without a sanitizer it needs no nightly compiler; the targets bound memory themselves.
            shell::run(
                cargo()
                    .current_dir(root().join("crate"))
                    // Which crates check their arithmetic is said in the manifest: `--release` leaves it to that.
                    .args(["fuzz", "run", "--release", "--sanitizer", "none", "--target-dir"])
                    .arg(cache().join("target-fuzz"))
                    .arg("hostile")
                    .args(folders)
                    .arg("--")
                    .args(options)
                    .env("OWNVOICE_FUZZ_TARGET", name),
            )
        };
        let runs = inputs * share / shares;
        eprintln!("\n=== {name}: {runs} inputs");
        let runs = format!("-runs={runs}");
        libfuzzer(&[&runs, DECISIONS, "-len_control=0", "-print_final_stats=1", "-verbosity=1"], &[&found])?;
        // The fewest inputs that reach all code that any of them reaches.
        libfuzzer(&["-set_cover_merge=1", "-use_counters=0", DECISIONS, "-verbosity=0"], &[&least, &found])?;
        pack(&least, &kept)?;
    }
    Ok(())
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
    use std::env;

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
