//! `cargo xtask fuzz`: libFuzzer on all that reads untrusted files, from the inputs that earlier runs kept.

use crate::shell::{self, Result, cache, cargo, create_dir, root};
use std::path::Path;

/// Targets of `crate/tests/common/hostile.rs`, and of a thousand inputs how many are theirs: slow ones get fewer.
const TARGETS: [(&str, u64); 9] = [
    ("wav", 500),
    ("recording", 3),
    ("voice", 150),
    ("base", 1),
    ("lexicon", 1),
    ("features", 2),
    ("pytorch", 3),
    ("metadata", 40),
    ("text", 300),
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
        let kept = root().join("crate/fuzz/corpus").join(name);
        let found = cache().join("fuzz-corpus").join(name);
        create_dir(&kept)?;
        create_dir(&found)?;
        let libfuzzer = |options: &[&str], folders: [&Path; 2]| {
            // Without a sanitizer it needs no nightly compiler; the tests bound memory themselves.
            shell::run(
                cargo()
                    .current_dir(root().join("crate"))
                    .args(["fuzz", "run", "--sanitizer", "none", "--target-dir"])
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
        libfuzzer(
            &[&runs, DECISIONS, "-len_control=0", "-print_final_stats=1", "-verbosity=1"],
            [&found, &kept],
        )?;
        // What reaches code that no kept input reaches is kept.
        libfuzzer(&["-merge=1", DECISIONS, "-verbosity=0"], [&kept, &found])?;
    }
    Ok(())
}
