//! Clips that are used although they are unusual: long silences change nothing, and a note tells what the voice will be like.

use std::{
    f64::consts::PI,
    io::{self, Write},
    process::Command,
};

use ownvoice::{
    Note,
    audio::{Audio, resample::resample, wav},
    clone::clip::{AlignedClip, Clip, align_clips, check_clip},
    text::symbols::{Symbol, is_phone},
    voice::Base,
};
use ownvoice_testing::{held_out_clips, tiny_base};
use pollster::block_on;

/// Joins the clips to one, with silence between them.
///
/// * `noise`: the amplitude of the silence
fn joined(clips: &[Clip], silence_seconds: f32, noise: f32) -> Clip {
    let rate = clips[0].audio.sample_rate_hz;
    let mut state = 1u32;
    let mut hiss = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise * ((state >> 8) as f32 / 8_388_608.0 - 1.0)
    };
    let mut samples = Vec::new();
    for (index, clip) in clips.iter().enumerate() {
        if index > 0 {
            samples.extend(vec![0.0; (silence_seconds * rate as f32) as usize]);
        }
        samples.extend(&clip.audio.samples);
    }
    samples.iter_mut().for_each(|x| *x += hiss());
    let text = clips.iter().map(|clip| clip.text.clone()).collect::<Vec<_>>().join(" ");
    Clip { audio: Audio { samples, sample_rate_hz: rate }, text }
}

/// Returns the phones of a clip and the frames of each.
fn phones(base: &Base, clip: &Clip) -> Vec<(Symbol, u32)> {
    let aligned = block_on(align_clips(base, std::slice::from_ref(clip))).unwrap().clips;
    let of_clip =
        |clip: &AlignedClip| clip.symbols.iter().copied().zip(clip.durations.clone()).collect::<Vec<_>>();
    aligned.iter().flat_map(of_clip).filter(|(symbol, _)| is_phone(*symbol)).collect()
}

#[test]
fn silences_of_any_length_leave_words_and_tempo_as_they_are() {
    let base = tiny_base();
    let clips = held_out_clips(2);
    let expected = phones(&base, &joined(&clips, 0.2, 0.0));
    let frames = |phones: &[(Symbol, u32)]| phones.iter().map(|(_, frames)| frames).sum::<u32>() as f32;
    for (seconds, noise) in [(2.0, 0.0), (3.0, 0.0005), (15.0, 0.002)] {
        let clip = joined(&clips, seconds, noise);
        block_on(check_clip(&base, &clip)).unwrap_or_else(|error| panic!("{seconds} s at {noise}: {error}"));
        let found = phones(&base, &clip);
        assert!(found.iter().map(|(symbol, _)| symbol).eq(expected.iter().map(|(symbol, _)| symbol)));
        let longer = frames(&found) / frames(&expected);
        assert!((0.95..1.05).contains(&longer), "{seconds} s at {noise}: {longer} times as long");
    }
}

/// Replaces the excitation of a recording by noise: linear prediction of order 20 in windows of 25 ms (Makhoul 1975), as whispering does.
fn whispered(samples: &[f32]) -> Vec<f32> {
    const WINDOW: usize = 400;
    const ORDER: usize = 20;
    let mut state = 7u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / 8_388_608.0 - 1.0
    };
    let mut out = vec![0.0f32; samples.len() + WINDOW];
    for start in (0..samples.len().saturating_sub(WINDOW)).step_by(WINDOW / 2) {
        let hann = |n: usize| 0.5 - 0.5 * (2.0 * PI * n as f64 / WINDOW as f64).cos();
        let frame: Vec<f64> = (0..WINDOW).map(|n| f64::from(samples[start + n]) * hann(n)).collect();
        let lag = |k: usize| (k..WINDOW).map(|n| frame[n] * frame[n - k]).sum::<f64>();
        let correlation: Vec<f64> = (0..=ORDER).map(|k| lag(k) * if k == 0 { 1.0001 } else { 1.0 }).collect();
        // Levinson's recursion.
        let (mut filter, mut error) = (vec![1.0], correlation[0] + 1e-12);
        for order in 1..=ORDER {
            let sum: f64 = filter.iter().enumerate().map(|(k, a)| a * correlation[order - k]).sum();
            let reflection = -sum / error;
            filter.push(0.0);
            let reversed: Vec<f64> = filter.iter().rev().copied().collect();
            filter.iter_mut().zip(reversed).for_each(|(a, b)| *a += reflection * b);
            error *= 1.0 - reflection * reflection;
        }
        // Uniform noise has a third of the power of its square, and the window three eighths.
        let gain = (error / WINDOW as f64 * 8.0).sqrt();
        let mut past = [0.0f64; ORDER];
        for n in 0..WINDOW {
            let x = gain * noise() - filter[1..].iter().zip(&past).map(|(a, y)| a * y).sum::<f64>();
            past.rotate_right(1);
            past[0] = x;
            out[start + n] += (x * hann(n)) as f32;
        }
    }
    out.truncate(samples.len());
    out
}

fn notes(base: &Base, clip: &Clip) -> Vec<&'static str> {
    block_on(check_clip(base, clip)).unwrap().0.notes.iter().map(|note| note.code()).collect()
}

fn changed(clip: &Clip, samples: Vec<f32>, sample_rate_hz: u32) -> Clip {
    Clip { audio: Audio { samples, sample_rate_hz }, text: clip.text.clone() }
}

#[test]
fn whispered_and_narrow_clips_have_a_note_and_usual_ones_none() {
    let base = tiny_base();
    for clip in held_out_clips(4) {
        assert_eq!(notes(&base, &clip), [""; 0], "{}", clip.text);
        let rate = clip.audio.sample_rate_hz;
        let (report, _) =
            block_on(check_clip(&base, &changed(&clip, whispered(&clip.audio.samples), rate))).unwrap();
        assert!(matches!(report.notes[..], [Note::Whispered { .. }]), "{}: {:?}", clip.text, report.notes);
        let narrow = resample(&clip.audio.samples, rate, 8_000).unwrap();
        assert_eq!(notes(&base, &changed(&clip, narrow.clone(), 8_000)), ["narrow-band"], "{}", clip.text);
        let again = resample(&narrow, 8_000, 48_000).unwrap();
        assert_eq!(notes(&base, &changed(&clip, again, 48_000)), ["narrow-band"], "{}", clip.text);
    }
}

#[test]
fn twice_the_tempo_has_a_note() {
    if Command::new("ffmpeg").arg("-version").output().is_err() {
        io::stdout().write_all(b"\nSKIPPED twice_the_tempo_has_a_note: ffmpeg is not installed\n").unwrap();
        return;
    }
    let base = tiny_base();
    let folder = tempfile::tempdir().unwrap();
    for clip in held_out_clips(4) {
        let (from, to) = (folder.path().join("from.wav"), folder.path().join("to.wav"));
        std::fs::write(&from, wav::write(&clip.audio.samples, clip.audio.sample_rate_hz)).unwrap();
        let mut ffmpeg = Command::new("ffmpeg");
        let done = ffmpeg
            .args(["-v", "error", "-y", "-i"])
            .arg(&from)
            .args(["-af", "atempo=2"])
            .arg(&to)
            .status()
            .unwrap();
        assert!(done.success());
        let audio = wav::read(&std::fs::read(&to).unwrap()).unwrap();
        let fast = Clip { audio, text: clip.text };
        assert_eq!(notes(&base, &fast), ["fast"], "{}", fast.text);
    }
}
