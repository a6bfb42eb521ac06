//! Decoding of the formats that recorders, browsers and converters write. The committed files are the same tone of half a second at 16 kHz, encoded by ffmpeg from
//! `tone.wav`; others are encoded by ffmpeg as the test runs.
#![cfg(feature = "formats")]

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    process::Command,
};

use ownvoice::audio::{self, Audio, Note, resample::resample, wav};

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
    // WAV files are read by the stricter reader, which refuses a header that states far more samples than the file holds.
    let wav = fs::read(path("tone.wav")).unwrap();
    assert_eq!(audio::read(&wav[..wav.len() - 200]).unwrap_err().code(), "audio-unreadable");
    assert_eq!(wav::read(&wav).unwrap(), open("tone.wav"));
}

/// Returns whether ffmpeg is missing. The message bypasses libtest's capture, so that `cargo xtask test` counts the test as skipped and not as passed.
fn is_skipped(test: &str) -> bool {
    let missing = Command::new("ffmpeg").arg("-version").output().is_err();
    if missing {
        let line = format!("\nSKIPPED {test}: ffmpeg is not installed\n");
        io::stdout().write_all(line.as_bytes()).unwrap();
    }
    missing
}

/// A second of bursts at irregular times and pitches, whose place in a file is unambiguous.
fn bursts(rate: u32, channels: usize) -> Vec<u8> {
    let at = |n: usize| {
        let t = n as f32 / rate as f32;
        let burst = (t * 7.3 + (t * 2.9).sin()).fract();
        let hz = 200.0 + 900.0 * t;
        0.4 * (1.0 - burst).powi(3) * (std::f32::consts::TAU * hz * t).sin()
    };
    let mono: Vec<f32> = (0..rate as usize).map(at).collect();
    let mut file = wav::write(&mono.iter().flat_map(|x| vec![*x; channels]).collect::<Vec<_>>(), rate);
    file[22] = channels as u8;
    file[28..32].copy_from_slice(&(2 * channels as u32 * rate).to_le_bytes());
    file[32] = 2 * channels as u8;
    file
}

/// Encodes bursts by ffmpeg. An empty `name` writes to a pipe, in the format that `arguments` name.
fn encoded(rate: u32, channels: usize, arguments: &str, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.wav");
    fs::write(&input, bursts(rate, channels)).unwrap();
    let output = folder.path().join(name);
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-y", "-i"]).arg(&input).args(arguments.split_whitespace());
    let done = if name.is_empty() { ffmpeg.arg("-") } else { ffmpeg.arg(&output) }.output().unwrap();
    assert!(done.status.success(), "{arguments} {name}: {}", String::from_utf8_lossy(&done.stderr));
    if name.is_empty() { done.stdout } else { fs::read(output).unwrap() }
}

/// Encodes bursts by ffmpeg, and decodes them by it.
fn converted(arguments: &str, name: &str) -> Audio {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from.wav"), folder.path().join("to.wav"));
    fs::write(&from, encoded(48_000, 1, arguments, name)).unwrap();
    let mut ffmpeg = Command::new("ffmpeg");
    let done =
        ffmpeg.args(["-v", "error", "-i"]).arg(&from).args(["-c:a", "pcm_s16le"]).arg(&to).status().unwrap();
    assert!(done.success());
    audio::read(&fs::read(&to).unwrap()).unwrap()
}

/// Returns by how many samples the sound is later than it should be, and how similar it is there.
fn delay(found: &Audio, expected: &Audio) -> (i32, f32) {
    assert_eq!(found.sample_rate_hz, expected.sample_rate_hz);
    // Every eleventh sample is enough.
    let thin = |samples: &[f32]| samples.iter().step_by(11).copied().collect::<Vec<f32>>();
    let at = |delay: i32| {
        let (skip, expected) = (delay.max(0) as usize, &expected.samples[(-delay).max(0) as usize..]);
        cosine(&thin(found.samples.get(skip..).unwrap_or_default()), &thin(expected))
    };
    (-2500..2500).map(|delay| (delay, at(delay))).max_by(|one, other| one.1.total_cmp(&other.1)).unwrap()
}

#[test]
fn samples_that_an_encoder_added_are_removed() {
    if is_skipped("samples_that_an_encoder_added_are_removed") {
        return;
    }
    let expected = audio::read(&bursts(48_000, 1)).unwrap();
    for (arguments, name, tolerance) in [
        ("-c:a aac", "a.m4a", 1),
        ("-c:a aac", "a.mov", 1),
        ("-c:a aac", "a.3gp", 1),
        ("-c:a aac -movflags frag_keyframe+empty_moov+delay_moov", "a.mp4", 1),
        ("-c:a alac", "a.m4a", 0),
        ("-c:a libmp3lame", "a.mp3", 1),
        ("-c:a libvorbis", "a.ogg", 1),
        ("-c:a flac", "a.flac", 0),
        ("-c:a libopus", "a.opus", 1),
        ("-c:a libopus", "a.webm", 1),
        ("-c:a libopus -strict -2", "a.mp4", 1),
        // ffmpeg 5.1 states no delay of AAC in Matroska, and an ADTS file cannot.
        ("-c:a aac", "a.mka", 1024),
        ("-c:a aac", "a.aac", 1024),
        ("-c:a libopus -f webm", "", 1),
        ("-c:a libopus -f matroska -live 1", "", 1),
        ("-c:a libopus -frame_duration 60 -b:a 128k", "a.opus", 1),
    ] {
        let (found, notes) = audio::read_with_notes(&encoded(48_000, 1, arguments, name))
            .unwrap_or_else(|error| panic!("{arguments} {name}: {error}"));
        let (delay, similarity) = delay(&found, &expected);
        assert!(
            delay.abs() <= tolerance && similarity > 0.97,
            "{arguments} {name}: {delay} samples late, {similarity}"
        );
        // At the end at most what completes the last packet.
        let longer = found.samples.len() as i32 - expected.samples.len() as i32;
        assert!((-1..2880).contains(&longer), "{arguments} {name}: {longer} samples longer");
        assert_eq!(notes, [], "{arguments} {name}");
    }
}

#[test]
fn a_header_may_scale_opus() {
    if is_skipped("a_header_may_scale_opus") {
        return;
    }
    let plain = encoded(48_000, 1, "-c:a libopus", "a.webm");
    let at = plain.windows(8).position(|bytes| bytes == b"OpusHead").unwrap();
    let mut scaled = plain.clone();
    scaled[at + 16..at + 18].copy_from_slice(&(-1541i16).to_le_bytes());
    let [plain, scaled] = [plain, scaled].map(|bytes| audio::read(&bytes).unwrap().samples);
    assert!(plain.iter().zip(&scaled).all(|(x, y)| (0.5 * x - y).abs() < 1e-3), "-6.02 dB halve it");
}

#[test]
fn an_mp3_file_may_turn_stereo_and_have_a_large_picture() {
    if is_skipped("an_mp3_file_may_turn_stereo_and_have_a_large_picture") {
        return;
    }
    let part =
        |channels| encoded(48_000, channels, "-c:a libmp3lame -write_xing 0 -id3v2_version 0", "a.mp3");
    let both = [part(1), part(2)].concat();
    let (found, notes) = audio::read_with_notes(&both).unwrap();
    assert!((found.seconds() - 2.1).abs() < 0.1, "{} s of 2.1 s: {notes:?}", found.seconds());
    let loud = |from: usize| found.samples[from..from + 24_000].iter().map(|x| x * x).sum::<f32>();
    assert!(loud(60_000) > 0.5 * loud(5_000), "the second half is no silence");
    let picture = vec![0xff; 1_500_000];
    let size = [21, 14, 7, 0].map(|shift| (picture.len() >> shift) as u8 & 0x7f);
    let tagged = [b"ID3\x04\0\0".as_slice(), &size, &picture, &both].concat();
    assert_eq!(audio::read(&tagged).unwrap(), found);
}

#[test]
fn six_channels_are_read_or_refused_in_plain_words() {
    if is_skipped("six_channels_are_read_or_refused_in_plain_words") {
        return;
    }
    let expected = audio::read(&bursts(48_000, 1)).unwrap();
    let (found, _) = audio::read_with_notes(&encoded(48_000, 6, "-c:a libopus -b:a 256k", "a.opus")).unwrap();
    let (delay, similarity) = delay(&found, &expected);
    assert!(delay.abs() <= 1 && similarity > 0.9, "{delay} samples late, {similarity}");
    let error = audio::read(&encoded(48_000, 6, "-c:a aac", "a.m4a")).unwrap_err();
    assert!(
        error.code() == "audio-unreadable" && error.to_string().contains("one or two channels"),
        "{error}"
    );
}

#[test]
fn other_formats_are_refused_in_plain_words() {
    if is_skipped("other_formats_are_refused_in_plain_words") {
        return;
    }
    for (encoder, name) in [
        ("ac3", "a.mp4"),
        ("pcm_mulaw", "a.au"),
        ("pcm_s16le", "a.w64"),
        ("wmav2", "a.wma"),
        ("g722", "a.wav"),
        ("adpcm_yamaha", "a.wav"),
    ] {
        let error = audio::read(&encoded(48_000, 1, &format!("-c:a {encoder}"), name)).unwrap_err();
        assert_eq!(error.code(), "audio-unreadable");
        assert!(error.to_string().contains("convert it to WAV or FLAC"), "{encoder} in {name}: {error}");
    }
}

#[test]
fn wav_files_of_every_encoding_and_from_a_pipe() {
    if is_skipped("wav_files_of_every_encoding_and_from_a_pipe") {
        return;
    }
    let expected = audio::read(&bursts(48_000, 1)).unwrap();
    for (encoding, tolerance) in [
        ("pcm_s16le", 0.0),
        ("pcm_s24le", 0.0),
        ("pcm_s32le", 0.0),
        ("pcm_f32le", 0.0),
        ("pcm_f64le", 0.0),
        ("pcm_u8", 0.01),
        ("pcm_mulaw", 0.02),
        ("pcm_alaw", 0.02),
        // Compared with ffmpeg's own decoder.
        ("adpcm_ms", 1e-4),
        ("adpcm_ima_wav", 1e-4),
    ] {
        for arguments in ["-f wav", "-f wav -rf64 always"] {
            for name in ["a.wav", ""] {
                let arguments = format!("-c:a {encoding} {arguments}");
                let (found, notes) = audio::read_with_notes(&encoded(48_000, 1, &arguments, name))
                    .unwrap_or_else(|error| panic!("{arguments} {name}: {error}"));
                let expected = match encoding.starts_with("adpcm") {
                    true => converted(&arguments, name),
                    false => expected.clone(),
                };
                let apart = found
                    .samples
                    .iter()
                    .zip(&expected.samples)
                    .map(|(x, y)| (x - y).abs())
                    .fold(0.0, f32::max);
                assert!(apart <= tolerance, "{arguments} {name}: {apart}");
                assert!(
                    (0..3000).contains(&(found.samples.len() as i32 - 48_000)),
                    "{arguments} {name}: {}",
                    found.samples.len()
                );
                assert_eq!(notes, [], "{arguments} {name}");
            }
        }
    }
    let mp3 = encoded(48_000, 1, "-c:a libmp3lame", "a.wav");
    assert!(similarity(&audio::read(&mp3).unwrap(), &expected) > 0.9);
}

#[test]
fn a_damaged_packet_leaves_the_rest_in_its_place() {
    if is_skipped("a_damaged_packet_leaves_the_rest_in_its_place") {
        return;
    }
    let expected = audio::read(&bursts(48_000, 1)).unwrap();
    let mut webm = encoded(48_000, 1, "-c:a libopus", "a.webm");
    // The code 3 with no frames is no packet; the first byte of a packet follows its block's header.
    let blocks: Vec<usize> = (300..webm.len() - 8)
        .filter(|&at| webm[at] == 0xa3 && webm[at + 2..at + 4].contains(&0x81))
        .collect();
    for &block in &blocks[10..13] {
        let header = if webm[block + 2] == 0x81 { 6 } else { 7 };
        webm[block + header..block + header + 2].copy_from_slice(&[0xff, 0]);
    }
    let (found, notes) = audio::read_with_notes(&webm).unwrap();
    assert_eq!(notes, [Note::Damaged { packets: 3 }]);
    let (delay, _) = delay(&found, &expected);
    assert!(delay.abs() <= 1, "{delay} samples late");
}

/// The table of `docs/formats.md` tells what is read: `yes`, or what is missing.
#[test]
fn the_table_of_formats_is_true() {
    if is_skipped("the_table_of_formats_is_true") {
        return;
    }
    let table =
        fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `."))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 15, "{rows:?}");
    for row in rows {
        let &[extension, codec, command_line, ..] = &row[..] else { panic!("{row:?}") };
        let name = format!("a{}", extension.trim_matches('`'));
        let channels = if codec.contains("5.1") { 6 } else { 1 };
        let encoder = codec.split('`').nth(1).unwrap();
        let bytes = encoded(48_000, channels, &format!("-c:a {encoder} -strict -2"), &name);
        assert_eq!(audio::read(&bytes).is_ok(), command_line == "yes", "{row:?}");
    }
}
