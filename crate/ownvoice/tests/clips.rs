//! Clips of a speaker: their alignment, and the codes of those that are refused.

mod common;

use common::{options, run};
use ownvoice::{
    audio::Audio,
    clone::{
        FineTuner,
        clip::{AlignedClip, Clip, align_clips, check_clip, spoken_throughout},
    },
    text::symbols,
};
use ownvoice_testing::{held_out_clips, tiny_base};
use pollster::block_on;

#[test]
fn a_long_recording_is_split_and_a_part_is_held_out() {
    let base = tiny_base();
    let clips = held_out_clips(9);
    let audio = Audio {
        samples: clips.iter().flat_map(|clip| clip.audio.samples.clone()).collect(),
        ..clips[0].audio
    };
    let whole =
        Clip { audio, text: clips.iter().map(|clip| clip.text.clone()).collect::<Vec<_>>().join(" ") };
    assert!(whole.audio.seconds() > 55.0);
    let (aligned, _) = block_on(align_clips(&base, std::slice::from_ref(&whole))).unwrap();
    let (sentences, _) = block_on(align_clips(&base, &clips)).unwrap();
    let phones = |clips: &[AlignedClip]| {
        clips
            .iter()
            .flat_map(|clip| clip.symbols.clone())
            .filter(|&symbol| symbols::is_phone(symbol))
            .collect::<Vec<_>>()
    };
    assert_eq!(phones(&aligned), phones(&sentences), "the segments contain the whole text in order");
    let seconds: Vec<f32> =
        aligned.iter().map(|clip| clip.frames() as f32 * base.mel_config().frame_seconds()).collect();
    assert!(aligned.len() >= 6 && seconds.iter().all(|seconds| (1.0..10.0).contains(seconds)), "{seconds:?}");
    let frames = |clips: &[AlignedClip]| clips.iter().map(AlignedClip::frames).sum::<usize>() as f32;
    // Pauses at which the recording is not split are kept.
    assert!(
        (frames(&aligned) / frames(&sentences) - 1.0).abs() < 0.2,
        "{} and {} frames",
        frames(&aligned),
        frames(&sentences)
    );
    for clip in &aligned {
        assert_eq!(
            (clip.mel.len(), clip.f0_hz.len()),
            (clip.frames() * base.mel_config().mels, clip.frames())
        );
    }
    let (_, steps) = run(&base, &[whole], 50);
    assert!(steps.iter().any(|step| step.validation.is_some()), "a part of the recording was held out");
}

#[test]
fn the_error_names_the_clip_that_differs_from_its_text() {
    let base = tiny_base();
    let mut clips = held_out_clips(3);
    let (report, score) = block_on(check_clip(&base, &clips[1])).unwrap();
    assert!(report.speech_seconds > 3.0 && (-2.8..0.0).contains(&score), "{score}");
    clips[1].text = clips[2].text.clone();
    assert_eq!(block_on(check_clip(&base, &clips[1])).unwrap_err().code(), "clip-mismatch");
    let error = block_on(FineTuner::start_async(&base, &clips, options(1))).err().unwrap();
    assert_eq!((error.code(), error.clip_index()), ("clip-mismatch", Some(1)));
}

#[test]
fn a_text_with_words_that_were_not_spoken_is_found() {
    let base = tiny_base();
    let mut clips = held_out_clips(6);
    clips[2].text += " This addition was never spoken by anybody.";
    let spoken = block_on(spoken_throughout(&base, &clips)).unwrap();
    assert_eq!(spoken, [true, true, false, true, true, true]);
}

#[test]
fn bad_clips_are_refused_by_their_codes() {
    let base = tiny_base();
    let good = held_out_clips(1).remove(0);
    let code = |clip: Clip| {
        block_on(FineTuner::start_async(&base, &[clip], options(1))).err().map(|error| error.code())
    };
    assert_eq!(block_on(FineTuner::start_async(&base, &[], options(1))).err().unwrap().code(), "no-clips");
    let with_samples =
        |samples: Vec<f32>| Clip { audio: Audio { samples, ..good.audio.clone() }, ..good.clone() };
    assert_eq!(code(with_samples(Vec::new())), Some("clip-empty"));
    assert_eq!(code(with_samples(vec![0.0; 32_000])), Some("clip-too-quiet"));
    assert_eq!(code(with_samples(good.audio.samples[8000..12_800].to_vec())), Some("clip-too-short"));
    assert_eq!(
        code(with_samples(
            good.audio.samples.iter().map(|sample| (sample * 60.0).clamp(-1.0, 1.0)).collect()
        )),
        Some("clip-clipped")
    );
    assert_eq!(
        code(Clip { audio: Audio { sample_rate_hz: 1000, ..good.audio.clone() }, ..good.clone() }),
        Some("rate-unsupported")
    );
    assert_eq!(code(Clip { text: "  ".into(), ..good.clone() }), Some("text-empty"));
    assert_eq!(code(Clip { text: "\u{1f600}".into(), ..good.clone() }), Some("text-unsupported"));
    assert_eq!(code(good), None);
}

#[test]
fn clips_of_other_sample_rates_are_accepted() {
    let base = tiny_base();
    let good = held_out_clips(1).remove(0);
    for rate_hz in [8_000, 96_000] {
        let samples =
            ownvoice::audio::resample::resample(&good.audio.samples, good.audio.sample_rate_hz, rate_hz)
                .unwrap();
        let clip = Clip { audio: Audio { samples, sample_rate_hz: rate_hz }, text: good.text.clone() };
        assert!(block_on(FineTuner::start_async(&base, &[clip], options(1))).is_ok(), "{rate_hz} Hz");
    }
}
