//! The folder layouts of speech corpora: LJSpeech, LibriTTS, VCTK, and our own with several speakers.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::{
    list,
    phones::parse_csv,
    recording::Recording,
    recordings::{self, Recordings, composed, entries, has_extension, name},
};
use ownvoice::{Error, Result, report::Report};

/// The folders of recordings beside a list, in the order in which they are searched. The last is the folder of the list itself.
const SOUND_FOLDERS: [&str; 5] = ["wavs", "wav", "clips", "audio", ""];
/// The names of lists without extension, in the order in which they are tried.
const LIST_NAMES: [&str; 4] = ["metadata", "transcripts", "transcript", "list"];
const LIST_EXTENSIONS: [&str; 3] = ["csv", "tsv", "txt"];

/// A folder layout of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One speaker, named by the folder: a list such as `metadata.csv`, and recordings in `wavs/<id>.wav` or beside the list.
    LjSpeech,
    /// One speaker, named by the folder: `<id>.wav` with `<id>.txt` beside it.
    Pairs,
    /// `<speaker>/<chapter>/<id>.wav` with `<id>.normalized.txt`, perhaps below one more folder for the subset.
    LibriTts,
    /// `txt/<speaker>/<id>.txt` and `wav48/<speaker>/<id>.wav`, or `wav48_silence_trimmed/<speaker>/<id>_mic1.wav`.
    Vctk,
    /// Our own layout: `<speaker>/` in the layout of LJSpeech or of pairs, with `phones/<id>.csv` if the engine printed its phones. `held-out/` is not read.
    Speakers,
}

/// Detects the layout of a folder by its files.
pub fn detect(root: &Path) -> Result<Layout> {
    if let Some(layout) = of_speaker(root)? {
        return Ok(layout);
    }
    if root.join("txt").is_dir() {
        return Ok(Layout::Vctk);
    }
    for folder in folders(root)? {
        if of_speaker(&folder)?.is_some() {
            return Ok(Layout::Speakers);
        }
    }
    if !normalized_texts(root, 3)?.is_empty() {
        return Ok(Layout::LibriTts);
    }
    Err(recordings::invalid(
        root,
        "there is no metadata.csv, no txt/ and no *.normalized.txt, so this is not a corpus in a known layout; write a \
         metadata.csv with lines of id|text, or a text beside each recording, such as a.txt beside a.wav",
    ))
}

/// Returns the layout of the folder of one speaker, or `None` if it is none.
fn of_speaker(folder: &Path) -> Result<Option<Layout>> {
    if list_in(folder)?.is_some() {
        return Ok(Some(Layout::LjSpeech));
    }
    let is_paired = !paired(folder)?.0.is_empty();
    Ok(is_paired.then_some(Layout::Pairs))
}

/// Returns all recordings of a corpus, sorted by speaker and id. Reports those that are left out, such as a text without its recording.
///
/// # Errors
/// Names the first file, and the line of a list, that is invalid, or that is missing if all are.
pub fn load(root: &Path, report: &dyn Report) -> Result<impl Iterator<Item = Recording> + use<>> {
    let mut found =
        Found { recordings: Vec::new(), left_out: Vec::new(), index: Recordings::default(), report };
    match detect(root)? {
        Layout::LibriTts => found.libri_tts(root)?,
        Layout::Vctk => found.vctk(root)?,
        Layout::Speakers => {
            for folder in folders(root)? {
                if let Some(layout) = of_speaker(&folder)? {
                    found.speaker(&folder, layout)?;
                }
            }
        }
        layout => found.speaker(root, layout)?,
    }
    let Found { mut recordings, left_out, .. } = found;
    if recordings.is_empty() {
        let none = || recordings::invalid(root, "there are no recordings");
        return Err(left_out.into_iter().next().unwrap_or_else(none));
    }
    recordings.sort_by(|a, b| (&a.speaker, &a.id).cmp(&(&b.speaker, &b.id)));
    Ok(recordings.into_iter())
}

/// The recordings that were found so far.
struct Found<'a> {
    recordings: Vec<Recording>,
    left_out: Vec<Error>,
    index: Recordings,
    report: &'a dyn Report,
}

impl Found<'_> {
    /// Reports an error that leaves out one recording.
    fn leave_out(&mut self, error: Error) {
        self.report.note(&format!("left out: {error}"));
        self.left_out.push(error);
    }

    /// Reads the folder of one speaker.
    fn speaker(&mut self, folder: &Path, layout: Layout) -> Result<()> {
        // The path may be ".", which has no name.
        let full = std::fs::canonicalize(folder).map_err(Error::io(folder))?;
        let speaker = composed(&name(&full));
        match layout {
            Layout::Pairs => self.pairs(folder, &speaker),
            _ => self.lj_speech(folder, &speaker),
        }
    }

    /// Reads the layout of LJSpeech.
    fn lj_speech(&mut self, root: &Path, speaker: &str) -> Result<()> {
        let metadata = list_in(root)?.unwrap_or_else(|| root.join("metadata.csv"));
        let folders = sound_folders(root);
        let mut lines: HashMap<PathBuf, list::Entry> = HashMap::new();
        for entry in list::read(&metadata)? {
            let line = entry.line;
            let path = match self.index.find(&folders, &entry.id) {
                Ok(path) => path,
                Err(_) if self.index.find(&folders, &entry.text).is_ok() => {
                    let what =
                        "the text is before the id; write id|text, or name the columns in a first line";
                    return Err(list::invalid(&metadata, line, what));
                }
                Err(what) => {
                    self.leave_out(list::invalid(&metadata, line, what));
                    continue;
                }
            };
            if let Some(earlier) = lines.get(&path) {
                let what = format!("the id {} is that of line {}", entry.id, earlier.line);
                if earlier.text != entry.text {
                    let what = format!("{what}, with another text; remove one of them");
                    return Err(list::invalid(&metadata, line, what));
                }
                self.report.note(&format!("left out: {}", list::invalid(&metadata, line, what)));
                continue;
            }
            let id = id_of(root, &path);
            let phones = root.join("phones").join(format!("{id}.csv"));
            let phones = if phones.is_file() {
                Some(parse_csv(&phones, &list::read_to_string(&phones)?)?)
            } else {
                None
            };
            self.recordings.push(Recording {
                speaker: entry.speaker.clone().unwrap_or_else(|| speaker.to_string()),
                id,
                text: entry.text.clone(),
                path: path.clone(),
                phones,
            });
            lines.insert(path, entry);
        }
        Ok(())
    }

    /// Reads recordings with texts beside them.
    fn pairs(&mut self, root: &Path, speaker: &str) -> Result<()> {
        let (pairs, without_text) = paired(root)?;
        for path in without_text {
            self.leave_out(recordings::invalid(
                &path,
                "there is no text beside it, in a file of the same name as .txt",
            ));
        }
        for (path, text) in pairs {
            match list::read_text(&text) {
                Ok(text) => self.recordings.push(Recording {
                    speaker: speaker.to_string(),
                    id: id_of(root, &path),
                    text,
                    path,
                    phones: None,
                }),
                Err(error) => self.leave_out(error),
            }
        }
        Ok(())
    }

    /// Reads the layout of LibriTTS.
    fn libri_tts(&mut self, root: &Path) -> Result<()> {
        for file in normalized_texts(root, 3)? {
            let id = name(&file).trim_end_matches(".normalized.txt").to_string();
            // <speaker>_<chapter>_<paragraph>_<sentence>
            let (speaker, _) = id
                .split_once('_')
                .ok_or_else(|| recordings::invalid(&file, "there is no speaker before \"_\""))?;
            let folder = file.parent().expect("a file has a folder").to_path_buf();
            let found = self.index.find(&[folder], &id);
            self.push_with_text(speaker, id.clone(), &file, found);
        }
        Ok(())
    }

    /// Reads the layout of VCTK, in which some texts have no recording.
    fn vctk(&mut self, root: &Path) -> Result<()> {
        for folder in folders(&root.join("txt"))? {
            let speaker = name(&folder);
            for file in files(&folder, ".txt")? {
                let id = name(&file).trim_end_matches(".txt").to_string();
                let trimmed = root.join("wav48_silence_trimmed").join(&speaker);
                let found = self.index.find(&[trimmed], &format!("{id}_mic1"));
                let found = found.or_else(|_| self.index.find(&[root.join("wav48").join(&speaker)], &id));
                self.push_with_text(&speaker, id, &file, found);
            }
        }
        Ok(())
    }

    /// Adds the recording of a text file, if both can be read.
    fn push_with_text(&mut self, speaker: &str, id: String, text: &Path, found: Result<PathBuf, String>) {
        let read = found
            .map_err(|what| recordings::invalid(text, what))
            .and_then(|path| Ok((path, list::read_text(text)?)));
        match read {
            Ok((path, text)) => {
                self.recordings.push(Recording {
                    speaker: speaker.to_string(),
                    id,
                    text,
                    path,
                    phones: None,
                });
            }
            Err(error) => self.leave_out(error),
        }
    }
}

/// Returns the list of a folder: `metadata.csv`, a list of another name, or the only table beside recordings.
fn list_in(folder: &Path) -> Result<Option<PathBuf>> {
    let all = entries(folder)?;
    let named = |(stem, extension): (&str, &str)| {
        let wanted = format!("{stem}.{extension}");
        all.iter().find(|path| name(path).eq_ignore_ascii_case(&wanted) && path.is_file())
    };
    let names = LIST_NAMES.into_iter().flat_map(|stem| LIST_EXTENSIONS.map(|extension| (stem, extension)));
    if let Some(found) = names.into_iter().find_map(named) {
        return Ok(Some(found.clone()));
    }
    let is_table = |path: &&PathBuf| ["csv", "tsv"].iter().any(|table| has_extension(path, table));
    let mut tables = all.iter().filter(is_table);
    let (Some(table), None) = (tables.next(), tables.next()) else { return Ok(None) };
    let has_sounds = sound_folders(folder).iter().any(|folder| recordings::has_any(folder));
    Ok(has_sounds.then(|| table.clone()))
}

/// Returns the recordings of a folder with their text files, and those without: in the folder itself and in its folders of recordings.
fn paired(root: &Path) -> Result<(Vec<(PathBuf, PathBuf)>, Vec<PathBuf>)> {
    let (mut with_text, mut without) = (Vec::new(), Vec::new());
    for folder in sound_folders(root).into_iter().filter(|folder| folder.is_dir()) {
        let (some, others) = recordings::pairs(&folder)?;
        with_text.extend(some);
        without.extend(others);
    }
    Ok((with_text, without))
}

fn sound_folders(root: &Path) -> Vec<PathBuf> {
    SOUND_FOLDERS.iter().map(|folder| root.join(folder)).collect()
}

/// Returns the id of a recording: its path below its folder of recordings, without extension.
fn id_of(root: &Path, path: &Path) -> String {
    let below = sound_folders(root).iter().find_map(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
    let id = composed(&below.with_extension("").to_string_lossy());
    id.replace(['/', '\\'], "_")
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
    use crate::corpus::recordings::EXTENSIONS;

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
            Ok(load(&self.0, &())?.collect())
        }

        /// Returns the ids, the texts and the files below the folder, or the error without the folder.
        fn found(&self) -> Result<Vec<(String, String, String)>, String> {
            let below = |path: &Path| path.strip_prefix(&self.0).unwrap().display().to_string();
            let recordings = self
                .load()
                .map_err(|error| error.to_string().replace(&format!("{}/", self.0.display()), ""))?;
            Ok(recordings.into_iter().map(|one| (one.id, one.text, below(&one.path))).collect())
        }

        /// Returns the notes of what is left out.
        fn notes(&self) -> Vec<String> {
            let notes = Notes::default();
            load(&self.0, &notes).unwrap().for_each(drop);
            notes.0.into_inner().unwrap()
        }

        fn error(&self) -> String {
            let error = self.load().unwrap_err();
            assert_eq!(error.code(), "corpus-invalid");
            error.to_string()
        }
    }

    #[derive(Default)]
    struct Notes(std::sync::Mutex<Vec<String>>);

    impl Report for Notes {
        fn note(&self, line: &str) {
            self.0.lock().unwrap().push(line.to_string());
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
        assert_eq!(load(&tree.0.join("held-out"), &()).unwrap().next().unwrap().speaker, "eve");
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
        assert!(tree.error().contains("line 1: the id is a path that leads out of the folder"));
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
        assert!(
            load(Path::new("/nowhere/at/all"), &()).err().unwrap().to_string().contains("/nowhere/at/all")
        );
    }

    #[test]
    fn recordings_are_found_whatever_their_extension() {
        for extension in EXTENSIONS {
            let [upper, first] = [extension.to_uppercase(), {
                let mut letters = extension.to_string();
                letters[..1].make_ascii_uppercase();
                letters
            }];
            for extension in [extension, &upper, &first] {
                let file = format!("wavs/a.{extension}");
                let tree = Tree::new(&format!("ext-{extension}"), &[("metadata.csv", "a|Hi."), (&file, "")]);
                assert_eq!(tree.found(), Ok(vec![("a".into(), "Hi.".into(), file.clone())]));
            }
        }
        // Of several formats, the first in the table.
        let tree = Tree::new("several", &[("metadata.csv", "a|Hi."), ("wavs/a.mp3", ""), ("wavs/a.WAV", "")]);
        assert_eq!(tree.found().unwrap()[0].2, "wavs/a.WAV");
    }

    #[test]
    fn ids_may_be_names_or_paths_of_files_in_any_unicode_form() {
        let (composed, decomposed) = ("zo\u{eb}", "zoe\u{308}");
        for (id, file, found) in [
            ("a.wav", "wavs/a.wav", "a"),
            ("a.WAV", "wavs/a.wav", "a"),
            ("wavs/a.wav", "wavs/a.wav", "a"),
            ("wavs/a", "wavs/a.wav", "a"),
            ("./wavs/a.wav", "wavs/a.wav", "a"),
            ("wavs\\a.wav", "wavs/a.wav", "a"),
            ("a.wav", "wavs/a.mp3", "a"),
            ("a.wav", "a.wav", "a"),
            ("a", "clips/a.mp3", "a"),
            ("a", "audio/a.ogg", "a"),
            ("one/a.wav", "wavs/one/a.wav", "one_a"),
            ("one/a.wav", "one/a.wav", "one_a"),
            ("a.b", "wavs/a.b.wav", "a.b"),
            ("a.mp3", "wavs/a.mp3.wav", "a.mp3"),
            ("LJ001-0001", "wavs/LJ001-0001.wav", "LJ001-0001"),
            (composed, &format!("wavs/{decomposed}.wav"), composed),
            (decomposed, &format!("wavs/{composed}.wav"), composed),
            (&format!("{decomposed}.wav"), &format!("wavs/{composed}.wav"), composed),
        ] {
            let tree = Tree::new("ids", &[("metadata.csv", &format!("{id}|Hi.")), (file, "")]);
            assert_eq!(tree.found(), Ok(vec![(found.into(), "Hi.".into(), file.into())]), "{id} {file}");
        }
        for id in ["../a", "/etc/passwd", "wavs/../../a", "..", "wavs/..", ".", ".a", "C:/../a"] {
            let tree = Tree::new("paths", &[("metadata.csv", &format!("{id}|Hi.")), ("wavs/b.wav", "")]);
            assert!(tree.found().unwrap_err().starts_with("metadata.csv, line 1: the id is a path"), "{id}");
        }
    }

    #[test]
    fn lists_have_several_names_and_folders_of_pairs_need_none() {
        let hi = |file: &str| Ok(vec![("a".to_string(), "Hi.".to_string(), file.to_string())]);
        for (list, text) in [
            ("metadata.csv", "a|Hi."),
            ("Metadata.CSV", "a|Hi."),
            ("metadata.txt", "a|Hi."),
            ("metadata.tsv", "id\ttext\na\tHi."),
            ("metadata.csv", "id,text\na,Hi."),
            ("metadata.csv", "text;file\nHi.;wavs/a.wav"),
            ("transcripts.tsv", "path\tsentence\na.wav\tHi."),
            ("train.tsv", "path\tsentence\na.wav\tHi."),
            ("wavs/a.txt", "Hi.\n"),
            ("wavs/a.TXT", "Hi.\r\n"),
        ] {
            let tree = Tree::new("lists", &[(list, text), ("wavs/a.wav", "")]);
            assert_eq!(tree.found(), hi("wavs/a.wav"), "{list}");
        }
        let tree =
            Tree::new("pairs", &[("a.txt", "\u{feff}Hi."), ("a.M4A", ""), ("b.wav", ""), ("notes.txt", "x")]);
        assert_eq!(tree.found(), hi("a.M4A"));
        assert!(tree.notes()[0].contains("b.wav: there is no text beside it"), "{:?}", tree.notes());
        let tree = Tree::new("speakers-of-pairs", &[("eve/a.txt", "Hi."), ("eve/a.wav", "")]);
        assert_eq!(
            (tree.load().unwrap()[0].speaker.as_str(), detect(&tree.0).unwrap()),
            ("eve", Layout::Speakers)
        );
        let list = "client_id\tpath\tsentence\neve\ta\tHi.\nbob\tb\tHo.";
        let tree = Tree::new("column", &[("metadata.tsv", list), ("clips/a.mp3", ""), ("clips/b.mp3", "")]);
        let speakers: Vec<_> = tree.load().unwrap().into_iter().map(|one| (one.speaker, one.id)).collect();
        assert_eq!(speakers, [("bob".into(), "b".into()), ("eve".into(), "a".into())]);
    }

    #[test]
    fn files_of_macos_are_not_read() {
        let tree = Tree::new(
            "macos-libri",
            &[
                ("dev/84/121/84_121_1.normalized.txt", "Hi."),
                ("dev/84/121/84_121_1.wav", ""),
                ("dev/84/121/._84_121_1.normalized.txt", "\u{0}"),
                ("dev/84/121/._84_121_1.wav", ""),
                ("__MACOSX/dev/84/121/._84_121_1.normalized.txt", "\u{0}"),
                ("dev/.DS_Store", ""),
            ],
        );
        assert_eq!((tree.load().unwrap().len(), tree.notes().len()), (1, 0));
        let tree = Tree::new(
            "macos-vctk",
            &[
                ("txt/p1/p1_001.txt", "Hi."),
                ("txt/p1/._p1_001.txt", "\u{0}"),
                ("txt/.DS_Store", ""),
                ("txt/__MACOSX/p1/p1_001.txt", "\u{0}"),
                ("wav48/p1/p1_001.wav", ""),
                ("wav48/p1/._p1_001.wav", ""),
            ],
        );
        assert_eq!((tree.load().unwrap().len(), tree.notes().len()), (1, 0));
        let tree = Tree::new(
            "macos-lj",
            &[
                ("metadata.csv", "a|Hi."),
                ("._metadata.csv", "\u{0}"),
                ("wavs/a.wav", ""),
                ("wavs/._a.wav", ""),
            ],
        );
        assert_eq!((tree.load().unwrap().len(), tree.notes().len()), (1, 0));
        let tree = Tree::new(
            "macos-pairs",
            &[("a.txt", "Hi."), ("a.wav", ""), ("._a.txt", "\u{0}"), ("._a.wav", "")],
        );
        assert_eq!((tree.load().unwrap().len(), tree.notes().len()), (1, 0));
    }

    #[test]
    fn what_is_missing_is_left_out_with_a_note_as_long_as_something_is_there() {
        let tree = Tree::new(
            "vctk-missing",
            &[
                ("txt/p1/p1_001.txt", "Hi."),
                ("txt/p1/p1_002.txt", "Ho."),
                ("txt/p2/p2_001.txt", "Hi."),
                ("txt/p1/p1_003.txt", ""),
                ("wav48/p1/p1_001.wav", ""),
                ("wav48/p1/p1_003.wav", ""),
            ],
        );
        let notes = tree.notes();
        assert_eq!((tree.load().unwrap().len(), notes.len()), (1, 3), "{notes:?}");
        assert!(
            notes[0].starts_with("left out: ")
                && notes[0].contains("p1_002.txt: ")
                && notes[0].contains("p1_002.wav is missing")
        );
        assert!(notes[1].contains("p1_003.txt: the file is empty"), "{notes:?}");
        let tree = Tree::new("lj-missing", &[("metadata.csv", "a|Hi.\n\nb|Ho."), ("wavs/a.wav", "")]);
        let notes = tree.notes();
        assert!(
            notes.len() == 1
                && notes[0].contains("metadata.csv, line 3: ")
                && notes[0].contains("b.wav is missing"),
            "{notes:?}"
        );
        let texts = [("1_2.normalized.txt", "Hi."), ("1_3.normalized.txt", "Ho."), ("1_2.wav", "")];
        let tree = Tree::new("libri-missing", &texts.map(|(name, text)| (name, text)));
        assert_eq!((tree.load().unwrap().len(), tree.notes().len()), (1, 1));
    }

    #[test]
    fn an_id_counts_once() {
        for list in ["a|Hi.\nb|Ho.\na|Hi.", "a|Hi.\nb|Ho.\nwavs/a.wav|Hi.", "a|Hi.\nb|Ho.\na.wav|Hi."] {
            let tree = Tree::new("twice", &[("metadata.csv", list), ("wavs/a.wav", ""), ("wavs/b.wav", "")]);
            assert_eq!(tree.load().unwrap().len(), 2);
            let notes = tree.notes();
            assert!(
                notes.len() == 1 && notes[0].contains("line 3: the id") && notes[0].contains("of line 1"),
                "{notes:?}"
            );
            let other = list.replacen("Hi.", "Another.", 1);
            let tree =
                Tree::new("twice-other", &[("metadata.csv", &other), ("wavs/a.wav", ""), ("wavs/b.wav", "")]);
            assert!(
                tree.error().contains("line 3: the id") && tree.error().contains("with another text"),
                "{}",
                tree.error()
            );
        }
        let tree = Tree::new("turned", &[("metadata.csv", "Hi.|a"), ("wavs/a.wav", "")]);
        assert!(tree.error().contains("line 1: the text is before the id"), "{}", tree.error());
    }

    #[test]
    fn errors_name_a_file_that_is_not_utf8() {
        let tree = Tree::new("utf8", &[("wavs/a.wav", "")]);
        std::fs::write(tree.0.join("metadata.csv"), b"a|\xff\xfe\xff").unwrap();
        assert!(tree.error().ends_with("metadata.csv, line 1: it is not UTF-8; save it as UTF-8"));
    }
}
