//! Voices and voice files of a tiny base, and their speech.

mod common;

use burn_fused::weights::{HostWeights, Storage, deserialize, serialize};
use common::{run, say};
use ownvoice::{
    audio::mel::Mel,
    clone::clip::align_clips,
    synth::{SpeakOptions, Speech, parts, speak_async},
    text::symbols::{self, Symbol, by_frame},
    vocoder::GriffinLim,
    voice::{
        Consent, Voice,
        spectral_transport::{SpectralStats, SpectralTransport},
    },
};
use ownvoice_testing::{held_out_clips, load, on_device, other_base, shipped_base, tiny_base, tiny_files};
use pollster::block_on;

#[test]
fn an_opened_voice_file_speaks_as_the_saved_voice() {
    let base = tiny_base();
    let (voice, _) = run(&base, &held_out_clips(2), 20);
    let bytes = block_on(voice.save_async()).unwrap();
    let opened = Voice::open(&base, &bytes).unwrap();
    assert_eq!(opened.info().iterations, 20);
    let (before, after) = (
        say(&voice, "Good morning.", &SpeakOptions::default()),
        say(&opened, "Good morning.", &SpeakOptions::default()),
    );
    let (before, after) = (before.unwrap(), after.unwrap());
    assert_eq!(before.durations, after.durations);
    let unadapted = say(&Voice::unadapted(&base), "Good morning.", &SpeakOptions::default()).unwrap();
    let fresh = tiny_base();
    let untouched = say(&Voice::unadapted(&fresh), "Good morning.", &SpeakOptions::default()).unwrap();
    assert_eq!(unadapted.mel, untouched.mel, "opening a voice changed the base");
    let worst = before.mel.data.iter().zip(&after.mel.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 0.05, "the rounding of the file changes the spectrogram by {worst}");
}

#[test]
fn the_speech_of_a_text_is_its_sentences_with_pauses_between() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let text = "One is short. Two is not much longer. Is this three?";
    let whole = say(&voice, text, &SpeakOptions::default()).unwrap();
    let mut joined = Vec::new();
    for part in parts(text).unwrap() {
        joined.extend(say(&voice, &part.text, &SpeakOptions::default()).unwrap().samples);
        joined.extend(vec![0.0; part.pause_frames * base.mel_config().hop_length]);
    }
    assert_eq!(whole.samples, joined);
}

#[test]
fn variance_scale_is_stored_in_the_voice_file_and_applied() {
    let base = tiny_base();
    let mut voice = Voice::unadapted(&base);
    let plain = say(&voice, "Good morning.", &SpeakOptions::default()).unwrap().mel;
    voice.global_variance_scale = [1.2, 1.1, 1.3, 1.4];
    let bytes = block_on(voice.save_async()).unwrap();
    let again = Voice::open(&base, &bytes).unwrap();
    assert_eq!(again.global_variance_scale, voice.global_variance_scale);
    let lively = say(&again, "Good morning.", &SpeakOptions::default()).unwrap().mel;
    let swing = |mel: &Mel| {
        let loud: Vec<f32> = mel.data.iter().copied().filter(|x| *x > -6.0).collect();
        let mean = loud.iter().sum::<f32>() / loud.len() as f32;
        loud.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / loud.len() as f32
    };
    assert!(plain.frames() == lively.frames() && swing(&lively) > swing(&plain));
    voice.global_variance_scale[3] = 9.0;
    let harsh = block_on(voice.save_async()).unwrap();
    assert_eq!(Voice::open(&base, &harsh).err().unwrap().code(), "voice-corrupt");
}

#[test]
fn the_spectral_transport_brings_a_clone_closer_to_its_speaker_and_is_saved() {
    let base = tiny_base();
    let clips = held_out_clips(3);
    let (mut voice, _) = run(&base, &clips, 5);
    let bytes = block_on(voice.save_async()).unwrap();
    let again = Voice::open(&base, &bytes).unwrap();
    assert!(voice.spectral_transport.is_some() && again.spectral_transport == voice.spectral_transport);
    let text = "Both judges gave the younger of the two boys five points.";
    let said = |voice: &Voice| say(voice, text, &SpeakOptions::default()).unwrap();
    let mut recorded = SpectralStats::default();
    let aligned = block_on(align_clips(&base, &clips)).unwrap().clips;
    aligned.iter().for_each(|clip| recorded.add(&clip.spectrogram(base.config().mels), &clip.phones()));
    let distance = |speech: Speech| {
        let mut said = SpectralStats::default();
        said.add(&speech.mel, &by_frame(&speech.symbols, &speech.durations));
        let SpectralTransport { shift, .. } =
            SpectralTransport::between(&said, &recorded).expect("there is speech in both");
        shift.iter().map(|shift| shift * shift).sum::<f32>().sqrt()
    };
    let matched = distance(said(&voice));
    voice.spectral_transport = None;
    let plain = distance(said(&voice));
    assert!(matched < 0.7 * plain, "{matched} {plain}");

    let hostile = |change: fn(&mut SpectralTransport)| {
        let mut voice = Voice::open(&base, &bytes).unwrap();
        voice.spectral_transport.as_mut().map(change).unwrap();
        let bytes = block_on(voice.save_async()).unwrap();
        Voice::open(&base, &bytes).err().unwrap().code()
    };
    assert_eq!(hostile(|found| found.shift[3] = f32::NAN), "voice-corrupt");
    assert_eq!(hostile(|found| found.map[3] = 9.0), "voice-corrupt");
    assert_eq!(hostile(|found| found.mean.truncate(3)), "voice-corrupt");
    assert_eq!(hostile(|found| found.ceiling[3] = f32::NAN), "voice-corrupt");
}

#[test]
fn consent_is_kept_in_the_voice_file() {
    let base = tiny_base();
    let mut voice = Voice::unadapted(&base);
    let consent = Consent { text: "This is my voice.".into(), recording_sha256: Some("0a".repeat(32)) };
    voice.set_consent(consent.clone()).unwrap();
    let bytes = block_on(voice.save_async()).unwrap();
    assert_eq!(Voice::open(&base, &bytes).unwrap().info().consent, Some(consent));
    for (text, hash) in [
        (" ".to_string(), None),
        ("word ".repeat(300), None),
        ("I agree.".to_string(), Some("not a hash".to_string())),
    ] {
        assert_eq!(
            voice.set_consent(Consent { text, recording_sha256: hash }).unwrap_err().code(),
            "option-invalid"
        );
    }
}

#[test]
fn damaged_voice_files_are_refused() {
    let base = tiny_base();
    let bytes = block_on(Voice::unadapted(&base).save_async()).unwrap();
    for cut in (0..bytes.len()).step_by(97) {
        assert_eq!(Voice::open(&base, &bytes[..cut]).err().unwrap().code(), "voice-corrupt", "cut at {cut}");
    }
    let other = other_base();
    assert_eq!(Voice::open(&other, &bytes).err().unwrap().code(), "base-mismatch");
    let mut hostile = bytes.clone();
    hostile[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(Voice::open(&base, &hostile).err().unwrap().code(), "voice-corrupt");
}

#[test]
fn a_voice_file_keeps_the_timing_speaker() {
    let base = shipped_base();
    let voice = Voice::from_base_speaker(&base, 3).unwrap();
    let bytes = block_on(voice.save_async()).unwrap();
    let again = Voice::open(&base, &bytes).unwrap();
    let off = (again.timing_speaker - voice.timing_speaker.clone()).abs().max().into_scalar::<f32>();
    assert!(off < 1e-3, "it is stored in half precision");

    let (mut weights, metadata) = deserialize(&bytes).unwrap();
    let saved = |weights: &HostWeights| {
        block_on(serialize(on_device(weights.clone()), Storage::Bytes, metadata.clone())).unwrap()
    };
    let timing = weights.remove("timing_speaker").unwrap();
    weights.insert("timing_speaker".into(), (vec![1], timing.1[..1].to_vec()));
    assert_eq!(Voice::open(&base, &saved(&weights)).err().unwrap().code(), "voice-corrupt");
}

#[test]
fn damaged_bases_are_refused() {
    let (manifest, weights) = tiny_files();
    assert_eq!(load(&manifest, &weights[..weights.len() - 1]).err().unwrap().code(), "base-corrupt");
    let mut wide = manifest.clone();
    wide.model.decoder_width = 1 << 40;
    assert_eq!(load(&wide, &weights).err().unwrap().code(), "base-corrupt");
    let mut other = manifest.clone();
    other.model.decoder_width = 64;
    assert_eq!(load(&other, &weights).err().unwrap().code(), "base-corrupt");
    let mut autoregressive = manifest.clone();
    autoregressive.model.autoregressive = true;
    let error = load(&autoregressive, &weights).err().unwrap();
    assert!(error.code() == "base-corrupt" && error.to_string().contains("autoregressive"), "{error}");
}

#[test]
fn texts_that_cannot_be_spoken_are_refused_by_their_codes() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let code = |text: &str| say(&voice, text, &SpeakOptions::default()).err().map(|error| error.code());
    assert_eq!(code(""), Some("text-empty"));
    assert_eq!(code("\u{4f60}\u{597d}"), Some("text-unsupported"));
    assert_eq!(code(&"word ".repeat(5000)), Some("text-too-long"));
    assert_eq!(code("Hello \u{1f600} there."), None);
}

#[test]
fn a_sentence_beyond_the_bound_is_spoken_in_parts() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let clause = "This takes far longer than its bound, with a pause and with none where one is needed, and still all of it is spoken";
    let text = [clause; 2].join(" ");
    let phones = |symbols: &[Symbol]| {
        symbols.iter().copied().filter(|&symbol| symbols::is_phone(symbol)).collect::<Vec<_>>()
    };
    let spoken = say(&voice, &text, &SpeakOptions { speed: 0.25, ..SpeakOptions::default() }).unwrap();
    assert!(spoken.mel.frames() > 2400, "the sentence must exceed the bound: {} frames", spoken.mel.frames());
    assert_eq!(spoken.stop.name(), "durations");
    assert_eq!(phones(&spoken.symbols), phones(&base.phonemizer.symbols(&text).unwrap()));
    let frames = spoken.durations.iter().sum::<u32>() as usize;
    assert_eq!(spoken.mel.frames(), frames, "the parts are joined without a gap");
}

#[test]
fn speech_can_be_cancelled_between_sentences() {
    let base = tiny_base();
    let voice = Voice::unadapted(&base);
    let vocoder = GriffinLim::new(base.mel_config().clone());
    let mut calls = Vec::new();
    let result = block_on(speak_async(
        &voice,
        "The first sentence is quite short. The second one follows it. The third ends the text.",
        &SpeakOptions::default(),
        &vocoder,
        async |done, all| {
            calls.push((done, all));
            done < 1
        },
    ));
    assert!(result.err().unwrap().is_cancelled());
    assert_eq!(calls, vec![(0, 3), (1, 3)]);
}
