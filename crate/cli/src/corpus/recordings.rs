//! Finds the recording of an id in the folders of a corpus.

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
};

use unicode_normalization::UnicodeNormalization;

use ownvoice::{Error, Result};

/// The extensions of recordings, of which the first is taken if a recording is there in several formats. Their case does not matter.
pub const EXTENSIONS: [&str; 21] = [
    "wav", "wave", "flac", "mp3", "m4a", "m4b", "mp4", "aac", "ogg", "oga", "opus", "webm", "weba", "mka",
    "mkv", "mov", "aiff", "aif", "aifc", "caf", "3gp",
];

/// Finds recordings by their ids: names of files with or without extension, perhaps with a path, in any Unicode form. Each folder is listed once.
#[derive(Default)]
pub struct Recordings {
    folders: HashMap<PathBuf, HashMap<String, PathBuf>>,
}

impl Recordings {
    /// Returns the recording of an id in the first of the folders that has it. Of several formats, the first of [`EXTENSIONS`] is taken.
    ///
    /// # Errors
    /// Fails if an id leads out of the folders, or if there is no such recording.
    pub fn find(&mut self, folders: &[PathBuf], id: &str) -> Result<PathBuf, String> {
        let path = relative(id)
            .ok_or("the id is a path that leads out of the folder; write the name of the recording")?;
        for folder in folders {
            let file = folder.join(&path);
            let parent = file.parent().expect("a file has a folder").to_path_buf();
            let listed = self.folders.entry(parent).or_insert_with_key(|folder| list(folder));
            let composed = composed(&name(&path));
            if let Some(found) = listed.get(&composed).or_else(|| listed.get(without_extension(&composed)?)) {
                return Ok(found.clone());
            }
        }
        Err(format!(
            "{} is missing, and so are the other formats ({})",
            folders[0].join(format!("{}.wav", without_extension(id).unwrap_or(id))).display(),
            EXTENSIONS[1..].join(", ")
        ))
    }
}

/// Returns the names of the recordings in a folder, without extension, and their paths. A folder that does not exist has none.
fn list(folder: &Path) -> HashMap<String, PathBuf> {
    let mut found: HashMap<String, (usize, PathBuf)> = HashMap::new();
    for path in entries(folder).unwrap_or_default() {
        let Some(rank) = rank(&path).filter(|_| path.is_file()) else { continue };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let entry = found.entry(composed(&stem)).or_insert_with(|| (rank, path.clone()));
        if rank < entry.0 {
            *entry = (rank, path);
        }
    }
    found.into_iter().map(|(name, (_, path))| (name, path)).collect()
}

/// Returns whether a folder exists and has a recording.
pub fn has_any(folder: &Path) -> bool {
    entries(folder).unwrap_or_default().iter().any(|path| rank(path).is_some() && path.is_file())
}

/// Returns the recordings in a folder that have a text file of the same name beside them, with that file, and the recordings that have none.
pub fn pairs(folder: &Path) -> Result<(Vec<(PathBuf, PathBuf)>, Vec<PathBuf>)> {
    let (mut with_text, mut without) = (Vec::new(), Vec::new());
    for path in list(folder).into_values() {
        match text_beside(&path)? {
            Some(text) => with_text.push((path, text)),
            None => without.push(path),
        }
    }
    with_text.sort();
    without.sort();
    Ok((with_text, without))
}

/// Returns the text file of the same name as a recording, in the same folder.
pub fn text_beside(recording: &Path) -> Result<Option<PathBuf>> {
    let folder = recording.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stem = |path: &Path| composed(&path.file_stem().unwrap_or_default().to_string_lossy());
    Ok(entries(folder)?
        .into_iter()
        .find(|path| has_extension(path, "txt") && stem(path) == stem(recording) && path.is_file()))
}

pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Returns the place of a file's extension in [`EXTENSIONS`].
fn rank(path: &Path) -> Option<usize> {
    EXTENSIONS.into_iter().position(|extension| has_extension(path, extension))
}

/// Returns a name without the extension of a recording, if it has one.
pub fn without_extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    EXTENSIONS.into_iter().any(|known| known.eq_ignore_ascii_case(extension)).then_some(stem)
}

/// Returns a name in composed form (NFC). macOS stores the names of files decomposed.
pub fn composed(name: &str) -> String {
    name.nfc().collect()
}

/// Returns an id as a path below a folder. Windows separates by backslashes.
fn relative(id: &str) -> Option<PathBuf> {
    let path = PathBuf::from(id.replace('\\', "/"));
    let normal = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path: PathBuf = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    (normal && path.file_name().is_some() && !name(&path).starts_with('.')).then_some(path)
}

/// Returns an error of a corpus about a file.
pub fn invalid(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::corpus_invalid(format!("{}: {what}", path.display()))
}

/// Returns the last component of a path.
pub fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the sorted entries of a folder, without hidden ones: macOS writes `._a.wav` beside `a.wav`, and `__MACOSX` into archives.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error: std::io::Error| invalid(folder, error);
    let mut entries = std::fs::read_dir(folder)
        .map_err(unreadable)?
        .map(|entry| Ok(entry.map_err(unreadable)?.path()))
        .collect::<Result<Vec<_>>>()?;
    entries.retain(|entry| !name(entry).starts_with('.') && name(entry) != "__MACOSX");
    entries.sort();
    Ok(entries)
}
