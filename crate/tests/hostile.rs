//! The formats that are read from untrusted files, and texts, damaged at random: `common/hostile.rs`.
//!
//! `OWNVOICE_FUZZ_SECONDS` is how long each is tried, `OWNVOICE_FUZZ_SEED` the seed of the first damage. A failure names the seed of its own.

#[path = "common/hostile.rs"]
mod hostile;

use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use hostile::{Outcome, TARGETS, alone};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// More than any damage needs.
const DECISIONS: usize = 512;

/// Tries what the fuzzer has found before, then new damage until the time is over.
fn fuzz(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let found = {
        // It may be larger than what another test allows an input.
        let _alone = alone();
        fs::read_to_string(Path::new("fuzz/corpus").join(format!("{name}.txt"))).unwrap_or_default()
    };
    for (at, line) in found.lines().enumerate() {
        let bytes: Vec<u8> = (0..line.len() / 2)
            .map(|byte| u8::from_str_radix(&line[2 * byte..2 * byte + 2], 16).unwrap())
            .collect();
        let checked = catch_unwind(AssertUnwindSafe(|| target.check(&bytes)));
        assert!(checked.is_ok(), "fuzz/corpus/{name}.txt, line {}", at + 1);
    }
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(number("OWNVOICE_FUZZ_SECONDS").unwrap_or(2));
    let (begun, mut seed) = (Instant::now(), number("OWNVOICE_FUZZ_SEED").unwrap_or(1));
    let (mut refused, mut most) = (0, 0);
    let first = seed;
    while begun.elapsed() < time || seed - first < 20 {
        let mut decisions = [0; DECISIONS];
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut decisions);
        let Ok(Outcome { length, taken, code }) = catch_unwind(AssertUnwindSafe(|| target.check(&decisions)))
        else {
            panic!("{name} fails; OWNVOICE_FUZZ_SEED={seed}")
        };
        refused += usize::from(code.is_some());
        most = most.max(taken.saturating_sub(2 * length));
        seed += 1;
    }
    let kb = most.div_ceil(1024);
    println!("{name}: {} inputs, {refused} refused; at most {kb} KB beyond twice the input", seed - first);
    assert!(refused > 0, "nothing was damaged");
}

#[test]
fn wav_files() {
    fuzz("wav");
}

#[test]
fn recordings() {
    fuzz("recording");
}

#[test]
fn voice_files() {
    fuzz("voice");
}

#[test]
fn bases() {
    fuzz("base");
}

#[test]
fn aligners() {
    fuzz("aligner");
}

#[test]
fn vocoders() {
    fuzz("vocoder");
}

#[test]
fn speaker_encoders() {
    fuzz("speaker-encoder");
}

#[test]
fn checkpoints_of_a_cloning() {
    fuzz("checkpoint");
}

#[test]
fn checkpoints_of_a_pretraining() {
    fuzz("run");
}

#[test]
fn bases_of_lips() {
    fuzz("lips-base");
}

#[test]
fn tuned_bases_of_lips() {
    fuzz("lips-tuned");
}

#[test]
fn features_of_faces() {
    fuzz("lips-features");
}

#[test]
fn lexica() {
    fuzz("lexicon");
}

#[test]
fn prepared_features() {
    fuzz("features");
}

#[test]
fn checkpoints_of_pytorch() {
    fuzz("pytorch");
}

#[test]
fn lists_of_recordings() {
    fuzz("metadata");
}

#[test]
fn texts() {
    fuzz("text");
}
