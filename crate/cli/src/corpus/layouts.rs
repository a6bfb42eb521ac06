//! The folder layouts of speech corpora: LJSpeech, LibriTTS, VCTK, and our own with several speakers.

use std::path::{Path, PathBuf};

use super::{phones::parse_csv, recording::Recording};
use ownvoice::{Error, Result};

/// The extensions of recordings, in the order in which they are tried.
pub const EXTENSIONS: [&str; 15] = [
    "wav", "flac", "mp3", "m4a", "mp4", "aac", "ogg", "oga", "opus", "webm", "mka", "mkv", "mov", "aiff",
    "caf",
];

/// A folder layout of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One speaker, named by the folder: `metadata.csv` (`id|text` or `id|text|normalised text`) and recordings in `wavs/<id>.wav` or beside `metadata.csv`.
    LjSpeech,
    /// `<speaker>/<chapter>/<id>.wav` with `<id>.normalized.txt`, perhaps below one more folder for the subset.
    LibriTts,
    /// `txt/<speaker>/<id>.txt` and `wav48/<speaker>/<id>.wav`, or `wav48_silence_trimmed/<speaker>/<id>_mic1.wav`.
    Vctk,
    /// Our own layout: `<speaker>/` in the layout of LJSpeech, with `phones/<id>.csv` if the engine printed its phones. `held-out/` is not read.
    Speakers,
}

/// Detects the layout of a folder by its files.
pub fn detect(root: &Path) -> Result<Layout> {
    if root.join("metadata.csv").is_file() {
        return Ok(Layout::LjSpeech);
    }
    if root.join("txt").is_dir() {
        return Ok(Layout::Vctk);
    }
    for folder in folders(root)? {
        if folder.join("metadata.csv").is_file() {
            return Ok(Layout::Speakers);
        }
    }
    if !normalized_texts(root, 3)?.is_empty() {
        return Ok(Layout::LibriTts);
    }
    Err(Error::corpus_invalid(format!(
        "{}: there is no metadata.csv, no txt/ and no *.normalized.txt, so this is not a corpus in a known layout",
        root.display()
    )))
}

/// Returns all recordings of a corpus, sorted by speaker and id.
///
/// # Errors
/// Names the first file that is missing or invalid.
pub fn load(root: &Path) -> Result<impl Iterator<Item = Recording> + use<>> {
    let mut recordings = match detect(root)? {
        Layout::LjSpeech => lj_speech(root)?,
        Layout::LibriTts => libri_tts(root)?,
        Layout::Vctk => vctk(root)?,
        Layout::Speakers => {
            let mut recordings = Vec::new();
            for folder in folders(root)?.iter().filter(|folder| folder.join("metadata.csv").is_file()) {
                recordings.extend(lj_speech(folder)?);
            }
            recordings
        }
    };
    if recordings.is_empty() {
        return Err(Error::corpus_invalid(format!("{}: there are no recordings", root.display())));
    }
    recordings.sort_by(|a, b| (&a.speaker, &a.id).cmp(&(&b.speaker, &b.id)));
    Ok(recordings.into_iter())
}

/// Reads the layout of LJSpeech.
fn lj_speech(root: &Path) -> Result<Vec<Recording>> {
    let metadata = root.join("metadata.csv");
    // The path may be ".", which has no name.
    let full = std::fs::canonicalize(root).map_err(Error::io(root))?;
    let speaker = name(&full);
    let mut recordings = Vec::new();
    for (number, line) in read(&metadata)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let invalid = |what: &str| {
            Error::corpus_invalid(format!("{}, line {}: {what}", metadata.display(), number + 1))
        };
        let mut fields = line.split('|');
        let id = fields.next().unwrap_or("").trim();
        let text = fields.next().ok_or_else(|| invalid("there is no \"|\" between id and text"))?;
        let text = fields.next().filter(|normalized| !normalized.trim().is_empty()).unwrap_or(text).trim();
        if id.is_empty() || id.contains(['/', '\\']) || id.starts_with('.') {
            return Err(invalid("the id is empty or is a path"));
        }
        if text.is_empty() {
            return Err(invalid("the text is empty"));
        }
        let path = recording(&[root.join("wavs"), root.to_path_buf()], id)?;
        let phones = root.join("phones").join(format!("{id}.csv"));
        let phones = if phones.is_file() { Some(parse_csv(&phones, &read(&phones)?)?) } else { None };
        recordings.push(Recording {
            speaker: speaker.clone(),
            id: id.to_string(),
            text: text.to_string(),
            path,
            phones,
        });
    }
    Ok(recordings)
}

/// Reads the layout of LibriTTS.
fn libri_tts(root: &Path) -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for file in normalized_texts(root, 3)? {
        let id = name(&file).trim_end_matches(".normalized.txt").to_string();
        // <speaker>_<chapter>_<paragraph>_<sentence>
        let (speaker, _) = id.split_once('_').ok_or_else(|| {
            Error::corpus_invalid(format!("{}: there is no speaker before \"_\"", file.display()))
        })?;
        let folder = file.parent().expect("a file has a folder").to_path_buf();
        let path = recording(&[folder], &id)?;
        recordings.push(Recording {
            speaker: speaker.to_string(),
            text: read_text(&file)?,
            path,
            phones: None,
            id,
        });
    }
    Ok(recordings)
}

/// Reads the layout of VCTK.
fn vctk(root: &Path) -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for folder in folders(&root.join("txt"))? {
        let speaker = name(&folder);
        for file in files(&folder, ".txt")? {
            let id = name(&file).trim_end_matches(".txt").to_string();
            let trimmed =
                recording(&[root.join("wav48_silence_trimmed").join(&speaker)], &format!("{id}_mic1"));
            let path = trimmed.or_else(|_| recording(&[root.join("wav48").join(&speaker)], &id))?;
            recordings.push(Recording {
                speaker: speaker.clone(),
                text: read_text(&file)?,
                path,
                phones: None,
                id,
            });
        }
    }
    Ok(recordings)
}

/// Returns the texts of LibriTTS in a folder and, down to a depth, in the folders below it.
fn normalized_texts(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut texts = files(folder, ".normalized.txt")?;
    if depth > 0 {
        for folder in folders(folder)? {
            texts.extend(normalized_texts(&folder, depth - 1)?);
        }
    }
    Ok(texts)
}

/// Reads a text file, without the space around the text.
pub fn read_text(file: &Path) -> Result<String> {
    let text = read(file)?.trim().to_string();
    if text.is_empty() {
        Err(Error::corpus_invalid(format!("{}: the file is empty", file.display())))
    } else {
        Ok(text)
    }
}

/// Reads a file of UTF-8.
fn read(file: &Path) -> Result<String> {
    let bytes =
        std::fs::read(file).map_err(|error| Error::corpus_invalid(format!("{}: {error}", file.display())))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::corpus_invalid(format!("{}: it is not UTF-8", file.display())))?;
    // Spreadsheets and editors of Windows write a byte order mark.
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}

/// Finds the recording of an id in the first of the folders that has it.
fn recording(folders: &[PathBuf], id: &str) -> Result<PathBuf> {
    let named = |(folder, extension): (&PathBuf, &str)| folder.join(format!("{id}.{extension}"));
    let places =
        folders.iter().flat_map(|folder| EXTENSIONS.into_iter().map(move |extension| (folder, extension)));
    places.map(named).find(|path| path.is_file()).ok_or_else(|| {
        Error::corpus_invalid(format!(
            "{} is missing, and so are the other formats ({})",
            folders[0].join(format!("{id}.wav")).display(),
            EXTENSIONS[1..].join(", ")
        ))
    })
}

/// Returns the last component of a path.
fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the sorted entries of a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let invalid = |error| Error::corpus_invalid(format!("{}: {error}", folder.display()));
    let mut entries = std::fs::read_dir(folder)
        .map_err(invalid)?
        .map(|entry| Ok(entry.map_err(invalid)?.path()))
        .collect::<Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// Returns the folders in a folder.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|entry| entry.is_dir()).collect())
}

/// Returns the files in a folder whose name ends with `ending`.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    Ok(entries(folder)?
        .into_iter()
        .filter(|entry| entry.is_file() && name(entry).ends_with(ending))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::phones::EnginePhone;

    /// A temporary folder with some files.
    struct Tree(PathBuf);

    impl Tree {
        fn new(test: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("ownvoice-layouts-{}-{test}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(root)
        }

        fn load(&self) -> Result<Vec<Recording>> {
            Ok(load(&self.0)?.collect())
        }

        fn error(&self) -> String {
            let error = self.load().unwrap_err();
            assert_eq!(error.code(), "corpus-invalid");
            error.to_string()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_id() {
        let tree = Tree::new("bom", &[("metadata.csv", "\u{feff}a|Hello.\n"), ("wavs/a.wav", "")]);
        let recordings = tree.load().unwrap();
        assert_eq!((recordings[0].id.as_str(), recordings[0].text.as_str()), ("a", "Hello."));
    }

    #[test]
    fn lj_speech_prefers_the_normalised_text() {
        let tree = Tree::new(
            "lj",
            &[("metadata.csv", "a|5 cats|five cats\nb|Hello.\n"), ("wavs/a.wav", ""), ("b.m4a", "")],
        );
        let found: Vec<_> = tree
            .load()
            .unwrap()
            .into_iter()
            .map(|recording| (recording.id, recording.text, recording.path, recording.phones))
            .collect();
        let wav = |name: &str| tree.0.join("wavs").join(name);
        assert_eq!(
            found,
            [
                ("a".into(), "five cats".into(), wav("a.wav"), None),
                ("b".into(), "Hello.".into(), tree.0.join("b.m4a"), None)
            ]
        );
    }

    #[test]
    fn our_layout_has_speakers_and_phones_without_held_out() {
        let tree = Tree::new(
            "speakers",
            &[
                ("corpus.json", "{}"),
                ("zoe/metadata.csv", "z|Hi."),
                ("zoe/wavs/z.wav", ""),
                ("amy/metadata.csv", "a|Hi."),
                ("amy/wavs/a.wav", ""),
                ("amy/phones/a.csv", "pau,0.1\nhh,0.2\nay,0.5\n"),
                ("held-out/eve/metadata.csv", "e|Hi."),
                ("held-out/eve/wavs/e.wav", ""),
            ],
        );
        let found: Vec<_> =
            tree.load().unwrap().into_iter().map(|recording| (recording.speaker, recording.phones)).collect();
        let phones =
            vec![EnginePhone::new("pau", 0.1), EnginePhone::new("hh", 0.2), EnginePhone::new("ay", 0.5)];
        assert_eq!(found, [("amy".to_string(), Some(phones)), ("zoe".to_string(), None)]);
        assert_eq!(load(&tree.0.join("held-out")).unwrap().next().unwrap().speaker, "eve");
    }

    #[test]
    fn libri_tts() {
        let tree = Tree::new(
            "libri",
            &[
                ("dev-clean/84/121/84_121_000001_000000.normalized.txt", "Hello there.\n"),
                ("dev-clean/84/121/84_121_000001_000000.wav", ""),
            ],
        );
        let found = tree.load().unwrap();
        assert_eq!(
            (found.len(), found[0].speaker.as_str(), found[0].text.as_str()),
            (1, "84", "Hello there.")
        );
    }

    #[test]
    fn vctk_in_both_forms() {
        for (form, wav) in
            [("old", "wav48/p225/p225_001.wav"), ("new", "wav48_silence_trimmed/p225/p225_001_mic1.wav")]
        {
            let tree = Tree::new(
                &format!("vctk-{form}"),
                &[("txt/p225/p225_001.txt", "Please call Stella."), (wav, "")],
            );
            let found = tree.load().unwrap();
            assert_eq!(
                (found.len(), found[0].speaker.as_str(), found[0].id.as_str(), found[0].path.clone()),
                (1, "p225", "p225_001", tree.0.join(wav))
            );
        }
    }

    #[test]
    fn errors_name_the_file_and_line() {
        let tree = Tree::new("empty", &[("readme.txt", "")]);
        assert!(tree.error().contains("this is not a corpus"));
        let tree = Tree::new("no-wav", &[("metadata.csv", "a|Hi.")]);
        assert!(tree.error().contains("a.wav is missing"));
        let tree = Tree::new("no-bar", &[("metadata.csv", "a|Hi.\nHello"), ("wavs/a.wav", "")]);
        assert!(tree.error().contains("metadata.csv, line 2"));
        let tree = Tree::new("escape", &[("metadata.csv", "../a|Hi.")]);
        assert!(tree.error().contains("line 1: the id is empty or is a path"));
        let tree = Tree::new("no-text", &[("metadata.csv", "a| "), ("wavs/a.wav", "")]);
        assert!(tree.error().contains("line 1: the text is empty"));
        let tree = Tree::new("nothing", &[("metadata.csv", "\n")]);
        assert!(tree.error().contains("there are no recordings"));
        let tree = Tree::new(
            "phones",
            &[("metadata.csv", "a|Hi."), ("wavs/a.wav", ""), ("phones/a.csv", "hh,0.2\nay,0.1\n")],
        );
        assert!(tree.error().contains("a.csv, line 2"));
        let tree = Tree::new("vctk-no-wav", &[("txt/p1/p1_001.txt", "Hi.")]);
        assert!(tree.error().contains("p1_001.wav is missing"));
        assert!(load(Path::new("/nowhere/at/all")).err().unwrap().to_string().contains("/nowhere/at/all"));
    }

    #[test]
    fn errors_name_a_file_that_is_not_utf8() {
        let tree = Tree::new("utf8", &[("wavs/a.wav", "")]);
        std::fs::write(tree.0.join("metadata.csv"), b"a|\xff\xfe").unwrap();
        assert!(tree.error().ends_with("metadata.csv: it is not UTF-8"));
    }
}
