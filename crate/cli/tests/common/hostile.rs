//! Fuzz targets for every format that is read from untrusted files: reading damaged input returns an error or a value, never panics, and takes memory in
//! proportion to the file.
//!
//! The damage is decided by bytes, which `crate/cli/tests/hostile.rs` draws at random and `crate/fuzz` takes from libFuzzer.

#[path = "damage.rs"]
mod damage;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    fs,
    path::Path,
    sync::{
        LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicIsize, Ordering::Relaxed},
    },
};

use burn::prelude::Device;
use burn_fused::{
    ranks::Ranks,
    weights::{Metadata, Storage, Weight, collect, serialize},
};
use damage::{Choices, damage_bytes, damage_json, damage_tensors, with_damage};
use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib};
use ownvoice::{
    align::ForcedAligner,
    audio::{
        self,
        mel::{Mel, MelConfig},
        wav,
    },
    clone::{
        FineTuner,
        clip::Clip,
        options::{AdvancedCloneOptions, CloneOptions},
    },
    features::{Features, NewUtterance},
    lips::{
        self, LipBase, LipConfig, LipTacotron, TunedLips,
        base::{LipBaseFiles, Trained},
        clock::samples,
        face::FACE_BYTES,
        tuned::Adapted,
    },
    model::{Tacotron, TacotronConfig},
    text::{Phonemizer, lexicon, normalize, sentences, symbols},
    vocoder::{
        NeuralVocoder,
        network::{SourceFilter, VocoderConfig},
    },
    voice::{Base, BaseFiles, FileEntry, Voice, spectral_transport::SpectralTransport},
};
use ownvoice_cli::{
    corpus::layouts,
    import::Imported,
    learn::{
        data_loader::DataLoaderConfig,
        hyperparameters::{Hyperparameters, RunConfig, WatchConfig},
        run::Run,
    },
    lips::features::{Filmed, LipFeatureWriter, LipFeatures},
    speaker_encoder::verifier::SpeakerVerifier,
};
use ownvoice_testing::pieces::PIECES;
use ownvoice_testing::{ALIGNER, held_out_clips, root, tiny_base, tiny_files};
use pollster::block_on;
use rand::{Rng, seq::IndexedRandom};
use serde_json::Value;

/// An allocator that counts the memory of the whole process, including worker threads.
struct Counting;

static NOW: AtomicIsize = AtomicIsize::new(0);
static MAX: AtomicIsize = AtomicIsize::new(0);
/// A lock that is held while an input is read, so that parallel tests do not count each other's memory.
static ALONE: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether the thread has read an input before. Each thread runs one target only.
    static WARM: Cell<bool> = const { Cell::new(false) };
}

/// A larger single request fails, so that the machine does not run out of memory.
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

/// Waits for the exclusive right to read an input.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of reading an input.
pub struct Outcome {
    /// The size of the input in bytes.
    pub length: usize,
    /// The peak memory while it was read, in bytes, without the input.
    pub taken: usize,
    /// The code of the error, if it was refused.
    #[allow(dead_code)] // The fuzzer does not use it.
    pub code: Option<&'static str>,
}

/// Reads an input of `length` bytes and measures the memory of the reading alone.
fn measured<T>(length: usize, read: impl FnOnce() -> ownvoice::Result<T>) -> Outcome {
    let before = NOW.load(Relaxed);
    MAX.store(before, Relaxed);
    let read = read();
    let taken = (MAX.load(Relaxed) - before).max(0) as usize;
    Outcome { length, taken, code: read.err().map(|error| error.code()) }
}

const READINGS: &str = include_str!("../../../ownvoice/tests/data/readings.tsv");
/// Reads all readings once: the rules of the normaliser are compiled when a text first needs them, and are kept.
static COMPILED_RULES: LazyLock<()> = LazyLock::new(|| {
    for text in READINGS.lines().filter_map(|line| line.split('\t').nth(1)) {
        let _ = normalize(text);
    }
});
/// The most symbols for one character of text: "%" and digits become words.
const MAX_SYMBOLS: usize = 40;

/// A fuzz target: a reader of untrusted input.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    /// The memory that reading may take: bytes for each byte of the input, plus a constant.
    pub bound: (usize, usize),
    read: fn(&mut Choices) -> Outcome,
}

impl Target {
    /// Reads one input and asserts the memory bound.
    pub fn check(&self, decisions: &[u8]) -> Outcome {
        let _alone = alone();
        if !WARM.replace(true) {
            // The first run creates values that are kept, which are not part of an input's cost.
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

/// All targets. Bounds above twice the input have causes such as weights of 8 bits that become 32.
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

/// Returns the target of this name. Const evaluation excludes the code of other targets from a fuzzer, because libFuzzer scans all coverage counters after each
/// input.
#[allow(dead_code)] // `cargo test` finds targets at run time.
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

/// Creates a temporary folder in memory if the system has such a file system.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A value that each thread creates once and keeps.
macro_rules! kept {
    ($name:ident: $type:ty = $make:expr) => {
        thread_local! { static $name: &'static $type = Box::leak(Box::new($make)); }
    };
}

fn wav_file(random: &mut Choices) -> Outcome {
    kept!(FILES: [Vec<u8>; 3] = {
        let tone: Vec<f32> = (0..100).map(|at| (at as f32 / 9.0).sin()).collect();
        let length = tone.len() as u32;
        // A file of 8-bit silence with two channels.
        let coarse = [&b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0"[..], &8000u32.to_le_bytes()[..]].concat();
        let coarse = [&coarse[..], &16_000u32.to_le_bytes(), b"\x02\0\x08\0data", &length.to_le_bytes()].concat();
        [
            wav::write(&tone, 16_000),
            wav::write_with_origin(&tone, 44_100, &wav::Origin::resynthesis()),
            [coarse, vec![128; tone.len()]].concat(),
        ]
    });
    let bytes = with_damage(FILES.with(|files| files.choose(random).unwrap()), random, damage_bytes);
    measured(bytes.len(), || wav::read(&bytes))
}

fn recording(random: &mut Choices) -> Outcome {
    kept!(FILES: Vec<Vec<u8>> = {
        let mut paths: Vec<_> =
            fs::read_dir(root().join("crate/ownvoice/tests/data/formats")).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().filter(|path| !path.ends_with("tone.wav")).map(|path| fs::read(path).unwrap()).collect()
    });
    let bytes = with_damage(FILES.with(|files| files.choose(random).unwrap()), random, damage_bytes);
    measured(bytes.len(), || audio::read(&bytes))
}

fn voice_file(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Base, [Vec<u8>; 2]) = {
        let base = tiny_base();
        let mut voice = Voice::unadapted(&base);
        let saved = |voice: &Voice| block_on(voice.save_async()).unwrap();
        let without = saved(&voice);
        let [mean, shift, ceiling] = [-4.0, 0.1, 0.0].map(|value| vec![value; 80]);
        voice.spectral_transport = Some(SpectralTransport { mean, shift, map: vec![0.01; 80 * 80], ceiling });
        let voices = [saved(&voice), without];
        (base, voices)
    });
    let (base, voices) = GOOD.with(|good| *good);
    let bytes = with_damage(voices.choose(random).unwrap(), random, damage_tensors);
    measured(bytes.len(), || Voice::open(base, &bytes))
}

/// Damages the manifest or the weights of a base, and updates the hash.
///
/// * `parts`: the parts of the manifest to damage; empty for any part
fn damaged_base(manifest: &Value, weights: &[u8], parts: &[&str], random: &mut Choices) -> (String, Vec<u8>) {
    let (mut manifest, mut weights) = (manifest.clone(), weights.to_vec());
    if random.random_bool(0.3) {
        weights = with_damage(&weights, random, damage_tensors);
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
        (serde_json::to_value(&manifest).unwrap(), weights, lexicon)
    });
    let (manifest, weights, lexicon) = GOOD.with(|good| *good);
    let parts = ["model", "mel", "speakers", "mean_pitches_hz", "files", "default_speaker"];
    let (json, weights) = damaged_base(manifest, weights, &parts, random);
    let files =
        BaseFiles { manifest_json: &json, weights: &weights, lexicon, aligner: ALIGNER, vocoder: None };
    let length = json.len() + weights.len() + lexicon.len() + ALIGNER.len();
    measured(length, || Base::load(files, &Device::flex()))
}

fn aligner(random: &mut Choices) -> Outcome {
    let bytes = with_damage(ALIGNER, random, damage_tensors);
    measured(bytes.len(), || ForcedAligner::load(&bytes, &Device::flex()))
}

fn vocoder(random: &mut Choices) -> Outcome {
    kept!(GOOD: Vec<u8> = {
        let config = VocoderConfig { width: 8, layers: 2, ..VocoderConfig::small() };
        block_on(NeuralVocoder::serialize(&SourceFilter::new(&config, &Device::flex()), &config)).unwrap()
    });
    let bytes = with_damage(GOOD.with(|good| *good), random, damage_tensors);
    measured(bytes.len(), || NeuralVocoder::load(&bytes, MelConfig::speech_16k()))
}

fn speaker_encoder(random: &mut Choices) -> Outcome {
    kept!(GOOD: Vec<u8> = fs::read("../../models/base/speaker_encoder.safetensors").unwrap());
    let bytes = with_damage(GOOD.with(|good| *good), random, damage_tensors);
    measured(bytes.len(), || SpeakerVerifier::load(&bytes))
}

/// Reads the checkpoint of a cloning.
fn checkpoint(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Base, Vec<Clip>, Vec<u8>) = {
        let (base, clips) = (tiny_base(), held_out_clips(1));
        let advanced = AdvancedCloneOptions { batch: 2, window: 20, ..AdvancedCloneOptions::default() };
        let options = CloneOptions { iterations: 30, rehearsal: 0.0, advanced, ..CloneOptions::default() };
        let mut tuner = FineTuner::start(&base, &clips, options).unwrap();
        tuner.step().unwrap();
        let checkpoint = tuner.checkpoint().unwrap();
        (base, clips, checkpoint)
    });
    let (base, clips, good) = GOOD.with(|good| *good);
    let bytes = with_damage(good, random, damage_tensors);
    measured(bytes.len(), || FineTuner::resume(base, clips, &bytes))
}

/// Reads the checkpoint of a pretraining.
fn run(random: &mut Choices) -> Outcome {
    kept!(GOOD: (tempfile::TempDir, Vec<u8>) = {
        let mut weights = collect(&Tacotron::new(&TacotronConfig::tiny(2), &Device::flex()));
        for (name, Weight { shape, values }) in weights.clone() {
            for moment in ["adam.first", "adam.second"] {
                let shape = vec![shape.iter().product()];
                weights.insert(format!("{moment}.{name}"), Weight { shape, values: values.clone() });
            }
        }
        let metadata = Metadata::from([("updates".into(), "20".into())]);
        (in_memory(), block_on(serialize(weights, Storage::Full, metadata)).unwrap())
    });
    let (folder, good) = GOOD.with(|good| *good);
    let bytes = with_damage(good, random, damage_tensors);
    fs::write(folder.path().join("checkpoint.safetensors"), &bytes).unwrap();
    let run_config = RunConfig {
        hyperparameters: Hyperparameters::base(),
        directory: folder.path().to_owned(),
        resume: true,
        device: Device::flex().autodiff(),
        loader: DataLoaderConfig { threads: 1, depth: 1 },
        ranks: Ranks::default(),
        watch: WatchConfig::default(),
    };
    measured(bytes.len(), || {
        Run::open(Tacotron::new(&TacotronConfig::tiny(2), &run_config.device), &run_config).map(drop)
    })
}

/// Returns the manifest and weights of a tiny lip-to-speech base.
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
        let (parts, held_out_loss) = (Adapted::from_base(&base, 0), [2.0, 1.0]);
        let tuned = TunedLips { parts, iterations: 100, seconds: 60.0, held_out_loss };
        let bytes = block_on(tuned.save(&base)).unwrap();
        (base, bytes)
    });
    let (base, tuned) = GOOD.with(|good| *good);
    let bytes = with_damage(tuned, random, damage_tensors);
    measured(bytes.len(), || TunedLips::open(base, &bytes))
}

fn lips_base(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Value, Vec<u8>) = lips_files());
    let (manifest, weights) = GOOD.with(|good| *good);
    let (json, weights) = damaged_base(manifest, weights, &[], random);
    let files = LipBaseFiles { manifest_json: &json, weights: &weights, vocoder: None };
    measured(json.len() + weights.len(), || LipBase::load(files, &Device::flex()))
}

/// Loads and reads damaged features of faces.
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
        _ => with_damage(&good[which], random, damage_bytes),
    };
    for (name, bytes) in FILES.iter().zip(&files) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    measured(files.iter().map(Vec::len).sum(), || {
        let features = LipFeatures::load(folder.path())?;
        features.tracks.iter().try_for_each(|track| features.faces(track, 0..track.pictures).map(drop))
    })
}

/// Returns a small lexicon with rules fitted to it, packed and inflated.
fn small_lexicon() -> (Vec<u8>, Vec<u8>) {
    let words = "boss B AO1 S\ncat K AE1 T\ncats K AE1 T S\nhello HH AH0 L OW1\nread R EH1 D\nthere DH EH1 R\nthree TH R IY1\n";
    let packed = lexicon::pack(words).unwrap();
    let body = decompress_to_vec_zlib(&packed[LEXICON_HEADER..]).unwrap();
    (packed, body)
}

/// The length of the header before the deflated data: five bytes of a name, four of a length.
const LEXICON_HEADER: usize = 9;

/// Reads a lexicon that is damaged as a file, or before compression, so that its checksum is valid.
fn lexicon(random: &mut Choices) -> Outcome {
    kept!(GOOD: (Vec<u8>, Vec<u8>) = small_lexicon());
    let (packed, body) = GOOD.with(|good| *good);
    let bytes = if random.random_bool(0.3) {
        with_damage(packed, random, damage_bytes)
    } else {
        let body = with_damage(body, random, damage_bytes);
        let length = (body.len() as u32).to_le_bytes();
        [&packed[..LEXICON_HEADER - length.len()], &length, &compress_to_vec_zlib(&body, 1)].concat()
    };
    measured(bytes.len(), || Phonemizer::new(&bytes))
}

/// Loads damaged features, and reads them if they are accepted.
fn features(random: &mut Choices) -> Outcome {
    kept!(GOOD: (tempfile::TempDir, [Vec<u8>; 2]) = {
        let mut good = Features::new(MelConfig::speech_16k());
        let mel = Mel { mels: 80, data: vec![-4.0; 30 * 80] };
        for speaker in ["a", "b"] {
            good.push(NewUtterance {
                speaker,
                id: "x".into(),
                text: "hello".into(),
                symbols: symbols::parse("_ DH _").unwrap(),
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
        0 => (json.clone(), with_damage(tensors, random, damage_tensors)),
        1 => (damaged.to_string().into_bytes(), tensors.clone()),
        _ => (with_damage(json, random, damage_bytes), tensors.clone()),
    };
    fs::write(folder.path().join("features.json"), &damaged).unwrap();
    fs::write(folder.path().join("mels.safetensors"), &tensors).unwrap();
    // Values are checked when they are read.
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
            .map(|name| fs::read(Path::new("../../tests/fixtures/nvidia").join(name)).unwrap());
        (in_memory(), files)
    });
    let (folder, files) = GOOD.with(|good| *good);
    let path = folder.path().join("model.pt");
    let bytes = with_damage(files.choose(random).unwrap(), random, damage_bytes);
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
    LazyLock::force(&COMPILED_RULES);
    let lists = [
        "a|Hello there.\nb|Another one.|Another 1.\n\u{feff}c|x\r\n",
        "client_id\tpath\tsentence\nanna\twavs/a.wav\tHello there.\n",
        "text;file\r\n\"Hello; \"\"there\"\".\";a.wav\r\n\n\"Again.\";a.wav\n",
        "\u{feff}file,text\na.wav,\"Hello, there.\"\na.wav,\"Hello, there.\"\n",
    ];
    let list = lists.choose(random).unwrap();
    let utf16 = || list.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let list = if random.random_bool(0.2) { utf16() } else { list.as_bytes().to_vec() };
    let bytes = with_damage(&list, random, damage_bytes);
    fs::write(folder.join("metadata.csv"), &bytes).unwrap();
    measured(bytes.len(), || layouts::load(folder, &()).map(|recordings| recordings.count()))
}

/// Reads a text of words of the readings and other pieces in any order, or of arbitrary characters.
fn text(random: &mut Choices) -> Outcome {
    static PHONEMIZER: LazyLock<Phonemizer> = LazyLock::new(Phonemizer::embedded);
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let texts = READINGS.lines().filter(|line| !line.starts_with("# "));
        texts.filter_map(|line| line.split('\t').nth(1)).flat_map(|text| text.split(' ')).collect()
    });
    let (phonemizer, words) = (LazyLock::force(&PHONEMIZER), LazyLock::force(&WORDS));
    LazyLock::force(&COMPILED_RULES);
    let text = match random.random_range(0..4) {
        0 => String::from_utf8_lossy(random.0).into_owned(),
        _ => (0..random.random_range(1..12)).map(|_| spliced(words, random)).collect(),
    };
    measured(text.len(), || {
        let mut last = Ok(());
        for sentence in sentences(&text) {
            match phonemizer.symbols(&sentence) {
                Ok(spoken) => {
                    assert!(!spoken.contains(&symbols::PAD), "{sentence:?}");
                    let max_length = MAX_SYMBOLS * (sentence.chars().count() + 1);
                    assert!(spoken.len() <= max_length, "{} symbols of {sentence:?}", spoken.len());
                }
                Err(error) => last = Err(error),
            }
        }
        last
    })
}

/// Returns a word or a part of one, followed by a piece.
fn spliced(words: &[&str], random: &mut Choices) -> String {
    let word: Vec<char> = words.choose(random).unwrap().chars().collect();
    let (first, last) = (random.random_range(0..=word.len()), random.random_range(0..=word.len()));
    let part = if random.random_bool(0.3) { &word[first.min(last)..first.max(last)] } else { &word[..] };
    part.iter().copied().chain(PIECES.choose(random).unwrap().chars()).collect()
}
