//! Fuzzes the readers of untrusted files and texts with random damage (`common/hostile.rs`).
//!
//! `OWNVOICE_FUZZ_SECONDS` is the time for each target, `OWNVOICE_FUZZ_SEED` the seed of the first input. A failure reports the seed of its input.

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

/// The number of random bytes for an input, more than any damage needs.
const DECISIONS: usize = 512;

/// Tests the inputs of earlier fuzzing, then new random damage until the time is over.
fn fuzz(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let found = {
        // The file may be larger than the memory bound of another target.
        let _alone = alone();
        fs::read_to_string(Path::new("../fuzz/corpus").join(format!("{name}.txt"))).unwrap()
    };
    for (at, line) in found.lines().enumerate() {
        let bytes: Vec<u8> = (0..line.len() / 2)
            .map(|byte| u8::from_str_radix(&line[2 * byte..2 * byte + 2], 16).unwrap())
            .collect();
        let checked = catch_unwind(AssertUnwindSafe(|| target.check(&bytes)));
        assert!(checked.is_ok(), "crate/fuzz/corpus/{name}.txt, line {}", at + 1);
    }
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(number("OWNVOICE_FUZZ_SECONDS").unwrap_or(2));
    let (begun, mut seed) = (Instant::now(), number("OWNVOICE_FUZZ_SEED").unwrap_or(1));
    let (mut refused, mut max_excess) = (0, 0);
    let first = seed;
    // On a busy machine few inputs fit into the time, and few texts are refused.
    while begun.elapsed() < time || seed - first < 20 || (refused == 0 && seed - first < 5000) {
        let mut decisions = [0; DECISIONS];
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut decisions);
        let Ok(Outcome { length, taken, code }) = catch_unwind(AssertUnwindSafe(|| target.check(&decisions)))
        else {
            panic!("{name} fails; OWNVOICE_FUZZ_SEED={seed}")
        };
        refused += usize::from(code.is_some());
        max_excess = max_excess.max(taken.saturating_sub(2 * length));
        seed += 1;
    }
    let kb = max_excess.div_ceil(1024);
    println!("{name}: {} inputs, {refused} refused; at most {kb} KB beyond twice the input", seed - first);
    assert!(refused > 0, "no input was refused");
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
fn cloning_checkpoints() {
    fuzz("checkpoint");
}

#[test]
fn pretraining_checkpoints() {
    fuzz("run");
}

#[test]
fn lip_bases() {
    fuzz("lips-base");
}

#[test]
fn tuned_lip_bases() {
    fuzz("lips-tuned");
}

#[test]
fn face_features() {
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
fn pytorch_checkpoints() {
    fuzz("pytorch");
}

#[test]
fn metadata_files() {
    fuzz("metadata");
}

#[test]
fn texts() {
    fuzz("text");
}
