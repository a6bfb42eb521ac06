//! Writes the speech that an evaluation compares as WAV files, for external evaluators.

use std::{fs, path::Path};

use super::{measured::Measured, report::Evaluation, sentences::NEW_SENTENCES};
use ownvoice::{
    Error, Result,
    audio::{
        Audio,
        wav::{self, Origin},
    },
    files,
    voice::{Base, Voice},
};

/// Returns the origin that marks a file of speech in this voice, see [`Voice::id`].
pub fn origin(voice: &Voice) -> Result<Origin> {
    Ok(Origin::synthetic(&voice.id()?))
}

/// Writes the folders `target`, `same-speaker`, `base` and `clone`.
pub fn write_wavs(
    folder: &Path,
    base: &Base,
    voice: &Voice,
    evaluation: &Evaluation,
    clone: &Measured,
    unadapted: &Measured,
) -> Result<()> {
    write_anchors(folder, evaluation)?;
    write_clips(&folder.join("base"), &unadapted.clips, Some(&origin(&Voice::unadapted(base))?))?;
    write_clips(&folder.join("clone"), &clone.clips, Some(&origin(voice)?))
}

/// Writes the recordings that a clone is compared with, `target` and `same-speaker`, and `texts.txt` with the texts of target, base and clone.
fn write_anchors(folder: &Path, evaluation: &Evaluation) -> Result<()> {
    let target: Vec<Audio> = evaluation.recordings().iter().map(|(_, recording)| recording.clone()).collect();
    write_clips(&folder.join("target"), &target, None)?;
    let path = folder.join("texts.txt");
    let texts: String = evaluation.recordings().iter().map(|(text, _)| format!("{text}\n")).collect();
    files::write(&path, texts)?;
    write_clips(
        &folder.join("same-speaker"),
        &evaluation.others[evaluation.others.len().saturating_sub(target.len())..],
        None,
    )
}

/// Writes [`NEW_SENTENCES`], spoken by a voice, to `new/NAME`, and their texts beside it.
pub fn write_new_sentences(folder: &Path, name: &str, clips: &[Audio], origin: &Origin) -> Result<()> {
    let folder = folder.join("new");
    write_clips(&folder.join(name), clips, Some(origin))?;
    files::write(&folder.join("texts.txt"), NEW_SENTENCES.join("\n"))
}

/// Writes clips as numbered WAV files.
///
/// * `origin`: marks synthetic speech; `None` for recordings
pub fn write_clips(folder: &Path, clips: &[Audio], origin: Option<&Origin>) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for (index, Audio { samples, sample_rate_hz }) in clips.iter().enumerate() {
        let file = match origin {
            Some(origin) => wav::write_with_origin(samples, *sample_rate_hz, origin),
            None => wav::write(samples, *sample_rate_hz),
        };
        files::write(&folder.join(format!("{index:03}.wav")), file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::prelude::Device;

    #[test]
    fn speech_that_nobody_said_is_marked_and_recordings_are_not() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let says = |name: &str, origin: Option<&Origin>| {
            let clip = Audio { samples: vec![0.5; 100], sample_rate_hz: 24_000 };
            write_clips(&folder.path().join(name), &[clip], origin).unwrap();
            let bytes = fs::read(folder.path().join(name).join("000.wav")).unwrap();
            let Audio { samples, sample_rate_hz } = wav::read(&bytes).unwrap();
            assert_eq!((samples.len(), sample_rate_hz), (100, 24_000));
            String::from_utf8_lossy(&bytes).contains("Synthetic speech, made by ownvoice with voice ")
        };
        let origin = origin(&Voice::unadapted(&base)).unwrap();
        assert!(origin.comment.ends_with(&base.hash()[..16]));
        assert!(says("clone", Some(&origin)) && !says("target", None));
    }
}
