//! Reads the clips of a folder, and runs a fine-tuning on them to its end.

use std::path::{Path, PathBuf};

use crate::corpus::{layouts, list, recordings::text_beside};
use ownvoice::{
    Error, Note, Result,
    clone::{FineTuner, clip::Clip, options::ValidationMetrics},
    files::read_audio_with_notes,
    report::{Progress, Report},
    voice::Voice,
};

/// Reads the clips of a speaker one by one, so that the samples of hundreds of them are not in memory together. Recordings that cannot be read are left out with a
/// note.
pub struct ClipReader<'a> {
    recordings: std::vec::IntoIter<(PathBuf, String)>,
    /// How many seconds of speech may still be read.
    seconds: f32,
    report: &'a dyn Report,
    /// The file of each clip.
    files: Vec<PathBuf>,
    left_out: Vec<Error>,
}

/// The recordings that were read, and why others were not.
#[derive(Debug, Default)]
pub struct Recorded {
    pub files: Vec<PathBuf>,
    pub left_out: Vec<Error>,
}

impl<'a> ClipReader<'a> {
    /// Lists the clips of a speaker's folder, or one recording with a text file beside it, such as `minute.m4a` and `minute.txt`.
    ///
    /// * `seconds`: the limit after which no further clip of a folder is read
    ///
    /// # Errors
    /// Fails with `corpus-invalid` if the folder has several speakers.
    pub fn new(path: &Path, seconds: Option<f32>, report: &'a dyn Report) -> Result<Self> {
        let recordings = match path.is_file() {
            true if seconds.is_some() => {
                return Err(Error::corpus_invalid("a single recording is used as a whole; omit --seconds"));
            }
            true => {
                let text = text_beside(path)?.unwrap_or_else(|| path.with_extension("txt"));
                vec![(path.to_path_buf(), list::read_text(&text)?)]
            }
            false => of_one_speaker(path, report)?,
        };
        Ok(Self {
            recordings: recordings.into_iter(),
            seconds: seconds.unwrap_or(f32::INFINITY),
            report,
            files: Vec::new(),
            left_out: Vec::new(),
        })
    }

    /// Returns what was read.
    ///
    /// # Errors
    /// Fails with the error of the first recording if none could be read.
    pub fn finish(mut self) -> Result<Recorded> {
        if self.files.is_empty() && !self.left_out.is_empty() {
            return Err(self.left_out.remove(0));
        }
        Ok(Recorded { files: self.files, left_out: self.left_out })
    }
}

impl Iterator for ClipReader<'_> {
    type Item = Clip;

    fn next(&mut self) -> Option<Clip> {
        while self.seconds > 0.0 {
            let (path, text) = self.recordings.next()?;
            match open(&path, text, self.report) {
                Ok(clip) => {
                    self.seconds -= clip.audio.seconds();
                    self.files.push(path);
                    return Some(clip);
                }
                Err(error) => {
                    self.report.note(&format!("left out: {error}"));
                    self.left_out.push(error);
                }
            }
        }
        None
    }
}

/// Returns the recordings of a folder and their texts. Fails with `corpus-invalid` if it has several speakers.
fn of_one_speaker(folder: &Path, report: &dyn Report) -> Result<Vec<(PathBuf, String)>> {
    let recordings: Vec<_> = layouts::load(folder, report)?.collect();
    if let Some(other) = recordings.iter().find(|recording| recording.speaker != recordings[0].speaker) {
        return Err(Error::corpus_invalid(format!(
            "{}: there are several speakers, such as {} and {}; choose the folder of one",
            folder.display(),
            recordings[0].speaker,
            other.speaker
        )));
    }
    Ok(recordings.into_iter().map(|recording| (recording.path, recording.text)).collect())
}

/// Reads all clips into memory, as [`ClipReader`] does one by one.
pub fn read_all_clips(path: &Path, report: &dyn Report) -> Result<(Vec<Clip>, Recorded)> {
    let mut reader = ClipReader::new(path, None, report)?;
    let clips = reader.by_ref().collect();
    Ok((clips, reader.finish()?))
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
    fn clips_are_read_one_by_one_up_to_the_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir(path.join("wavs")).unwrap();
        std::fs::write(path.join("metadata.csv"), "a|One.\nb|Two.\nc|Three.\nd|Four.\n").unwrap();
        for id in ["a", "c", "d"] {
            std::fs::write(
                path.join(format!("wavs/{id}.wav")),
                ownvoice::audio::wav::write(&[0.5; 16_000], 16_000),
            )
            .unwrap();
        }
        std::fs::write(path.join("wavs/b.wav"), "damaged").unwrap();
        let lines = Lines::default();
        let mut reader = ClipReader::new(path, Some(1.5), &lines).unwrap();
        assert_eq!(reader.next().unwrap().text, "One.");
        assert!(lines.0.lock().unwrap().is_empty(), "the damaged file is not read yet");
        assert_eq!(reader.next().unwrap().text, "Three.");
        assert!(reader.next().is_none(), "2 s are enough");
        let Recorded { files, left_out } = reader.finish().unwrap();
        assert!(files.iter().eq([path.join("wavs/a.wav"), path.join("wavs/c.wav")].iter()), "{files:?}");
        assert_eq!((left_out.len(), lines.0.lock().unwrap().len()), (1, 1));

        std::fs::write(path.join("metadata.csv"), "b|Two.\n").unwrap();
        let mut reader = ClipReader::new(path, None, &lines).unwrap();
        assert!(reader.next().is_none());
        assert_eq!(reader.finish().unwrap_err().file(), Some(path.join("wavs/b.wav").as_path()));
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
