//! Tests of a tiny base with pitch as an input: cloning, pitch control in synthesis, and refused options.

use burn::prelude::Device;
use burn_fused::weights::{HostWeights, Metadata, Storage, collect, deserialize, serialize};
use ownvoice::{
    audio::pitch,
    clone::{
        FineTuner,
        options::{AdvancedCloneOptions, CloneOptions},
    },
    model::{Tacotron, TacotronConfig, head_delta::HeadDelta},
    synth::{SpeakOptions, Speech, speak_async},
    vocoder::GriffinLim,
    voice::{Base, FileEntry, Voice},
};
use ownvoice_testing::{held_out_clips, load, on_device, tiny_base, tiny_files};
use pollster::block_on;

/// Creates a base with the tiny base's manifest and an untrained model that has pitch as an input.
fn base() -> Base {
    let (mut manifest, _) = tiny_files();
    manifest.model = TacotronConfig { pitch: true, ..manifest.model };
    manifest.mean_pitches_hz = vec![180.0; manifest.speakers.len()];
    let device = Device::flex();
    device.seed(1);
    let weights = block_on(serialize(
        collect(&Tacotron::new(&manifest.model, &device)),
        Storage::Half,
        Metadata::new(),
    ))
    .unwrap();
    manifest.files.weights = FileEntry::new("weights.safetensors", &weights);
    load(&manifest, &weights).unwrap()
}

fn clone(base: &Base) -> Voice {
    let advanced = AdvancedCloneOptions { batch: 2, window: 64, ..AdvancedCloneOptions::default() };
    let options = CloneOptions { iterations: 2, advanced, ..CloneOptions::default() };
    let mut tuner = block_on(FineTuner::start_async(base, &held_out_clips(4), options)).unwrap();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    block_on(tuner.finish_async()).unwrap()
}

fn say(voice: &Voice, options: &SpeakOptions) -> ownvoice::Result<Speech> {
    let mut vocoder = GriffinLim::new(voice.base().mel_config().clone());
    vocoder.iterations = 2;
    block_on(speak_async(voice, "A long way home.", options, &vocoder, async |_, _| true))
}

#[test]
fn a_clone_stores_its_speakers_pitch() {
    let base = base();
    let voice = clone(&base);
    let intonation = voice.prosody.intonation.unwrap();
    let mut logs = Vec::new();
    for clip in held_out_clips(4) {
        logs.extend(pitch::track(&clip.audio.samples, clip.audio.sample_rate_hz, 200).voiced_log_hz());
    }
    let recorded_hz = (logs.iter().sum::<f32>() / logs.len() as f32).exp();
    assert!(
        (intonation.mean_hz / recorded_hz).ln().abs() < 0.03,
        "{} and {recorded_hz} Hz",
        intonation.mean_hz
    );
    let file = block_on(voice.save_async()).unwrap();
    assert_eq!(Voice::open(&base, &file).unwrap().prosody.intonation, voice.prosody.intonation);

    let opened = Voice::open(&base, &file).unwrap().prosody;
    assert!(opened.voicing_head_delta.is_some());
    assert_eq!(opened.voicing_head_delta, voice.prosody.voicing_head_delta);
    let changed = |change: &dyn Fn(&mut HostWeights)| {
        let (mut tensors, metadata) = deserialize(&file).unwrap();
        change(&mut tensors);
        Voice::open(&base, &block_on(serialize(on_device(tensors), Storage::Full, metadata)).unwrap())
    };
    // A whisper has no correction of the voicing.
    let whisper = changed(&|tensors| drop(tensors.remove("voicing_readout").unwrap())).unwrap();
    assert_eq!(whisper.prosody.voicing_head_delta, None);

    assert!(opened.duration_head_delta.is_some());
    assert_eq!(opened.duration_head_delta, voice.prosody.duration_head_delta);
    for name in ["voicing_readout", "timing_readout"] {
        for value in [f32::NAN, 1e3] {
            let hostile = changed(&|tensors| tensors.get_mut(name).unwrap().1[3] = value);
            assert_eq!(hostile.err().unwrap().code(), "voice-corrupt");
        }
        let shorter = changed(&|tensors| {
            let (shape, values) = tensors.get_mut(name).unwrap();
            values.pop();
            *shape = vec![values.len()];
        });
        assert_eq!(shorter.err().unwrap().code(), "voice-corrupt");
    }

    let key = br#"pitch_hz\":\""#;
    let at = file.windows(key.len()).position(|window| window == key).unwrap() + key.len();
    let mut hostile = file.clone();
    hostile[at..at + 3].copy_from_slice(b"9e9");
    assert_eq!(Voice::open(&base, &hostile).err().unwrap().code(), "voice-corrupt");
}

#[test]
fn pitch_options_do_not_change_durations() {
    let base = base();
    let mut voice = Voice::unadapted(&base);
    // An untrained model may predict only unvoiced frames, which have no pitch to change.
    let width = base.model.pitch.as_ref().unwrap().head_delta_width();
    voice.prosody.voicing_head_delta = HeadDelta::new([vec![0.0; width - 1], vec![8.0]].concat());
    let default = say(&voice, &SpeakOptions::default()).unwrap();
    for options in [
        SpeakOptions { pitch: 5.0, ..SpeakOptions::default() },
        SpeakOptions { pitch_range: 0.0, ..SpeakOptions::default() },
    ] {
        let other = say(&voice, &options).unwrap();
        assert_eq!(other.durations, default.durations);
        assert_ne!(other.mel, default.mel, "{options:?}");
    }
    assert_eq!(say(&voice, &SpeakOptions::default()).unwrap().mel, default.mel);
}

#[test]
fn invalid_pitch_options_are_refused() {
    let code =
        |base: &Base, options: SpeakOptions| say(&Voice::unadapted(base), &options).unwrap_err().code();
    let (with, without) = (base(), tiny_base());
    for pitch in [12.5, -13.0, f32::NAN] {
        assert_eq!(code(&with, SpeakOptions { pitch, ..SpeakOptions::default() }), "option-invalid");
    }
    for pitch_range in [-0.1, 3.1, f32::INFINITY] {
        assert_eq!(code(&with, SpeakOptions { pitch_range, ..SpeakOptions::default() }), "option-invalid");
    }
    assert_eq!(code(&without, SpeakOptions { pitch: 1.0, ..SpeakOptions::default() }), "option-invalid");
    assert!(say(&Voice::unadapted(&without), &SpeakOptions::default()).is_ok());

    let (mut manifest, weights) = tiny_files();
    manifest.model.pitch = true;
    assert_eq!(load(&manifest, &weights).err().unwrap().code(), "base-corrupt");
}
