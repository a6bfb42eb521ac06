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
    voice::Voice,
};
use ownvoice_testing::{held_out_clips, shipped_base, tiny_base};
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
    let aligned = block_on(align_clips(&base, std::slice::from_ref(&whole))).unwrap().clips;
    let sentences = block_on(align_clips(&base, &clips)).unwrap().clips;
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
fn a_clip_that_differs_from_its_text_is_left_out_and_named() {
    let base = tiny_base();
    let mut clips = held_out_clips(3);
    let (report, score) = block_on(check_clip(&base, &clips[1])).unwrap();
    assert!(report.speech_seconds > 3.0 && (-2.8..0.0).contains(&score), "{score}");
    clips[1].text = clips[2].text.clone();
    assert_eq!(block_on(check_clip(&base, &clips[1])).unwrap_err().code(), "clip-mismatch");
    let tuner = block_on(FineTuner::start_async(&base, &clips, options(1))).unwrap();
    let [error] = tuner.left_out() else { panic!("{:?}", tuner.left_out()) };
    assert_eq!((error.code(), error.clip_index()), ("clip-mismatch", Some(1)));
    assert!(error.to_string().contains("His uncle is a humble farmer"), "{error}");
    // What is left is trained on as if the clip had not been given.
    let without: Vec<Clip> = [0, 2].map(|index| clips[index].clone()).into();
    let voices = [&clips, &without].map(|clips| run(&base, clips, 2).0.save().unwrap());
    assert!(voices[0] == voices[1]);
}

/// Returns a clip with the recordings of `spoken` and the texts of `written`, and half a second between the recordings.
fn joined(clips: &[Clip], spoken: &[usize], written: &[usize]) -> Clip {
    let rate_hz = clips[0].audio.sample_rate_hz;
    let samples = spoken.iter().flat_map(|&index| {
        let pause = std::iter::repeat_n(0.0, rate_hz as usize / 2);
        clips[index].audio.samples.iter().copied().chain(pause)
    });
    let text: Vec<&str> = written.iter().map(|&index| clips[index].text.as_str()).collect();
    Clip { audio: Audio { samples: samples.collect(), sample_rate_hz: rate_hz }, text: text.join(" ") }
}

#[test]
fn a_sentence_more_or_less_than_the_text_is_found() {
    let base = tiny_base();
    let clips = held_out_clips(9);
    let all: Vec<usize> = (0..9).collect();
    let without = |index: usize| all.iter().copied().filter(|&other| other != index).collect::<Vec<_>>();
    let found = |spoken: &[usize], written: &[usize]| {
        block_on(check_clip(&base, &joined(&clips, spoken, written))).map(|_| ()).map_err(|error| {
            let sounds = error.measured().map(|measured| measured.value);
            (error.code(), sounds.map(|sounds| sounds > 0.0), error.to_string())
        })
    };
    let (more, less) = (Some(true), Some(false));
    let fails = |spoken: &[usize], written: &[usize], expected: Option<bool>| {
        let (code, sounds, message) = found(spoken, written).unwrap_err();
        assert_eq!((code, sounds), ("clip-mismatch", expected), "{spoken:?} as {written:?}: {message}");
    };
    for index in 0..8 {
        let next = index + 1;
        found(&[index, next], &[index, next]).unwrap();
        fails(&[index, next], &[index], more);
        fails(&[index, next], &[next], more);
        fails(&[index], &[index, next], less);
        fails(&[next], &[index, next], less);
    }
    for index in [0, 4, 8] {
        fails(&all, &without(index), more);
        fails(&without(index), &all, less);
    }
    found(&all, &all).unwrap();
    let (.., message) = found(&[0, 1], &[0]).unwrap_err();
    assert!(message.contains("the recording has more than the text"), "{message}");
}

#[test]
fn all_kinds_of_bad_clips_are_left_out_as_long_as_enough_is_left() {
    let base = tiny_base();
    let good = held_out_clips(4);
    let sound = |samples: Vec<f32>| Clip { audio: Audio { samples, ..good[3].audio }, ..good[3].clone() };
    let text = |text: &str| Clip { text: text.into(), ..good[3].clone() };
    let rate = Clip { audio: Audio { sample_rate_hz: 1000, ..good[3].audio.clone() }, ..good[3].clone() };
    let bad = [
        (sound(Vec::new()), "clip-empty"),
        (sound(vec![0.0; 32_000]), "clip-too-quiet"),
        (sound(good[3].audio.samples[8000..12_800].to_vec()), "clip-too-short"),
        (rate, "rate-unsupported"),
        (text(" "), "text-empty"),
        (text("\u{1f600}"), "text-unsupported"),
        (text(&good[0].text), "clip-mismatch"),
    ];
    let mut clips = vec![good[0].clone()];
    clips.extend(bad.iter().map(|(clip, _)| clip.clone()));
    clips.push(good[1].clone());
    let tuner = block_on(FineTuner::start_async(&base, &clips, options(1))).unwrap();
    let left_out: Vec<_> = tuner.left_out().iter().map(|error| (error.code(), error.clip_index())).collect();
    let expected: Vec<_> = bad.iter().zip(1..).map(|((_, code), index)| (*code, Some(index))).collect();
    assert_eq!(left_out, expected);

    // Two seconds are too few, and the error is that of the clip, which can be mended.
    let short = Audio { samples: good[0].audio.samples[..37_300].to_vec(), ..good[0].audio };
    let short = Clip { audio: short, text: "My younger brother enjoys.".into() };
    let few = [short, text(&good[0].text)];
    let error = block_on(FineTuner::start_async(&base, &few, options(1))).err().unwrap();
    assert_eq!((error.code(), error.clip_index()), ("clip-mismatch", Some(1)));
}

/// Returns the phones that a recording is taken to have with a text.
fn phones_of(clip: &Clip) -> String {
    let aligned = block_on(align_clips(&tiny_base(), std::slice::from_ref(clip))).unwrap().clips;
    let phones = aligned.iter().flat_map(|clip| clip.symbols.clone());
    symbols::format(&phones.filter(|&symbol| symbols::is_phone(symbol)).collect::<Vec<_>>())
}

#[test]
fn notes_that_are_not_spoken_are_left_out() {
    let clip = held_out_clips(1).remove(0);
    let spoken = phones_of(&clip);
    let with = |from: &str, to: &str| Clip { text: clip.text.replacen(from, to, 1), ..clip.clone() };
    for (from, to) in [
        ("My", "[laughs] My"),
        ("My", "(laughing quietly) My"),
        ("My", "*coughs* My"),
        ("My", "<noise> My"),
        ("My", "ANNA: My"),
        ("My", "Speaker 2: My"),
        ("corn and", "corn [clears throat] and"),
        ("corn and", "corn (inaudible) and"),
        ("corn and", "corn *sighs* and"),
        ("July.", "July. [door opens]"),
        ("July.", "July (he pauses)."),
        // What is spoken stays, whatever stands around it.
        ("fresh corn", "(fresh corn)"),
        ("fresh corn", "[fresh corn]"),
        ("fresh", "*fresh*"),
    ] {
        assert_eq!(phones_of(&with(from, to)), spoken, "{to}");
    }
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
    assert_eq!(
        block_on(FineTuner::start_async(&base, &[] as &[Clip], options(1))).err().unwrap().code(),
        "no-clips"
    );
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

/// The recordings are of the base's own voice.
#[test]
fn a_number_is_read_as_it_is_spoken() {
    let base = shipped_base();
    let voice = Voice::unadapted(&base);
    for (text, number, readings) in [
        (
            "Flight NUMBER to Boston is late.",
            "407",
            &["four oh seven", "four zero seven", "four hundred seven", "four hundred and seven"][..],
        ),
        (
            "The old house was built in NUMBER by my uncle.",
            "1905",
            &["nineteen oh five", "one nine oh five", "one thousand nine hundred and five"],
        ),
        ("I counted NUMBER cats.", "107", &["one hundred seven", "a hundred and seven", "one oh seven"]),
        ("They stay in room NUMBER, upstairs.", "12", &["twelve", "one two"]),
        ("We sold NUMBER of them.", "2,400", &["two thousand four hundred", "twenty four hundred"]),
    ] {
        for reading in readings {
            let spoken = text.replace("NUMBER", reading);
            let speech = voice.speak(&spoken).unwrap();
            let audio = Audio { samples: speech.samples, sample_rate_hz: speech.sample_rate_hz };
            let phones = |text: String| phones_of(&Clip { audio: audio.clone(), text });
            assert_eq!(phones(text.replace("NUMBER", number)), phones(spoken.clone()), "{spoken}");
        }
    }
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
