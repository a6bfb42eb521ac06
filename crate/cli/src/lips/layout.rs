//! The folder layout of video corpora, as of the public Lip2Wav corpora and of `ownvoice lips corpus`.
//!
//! ```text
//! DIR/<speaker>/intervals/<video>/cut-<n>.mp4    pieces of half a minute; if a speaker has them, only they are read
//! DIR/<speaker>/<video>.mp4                      or in DIR/<speaker>/videos
//! DIR/<speaker>/metadata.csv                     `video|text`; optional
//! DIR/<video>.mp4                                if no folder has videos: one speaker, with the name of DIR
//! ```

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use ownvoice::{Error, Result};

/// The extensions of video files.
const EXTENSIONS: [&str; 10] = ["mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg", "ts", "3gp"];

/// A video of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoFile {
    pub speaker: String,
    /// The id, unique for the speaker.
    pub id: String,
    /// The transcript; empty if there is none.
    pub text: String,
    pub path: PathBuf,
}

/// Lists all videos below a folder by speaker and name.
///
/// # Errors
/// Fails with `corpus-invalid` if there is none, or with `io`.
pub fn videos(directory: &Path) -> Result<Vec<VideoFile>> {
    let mut found = Vec::new();
    for folder in entries(directory)?.into_iter().filter(|path| path.is_dir()) {
        found.extend(of_speaker(&folder)?);
    }
    if found.is_empty() {
        found = of_speaker(directory)?;
    }
    if found.is_empty() {
        return Err(
            Error::corpus_invalid("neither the folder nor its subfolders hold a video").in_file(directory)
        );
    }
    Ok(found)
}

fn of_speaker(folder: &Path) -> Result<Vec<VideoFile>> {
    let speaker = fs::canonicalize(folder).map_err(Error::io(folder))?;
    let speaker = speaker.file_name().map_or("speaker".into(), |name| name.to_string_lossy().into_owned());
    let texts = texts(&folder.join("metadata.csv"))?;
    let mut paths = Vec::new();
    let intervals = folder.join("intervals");
    if intervals.is_dir() {
        for video in entries(&intervals)?.into_iter().filter(|path| path.is_dir()) {
            paths.extend(entries(&video)?);
        }
    }
    if !paths.iter().any(|path| is_video(path)) {
        paths = entries(folder)?;
        let videos = folder.join("videos");
        if videos.is_dir() {
            paths.extend(entries(&videos)?);
        }
    }
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let file = |path: PathBuf| {
        // The numbers of pieces are unique only within a video's folder.
        let id = match path.parent() {
            Some(parent) if parent.parent() == Some(&intervals) => {
                format!("{}-{}", name(parent), name(&path))
            }
            _ => name(&path),
        };
        let text = texts.get(&id).cloned().unwrap_or_default();
        VideoFile { speaker: speaker.clone(), id, text, path }
    };
    Ok(paths.into_iter().filter(|path| is_video(path)).map(file).collect())
}

fn is_video(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    path.is_file() && extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// Returns the sorted entries of a folder, without hidden ones.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)
        .and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
        })
        .map_err(Error::io(folder))?;
    let shown =
        |path: &PathBuf| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
    paths.retain(shown);
    paths.sort();
    Ok(paths)
}

fn texts(path: &Path) -> Result<HashMap<String, String>> {
    if !path.is_file() {
        return Ok(HashMap::new());
    }
    let lines = fs::read_to_string(path).map_err(Error::io(path))?;
    let pair = |line: &str| line.split_once('|').map(|(id, text)| (id.to_string(), text.trim().to_string()));
    Ok(lines.lines().filter_map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str]) -> Result<Vec<(String, String, String)>> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("set");
        fs::create_dir(&root).unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "one|Said in one.\n").unwrap();
        }
        let found = videos(&root)?;
        assert!(found.iter().all(|file| file.path.is_file()));
        Ok(found.into_iter().map(|file| (file.speaker, file.id, file.text)).collect())
    }

    fn file(speaker: &str, id: &str, text: &str) -> (String, String, String) {
        (speaker.into(), id.into(), text.into())
    }

    #[test]
    fn the_layout_of_public_corpora_is_read() {
        let files = [
            "chem/intervals/abc/cut-0.mp4",
            "chem/intervals/abc/cut-1.mp4",
            "chem/intervals/xyz/cut-0.mp4",
            "chem/abc.mp4",
            "chess/game.MKV",
            "chess/.hidden.mp4",
            "hs/videos/lecture.webm",
            "README.txt",
        ];
        let expected = [
            file("chem", "abc-cut-0", ""),
            file("chem", "abc-cut-1", ""),
            file("chem", "xyz-cut-0", ""),
            file("chess", "game", ""),
            file("hs", "lecture", ""),
        ];
        assert_eq!(found(&files).unwrap(), expected);
    }

    #[test]
    fn texts_are_assigned_by_name_and_a_folder_of_videos_is_one_speaker() {
        let both = found(&["one.mp4", "two.mp4", "metadata.csv"]).unwrap();
        assert_eq!(both, [file("set", "one", "Said in one."), file("set", "two", "")]);
        assert_eq!(found(&["notes.txt"]).unwrap_err().code(), "corpus-invalid");
        assert_eq!(videos(Path::new("/nowhere")).unwrap_err().code(), "io");
    }
}
