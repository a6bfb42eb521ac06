//! Reads the recordings of [`super::people`] from the folders of their packages, each in its layout.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    people::{PEOPLE, Person, STAMPS, Source},
    program::run,
};
use ownvoice::{Error, Result, text::Phonemizer};

/// The words of a recording.
pub enum Words {
    Text(String),
    /// ARPAbet phones with stress, empty for a pause, and their ends in seconds.
    Phones(Vec<(&'static str, f32)>),
}

/// A recording in any format, with its words.
pub struct WordedRecording {
    pub path: PathBuf,
    pub words: Words,
}

/// Returns a person's recordings, sorted by path.
pub fn recordings(person: &Person) -> Result<Vec<WordedRecording>> {
    let mut found = match person.source {
        Source::Festvox(folder) => festvox(Path::new(folder))?,
        Source::Asterisk(voice) => asterisk(voice, person.language)?,
        Source::Sphinx(folder) => sphinx(Path::new(folder))?,
        Source::Words(folders) => words(folders)?,
        Source::Stamps(language) => stamps(language)?,
    };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Reads the layout of festvox: each file in `lab/` has a header, then lines of `end_seconds 125 phone`.
fn festvox(folder: &Path) -> Result<Vec<WordedRecording>> {
    let mut found = Vec::new();
    for label in entries(&folder.join("lab"))? {
        let path =
            folder.join("wav").join(label.file_stem().expect("a file has a name")).with_extension("wav");
        if path.is_file() {
            found.push(WordedRecording { path, words: Words::Phones(russian_phones(&read(&label)?)?) });
        }
    }
    Ok(found)
}

/// The phones of festvox-ru (doubled letters are palatalised consonants or stressed vowels) and the nearest ARPAbet phones; a pause is empty.
#[rustfmt::skip]
const RUSSIAN: &[(&str, &str)] = &[
    ("pau", ""), ("aa", "AA1"), ("a", "AH0"), ("ae", "AH0"), ("ay", "IH0"), ("ii", "IY1"), ("i", "IH0"), ("yy", "IH1"), ("y", "IH0"),
    ("uu", "UW1"), ("u", "UW0"), ("ur", "UW0"), ("ee", "EH1"), ("e", "EH0"), ("oo", "AO1"), ("j", "Y"), ("c", "T S"), ("ch", "CH"), ("sch", "SH"),
    ("sh", "SH"), ("zh", "ZH"), ("h", "HH"), ("hh", "HH"), ("p", "P"), ("pp", "P"), ("b", "B"), ("bb", "B"), ("t", "T"), ("tt", "T"), ("d", "D"), ("dd", "D"),
    ("k", "K"), ("kk", "K"), ("g", "G"), ("gg", "G"), ("m", "M"), ("mm", "M"), ("n", "N"), ("nn", "N"), ("l", "L"), ("ll", "L"), ("r", "R"), ("rr", "R"),
    ("f", "F"), ("ff", "F"), ("v", "V"), ("vv", "V"), ("s", "S"), ("ss", "S"), ("z", "Z"), ("zz", "Z"),
];

/// Parses the phones of a recording. A phone that becomes two ARPAbet phones gives each half of its duration.
fn russian_phones(label: &str) -> Result<Vec<(&'static str, f32)>> {
    let (mut phones, mut start) = (Vec::new(), 0.0);
    for line in label.lines().skip_while(|line| *line != "#").skip(1) {
        let mut fields = line.split_whitespace();
        let (Some(end), Some(name)) = (fields.next().and_then(|end| end.parse::<f32>().ok()), fields.nth(1))
        else {
            continue;
        };
        let entry = RUSSIAN.iter().find(|(phone, _)| *phone == name);
        let (_, ours) =
            entry.ok_or_else(|| Error::corpus_invalid(format!("festvox-ru has an unknown phone: {name}")))?;
        let count = ours.split(' ').count() as f32;
        phones.extend(
            ours.split(' ')
                .enumerate()
                .map(|(index, phone)| (phone, start + (end - start) * (index + 1) as f32 / count)),
        );
        start = end;
    }
    Ok(phones)
}

const ASTERISK_SOUNDS: &str = "/usr/share/asterisk/sounds";
const ASTERISK_DOCUMENTS: &str = "/usr/share/doc";

/// Reads the prompts of a voice, those whose text is known.
fn asterisk(voice: &str, language: &str) -> Result<Vec<WordedRecording>> {
    let folder = Path::new(ASTERISK_SOUNDS).join(voice);
    entries(&folder)?; // Names the missing package in its error.
    let output = run(Command::new("gzip").arg("-dc").arg(asterisk_texts(language)?))?;
    let recorded = |(name, text): (&str, &str)| {
        let path = folder.join(name).with_extension("g722");
        path.is_file().then(|| WordedRecording { path, words: Words::Text(text.to_string()) })
    };
    Ok(prompts(&String::from_utf8_lossy(&output.stdout)).filter_map(recorded).collect())
}

/// Returns the file with the texts of the prompts, which is part of the documentation of its package.
fn asterisk_texts(language: &str) -> Result<PathBuf> {
    let package = format!("asterisk-core-sounds-{language}");
    let texts = Path::new(ASTERISK_DOCUMENTS).join(&package).join(format!("core-sounds-{language}.txt.gz"));
    fs::metadata(&texts).map_err(|error| {
        Error::corpus_invalid(format!(
            "{}: {error}; install the package {package} with its documentation, which some systems exclude (path-exclude of dpkg)",
            texts.display()
        ))
    })?;
    Ok(texts)
}

/// Parses lines of `name: text`, where `name` is a path without extension. Texts in brackets describe sounds and are left out, and so are texts with question
/// marks inside words, which stand for letters that a conversion lost.
fn prompts(texts: &str) -> impl Iterator<Item = (&str, &str)> {
    let speech = |text: &str| {
        text.chars().any(char::is_alphanumeric)
            && !text.starts_with(['[', '(', '{'])
            && !text.trim_end_matches('?').contains(['?', char::REPLACEMENT_CHARACTER])
    };
    texts
        .lines()
        .filter(|line| !line.trim_start_matches('\u{feff}').starts_with(';'))
        .filter_map(|line| line.split_once(": "))
        .map(|(name, text)| (name.trim(), text.trim()))
        .filter(move |(_, text)| speech(text))
}

/// Reads CMU's layout, with lines of `<s> text </s> (id)`.
fn sphinx(folder: &Path) -> Result<Vec<WordedRecording>> {
    let line = |line: &str| {
        let (text, id) = line.strip_prefix("<s>")?.split_once("</s>")?;
        let id = id.trim().trim_start_matches('(').trim_end_matches(')');
        Some(WordedRecording {
            path: folder.join(format!("{id}.wav")),
            words: Words::Text(text.trim().to_string()),
        })
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
fn words(folders: &[&str]) -> Result<Vec<WordedRecording>> {
    let phonemizer = Phonemizer::embedded();
    let mut found = Vec::new();
    for path in folders.iter().map(|folder| entries(Path::new(folder))).collect::<Result<Vec<_>>>()?.concat()
    {
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let word = stem.rsplit('_').next().unwrap_or_default();
        // A single letter is spoken by its name, but "a" in lower case would be the article.
        let text = if word.len() == 1 { word.to_uppercase() } else { word.to_string() };
        if phonemizer.lexicon().get(word).is_some() && !stem.starts_with(OTHER_SPEAKER) {
            found.push(WordedRecording { path, words: Words::Text(text) });
        }
    }
    Ok(found)
}

/// Reads Tux Paint's layout: the text of `<name>_desc_<language>.ogg` is the line `<language>.utf8=text` of `<name>.txt`; that of `<name>_desc.ogg` is the
/// first line without its article.
fn stamps(language: Option<&str>) -> Result<Vec<WordedRecording>> {
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
            found.push(WordedRecording { words: Words::Text(text.to_string()), path });
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
    fn russian_phones_have_their_times() {
        let label = "separator ;\n#\n0.2 125 pau\n0.3 125 c\n0.5 125 aa\n0.6 125 pau\n";
        let phones = russian_phones(label).unwrap();
        assert_eq!(phones.iter().map(|(phone, _)| *phone).collect::<Vec<_>>(), ["", "T", "S", "AA1", ""]);
        let ends: Vec<f32> = phones.iter().map(|(_, end)| *end).collect();
        assert_eq!(ends, [0.2, 0.25, 0.3, 0.5, 0.6]);
        assert!(russian_phones("#\n0.2 125 qq\n").is_err());
        assert!(RUSSIAN.iter().all(|(_, ours)| ownvoice::text::symbols::parse(ours).is_some()));
    }

    #[test]
    fn prompts_without_speech_are_left_out() {
        let texts = "\u{feff}; Sounds\n\nactivated: Attivato.\nbeep: [a tone]\ndigits/0: zero\nat: il tempo sar? esattamente\nagain: Ancora?\n";
        let found: Vec<_> = prompts(texts).collect();
        assert_eq!(found, [("activated", "Attivato."), ("digits/0", "zero"), ("again", "Ancora?")]);
    }

    #[test]
    fn a_missing_package_is_named() {
        let message = entries(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("festvox-ru") && message.contains("klettres-data"), "{message}");
        let message = asterisk_texts("xx").unwrap_err().to_string();
        assert!(
            message.contains("asterisk-core-sounds-xx") && message.contains("documentation"),
            "{message}"
        );
    }
}
