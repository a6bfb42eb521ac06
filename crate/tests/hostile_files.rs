//! Every format that is read from untrusted files, damaged at random: an error or a value, never a panic, and no memory beyond a multiple of the file.
//!
//! `OWNVOICE_FUZZ_SECONDS` is how long each format is tried, `OWNVOICE_FUZZ_SEED` the seed of the first damage. A failure names the seed of its own.

mod common;

use burn::prelude::Device;
use common::{ALIGNER, LEXICON, tiny_base, tiny_files};
use ownvoice::{
    audio::{
        mel::{Mel, MelConfig},
        wav,
    },
    corpus::layouts,
    import::Imported,
    text::Phonemizer,
    train::features::{Features, Spoken},
    voice::{Base, BaseFiles, FileEntry, Voice},
};
use pollster::block_on;
use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

/// Memory of each thread, so that tests beside each other do not count for one another.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// A single request beyond this fails, before it takes the machine with it.
const MAX_REQUEST: usize = 1 << 31;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_REQUEST {
            return std::ptr::null_mut();
        }
        let now = NOW.get() + layout.size() as isize;
        NOW.set(now);
        MOST.set(MOST.get().max(now));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.set(NOW.get() - layout.size() as isize);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Numbers that sizes, counts and rates should never be.
const ODD: [u64; 12] =
    [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX];

fn damage_bytes(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    // Headers decide more than what follows them.
    let near = if random.random_bool(0.5) { bytes.len().min(512) } else { bytes.len() };
    let at = random.random_range(0..near.max(1)).min(bytes.len());
    let count = random.random_range(1..=64).min(bytes.len() - at);
    match random.random_range(0..6) {
        0 => bytes.truncate(at),
        1 if count > 0 => bytes[at] ^= 1 << random.random_range(0..8),
        2 => {
            let odd = ODD.choose(random).unwrap().to_le_bytes();
            let width = [1, 2, 4, 8].choose(random).copied().unwrap().min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&odd[..width]);
        }
        3 => drop(bytes.drain(at..at + count)),
        4 => {
            let again = bytes[at..at + count].to_vec();
            bytes.splice(at..at, again);
        }
        _ => bytes[at..at + count].fill_with(|| random.random()),
    }
}

/// One value, somewhere below, becomes another, or goes.
fn damage_json(value: &mut Value, random: &mut ChaCha8Rng) {
    match value {
        Value::Object(entries) if !entries.is_empty() && random.random_bool(0.95) => {
            let key = entries.keys().nth(random.random_range(0..entries.len())).unwrap().clone();
            if random.random_bool(0.05) {
                drop(entries.remove(&key));
            } else {
                damage_json(&mut entries[&key], random);
            }
        }
        Value::Array(items) if !items.is_empty() && random.random_bool(0.8) => {
            let at = random.random_range(0..items.len());
            match random.random_range(0..8) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => damage_json(&mut items[at], random),
            }
        }
        other => {
            let odd = *ODD.choose(random).unwrap();
            let near = other.as_u64().unwrap_or(1).wrapping_add(random.random_range(0..3)).wrapping_sub(1);
            let values = [
                json!(odd),
                json!(near),
                json!(-1),
                json!(1e38),
                json!(-0.5),
                json!(1e-30),
                json!(""),
                json!("\0../\u{202e}"),
                json!(null),
                json!([]),
                json!({}),
                json!(true),
            ];
            *other = values.choose(random).unwrap().clone();
        }
    }
}

/// The header of safetensors as JSON, or any byte.
fn damage_tensors(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = bytes.get(8..8 + length).and_then(|header| serde_json::from_slice::<Value>(header).ok());
    match header.filter(|_| random.random_bool(0.7)) {
        Some(mut header) => {
            damage_json(&mut header, random);
            let header = header.to_string();
            bytes.splice(..8 + length, [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat());
        }
        None => damage_bytes(bytes, random),
    }
}

/// Tries damaged files until the time is over.
///
/// * `times`, `constant`: bytes that reading may take, for a byte of the file and beside that
fn fuzz(
    name: &str,
    times: usize,
    constant: usize,
    mut read: impl FnMut(&mut ChaCha8Rng) -> (usize, Option<&'static str>),
) {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(number("OWNVOICE_FUZZ_SECONDS").unwrap_or(2));
    let (begun, mut seed, mut refused) = (Instant::now(), number("OWNVOICE_FUZZ_SEED").unwrap_or(1), 0);
    let first = seed;
    while begun.elapsed() < time || seed - first < 20 {
        MOST.set(NOW.get());
        let before = NOW.get();
        let found = catch_unwind(AssertUnwindSafe(|| read(&mut ChaCha8Rng::seed_from_u64(seed))));
        let Ok((length, code)) = found else { panic!("{name} panics; OWNVOICE_FUZZ_SEED={seed}") };
        let taken = (MOST.get() - before).max(0) as usize;
        assert!(
            taken <= times * length + constant,
            "{name} takes {taken} bytes for {length}; OWNVOICE_FUZZ_SEED={seed}"
        );
        refused += usize::from(code.is_some());
        seed += 1;
    }
    println!("{name}: {} files, {refused} refused", seed - first);
    assert!(refused > 0, "nothing was damaged");
}

fn code<T>(result: ownvoice::Result<T>) -> Option<&'static str> {
    result.err().map(|error| error.code())
}

fn some_damage(bytes: &[u8], random: &mut ChaCha8Rng, damage: fn(&mut Vec<u8>, &mut ChaCha8Rng)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..4) {
        if bytes.len() >= 8 {
            damage(&mut bytes, random);
        }
    }
    bytes
}

const MB: usize = 1 << 20;

#[test]
fn wav_files() {
    let tone: Vec<f32> = (0..4000).map(|at| (at as f32 / 9.0).sin()).collect();
    let files =
        [wav::write(&tone, 16_000), wav::write_with_origin(&tone, 44_100, &wav::Origin::resynthesis())];
    // A byte of sound becomes a number of four, before and after the channels are mixed; the damaged copies are counted too.
    fuzz("wav", 12, MB, |random| {
        let bytes = some_damage(files.choose(random).unwrap(), random, damage_bytes);
        (bytes.len(), code(wav::read(&bytes)))
    });
}

#[test]
fn voice_files() {
    let base = tiny_base();
    let voice = block_on(Voice::unadapted(&base).save_async(&base)).unwrap();
    fuzz("voice", 16, 4 * MB, |random| {
        let bytes = some_damage(&voice, random, damage_tensors);
        (bytes.len(), code(Voice::open(&base, &bytes)))
    });
}

#[test]
fn bases() {
    let (manifest, weights) = tiny_files();
    let good = serde_json::to_value(&manifest).unwrap();
    let device = Device::flex();
    fuzz("base", 16, 128 * MB, |random| {
        let (mut manifest, mut weights) = (good.clone(), weights.clone());
        if random.random_bool(0.3) {
            weights = some_damage(&weights, random, damage_tensors);
        }
        manifest["files"]["weights"] =
            serde_json::to_value(FileEntry::new("weights.safetensors", &weights)).unwrap();
        if random.random_bool(0.8) {
            let part = ["model", "mel", "speakers", "mean_pitches_hz", "files", "default_speaker"]
                .choose(random)
                .copied()
                .unwrap();
            match manifest.get_mut(part) {
                Some(part) => damage_json(part, random),
                None => damage_json(&mut manifest, random),
            }
        }
        let json = manifest.to_string();
        let files = BaseFiles {
            manifest_json: &json,
            weights: &weights,
            lexicon: LEXICON,
            aligner: ALIGNER,
            vocoder: None,
        };
        (json.len() + weights.len() + LEXICON.len() + ALIGNER.len(), code(Base::load(files, &device)))
    });
}

#[test]
fn lexica() {
    fuzz("lexicon", 16, 4 * MB, |random| {
        let bytes = some_damage(LEXICON, random, damage_bytes);
        (bytes.len(), code(Phonemizer::new(&bytes)))
    });
}

/// Features as `prepare` writes them, damaged, and drawn from where they are taken for good.
#[test]
fn features() {
    let mut good = Features::new(MelConfig::speech_16k());
    let mel = Mel { mels: 80, data: vec![-4.0; 30 * 80] };
    for speaker in ["a", "b"] {
        good.push(Spoken {
            speaker,
            id: "x".into(),
            text: "hello".into(),
            symbols: vec![1, 9, 1],
            durations: Some(vec![8, 14, 8]),
            mel: &mel,
            f0_hz: &[100.0; 30],
        });
    }
    let folder = tempfile::tempdir().unwrap();
    good.save(folder.path()).unwrap();
    let paths = ["features.json", "mels.safetensors"].map(|name| folder.path().join(name));
    let [json, tensors] = paths.clone().map(|path| fs::read(path).unwrap());
    fuzz("features", 32, 4 * MB, |random| {
        let mut damaged: Value = serde_json::from_slice(&json).unwrap();
        damage_json(&mut damaged, random);
        let (damaged, tensors) = match random.random_range(0..3) {
            0 => (json.clone(), some_damage(&tensors, random, damage_tensors)),
            1 => (damaged.to_string().into_bytes(), tensors.clone()),
            _ => (some_damage(&json, random, damage_bytes), tensors.clone()),
        };
        fs::write(&paths[0], &damaged).unwrap();
        fs::write(&paths[1], &tensors).unwrap();
        // Values are looked at where they are drawn: what is wrong with them comes to light there.
        let loaded = Features::load(folder.path()).and_then(|features| {
            for utterance in &features.utterances {
                let all = 0..utterance.frames;
                let mels = features.log_mels(utterance, all.clone())?;
                assert_eq!(mels.len(), utterance.frames * features.mel.mels);
                if features.have_pitch() {
                    features.pitches_hz(utterance, all)?;
                }
            }
            Ok(features)
        });
        (damaged.len() + tensors.len(), code(loaded))
    });
}

#[test]
fn checkpoints_of_pytorch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    let files = ["tacotron2.pt", "tacotron2-legacy.pt"]
        .map(|name| fs::read(Path::new("../tests/fixtures/nvidia").join(name)).unwrap());
    fuzz("pytorch", 32, 16 * MB, |random| {
        let bytes = some_damage(files.choose(random).unwrap(), random, damage_bytes);
        fs::write(&path, &bytes).unwrap();
        (bytes.len(), code(Imported::read(&path)))
    });
}

#[test]
fn lists_of_recordings() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("wavs")).unwrap();
    fs::write(folder.path().join("wavs/a.wav"), wav::write(&[0.1; 100], 16_000)).unwrap();
    let list = "a|Hello there.\nb|Another one.|Another 1.\n\u{feff}c|x\r\n";
    fuzz("metadata.csv", 64, MB, |random| {
        let bytes = some_damage(list.as_bytes(), random, damage_bytes);
        fs::write(folder.path().join("metadata.csv"), &bytes).unwrap();
        (bytes.len(), code(layouts::load(folder.path()).map(|recordings| recordings.count())))
    });
}
