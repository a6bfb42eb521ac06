//! Every format that is read from untrusted files, damaged as a fuzzer decides: an error or a value, never a panic, and no memory beyond a multiple of the file.
//!
//! `crate/tests/hostile.rs` draws the decisions at random; `crate/fuzz` has them made by libFuzzer, which looks for new ways through the code.
//!
//! One long file: a target a format.

#[path = "mod.rs"]
mod common;
#[path = "pieces.rs"]
mod pieces;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicIsize, Ordering::Relaxed},
    },
};

use burn::prelude::Device;
use common::{ALIGNER, held_out_clips, tiny_base, tiny_files};
use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib};
use ownvoice::{
    align::ForcedAligner,
    audio::{
        self,
        mel::{Mel, MelConfig},
        wav,
    },
    corpus::layouts,
    evaluate::encoder::SpeakerVerifier,
    import::Imported,
    lips::{
        self, LipBase, LipConfig, LipFeatures, LipTacotron, TunedLips,
        base::{LipBaseFiles, Trained},
        clock::samples,
        face::FACE_BYTES,
        features::{Filmed, LipFeatureWriter},
        tuned::Adapted,
    },
    model::{
        Tacotron, TacotronConfig,
        vocoder::{SourceFilter, VocoderConfig},
    },
    ranks::Ranks,
    text::{Phonemizer, lexicon, sentences, symbols},
    train::{
        Clip, CloneOptions, FineTuner,
        features::{Features, Spoken},
        feeder::FeederConfig,
        run::{Recipe, Run, RunConfig},
        watch::WatchConfig,
    },
    vocoder::NeuralVocoder,
    voice::{Base, BaseFiles, FileEntry, Voice, spectral_match::SpectralMatch},
    weights::{Metadata, Storage, Weight, collect, serialize},
};
use pieces::PIECES;
use pollster::block_on;
use rand::{Rng, RngCore, seq::IndexedRandom};
use serde_json::{Value, json};

/// Counts the memory of the whole process, that of worker threads as well.
struct Counting;

static NOW: AtomicIsize = AtomicIsize::new(0);
static MAX: AtomicIsize = AtomicIsize::new(0);
/// Held while an input is read, so that tests beside each other do not count for one another.
static ALONE: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether the thread has read an input before; it reads those of one target only.
    static WARM: Cell<bool> = const { Cell::new(false) };
}

/// A single request beyond this fails, before it takes the machine with it.
const MAX_REQUEST: usize = 1 << 31;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MAX_REQUEST {
            return std::ptr::null_mut();
        }
        let size = layout.size() as isize;
        MAX.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size() as isize, Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Nobody else reads an input, or allocates, while it is held.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What reading an input came to.
pub struct Outcome {
    /// Bytes of the input.
    pub length: usize,
    /// Bytes that were taken at most at one time while it was read, beside the input.
    pub taken: usize,
    /// Of the error that it was refused with.
    #[allow(dead_code)] // The fuzzer does not look at it.
    pub code: Option<&'static str>,
}

/// Reads an input of `length` bytes; the damage is done by then, and counts for nothing.
fn measured<T>(length: usize, read: impl FnOnce() -> ownvoice::Result<T>) -> Outcome {
    let before = NOW.load(Relaxed);
    MAX.store(before, Relaxed);
    let read = read();
    let taken = (MAX.load(Relaxed) - before).max(0) as usize;
    Outcome { length, taken, code: read.err().map(|error| error.code()) }
}

const READINGS: &str = include_str!("../data/readings.tsv");
/// Symbols for one character of text, at most: "%" and digits are words.
const MAX_SYMBOLS: usize = 40;

/// Decides by a fuzzer's bytes, and by zeros where they end: what it varies is the damage.
pub struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let count = N.min(self.0.len());
        let (now, later) = self.0.split_at(count);
        // The most significant bytes decide first.
        taken[N - count..].copy_from_slice(now);
        self.0 = later;
        taken
    }
}

impl RngCore for Choices<'_> {
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.take::<1>()[0]);
    }
}

/// Something that reads what others wrote.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    /// Bytes that reading may take for a byte of the input, and beside that.
    pub bound: (usize, usize),
    read: fn(&mut Choices) -> Outcome,
}

impl Target {
    /// Reads one input and asserts the bound.
    pub fn check(&self, decisions: &[u8]) -> Outcome {
        let _alone = alone();
        if !WARM.replace(true) {
            // What is made once and kept is no cost of an input.
            (self.read)(&mut Choices(&[]));
        }
        let outcome = (self.read)(&mut Choices(decisions));
        let Outcome { length, taken, .. } = outcome;
        let (times, constant) = self.bound;
        assert!(taken <= times * length + constant, "{} takes {taken} bytes for {length}", self.name);
        outcome
    }
}

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

/// Twice the input, or more where docs/decisions/0094-fuzzing.md says why.
pub const TARGETS: [Target; 17] = [
    Target { name: "wav", bound: (4, 256 * KB), read: wav_file },
    Target { name: "recording", bound: (2, 192 * MB), read: recording },
    Target { name: "voice", bound: (4, MB), read: voice_file },
    Target { name: "base", bound: (4, 16 * MB), read: base },
    Target { name: "aligner", bound: (4, MB), read: aligner },
    Target { name: "vocoder", bound: (4, MB), read: vocoder },
    Target { name: "speaker-encoder", bound: (4, MB), read: speaker_encoder },
    Target { name: "checkpoint", bound: (4, 64 * MB), read: checkpoint },
    Target { name: "run", bound: (4, MB), read: run },
    Target { name: "lexicon", bound: (16, 256 * KB), read: lexicon },
    Target { name: "features", bound: (24, 256 * KB), read: features },
    Target { name: "lips-base", bound: (4, MB), read: lips_base },
    Target { name: "lips-tuned", bound: (4, MB), read: lips_tuned },
    Target { name: "lips-features", bound: (24, 256 * KB), read: lips_features },
    Target { name: "pytorch", bound: (4, MB), read: pytorch },
    Target { name: "metadata", bound: (8, 256 * KB), read: metadata },
    Target { name: "text", bound: (64, 256 * KB), read: text },
];

/// The target of this name. It is found while a fuzzer is compiled, so that it has the code of no other: libFuzzer looks at all of it after each input.
#[allow(dead_code)] // `cargo test` looks for it as it runs.
pub const fn target(name: &str) -> Target {
    let (name, mut at) = (name.as_bytes(), 0);
    while at < TARGETS.len() {
        let other = TARGETS[at].name.as_bytes();
        let mut same = 0;
        while same < name.len() && same < other.len() && name[same] == other[same] {
            same += 1;
        }
        if same == name.len() && same == other.len() {
            return TARGETS[at];
        }
        at += 1;
    }
    panic!("no target has this name")
}

/// Numbers that sizes, counts and rates should never be.
const ODD: [u64; 12] =
    [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX];

fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Choices) {
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
fn damage_json(value: &mut Value, random: &mut Choices) {
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

/// One of the words that a text is made of becomes another; a text that is JSON is damaged as such.
fn damage_words(text: &mut String, random: &mut Choices) {
    if let Ok(mut value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        damage_json(&mut value, random);
        *text = value.to_string();
        return;
    }
    const WORDS: [&str; 12] =
        ["", "0", "-1", "1", "2.5", "1e-30", "3e38", "1e39", "NaN", "inf", "-0", "340282350000000000000"];
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    let at = random.random_range(0..words.len());
    match random.random_range(0..4) {
        0 => drop(words.remove(at)),
        1 => words.push(words[at].clone()),
        _ => words[at] = WORDS.choose(random).unwrap().to_string(),
    }
    *text = words.join(" ");
}

/// One entry of what the file says of itself: a JSON object within a text.
fn damage_said(header: &mut Value, random: &mut Choices) -> Option<()> {
    let entry = header.get_mut("__metadata__")?.get_mut("ownvoice")?;
    let mut said: BTreeMap<String, String> = serde_json::from_str(entry.as_str()?).ok()?;
    let key = said.keys().nth(random.random_range(0..said.len().max(1)))?.clone();
    damage_words(said.get_mut(&key)?, random);
    *entry = json!(serde_json::to_string(&said).unwrap());
    Some(())
}

/// The header of safetensors as JSON, or any byte.
fn damage_tensors(bytes: &mut Vec<u8>, random: &mut Choices) {
    // An earlier damage may have written any length.
    let end = u64::from_le_bytes(bytes[..8].try_into().unwrap()).saturating_add(8) as usize;
    let header = bytes.get(8..end).and_then(|header| serde_json::from_slice::<Value>(header).ok());
    match header.filter(|_| random.random_bool(0.7)) {
        Some(mut header) => {
            if random.random_bool(0.6) || damage_said(&mut header, random).is_none() {
                damage_json(&mut header, random);
            }
            let header = header.to_string();
            bytes.splice(..end, [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat());
        }
        None => damage_bytes(bytes, random),
    }
}

fn some_damage(bytes: &[u8], random: &mut Choices, damage: fn(&mut Vec<u8>, &mut Choices)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..4) {
        if bytes.len() >= 8 {
            damage(&mut bytes, random);
        }
    }
    bytes
}

/// A folder that is not on a disk, where there is such a thing.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// What a thread makes once and keeps.
macro_rules! kept {
    ($name:ident: $type:ty = $make:expr) => {
        thread_local! { static $name: &'static $type = Box::leak(Box::new($make)); }
    };
}

fn wav_file(random: &mut Choices) -> Outcome {
    kept!(FILES: [Vec<u8>; 3] = {
        let tone: Vec<f32> = (0..100).map(|at| (at as f32 / 9.0).sin()).collect();
        let length = tone.len() as u32;
        // Bytes of silence, two channels of them.
        let coarse = [&b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0"[..], &8000u32.to_le_bytes()[..]].concat();
        let coarse = [&coarse[..], &16_000u32.to_le_bytes(), b"\x02\0\x08\0data", &length.to_le_bytes()].concat();
        [
            wav::write(&tone, 16_000),
            wav::write_with_origin(&tone, 44_100, &wav::Origin::resynthesis()),
            [coarse, vec![128; tone.len()]].concat(),
        ]
    });
    let bytes = some_damage(FILES.with(|files| files.choose(random).unwrap()), random, damage_bytes);
    measured(bytes.len(), || wav::read(&bytes))
}

fn recording(random: &mut Choices) -> Outcome {
    kept!(FILES: Vec<Vec<u8>> = {
        let mut paths: Vec<_> =
            fs::read_dir("tests/data/formats").unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().filter(|path| !path.ends_with("tone.wav")).map(|path| fs::read(path).unwrap()).collect()
    });
    let bytes = some_damage(FILES.with(|files| files.choose(random).unwrap()), random, damage_bytes);
    measured(bytes.len(), || audio::read(&bytes))
}

fn voice_file(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Base, [Vec<u8>; 2]) = {
        let base = tiny_base();
        let mut voice = Voice::unadapted(&base);
        let saved = |voice: &Voice| block_on(voice.save_async(&base)).unwrap();
        let without = saved(&voice);
        let [mean, shift, ceiling] = [-4.0, 0.1, 0.0].map(|value| vec![value; 80]);
        voice.spectral_match = Some(SpectralMatch { mean, shift, map: vec![0.01; 80 * 80], ceiling });
        let voices = [saved(&voice), without];
        (base, voices)
    });
    let (base, voices) = GOOD.with(|good| *good);
    let bytes = some_damage(voices.choose(random).unwrap(), random, damage_tensors);
    measured(bytes.len(), || Voice::open(base, &bytes))
}

/// Manifest and weights of a base, which fit by their hash.
///
/// * `parts`: what of the manifest is damaged; none for any of it
fn damaged_base(manifest: &Value, weights: &[u8], parts: &[&str], random: &mut Choices) -> (String, Vec<u8>) {
    let (mut manifest, mut weights) = (manifest.clone(), weights.to_vec());
    if random.random_bool(0.3) {
        weights = some_damage(&weights, random, damage_tensors);
    }
    manifest["files"]["weights"] =
        serde_json::to_value(FileEntry::new("weights.safetensors", &weights)).unwrap();
    if random.random_bool(0.8) {
        match parts.choose(random).and_then(|part| manifest.get_mut(*part)) {
            Some(part) => damage_json(part, random),
            None => damage_json(&mut manifest, random),
        }
    }
    (manifest.to_string(), weights)
}

fn base(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Value, Vec<u8>, Vec<u8>) = {
        let (mut manifest, weights) = tiny_files();
        let lexicon = small_lexicon().0;
        manifest.files.lexicon = FileEntry::new("en.lex", &lexicon);
        manifest.people = vec![manifest.speakers[0].clone()];
        (serde_json::to_value(&manifest).unwrap(), weights, lexicon)
    });
    let (manifest, weights, lexicon) = GOOD.with(|good| *good);
    let parts = ["model", "mel", "speakers", "mean_pitches_hz", "people", "files", "default_speaker"];
    let (json, weights) = damaged_base(manifest, weights, &parts, random);
    let files =
        BaseFiles { manifest_json: &json, weights: &weights, lexicon, aligner: ALIGNER, vocoder: None };
    let length = json.len() + weights.len() + lexicon.len() + ALIGNER.len();
    measured(length, || Base::load(files, &Device::flex()))
}

fn aligner(random: &mut Choices) -> Outcome {
    let bytes = some_damage(ALIGNER, random, damage_tensors);
    measured(bytes.len(), || ForcedAligner::load(&bytes, &Device::flex()))
}

fn vocoder(random: &mut Choices) -> Outcome {
    kept!(GOOD: Vec<u8> = {
        let config = VocoderConfig { width: 8, layers: 2, ..VocoderConfig::small() };
        block_on(NeuralVocoder::serialize(&SourceFilter::new(&config, &Device::flex()), &config)).unwrap()
    });
    let bytes = some_damage(GOOD.with(|good| *good), random, damage_tensors);
    measured(bytes.len(), || NeuralVocoder::load(&bytes, MelConfig::speech_16k()))
}

fn speaker_encoder(random: &mut Choices) -> Outcome {
    kept!(GOOD: Vec<u8> = fs::read("../models/base/speaker_encoder.safetensors").unwrap());
    let bytes = some_damage(GOOD.with(|good| *good), random, damage_tensors);
    measured(bytes.len(), || SpeakerVerifier::load(&bytes))
}

/// Of a cloning.
fn checkpoint(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Base, Vec<Clip>, Vec<u8>) = {
        let (base, clips) = (tiny_base(), held_out_clips(1));
        let options = CloneOptions { iterations: 30, batch: 2, window: 20, rehearsal: 0.0, ..CloneOptions::default() };
        let mut tuner = FineTuner::start(&base, &clips, options).unwrap();
        tuner.step().unwrap();
        let checkpoint = tuner.checkpoint(&base).unwrap();
        (base, clips, checkpoint)
    });
    let (base, clips, good) = GOOD.with(|good| *good);
    let bytes = some_damage(good, random, damage_tensors);
    measured(bytes.len(), || FineTuner::resume(base, clips, &bytes))
}

/// The checkpoint of a pretraining.
fn run(random: &mut Choices) -> Outcome {
    kept!(GOOD: (tempfile::TempDir, Vec<u8>) = {
        let mut weights = collect(&Tacotron::new(&TacotronConfig::tiny(2), &Device::flex()));
        for (name, Weight { shape, values }) in weights.clone() {
            for moment in ["adam.first", "adam.second"] {
                let shape = vec![shape.iter().product()];
                weights.insert(format!("{moment}.{name}"), Weight { shape, values: values.clone() });
            }
        }
        let said = Metadata::from([("updates".into(), "20".into())]);
        (in_memory(), block_on(serialize(weights, Storage::Full, said)).unwrap())
    });
    let (folder, good) = GOOD.with(|good| *good);
    let bytes = some_damage(good, random, damage_tensors);
    fs::write(folder.path().join("checkpoint.safetensors"), &bytes).unwrap();
    let run_config = RunConfig {
        recipe: Recipe::base(),
        directory: folder.path().to_owned(),
        resume: true,
        device: Device::flex().autodiff(),
        feeder: FeederConfig { threads: 1, depth: 1 },
        ranks: Ranks::default(),
        watch: WatchConfig::default(),
    };
    measured(bytes.len(), || {
        Run::open(Tacotron::new(&TacotronConfig::tiny(2), &run_config.device), &run_config).map(drop)
    })
}

/// Manifest and weights of a tiny base of lips.
fn lips_files() -> (Value, Vec<u8>) {
    let (config, folder) = (LipConfig::tiny(2), in_memory());
    let trained = Trained {
        model: &LipTacotron::new(&config, &Device::flex()),
        config,
        mel: MelConfig::speech_16k(),
        window_pictures: 15,
        speakers: vec!["a".into(), "b".into()],
        vocoder: None,
        recipe: Value::Null,
        quality: Value::Null,
    };
    let weights = lips::base::weights(&trained).unwrap();
    lips::base::write(folder.path(), trained, &weights).unwrap();
    (serde_json::from_slice(&fs::read(folder.path().join("manifest.json")).unwrap()).unwrap(), weights)
}

fn lips_tuned(random: &mut Choices) -> Outcome {
    kept!(GOOD: (LipBase, Vec<u8>) = {
        let (manifest, weights) = lips_files();
        let manifest_json = &manifest.to_string();
        let files = LipBaseFiles { manifest_json, weights: &weights, vocoder: None };
        let base = LipBase::load(files, &Device::flex()).unwrap();
        let (parts, held_out_loss) = (Adapted::of_base(&base, 0), [2.0, 1.0]);
        let tuned = TunedLips { parts, iterations: 100, seconds: 60.0, held_out_loss };
        let bytes = block_on(tuned.save(&base)).unwrap();
        (base, bytes)
    });
    let (base, tuned) = GOOD.with(|good| *good);
    let bytes = some_damage(tuned, random, damage_tensors);
    measured(bytes.len(), || TunedLips::open(base, &bytes))
}

fn lips_base(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Value, Vec<u8>) = lips_files());
    let (manifest, weights) = GOOD.with(|good| *good);
    let (json, weights) = damaged_base(manifest, weights, &[], random);
    let files = LipBaseFiles { manifest_json: &json, weights: &weights, vocoder: None };
    measured(json.len() + weights.len(), || LipBase::load(files, &Device::flex()))
}

/// Features of faces, damaged, and drawn from.
fn lips_features(random: &mut Choices) -> Outcome {
    const FILES: [&str; 3] = ["faces.json", "features.json", "faces.rgb"];
    kept!(GOOD: (tempfile::TempDir, [Vec<u8>; 3]) = {
        let folder = in_memory();
        let mut writer = LipFeatureWriter::create(folder.path(), MelConfig::speech_16k()).unwrap();
        for id in ["x", "y"] {
            let filmed = Filmed {
                speaker: "a",
                id: id.into(),
                text: String::new(),
                file: Path::new("a.mp4"),
                start_seconds: 0.0,
                faces: &vec![7; 5 * FACE_BYTES],
                sound: &vec![0.1; samples(5, 16_000)],
            };
            writer.push(filmed).unwrap();
        }
        writer.finish().unwrap();
        let files = FILES.map(|name| fs::read(folder.path().join(name)).unwrap());
        (folder, files)
    });
    let (folder, good) = GOOD.with(|good| *good);
    let mut files = good.clone();
    let which = random.random_range(0..FILES.len());
    files[which] = match serde_json::from_slice::<Value>(&good[which]) {
        Ok(mut json) if random.random_bool(0.8) => {
            damage_json(&mut json, random);
            json.to_string().into_bytes()
        }
        _ => some_damage(&good[which], random, damage_bytes),
    };
    for (name, bytes) in FILES.iter().zip(&files) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    measured(files.iter().map(Vec::len).sum(), || {
        let features = LipFeatures::load(folder.path())?;
        features.tracks.iter().try_for_each(|track| features.faces(track, 0..track.pictures).map(drop))
    })
}

/// Some words with rules fitted on them; packed, and as it is before it is deflated.
fn small_lexicon() -> (Vec<u8>, Vec<u8>) {
    let words = "boss B AO1 S\ncat K AE1 T\ncats K AE1 T S\nhello HH AH0 L OW1\nread R EH1 D\nthere DH EH1 R\nthree TH R IY1\n";
    let packed = lexicon::pack(words).unwrap();
    let body = decompress_to_vec_zlib(&packed[LEXICON_HEADER..]).unwrap();
    (packed, body)
}

/// Before what is deflated: five bytes of a name, four of a length.
const LEXICON_HEADER: usize = 9;

/// Damaged as a file, or beneath its checksum.
fn lexicon(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Vec<u8>, Vec<u8>) = small_lexicon());
    let (packed, body) = GOOD.with(|good| *good);
    let bytes = if random.random_bool(0.3) {
        some_damage(packed, random, damage_bytes)
    } else {
        let body = some_damage(body, random, damage_bytes);
        let length = (body.len() as u32).to_le_bytes();
        [&packed[..LEXICON_HEADER - length.len()], &length, &compress_to_vec_zlib(&body, 1)].concat()
    };
    measured(bytes.len(), || Phonemizer::new(&bytes))
}

/// Features as `prepare` writes them, damaged, and drawn from where they are taken for good.
fn features(random: &mut Choices) -> Outcome {
    kept!(GOOD: (tempfile::TempDir, [Vec<u8>; 2]) = {
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
        let folder = in_memory();
        good.save(folder.path()).unwrap();
        let files = ["features.json", "mels.safetensors"].map(|name| fs::read(folder.path().join(name)).unwrap());
        (folder, files)
    });
    let (folder, [json, tensors]) = GOOD.with(|good| *good);
    let mut damaged: Value = serde_json::from_slice(json).unwrap();
    damage_json(&mut damaged, random);
    let (damaged, tensors) = match random.random_range(0..3) {
        0 => (json.clone(), some_damage(tensors, random, damage_tensors)),
        1 => (damaged.to_string().into_bytes(), tensors.clone()),
        _ => (some_damage(json, random, damage_bytes), tensors.clone()),
    };
    fs::write(folder.path().join("features.json"), &damaged).unwrap();
    fs::write(folder.path().join("mels.safetensors"), &tensors).unwrap();
    // Values are looked at where they are drawn: what is wrong with them comes to light there.
    measured(damaged.len() + tensors.len(), || {
        let features = Features::load(folder.path())?;
        for utterance in &features.utterances {
            let all = 0..utterance.frames;
            let mels = features.log_mels(utterance, all.clone())?;
            assert_eq!(mels.len(), utterance.frames * features.mel.mels);
            if features.have_pitch() {
                features.pitches_hz(utterance, all)?;
            }
        }
        Ok(())
    })
}

fn pytorch(random: &mut Choices) -> Outcome {
    kept!(GOOD: (tempfile::TempDir, [Vec<u8>; 2]) = {
        let files = ["tacotron2.pt", "tacotron2-legacy.pt"]
            .map(|name| fs::read(Path::new("../tests/fixtures/nvidia").join(name)).unwrap());
        (in_memory(), files)
    });
    let (folder, files) = GOOD.with(|good| *good);
    let path = folder.path().join("model.pt");
    let bytes = some_damage(files.choose(random).unwrap(), random, damage_bytes);
    fs::write(&path, &bytes).unwrap();
    measured(bytes.len(), || Imported::read(&path))
}

fn metadata(random: &mut Choices) -> Outcome {
    kept!(FOLDER: tempfile::TempDir = {
        let folder = in_memory();
        fs::create_dir(folder.path().join("wavs")).unwrap();
        fs::write(folder.path().join("wavs/a.wav"), wav::write(&[0.1; 100], 16_000)).unwrap();
        folder
    });
    let folder = FOLDER.with(|folder| folder.path());
    let list = "a|Hello there.\nb|Another one.|Another 1.\n\u{feff}c|x\r\n";
    let bytes = some_damage(list.as_bytes(), random, damage_bytes);
    fs::write(folder.join("metadata.csv"), &bytes).unwrap();
    measured(bytes.len(), || layouts::load(folder).map(|recordings| recordings.count()))
}

/// Words of the readings and other pieces in any order, or any characters at all.
fn text(random: &mut Choices) -> Outcome {
    static PHONEMIZER: LazyLock<Phonemizer> = LazyLock::new(Phonemizer::embedded);
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let texts = READINGS.lines().filter(|line| !line.starts_with("# "));
        texts.filter_map(|line| line.split('\t').nth(1)).flat_map(|text| text.split(' ')).collect()
    });
    let (phonemizer, words) = (LazyLock::force(&PHONEMIZER), LazyLock::force(&WORDS));
    let text = match random.random_range(0..4) {
        0 => String::from_utf8_lossy(random.0).into_owned(),
        _ => (0..random.random_range(1..12)).map(|_| spliced(words, random)).collect(),
    };
    measured(text.len(), || {
        let mut last = Ok(());
        for sentence in sentences(&text) {
            match phonemizer.symbols(&sentence) {
                Ok(spoken) => {
                    let known = |symbol: &u8| (1..symbols::SYMBOL_COUNT as u8).contains(symbol);
                    assert!(spoken.iter().all(known), "{sentence:?}");
                    let most = MAX_SYMBOLS * (sentence.chars().count() + 1);
                    assert!(spoken.len() <= most, "{} symbols of {sentence:?}", spoken.len());
                }
                Err(error) => last = Err(error),
            }
        }
        last
    })
}

/// A word or a part of one, and what may follow it.
fn spliced(words: &[&str], random: &mut Choices) -> String {
    let word: Vec<char> = words.choose(random).unwrap().chars().collect();
    let (first, last) = (random.random_range(0..=word.len()), random.random_range(0..=word.len()));
    let part = if random.random_bool(0.3) { &word[first.min(last)..first.max(last)] } else { &word[..] };
    part.iter().copied().chain(PIECES.choose(random).unwrap().chars()).collect()
}
