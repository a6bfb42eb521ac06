//! Lip-to-speech with videos of drawn faces, usable and unusable ones: preparation, synthesis, training and tuning. Needs ffmpeg.

use std::{
    f32::consts::TAU,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
};

use ownvoice::{
    Device, Error,
    audio::mel::MelConfig,
    image::Image,
    lips::{
        LipBase, LipConfig, LipTacotron,
        base::{self, Trained},
        face::{FACE_BYTES, SIDE},
    },
    text::symbols::parse,
};
use ownvoice_cli::lips::{
    drawing::Face,
    features::LipFeatures,
    prepare::{LipPrepareConfig, LipPrepared, prepare},
    say_video::speak_video,
    video,
    visemes::Movement,
};

const RATE_HZ: u32 = 16_000;

/// Returns whether ffmpeg is missing. The message bypasses libtest's capture, so that `cargo xtask test` counts the test as skipped and not as passed.
fn is_skipped(test: &str) -> bool {
    let missing = Command::new("ffmpeg").arg("-version").output().is_err();
    if missing {
        let line = format!("\nSKIPPED {test}: ffmpeg is not installed\n");
        io::stdout().write_all(line.as_bytes()).unwrap();
    }
    missing
}

/// The content of a part of a video.
#[derive(Clone, Copy)]
enum Part {
    /// A drawn face with this seed.
    Face(u64),
    /// Two faces beside each other.
    Two,
    /// A grey wall.
    Wall,
    /// A wall that grows brighter at a known rate.
    Dawn,
}

/// Returns the grey level of [`Part::Dawn`] at a time.
fn dawn(seconds: f32) -> f32 {
    40.0 + 80.0 * seconds
}

/// A video of parts, each with its length in seconds.
struct Film<'a> {
    parts: &'a [(Part, f32)],
    frames_per_second: usize,
    size: (usize, usize),
    /// The length of the sound if it differs from that of the pictures.
    sound_seconds: Option<f32>,
}

impl Default for Film<'_> {
    fn default() -> Self {
        Self { parts: &[(Part::Face(1), 2.0)], frames_per_second: 25, size: (240, 240), sound_seconds: None }
    }
}

impl Film<'_> {
    fn write(&self, path: &Path) {
        let phones = parse("_ P AA1 M IY1 F UW1 S AA1 B OW1 _").unwrap();
        let movement = Movement::new(phones.into_iter().map(|symbol| (symbol, 0.15)));
        let mut frames = Vec::new();
        for &(part, seconds) in self.parts {
            for _ in 0..(seconds * self.frames_per_second as f32).round() as usize {
                frames.push(self.frame(part, frames.len() as f32 / self.frames_per_second as f32, &movement));
            }
        }
        let seconds = self.sound_seconds.unwrap_or(frames.len() as f32 / self.frames_per_second as f32);
        // A rising tone identifies each moment.
        let samples: Vec<f32> = (0..(seconds * RATE_HZ as f32) as usize)
            .map(|index| index as f32 / RATE_HZ as f32)
            .map(|time| 0.3 * (TAU * (300.0 + 200.0 * time) * time).sin())
            .collect();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        video::write(path, frames.into_iter(), self.frames_per_second, &samples, RATE_HZ).unwrap();
    }

    fn frame(&self, part: Part, seconds: f32, movement: &Movement) -> Image {
        let (width, height) = self.size;
        let drawn = |number, width| {
            let face = Face::new(number);
            face.draw(width, height, &face.pose(seconds), &movement.at(seconds), (seconds * 1e3) as u64)
        };
        match part {
            Part::Face(number) => drawn(number, width),
            Part::Wall => Image::new(width, height, vec![120; width * height * 3]),
            Part::Dawn => Image::new(width, height, vec![dawn(seconds).round() as u8; width * height * 3]),
            Part::Two => {
                let (left, right) = (drawn(1, width / 2), drawn(2, width / 2));
                let rows = left.rgb.chunks(width / 2 * 3).zip(right.rgb.chunks(width / 2 * 3));
                Image::new(width, height, rows.flat_map(|(left, right)| [left, right].concat()).collect())
            }
        }
    }
}

/// Prepares a folder of these videos.
fn prepared(films: &[(&str, Film)]) -> (tempfile::TempDir, Result<LipPrepared, Error>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, film) in films {
        film.write(&folder.path().join("videos").join(name));
    }
    let config = LipPrepareConfig { videos: folder.path().join("videos"), out: out(&folder) };
    let result = prepare(&config, &());
    (folder, result)
}

fn out(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("features")
}

fn code(films: &[(&str, Film)]) -> &'static str {
    let (folder, result) = prepared(films);
    let error = result.unwrap_err();
    assert!(error.file().is_some_and(|file| file.starts_with(folder.path())), "{error}");
    error.code()
}

/// Returns the mean difference of two pictures, 0 to 255.
fn difference(one: &[u8], other: &[u8]) -> f32 {
    one.iter().zip(other).map(|(a, b)| f32::from(a.abs_diff(*b))).sum::<f32>() / one.len() as f32
}

#[test]
fn faces_and_mels_are_synchronous() {
    if is_skipped("faces_and_mels_are_synchronous") {
        return;
    }
    let (folder, result) = prepared(&[("someone/intervals/talk/cut-0.mp4", Film::default())]);
    let prepared = result.unwrap();
    assert_eq!((prepared.videos, prepared.tracks, prepared.speakers), (1, 1, 1));
    assert!(prepared.left_out.is_empty(), "{:?}", prepared.left_out);
    let features = LipFeatures::load(&out(&folder)).unwrap();
    let (track, utterance) = (&features.tracks[0], &features.sounds.utterances[0]);
    assert_eq!((track.pictures, utterance.frames), (50, 160));
    assert_eq!(
        (features.sounds.speakers[0].as_str(), utterance.id.as_str()),
        ("someone", "talk-cut-0-000000")
    );
    let faces = features.faces(track, 0..track.pictures).unwrap();
    assert_eq!(faces.len(), 50 * FACE_BYTES);
    // The loudest channel rises with the tone, and there is sound from the first frame to the last.
    let mels = features.sounds.log_mels(utterance, 0..utterance.frames).unwrap();
    let loudest = |frame: usize| {
        let row = &mels[frame * 80..(frame + 1) * 80];
        (0..80).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap()
    };
    assert!(loudest(20) < loudest(80) && loudest(80) < loudest(140), "{} {}", loudest(20), loudest(140));
    // The crop shows the mouth, which changes far more between closed and open than the brow.
    let rows = |picture: usize, rows: std::ops::Range<usize>| {
        &faces[picture * FACE_BYTES..][rows.start * SIDE * 3..rows.end * SIDE * 3]
    };
    // P is closed at 0.22 s, the vowel open at 0.37 s.
    let mouth = difference(rows(5, 55..80), rows(9, 55..80));
    let brow = difference(rows(5, 0..25), rows(9, 0..25));
    assert!(mouth > 1.5 * brow, "mouth {mouth}, brow {brow}");
}

#[test]
fn any_frame_rate_and_orientation_is_supported() {
    if is_skipped("any_frame_rate_and_orientation_is_supported") {
        return;
    }
    let (folder, result) = prepared(&[
        ("a/slow.mp4", Film { frames_per_second: 10, ..Film::default() }),
        ("a/fast.mp4", Film { frames_per_second: 60, ..Film::default() }),
        ("a/portrait.mp4", Film { size: (180, 320), ..Film::default() }),
        ("a/usual.mp4", Film::default()),
    ]);
    assert!(result.as_ref().is_ok_and(|prepared| prepared.left_out.is_empty()), "{result:?}");
    let features = LipFeatures::load(&out(&folder)).unwrap();
    let lengths: Vec<usize> = features.tracks.iter().map(|track| track.pictures).collect();
    assert!(lengths.len() == 4 && lengths.iter().all(|length| [45, 50].contains(length)), "{lengths:?}");
}

/// The brightness of the wall is the time of a picture.
#[test]
fn pictures_are_resampled_by_time() {
    if is_skipped("pictures_are_resampled_by_time") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The tolerance in grey levels, of which there are 80 a second: at 10 pictures a second one picture stays for 8 levels.
    for (frames_per_second, early, late) in [(10, 3.0, 9.0), (25, 2.5, 2.5), (60, 2.5, 2.5)] {
        let path = folder.path().join(format!("{frames_per_second}.mp4"));
        Film { parts: &[(Part::Dawn, 2.0)], frames_per_second, ..Film::default() }.write(&path);
        let mut levels = Vec::new();
        let count = video::read_frames(&path, |frame, image| {
            assert_eq!(frame, levels.len());
            levels
                .push(image.rgb.iter().map(|&value| f32::from(value)).sum::<f32>() / image.rgb.len() as f32);
            Ok(())
        });
        assert!((48..=52).contains(&count.unwrap()), "{frames_per_second}: {levels:?}");
        for (frame, level) in levels.iter().enumerate().take(48) {
            let ahead = level - dawn(frame as f32 / 25.0);
            assert!(
                (-late..=early).contains(&ahead),
                "{frames_per_second} a second, picture {frame}: {ahead}"
            );
        }
    }
}

#[test]
fn unusable_videos_are_refused_with_their_codes() {
    if is_skipped("unusable_videos_are_refused_with_their_codes") {
        return;
    }
    let one = |parts| [("a/one.mp4", Film { parts, ..Film::default() })];
    assert_eq!(code(&one(&[(Part::Wall, 1.2)])), "no-face");
    let two = Film { parts: &[(Part::Two, 1.2)], size: (480, 240), ..Film::default() };
    assert_eq!(code(&[("a/two.mp4", two)]), "several-faces");
    assert_eq!(code(&one(&[(Part::Face(1), 0.8), (Part::Face(5), 0.8)])), "video-cut");
    assert_eq!(code(&one(&[(Part::Face(1), 0.6)])), "clip-too-short");
    let film = |sound_seconds| Film { sound_seconds: Some(sound_seconds), ..Film::default() };
    assert_eq!(code(&[("a/long.mp4", film(3.5))]), "lengths-differ");
    // A difference of half a second is cut to the shorter of the two.
    let (folder, result) = prepared(&[("a/shorter.mp4", film(1.5)), ("a/usual.mp4", film(2.4))]);
    assert_eq!(result.unwrap().tracks, 2);
    let features = LipFeatures::load(&out(&folder)).unwrap();
    let lengths: Vec<usize> = features.tracks.iter().map(|track| track.pictures).collect();
    assert!([35, 40].contains(&lengths[0]) && lengths[1] == 50, "{lengths:?}");
}

#[test]
fn faults_are_reported_by_file_and_second_and_other_parts_are_kept() {
    if is_skipped("faults_are_reported_by_file_and_second_and_other_parts_are_kept") {
        return;
    }
    let parts = [(Part::Face(1), 1.6), (Part::Wall, 0.8), (Part::Face(1), 1.6), (Part::Face(5), 1.6)];
    let folder = tempfile::tempdir().unwrap();
    let videos = folder.path().join("videos");
    Film { parts: &parts, ..Film::default() }.write(&videos.join("a/cut.mp4"));
    fs::write(videos.join("a/damaged.mp4"), b"this is no video").unwrap();
    let silent = videos.join("a/silent.mp4");
    let status = Command::new("ffmpeg")
        .args(["-v", "error", "-nostdin", "-i"])
        .arg(videos.join("a/cut.mp4"))
        .args(["-an", "-c", "copy"])
        .arg(&silent)
        .status();
    assert!(status.unwrap().success());
    let prepared = prepare(&LipPrepareConfig { videos, out: folder.path().join("features") }, &()).unwrap();
    assert_eq!((prepared.videos, prepared.tracks), (3, 3));
    let of = |name: &str| -> Vec<(&str, Option<[f32; 2]>)> {
        let here = prepared.left_out.iter().filter(|entry| entry.file.ends_with(name));
        here.map(|entry| (entry.code, entry.seconds)).collect()
    };
    let cut = of("cut.mp4");
    // A wall for 0.8 s, then another face.
    assert_eq!(cut[0].0, "no-face");
    let [from, to] = cut[0].1.unwrap();
    assert!((1.4..=1.8).contains(&from) && (2.2..=2.6).contains(&to), "{cut:?}");
    let last = cut.last().unwrap();
    assert!(last.0 == "video-cut" && (3.8..=4.2).contains(&last.1.unwrap()[0]), "{cut:?}");
    assert_eq!(of("damaged.mp4"), [("video-unreadable", None)]);
    assert_eq!(of("silent.mp4"), [("audio-unreadable", None)]);
}

/// Runs the command without ffmpeg in its path.
#[test]
fn a_missing_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.mp4"), b"x").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args(["lips", "prepare"])
        .arg(folder.path())
        .arg("--out")
        .arg(folder.path().join("features"))
        .arg("--json")
        .env("PATH", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        !output.status.success() && text.contains("program-missing") && text.contains("ffmpeg"),
        "{text}"
    );
}

/// Drawn faces that speak with the base's voices can be prepared.
#[test]
fn a_drawn_corpus_is_prepared_like_any_other() {
    if is_skipped("a_drawn_corpus_is_prepared_like_any_other") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let base = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/base");
    let config = ownvoice_cli::lips::corpus::LipCorpusConfig {
        out: folder.path().join("drawn"),
        base,
        voices: ownvoice_cli::lips::corpus::LipVoices::Spread(2),
        sentences: 1,
        faces: 1,
        texts: ownvoice_cli::lips::corpus::LipTexts::Commands,
        seed: 3,
    };
    let made = ownvoice_cli::lips::corpus::make_lip_corpus(&config, &()).unwrap();
    assert_eq!(made.speakers.len(), 2);
    assert_ne!(made.speakers[0].name, made.speakers[1].name);
    let videos = config.out.clone();
    let prepared = prepare(&LipPrepareConfig { videos, out: folder.path().join("features") }, &()).unwrap();
    assert_eq!((prepared.videos, prepared.speakers), (2, 2));
    assert!(prepared.left_out.is_empty(), "{:?}", prepared.left_out);
    assert!((prepared.seconds - made.seconds).abs() < 0.5, "{} {}", prepared.seconds, made.seconds);
    let features = LipFeatures::load(&folder.path().join("features")).unwrap();
    assert!(features.sounds.utterances.iter().all(|utterance| !utterance.text.is_empty()));
}

/// Creates an untrained base, for tests of refusals and lengths.
fn untrained(folder: &Path) -> LipBase {
    let (config, device) = (LipConfig::tiny(1), Device::flex());
    let trained = Trained {
        model: &LipTacotron::new(&config, &device),
        config,
        mel: MelConfig::speech_16k(),
        window_pictures: 25,
        speakers: vec!["someone".into()],
        vocoder: None,
        recipe: serde_json::json!({}),
        quality: serde_json::json!({}),
    };
    let weights = base::weights(&trained).unwrap();
    base::write(folder, trained, &weights).unwrap();
    LipBase::open(folder, &device).unwrap()
}

/// Returns the number of tracks, the number of samples and the codes of unusable parts; or the code of the error.
fn spoken(base: &LipBase, path: &Path) -> Result<(usize, usize, Vec<&'static str>), &'static str> {
    let speech = speak_video(base, path, 0, &*base.vocoder).map_err(|error| {
        assert!(error.file().is_some_and(|file| file == path) && error.to_string().len() > 20, "{error}");
        error.code()
    })?;
    let left_out = speech.left_out.iter().map(|(error, _)| error.code()).collect();
    Ok((speech.tracks, speech.samples.len(), left_out))
}

#[test]
fn unusable_videos_are_not_spoken() {
    if is_skipped("unusable_videos_are_not_spoken") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let base = untrained(folder.path());
    let path = folder.path().join("shown.mp4");
    let refused = |film: Film| {
        film.write(&path);
        spoken(&base, &path).unwrap_err()
    };
    assert_eq!(refused(Film { parts: &[(Part::Wall, 1.2)], ..Film::default() }), "no-face");
    let two = Film { parts: &[(Part::Two, 1.2)], size: (480, 240), ..Film::default() };
    assert_eq!(refused(two), "several-faces");
    let cut = &[(Part::Face(1), 0.8), (Part::Face(5), 0.8)];
    assert_eq!(refused(Film { parts: cut, ..Film::default() }), "video-cut");
    assert_eq!(refused(Film { parts: &[(Part::Face(1), 0.6)], ..Film::default() }), "clip-too-short");
    fs::write(&path, b"this is no video").unwrap();
    assert_eq!(spoken(&base, &path), Err("video-unreadable"));
}

#[test]
fn speech_is_as_long_as_its_video() {
    if is_skipped("speech_is_as_long_as_its_video") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let base = untrained(folder.path());
    let path = folder.path().join("shown.mp4");
    for film in [
        Film { frames_per_second: 10, ..Film::default() },
        Film { frames_per_second: 60, ..Film::default() },
        Film { size: (180, 320), ..Film::default() },
        Film { sound_seconds: Some(0.5), ..Film::default() },
        Film { sound_seconds: Some(3.5), ..Film::default() },
    ] {
        film.write(&path);
        let (tracks, samples, left_out) = spoken(&base, &path).unwrap();
        assert!(tracks == 1 && left_out.is_empty(), "{tracks} {left_out:?}");
        let seconds = samples as f32 / RATE_HZ as f32;
        assert!((1.9..=2.1).contains(&seconds), "{seconds}");
    }
    // Both sides of a cut are spoken.
    Film { parts: &[(Part::Face(1), 1.6), (Part::Face(5), 1.6)], ..Film::default() }.write(&path);
    let (tracks, samples, left_out) = spoken(&base, &path).unwrap();
    assert_eq!((tracks, left_out), (2, vec!["video-cut"]));
    assert!((3.1..=3.3).contains(&(samples as f32 / RATE_HZ as f32)));
}

/// Runs `ownvoice lips .. --json`. Returns its result, or its output if it fails.
fn command(arguments: &[&str]) -> Result<serde_json::Value, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args([&["lips"], arguments, &["--json"]].concat())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    let json = serde_json::from_slice::<serde_json::Value>(&output.stdout).map_err(|_| text.clone());
    if output.status.success() { json } else { Err(text) }
}

/// The shipped base is intelligible for unseen faces and sentences, but not from a still face or from another video.
#[test]
fn the_shipped_base_speaks_drawn_faces() {
    if is_skipped("the_shipped_base_speaks_drawn_faces") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let videos = folder.path().join("drawn");
    let config = ownvoice_cli::lips::corpus::LipCorpusConfig {
        out: videos.clone(),
        base: models.join("base"),
        voices: ownvoice_cli::lips::corpus::LipVoices::Named(vec!["kokoro-af_heart".into()]),
        sentences: 3,
        faces: 3,
        texts: ownvoice_cli::lips::corpus::LipTexts::HeldOutCommands,
        seed: 11,
    };
    ownvoice_cli::lips::corpus::make_lip_corpus(&config, &()).unwrap();
    let base = LipBase::open(&models.join("lips"), &Device::flex()).unwrap();
    let config =
        ownvoice_cli::lips::evaluate::LipEvaluateConfig { videos, out: folder.path().join("spoken") };
    let found = ownvoice_cli::lips::evaluate::evaluate_lips(&base, &config, &()).unwrap();
    assert_eq!((found.videos, found.monotonic), (3, 1.0));
    let stoi = |name: &str| {
        let row = found.conditions.iter().find(|row| row.condition.name() == name).unwrap();
        row.intelligibility.stoi
    };
    let [lips, still, another] = ["lips", "still", "another"].map(stoi);
    assert!(lips > 0.6 && still < 0.45 && another < 0.45, "{lips} {still} {another}");
}

/// A folder with videos, their features and a trained base, for the steps of the workflow.
struct Workflow {
    folder: tempfile::TempDir,
    /// The folder of the shipped text-to-speech base.
    base: String,
}

impl Workflow {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_string()
    }

    fn train(&self, steps: &str, window: &str, more: &[&str]) -> Result<serde_json::Value, String> {
        let (features, lips) = (self.path("features"), self.path("lips"));
        let arguments = ["train", "--data", &features, "--out", &lips, "--base", &self.base];
        let sizes = ["--preset", "tiny", "--batch", "2", "--window", window, "--steps", steps];
        command(&[&arguments[..], &sizes, more].concat())
    }

    /// Synthesises speech from `shown.mp4` with a base.
    fn say(&self, base: &str, more: &[&str]) -> Result<serde_json::Value, String> {
        let (shown, spoken) = (self.path("shown.mp4"), self.path("spoken.wav"));
        command(&[&["say", &shown, "--base", base, "--out", &spoken][..], more].concat())
    }

    /// Imports a base. Returns whether it succeeds, and the output.
    fn import(&self, from: &str, to: &str) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
            .args(["import", from, "--out", &self.path(to), "--json"])
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    fn weights(&self, name: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
        let bytes = fs::read(self.folder.path().join(name).join(base::WEIGHTS)).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        tensors.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec())).collect()
    }

    fn check_training(&self) {
        let trained = self.train("20", "80", &[]).unwrap();
        assert!(trained["held_out_loss"].as_f64().unwrap().is_finite(), "{trained}");
        self.train("40", "80", &["--resume"]).unwrap();
        let curve = fs::read_to_string(self.path("lips/run/curve.csv")).unwrap();
        let lines: Vec<Vec<&str>> = curve.lines().map(|line| line.split(',').collect()).collect();
        let columns = ["before", "after", "guide", "held_out"];
        assert_eq!((lines.len(), &lines[0][2..]), (3, &columns[..]), "{curve}");
        let losses = |line: usize| lines[line][2..5].iter().map(|loss| loss.parse::<f32>().unwrap());
        assert!(losses(2).zip(losses(1)).all(|(after, before)| after < before), "{curve}");
        let odd = self.train("20", "81", &[]).unwrap_err();
        assert!(odd.contains("option-invalid") && odd.contains("a multiple of 16"), "{odd}");
    }

    fn check_synthesis(&self) {
        // The wall between two faces is silent and reported.
        let parts = [(Part::Face(1), 1.6), (Part::Wall, 0.8), (Part::Face(1), 1.6)];
        Film { parts: &parts, ..Film::default() }.write(&self.folder.path().join("shown.mp4"));
        let lips = self.path("lips");
        let spoken = self.say(&lips, &["--speaker", "b"]).unwrap();
        assert_eq!((spoken["tracks"].as_u64(), spoken["speaker"].as_str()), (Some(2), Some("b")), "{spoken}");
        assert_eq!(spoken["left_out"][0]["code"], "no-face");
        assert_eq!(spoken["seconds"].as_f64(), Some(4.0), "as long as the video");
        let wav = fs::read(self.path("spoken.wav")).unwrap();
        let mark = b"Synthetic speech";
        assert!(wav.windows(mark.len()).any(|window| window == mark));
        let ownvoice::audio::Audio { samples, sample_rate_hz } = ownvoice::audio::wav::read(&wav).unwrap();
        let level = |from: f32, to: f32| {
            let sample = |seconds: f32| (seconds * sample_rate_hz as f32) as usize;
            let part = &samples[sample(from)..sample(to)];
            part.iter().map(|sample| sample.abs()).fold(0.0, f32::max)
        };
        assert!(level(0.2, 1.2) > 0.0 && level(1.9, 2.1) == 0.0 && level(2.8, 3.8) > 0.0);

        let (none, spoken) = (self.path("none.mp4"), self.path("spoken.wav"));
        let error = command(&["say", &none, "--base", &lips, "--out", &spoken]).unwrap_err();
        assert!(error.contains("io"), "{error}");
        for (base, code) in [(self.path("features"), "io"), (self.base.clone(), "base-corrupt")] {
            let error = self.say(&base, &[]).unwrap_err();
            assert!(error.contains(code), "{base}: {error}");
        }
        let unknown = self.say(&lips, &["--speaker", "c"]).unwrap_err();
        assert!(unknown.contains("the speakers are a, b"), "{unknown}");
    }

    fn check_evaluation(&self) {
        let (lips, out) = (self.path("lips"), self.path("evaluated"));
        let found = command(&["evaluate", &self.path("videos"), "--base", &lips, "--wavs", &out]).unwrap();
        assert_eq!(found["videos"], 3);
        let conditions = found["conditions"].as_array().unwrap();
        let named: Vec<&str> = conditions.iter().map(|row| row["condition"].as_str().unwrap()).collect();
        assert_eq!(named, ["copy", "lips", "still", "another"]);
        for folder in named.into_iter().chain(["recorded"]) {
            let path = self.path(&format!("evaluated/{folder}"));
            assert_eq!(fs::read_dir(path).unwrap().count(), 3, "{folder}");
        }
        // A speaker that the base does not have is refused.
        Film::default().write(&self.folder.path().join("strangers/c/0.mp4"));
        Film::default().write(&self.folder.path().join("strangers/c/1.mp4"));
        let strangers = self.path("strangers");
        let unknown = command(&["evaluate", &strangers, "--base", &lips, "--wavs", &out]).unwrap_err();
        assert!(unknown.contains("option-invalid") && unknown.contains("the speakers are a, b"), "{unknown}");
    }

    /// Tuning to one speaker lowers the held-out loss and leaves the encoder bitwise unchanged.
    fn check_tuning(&self) {
        let (features, lips, out) = (self.path("features"), self.path("lips"), self.path("tuned"));
        let tune = |more: &[&str]| {
            let arguments = ["tune", "--data", &features, "--base", &lips, "--out", &out, "--rate", "2e-3"];
            command(&[&arguments[..], &["--iterations", "50"], more].concat())
        };
        let tuned = tune(&["--of", "a"]).unwrap();
        let losses = tuned["held_out_loss"].as_array().unwrap();
        assert!(losses[1].as_f64() < losses[0].as_f64(), "{tuned}");
        let (before, after) = (self.weights("lips"), self.weights("tuned"));
        let changed = before.iter().filter(|(name, data)| after[*name] != **data);
        let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
        assert!(changed.iter().all(|name| !name.starts_with("encoder.")), "{changed:?}");
        for part in ["decoder.", "postnet.", "speakers"] {
            assert!(changed.iter().any(|name| name.starts_with(part)), "{part}: {changed:?}");
        }
        assert_eq!(self.say(&out, &[]).unwrap()["speaker"], "a");
        let unknown = tune(&[]).unwrap_err();
        assert!(unknown.contains("option-invalid") && unknown.contains("the speakers a, b"), "{unknown}");
    }

    fn check_import(&self) {
        let (imported, text) = self.import(&self.path("lips"), "imported");
        assert!(imported, "{text}");
        self.say(&self.path("imported"), &[]).unwrap();
        let (imported, text) = self.import(&self.base, "refused");
        assert!(!imported && text.contains("a text base, not a lips base"), "{text}");
    }

    /// Synthesis and import refuse an invalid manifest with the reason.
    fn check_manifests(&self) {
        let manifest = self.folder.path().join("lips/manifest.json");
        let whole = fs::read_to_string(&manifest).unwrap();
        for (from, to, reason) in [
            ("\"lips\"", "\"text\"", "not a lips base"),
            ("\"pictures_per_second\": 25", "\"pictures_per_second\": 30", "30 pictures a second"),
            ("\"window_pictures\": 25", "\"window_pictures\": 24", "the window of 24 pictures"),
            ("\"side\": 16", "\"side\": 97", "sizes are invalid"),
            ("\"speakers\": 2", "\"speakers\": 3", "does not match the model"),
            ("\"sha256\": \"", "\"sha256\": \"0", "that the manifest names"),
        ] {
            assert!(whole.contains(from), "{from}: {whole}");
            fs::write(&manifest, whole.replacen(from, to, 1)).unwrap();
            let error = self.say(&self.path("lips"), &[]).unwrap_err();
            assert!(error.contains("base-corrupt") && error.contains(reason), "{from}: {error}");
            let (imported, text) = self.import(&self.path("lips"), "refused");
            let is_refused = !imported && text.contains("base-corrupt") && text.contains(reason);
            assert!(is_refused, "{from}: {text}");
        }
    }
}

/// The whole workflow: preparation, training with a resumption, synthesis, evaluation, tuning and import.
#[test]
fn lips_are_learned_and_spoken() {
    if is_skipped("lips_are_learned_and_spoken") {
        return;
    }
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/base");
    let base = models.to_str().unwrap().to_string();
    let workflow = Workflow { folder: tempfile::tempdir().unwrap(), base };
    for (name, face) in [("a/0.mp4", 1), ("a/1.mp4", 2), ("b/0.mp4", 3)] {
        let film = Film { parts: &[(Part::Face(face), 2.4)], ..Film::default() };
        film.write(&workflow.folder.path().join("videos").join(name));
    }
    command(&["prepare", &workflow.path("videos"), "--out", &workflow.path("features")]).unwrap();
    workflow.check_training();
    workflow.check_synthesis();
    workflow.check_evaluation();
    workflow.check_tuning();
    workflow.check_import();
    workflow.check_manifests();
}
