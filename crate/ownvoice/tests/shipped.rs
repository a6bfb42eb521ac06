//! Checks that the files in `models/` are complete, load, and clone a speaker who was held out of the training.

use ownvoice::{
    audio::{
        mel::MelExtractor,
        resample::resample,
        speaker::{SpeakerStats, distance},
    },
    clone::{FineTuner, options::CloneOptions},
    digest::sha256_hex,
    synth::{SpeakOptions, speak_async},
    voice::{Manifest, Voice},
};
use ownvoice_testing::{held_out_clips, shipped_base};
use pollster::block_on;
use std::{fs, path::PathBuf};

fn models() -> PathBuf {
    PathBuf::from("../../models")
}

#[test]
fn every_file_matches_its_hash_in_the_manifest() {
    let fixtures = PathBuf::from("../../tests/fixtures/tiny-base");
    for folder in [models().join("base"), fixtures] {
        let manifest: Manifest =
            serde_json::from_str(&fs::read_to_string(folder.join("manifest.json")).unwrap()).unwrap();
        for entry in [&manifest.files.weights, &manifest.files.lexicon, &manifest.files.aligner]
            .into_iter()
            .chain(&manifest.files.vocoder)
            .chain(&manifest.files.speaker_encoder)
        {
            let path = [folder.join(&entry.path), models().join("base").join(&entry.path)]
                .into_iter()
                .find(|path| path.exists())
                .unwrap();
            let content = fs::read(&path).unwrap();
            assert_eq!(
                (content.len(), sha256_hex(&content)),
                (entry.bytes, entry.sha256.clone()),
                "{}",
                path.display()
            );
        }
        assert!(manifest.files.weights.bytes < 20_000_000);
    }
}

/// The figures in the manifest have the order that an evaluation must give.
#[test]
fn measured_similarities_of_clones_lie_between_their_references() {
    let manifest: Manifest =
        serde_json::from_str(&fs::read_to_string(models().join("base/manifest.json")).unwrap()).unwrap();
    for speaker in &manifest.held_out {
        let of = |name: &str| {
            manifest.quality["clones"][speaker][name]
                .as_f64()
                .unwrap_or_else(|| panic!("{speaker}: {name} is missing"))
        };
        for verifier in ["similarity", "speaker_encoder"] {
            let [same, clone, others, base] = ["same_speaker", "clone", "other_speakers", "base"]
                .map(|anchor| of(&format!("{verifier}.{anchor}")));
            // A handful of words, all that some people recorded, may be less alike than a clone is to them.
            let is_person =
                manifest.recipe["people"].as_array().unwrap().iter().any(|one| one["name"] == **speaker);
            assert!(
                (same > clone || is_person) && clone > others && clone > base,
                "{speaker}, {verifier}: {same} {clone} {others} {base}"
            );
        }
        assert!(of("mcd_db") < of("mcd_db.base"), "{speaker}");
    }
}

#[test]
fn thirty_iterations_approach_a_held_out_speaker() {
    let base = shipped_base();
    let clips = held_out_clips(8);
    let mut target = SpeakerStats::default();
    for clip in &clips {
        target.merge(&SpeakerStats::from_audio(&clip.audio.samples, clip.audio.sample_rate_hz).unwrap());
    }
    let mut tuner = block_on(FineTuner::start_async(
        &base,
        &clips,
        CloneOptions { iterations: 30, ..CloneOptions::default() },
    ))
    .unwrap();
    while block_on(tuner.step_async()).unwrap().stop.is_none() {}
    let voice = block_on(tuner.finish_async()).unwrap();
    let text = "The morning train was late again, so we walked along the river and talked about the summer.";
    let measure = |voice: &Voice| {
        let speech =
            block_on(speak_async(voice, text, &SpeakOptions::default(), &*base.vocoder, async |_, _| true))
                .unwrap();
        let stats = SpeakerStats::from_audio(&speech.samples, speech.sample_rate_hz).unwrap();
        let config = base.mel_config();
        let samples = resample(&speech.samples, speech.sample_rate_hz, config.sample_rate_hz).unwrap();
        let mel = MelExtractor::new(config.clone()).extract(&samples);
        let errors =
            block_on(base.aligner.phoneme_errors(&mel, &base.phonemizer.symbols(text).unwrap())).unwrap();
        (distance(&stats, &target), errors.errors as f32 / errors.length as f32)
    };
    let ((before, base_errors), (after, clone_errors)) = (measure(&Voice::unadapted(&base)), measure(&voice));
    println!("distance {before:.2} to {after:.2}, phoneme error rate {base_errors:.2} and {clone_errors:.2}");
    assert!(after < 0.5 * before, "distance {before} to {after}");
    assert!(base_errors < 0.5 && clone_errors < 0.6, "phoneme error rates {base_errors} and {clone_errors}");
}
