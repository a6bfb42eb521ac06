//! Reads the clips of a folder, and runs a fine-tuning on them to its end.

use std::path::{Path, PathBuf};

use crate::corpus::{layouts, list, recordings::text_beside};
use ownvoice::{
    Error, Note, Result,
    clone::{
        FineTuner,
        clip::Clip,
        options::{CloneOptions, ValidationMetrics},
    },
    files::read_audio_with_notes,
    report::{Progress, Report},
    voice::{Base, Voice},
};

/// The clips that were read, and the reasons why others were not.
#[derive(Debug, Default)]
pub struct Recorded {
    pub clips: Vec<Clip>,
    /// The file of each clip.
    pub files: Vec<PathBuf>,
    pub left_out: Vec<Error>,
}

/// Reads the clips of a speaker's folder up to a number of seconds, or one recording with a text file beside it, such as `minute.m4a` and `minute.txt`. Reports
/// the recordings that are left out because they cannot be read.
///
/// # Errors
/// Fails with the error of the first recording if none can be read, and with `corpus-invalid` if the folder has several speakers.
pub fn read_clips(path: &Path, seconds: Option<f32>, report: &dyn Report) -> Result<Recorded> {
    let mut recorded = Recorded::default();
    if path.is_file() {
        if seconds.is_some() {
            return Err(Error::corpus_invalid("a single recording is used as a whole; omit --seconds"));
        }
        let text = text_beside(path)?.unwrap_or_else(|| path.with_extension("txt"));
        recorded.clips.push(open(path, list::read_text(&text)?, report)?);
        recorded.files.push(path.to_path_buf());
        return Ok(recorded);
    }
    let recordings: Vec<_> = layouts::load(path, report)?.collect();
    if let Some(other) = recordings.iter().find(|recording| recording.speaker != recordings[0].speaker) {
        return Err(Error::corpus_invalid(format!(
            "{}: there are several speakers, such as {} and {}; choose the folder of one",
            path.display(),
            recordings[0].speaker,
            other.speaker
        )));
    }
    let mut total = 0.0;
    for recording in recordings {
        if seconds.is_some_and(|limit| total >= limit) {
            break;
        }
        match open(&recording.path, recording.text, report) {
            Ok(clip) => {
                total += clip.audio.seconds();
                recorded.clips.push(clip);
                recorded.files.push(recording.path);
            }
            Err(error) => {
                report.note(&format!("left out: {error}"));
                recorded.left_out.push(error);
            }
        }
    }
    if recorded.clips.is_empty() && !recorded.left_out.is_empty() {
        return Err(recorded.left_out.remove(0));
    }
    Ok(recorded)
}

/// Reads a clip, and reports what is unusual about its file.
fn open(path: &Path, text: String, report: &dyn Report) -> Result<Clip> {
    let (audio, notes) = read_audio_with_notes(path)?;
    notes.iter().for_each(|note| report.note(&format!("{}: {note}", path.display())));
    Ok(Clip { audio, text })
}

/// Reports the notes on clips: each kind once, with the number of its clips and the first of them.
///
/// * `notes`: each with the index of its clip
fn report_notes(notes: &[(usize, Note)], files: &[PathBuf], clips: usize, report: &dyn Report) {
    let mut kinds: Vec<&'static str> = Vec::new();
    for (index, note) in notes {
        if kinds.contains(&note.code()) {
            continue;
        }
        kinds.push(note.code());
        let count = notes.iter().filter(|(_, other)| other.code() == note.code()).count();
        let first =
            files.get(*index).map_or(format!("clip {}", index + 1), |path| path.display().to_string());
        report.note(&match count {
            1 => format!("{first}: {note}"),
            _ => format!("{count} of {clips} clips, such as {first}: {note}"),
        });
    }
}

/// Adds the file of a clip to an error that has the index of the clip.
///
/// * `files`: the file of each clip
pub fn named(error: Error, files: &[PathBuf]) -> Error {
    match error.clip_index().and_then(|index| files.get(index)) {
        Some(path) => error.in_file(path),
        None => error,
    }
}

/// A fine-tuned voice.
pub struct FineTuned {
    pub voice: Voice,
    /// The number of clips that were used.
    pub clips: usize,
    /// Why the other clips were left out.
    pub left_out: Vec<Error>,
}

/// Fine-tunes a base to the end. Reports a note at each validation and at the end, and for each clip that is left out.
///
/// * `files`: the file of each clip, if there are any, for the notes and errors
pub fn fine_tune(
    base: &Base,
    clips: &[Clip],
    files: &[PathBuf],
    options: CloneOptions,
    report: &dyn Report,
) -> Result<FineTuned> {
    let mut tuner = FineTuner::start(base, clips, options).map_err(|error| named(error, files))?;
    let left_out: Vec<Error> = tuner.take_left_out().into_iter().map(|error| named(error, files)).collect();
    left_out.iter().for_each(|error| report.note(&format!("left out: {error}")));
    report_notes(tuner.notes(), files, clips.len(), report);
    loop {
        let step = tuner.step()?;
        step.fault.iter().for_each(|fault| report.note(fault));
        report.progress(&Progress {
            done: step.iteration,
            of: Some(step.iterations),
            message: &format!("loss {:.3}", step.loss),
        });
        if let Some(ValidationMetrics { loss, similarity, phoneme_error_rate, global_variance_scale }) =
            step.validation
        {
            let held_out = format!(
                "held out {loss:.4}, similarity {similarity:.3}, phoneme errors {phoneme_error_rate:.2}, variance scale {global_variance_scale:.2?}"
            );
            report.note(&format!(
                "iteration {}: loss {:.4}, {held_out}, {:.1} s",
                step.iteration, step.loss, step.seconds
            ));
        }
        if let Some(stop) = step.stop {
            report.note(&format!(
                "{} iterations in {:.1} s; ended by {}",
                step.iteration,
                step.seconds,
                stop.name()
            ));
            if step.overflows > 0 {
                report.note(&format!(
                    "{} iterations were skipped, because half precision overflowed",
                    step.overflows
                ));
            }
            return Ok(FineTuned { voice: tuner.finish()?, clips: clips.len() - left_out.len(), left_out });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl Report for Lines {
        fn note(&self, line: &str) {
            self.0.lock().unwrap().push(line.into());
        }
    }

    #[test]
    fn notes_of_a_kind_are_reported_once() {
        let lines = Lines::default();
        let notes =
            [(0, Note::NarrowBand), (1, Note::Whispered { voiced_percent: 4.0 }), (2, Note::NarrowBand)];
        report_notes(&notes, &["a.wav".into(), "b.wav".into()], 3, &lines);
        let lines = lines.0.into_inner().unwrap();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("2 of 3 clips, such as a.wav: there is no sound above"), "{lines:?}");
        assert!(lines[1].starts_with("b.wav: only 4 % of the vowels are voiced"), "{lines:?}");
    }

    #[test]
    fn an_unusual_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (path, lines) = (folder.path().join("a.wav"), Lines::default());
        let mut bytes = ownvoice::audio::wav::write(&[0.5; 1000], 16_000);
        bytes[40..44].copy_from_slice(&(2000u32 + 44).to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(open(&path, String::new(), &lines).unwrap().audio.samples.len(), 1000);
        assert!(lines.0.into_inner().unwrap()[0].contains("a.wav: the header states another length"));
    }
}
