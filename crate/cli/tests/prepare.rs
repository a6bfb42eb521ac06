//! Prepares the layouts of public corpora, which have no phone times.

use ownvoice::{audio::wav, features::Features};
use std::{fs, path::Path, process::Command};

/// Writes a file and creates its folder.
fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Runs `ownvoice prepare` and reads the features.
fn prepare(corpus: &Path, out: &Path, aligner: bool) -> Features {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ownvoice"));
    command.arg("prepare").arg(corpus).arg("--out").arg(out);
    if aligner {
        command.arg("--aligner").arg("../../models/base/aligner.safetensors");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("of the dictionary's") && printed.contains("left out: {}"), "{printed}");
    Features::load(out).unwrap()
}

#[test]
fn corpora_without_phone_times_are_aligned_in_every_layout() {
    let clips = ownvoice_testing::held_out_clips(2);
    let folder = tempfile::tempdir().unwrap();
    let [lj, libri, vctk] = ["lj", "libri", "vctk"].map(|name| folder.path().join(name));
    let mut metadata = String::new();
    for (index, clip) in clips.iter().enumerate() {
        let sound = wav::write(&clip.audio.samples, clip.audio.sample_rate_hz);
        metadata += &format!("c{index}|{}\n", clip.text);
        put(&lj.join(format!("wavs/c{index}.wav")), &sound);
        put(&libri.join(format!("84/121/84_121_000_{index}.wav")), &sound);
        put(&libri.join(format!("84/121/84_121_000_{index}.normalized.txt")), &clip.text);
        put(&vctk.join(format!("wav48/p225/p225_{index}.wav")), &sound);
        put(&vctk.join(format!("txt/p225/p225_{index}.txt")), &clip.text);
    }
    put(&lj.join("metadata.csv"), metadata);
    let out = tempfile::tempdir().unwrap();
    for corpus in [lj, libri, vctk] {
        let features = prepare(&corpus, out.path(), true);
        assert_eq!((features.speakers.len(), features.utterances.len()), (1, 2), "{}", corpus.display());
        for utterance in &features.utterances {
            let durations = utterance.durations.as_ref().expect("aligned");
            assert_eq!(durations.iter().sum::<u32>() as usize, utterance.frames);
            // Most phones last at least 50 ms, which is 4 frames.
            let long = durations.iter().filter(|&&frames| frames >= 4).count();
            assert!(long * 2 > durations.len(), "{durations:?}");
        }
        let unaligned = prepare(&corpus, out.path(), false);
        assert!(unaligned.utterances.iter().all(|utterance| utterance.durations.is_none()));
    }
}
