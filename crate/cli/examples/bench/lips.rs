//! Benchmarks with `--lips`: the synthesis of speech from a silent video, and a training step of a lip-to-speech model.

use std::{path::Path, time::Instant};

use burn::prelude::Device;
use serde_json::{Value, json};

use burn_fused::matmul::Precision;
use ownvoice::{
    Result,
    check::profile::Row,
    lips::{
        LipBase, LipConfig,
        clock::{FRAMES_PER_SECOND, samples},
        face::FaceDetector,
        speak_faces_async,
    },
    text::symbols::parse,
};
use ownvoice_cli::{
    check::loader::LoaderProfile,
    lips::{
        drawing::Face,
        prepare::{read_tracks, search_silent},
        profile::{LipProfileOptions, noise_features, profile_lips},
        video,
        visemes::Movement,
    },
};

/// The length of the video in seconds.
const SECONDS: usize = 6;
/// The number of runs. The first one, which allocates memory, is not counted.
const RUNS: usize = 4;

/// Returns the rows `say.rtf.lips.*`: seconds for a second of video, each the median of three runs.
pub fn lip_rows(folder: &Path, device: &Device) -> Result<Vec<Value>> {
    let base = LipBase::open(folder, device)?;
    let path = std::env::temp_dir().join(format!("ownvoice-bench-{}.mp4", std::process::id()));
    draw(&path, base.manifest.mel.sample_rate_hz)?;
    let runs: Result<Vec<_>> = (0..RUNS).map(|_| speak(&base, &path)).collect();
    let _ = std::fs::remove_file(&path); // A remaining file does not invalidate the rows.
    let runs = runs?;
    let names = ["find", "crop", "mel", "vocoder"];
    let units =
        ["decoding, and detecting faces", "decoding again, and cropping", "faces to mels", "mels to samples"];
    let mut whole = 0.0;
    let mut rows = Vec::new();
    for (part, (name, unit)) in names.into_iter().zip(units).enumerate() {
        let mut seconds: Vec<f64> = runs[1..].iter().map(|run| run[part] / SECONDS as f64).collect();
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2];
        whole += median;
        let unit = format!("s a second of video ({unit})");
        rows.push(json!({"name": format!("say.rtf.lips.{name}"), "value": median, "unit": unit}));
    }
    rows.push(json!({"name": "say.rtf.lips", "value": whole, "unit": "s a second of video (all of these)"}));
    Ok(rows)
}

/// Returns the rows of a training step of `lips-small`: the time of each module, of whole steps with each data loader, and of decoding on the device and step by
/// step from the host.
///
/// * `name`: returns the name of a figure's row
pub fn lip_training_rows(
    device: &Device,
    precision: Precision,
    name: impl Fn(&str) -> String,
) -> Result<Vec<Value>> {
    let options = LipProfileOptions { precision, ..LipProfileOptions::default() };
    let folder = std::env::temp_dir().join(format!("ownvoice-bench-lips-{}", std::process::id()));
    // Two batches of features, so that batches differ.
    let found = noise_features(&folder, 2 * options.batch, options.pictures)
        .and_then(|features| profile_lips(&LipConfig::lips_small(1), &features, device, &options));
    let _ = std::fs::remove_dir_all(&folder); // A remaining file does not invalidate the rows.
    let found = found?;
    let row = |figure: String, milliseconds: f64, unit: &str| json!({"name": name(&format!("lips.{figure}")), "value": milliseconds / 1e3, "unit": unit});
    let mut rows = Vec::new();
    for Row { module, forward_ms, backward_ms, .. } in &found.rows {
        rows.push(row(format!("{module}.forward"), *forward_ms, "s (lips-small, 4 x 3.2 s)"));
        let backward =
            backward_ms.map(|backward| row(format!("{module}.backward"), backward, "s (the same)"));
        rows.extend(backward);
    }
    for LoaderProfile { loader, step_ms, waited_ms, .. } in &found.loaders {
        rows.push(row(format!("{loader}.s_per_iter"), *step_ms, "s (a whole step)"));
        rows.push(row(format!("{loader}.waited"), *waited_ms, "s of a step, for its batch"));
    }
    rows.push(row("decode.device".into(), found.decode_ms, "s for 3.2 s of speech, read once"));
    rows.push(row("decode.stepped".into(), found.stepped_decode_ms, "s for the same, read at each step"));
    Ok(rows)
}

/// Writes a video of a speaking face with silence.
fn draw(path: &Path, rate_hz: u32) -> Result<()> {
    let phones = parse("_ P AA1 M IY1 F UW1 S AA1 B OW1 L EY1 D _").expect("phones of the table");
    let movement = Movement::new(phones.into_iter().cycle().take(60).map(|symbol| (symbol, 0.1)));
    let (face, frames) = (Face::new(1), SECONDS * FRAMES_PER_SECOND);
    let pictures = (0..frames).map(|frame| {
        let seconds = frame as f32 / FRAMES_PER_SECOND as f32;
        face.draw(320, 240, &face.pose(seconds), &movement.at(seconds), frame as u64)
    });
    video::write(path, pictures, FRAMES_PER_SECOND, &vec![0.0; samples(frames, rate_hz)], rate_hz)
}

/// Synthesises the speech of a video. Returns the seconds of each part.
fn speak(base: &LipBase, path: &Path) -> Result<[f64; 4]> {
    let begun = Instant::now();
    let mut found = search_silent(path, &mut FaceDetector::default(), base.manifest.mel.sample_rate_hz)?;
    let find = begun.elapsed().as_secs_f64();
    if found.tracks.is_empty() {
        return Err(found.errors().swap_remove(0).0);
    }
    found.tracks.truncate(1);
    let begun = Instant::now();
    let mut faces = Vec::new();
    read_tracks(&found, |_, track| {
        faces.extend_from_slice(track);
        Ok(())
    })?;
    let crop = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let decoded = pollster::block_on(speak_faces_async(base, &faces, 0))?;
    let mel = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let samples = base.vocoder.vocode(&decoded.mel);
    assert!(!samples.is_empty(), "a track lasts at least a second");
    Ok([find, crop, mel, begun.elapsed().as_secs_f64()])
}
