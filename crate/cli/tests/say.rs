//! `ownvoice say` marks its files as synthetic and names the voice.

use ownvoice::{audio::wav, digest::sha256_hex, voice::Voice};
use ownvoice_testing::shipped_base;
use pollster::block_on;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

#[test]
fn a_wav_file_names_its_voice() {
    let base = shipped_base();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("me.ownvoice");
    let bytes = block_on(Voice::unadapted(&base).save_async()).unwrap();
    fs::write(&file, &bytes).unwrap();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/base");
    let say = |more: &[&Path]| {
        let out = folder.path().join("say.wav");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ownvoice"));
        command
            .arg("say")
            .arg("--base")
            .arg(&models)
            .args(["--text", "Hello."])
            .arg("--out")
            .arg(&out)
            .args(more);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fs::read(out).unwrap()
    };
    for (said, hash) in
        [(say(&[]), base.hash().to_string()), (say(&[Path::new("--voice"), &file]), sha256_hex(&bytes))]
    {
        let mark = format!("ICMT\u{3f}\0\0\0Synthetic speech, made by ownvoice with voice {}\0", &hash[..16]);
        assert!(said.windows(mark.len()).any(|window| window == mark.as_bytes()), "{mark}");
        assert!(wav::read(&said).unwrap().samples.len() > 5000, "the samples are still there");
    }
}

/// The reader of a pipe may close it at once, as in `ownvoice spectrogram .. | head -0`.
#[cfg(unix)]
#[test]
fn a_closed_pipe_does_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let mut child = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args(["spectrogram", "../../tests/fixtures/held-out.wav", "--out"])
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let said = child.wait_with_output().unwrap().stderr;
    assert_eq!(String::from_utf8_lossy(&said), "");
    assert!(out.is_file());
}
