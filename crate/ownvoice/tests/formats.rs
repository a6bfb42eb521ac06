//! Decoding of the formats that recorders and browsers write: the same tone of half a second at 16 kHz, encoded by ffmpeg from `tone.wav`.
#![cfg(feature = "formats")]

use std::{fs, path::PathBuf};

use ownvoice::audio::{self, Audio, resample::resample, wav};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats").join(name)
}

fn open(name: &str) -> Audio {
    audio::read(&fs::read(path(name)).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(1e-9)
}

/// Returns the largest cosine similarity over delays of up to 200 ms, because encoders add silence at the beginning.
fn similarity(found: &Audio, expected: &Audio) -> f32 {
    let found = resample(&found.samples, found.sample_rate_hz, expected.sample_rate_hz).unwrap();
    let delays = 0..expected.sample_rate_hz as usize / 5;
    let later =
        delays.clone().filter_map(|delay| found.get(delay..)).map(|found| cosine(found, &expected.samples));
    let earlier =
        delays.filter_map(|delay| expected.samples.get(delay..)).map(|expected| cosine(&found, expected));
    later.chain(earlier).fold(-1.0, f32::max)
}

#[test]
fn lossless_formats_are_exact() {
    let tone = open("tone.wav");
    for name in ["tone.flac", "tone.aiff", "tone.caf", "alac.m4a"] {
        assert_eq!(open(name), tone, "{name}");
    }
}

#[test]
fn lossy_formats_are_similar() {
    let tone = open("tone.wav");
    for name in ["tone.mp3", "tone.m4a", "tone.mp4", "tone.aac", "tone.ogg", "tone.opus", "tone.webm"] {
        let found = open(name);
        let (longer, similarity) = (found.seconds() - tone.seconds(), similarity(&found, &tone));
        assert!((-0.05..0.2).contains(&longer), "{name}: {longer} s longer");
        assert!(similarity > 0.98, "{name}: {similarity}");
    }
}

#[test]
fn damaged_files_are_refused_or_shorter() {
    for name in ["tone.flac", "tone.mp3", "tone.m4a", "tone.ogg", "tone.opus", "tone.webm", "tone.caf"] {
        let whole = fs::read(path(name)).unwrap();
        for end in [0, 1, 16, whole.len() / 4, whole.len() / 2] {
            match audio::read(&whole[..end]) {
                Ok(audio) => assert!(audio.seconds() < 0.7, "{name} cut at {end}"),
                Err(error) => assert_eq!(error.code(), "audio-unreadable", "{name} cut at {end}"),
            }
        }
    }
    assert_eq!(audio::read(b"<html>no sound</html>").unwrap_err().code(), "audio-unreadable");
    // WAV files are read by the stricter reader, which refuses a header that states more samples than the file holds.
    let wav = fs::read(path("tone.wav")).unwrap();
    assert_eq!(audio::read(&wav[..wav.len() - 2]).unwrap_err().code(), "audio-unreadable");
    assert_eq!(wav::read(&wav).unwrap(), open("tone.wav"));
}
