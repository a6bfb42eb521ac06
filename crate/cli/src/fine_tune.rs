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

/// The recordings that can be read, and the reasons why others cannot.
#[derive(Debug, Default)]
pub struct Recorded {
    pub files: Vec<PathBuf>,
    pub texts: Vec<String>,
    pub left_out: Vec<Error>,
}

impl Recorded {
    fn push(&mut self, path: PathBuf, clip: Clip, mut each: impl FnMut(Clip) -> Result<()>) -> Result<()> {
        self.files.push(path);
        self.texts.push(clip.text.clone());
        each(clip)
    }

    /// Starts a fine-tuning on the recordings. They are read again one by one, so that the samples of hundreds of them are not in memory together.
    pub fn start(&self, base: &Base, options: CloneOptions) -> Result<FineTuner> {
        let mut unreadable = None;
        let clips = self.files.iter().zip(&self.texts).map_while(|(path, text)| {
            read_audio_with_notes(path)
                .map(|(audio, _)| Clip { audio, text: text.clone() })
                .map_err(|error| unreadable = Some(error))
                .ok()
        });
        let started = FineTuner::start(base, clips, options);
        match unreadable {
            Some(error) => Err(error),
            None => started.map_err(|error| named(error, &self.files)),
        }
    }
}

/// Reads the clips of a speaker's folder up to a number of seconds, or one recording with a text file beside it, such as `minute.m4a` and `minute.txt`, and
/// passes each to `each`. Reports the recordings that are left out because they cannot be read.
///
/// # Errors
/// Fails with the error of the first recording if none can be read, and with `corpus-invalid` if the folder has several speakers.
pub fn read_clips(
    path: &Path,
    seconds: Option<f32>,
    report: &dyn Report,
    mut each: impl FnMut(Clip) -> Result<()>,
) -> Result<Recorded> {
    let mut recorded = Recorded::default();
    if path.is_file() {
        if seconds.is_some() {
            return Err(Error::corpus_invalid("a single recording is used as a whole; omit --seconds"));
        }
        let text = text_beside(path)?.unwrap_or_else(|| path.with_extension("txt"));
        let clip = open(path, list::read_text(&text)?, report)?;
        recorded.push(path.to_path_buf(), clip, each)?;
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
                recorded.push(recording.path, clip, &mut each)?;
            }
            Err(error) => {
                report.note(&format!("left out: {error}"));
                recorded.left_out.push(error);
            }
        }
    }
    if recorded.files.is_empty() && !recorded.left_out.is_empty() {
        return Err(recorded.left_out.remove(0));
    }
    Ok(recorded)
}

/// Reads all clips into memory, as [`read_clips`] does one by one.
pub fn read_all_clips(path: &Path, report: &dyn Report) -> Result<(Vec<Clip>, Recorded)> {
    let mut clips = Vec::new();
    let recorded = read_clips(path, None, report, |clip| {
        clips.push(clip);
        Ok(())
    })?;
    Ok((clips, recorded))
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
fn report_notes(notes: &[(usize, Note)], files: &[PathBuf], report: &dyn Report) {
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
            _ => format!("{count} clips, such as {first}: {note}"),
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
    /// Why clips were left out.
    pub left_out: Vec<Error>,
}

/// Fine-tunes to the end. Reports a note at each validation and at the end, and for each clip that is left out.
///
/// * `files`: the file of each clip, if there are any, for the notes and errors
pub fn fine_tune(mut tuner: FineTuner, files: &[PathBuf], report: &dyn Report) -> Result<FineTuned> {
    let left_out: Vec<Error> = tuner.take_left_out().into_iter().map(|error| named(error, files)).collect();
    left_out.iter().for_each(|error| report.note(&format!("left out: {error}")));
    report_notes(tuner.notes(), files, report);
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
            return Ok(FineTuned { voice: tuner.finish()?, left_out });
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
        report_notes(&notes, &["a.wav".into(), "b.wav".into()], &lines);
        let lines = lines.0.into_inner().unwrap();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("2 clips, such as a.wav: there is no sound above"), "{lines:?}");
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
