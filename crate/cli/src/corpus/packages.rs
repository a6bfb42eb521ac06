//! Reads the recordings of [`super::people`] from the folders of their packages, each in its layout.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::people::{PEOPLE, Person, STAMPS, Source};
use ownvoice::{Error, Result, text::Phonemizer};

/// A recording in any format, with its text.
pub struct SpokenText {
    pub path: PathBuf,
    pub text: String,
}

/// Returns a person's recordings, sorted by path.
pub fn recordings(person: &Person) -> Result<Vec<SpokenText>> {
    let mut found = match person.source {
        Source::Sphinx(folder) => sphinx(Path::new(folder))?,
        Source::Words(folders) => words(folders)?,
        Source::Stamps(language) => stamps(language)?,
    };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Reads CMU's layout, with lines of `<s> text </s> (id)`.
fn sphinx(folder: &Path) -> Result<Vec<SpokenText>> {
    let line = |line: &str| {
        let (text, id) = line.strip_prefix("<s>")?.split_once("</s>")?;
        let id = id.trim().trim_start_matches('(').trim_end_matches(')');
        Some(SpokenText { path: folder.join(format!("{id}.wav")), text: text.trim().to_string() })
    };
    Ok(read(&folder.join("transcription"))?
        .lines()
        .filter_map(line)
        .filter(|found| found.path.is_file())
        .collect())
}

/// The theme of KTuberling that another person speaks.
const OTHER_SPEAKER: &str = "tv_";

/// Reads recordings of single words that the lexicon has. The name of a theme may be before the word, separated by an underscore.
fn words(folders: &[&str]) -> Result<Vec<SpokenText>> {
    let phonemizer = Phonemizer::embedded();
    let mut found = Vec::new();
    for path in folders.iter().map(|folder| entries(Path::new(folder))).collect::<Result<Vec<_>>>()?.concat()
    {
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let word = stem.rsplit('_').next().unwrap_or_default();
        // A single letter is spoken by its name, but "a" in lower case would be the article.
        let text = if word.len() == 1 { word.to_uppercase() } else { word.to_string() };
        if phonemizer.lexicon().get(word).is_some() && !stem.starts_with(OTHER_SPEAKER) {
            found.push(SpokenText { path, text });
        }
    }
    Ok(found)
}

/// Reads Tux Paint's layout: the text of `<name>_desc_<language>.ogg` is the line `<language>.utf8=text` of `<name>.txt`; that of `<name>_desc.ogg` is the
/// first line without its article.
fn stamps(language: Option<&str>) -> Result<Vec<SpokenText>> {
    let end = language.map_or("_desc.ogg".to_string(), |language| format!("_desc_{language}.ogg"));
    let key = language.map_or(String::new(), |language| format!("{language}.utf8="));
    let mut found = Vec::new();
    for path in below(Path::new(STAMPS))? {
        let Some(stem) = path.to_str().and_then(|path| path.strip_suffix(&end)) else { continue };
        let texts = fs::read_to_string(format!("{stem}.txt")).unwrap_or_default();
        let text = texts.lines().find_map(|line| line.strip_prefix(&key)).map(str::trim);
        let article =
            |text| ["A ", "An ", "Two "].iter().find_map(|article| str::strip_prefix(text, article));
        let text = text.map(|text| article(text).filter(|_| language.is_none()).unwrap_or(text));
        if let Some(text) = text.filter(|text| text.chars().any(char::is_alphabetic)) {
            found.push(SpokenText { path, text: text.to_string() });
        }
    }
    Ok(found)
}

/// Returns all files below a folder.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() { found.extend(below(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

/// Returns the sorted entries of a folder. If it is missing, the error names the packages to install.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(missing(folder))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// Reads a text file of a package.
fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(missing(path))
}

/// An error that names the packages to install.
fn missing(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| {
        let packages: Vec<&str> = PEOPLE.iter().map(|person| person.package).collect();
        Error::corpus_invalid(format!(
            "{}: {error}; install the packages {}",
            path.display(),
            packages.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_package_is_named() {
        let message = entries(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("pocketsphinx-testdata") && message.contains("klettres-data"), "{message}");
    }
}
