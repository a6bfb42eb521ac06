//! People whose recordings are packaged by Debian. They are held out of all training: quality is measured on them, and defaults are chosen on them. Voices of the
//! teacher confirm, see [`super::teacher::HELD_OUT_VOICES`].

use std::path::{Path, PathBuf};

/// The layout of a person's recordings and their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A folder with CMU's `transcription`, whose lines are `<s> text </s> (id)`.
    Sphinx(&'static str),
    /// Folders of words, each recorded in a file of its name, such as `egypt_camel.ogg`; joined to clips.
    Words(&'static [&'static str]),
    /// Tux Paint's descriptions of its stamps in a language, or in English if it is `None`; joined to clips.
    Stamps(Option<&'static str>),
}

impl Source {
    /// Whether the recordings are words or phrases, which are too short for clips.
    pub(super) fn is_joined(self) -> bool {
        matches!(self, Self::Words(_) | Self::Stamps(_))
    }
}

/// A person and the source of the recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    pub name: &'static str,
    /// The Debian package of the recordings.
    pub package: &'static str,
    pub licence: &'static str,
    pub credit: &'static str,
    /// The language, by espeak-ng's name.
    pub language: &'static str,
    pub(super) source: Source,
}

const GPL: &str = "GPL-2";
pub(super) const STAMPS: &str = "/usr/share/tuxpaint/stamps";
const STAMPS_CREDIT: &str = "Tux Paint Stamps: Bill Kendrick and others";

/// All people. The licences are those of the packages' copyright files.
#[rustfmt::skip]
pub const PEOPLE: [Person; 6] = [
    Person { name: "english-man", package: "ktuberling-data", licence: GPL, credit: "KTuberling: Eric Bischoff, Albert Astals Cid and others", language: "en-us",
        source: Source::Words(&["/usr/share/ktuberling/sounds/en"]) },
    Person { name: "greek-woman", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "el",
        source: Source::Stamps(Some("el")) },
    Person { name: "english-reader", package: "pocketsphinx-testdata", licence: "public domain (LibriVox), packaged under BSD-2", credit: "LibriVox reader of Sense and Sensibility, chapter 1",
        language: "en-us", source: Source::Sphinx("/usr/share/pocketsphinx/test/data/librivox") },
    Person { name: "english-woman", package: "klettres-data", licence: GPL, credit: "KLettres: Anne-Marie Mahfouf and others", language: "en-gb",
        source: Source::Words(&["/usr/share/klettres/en_GB/alpha", "/usr/share/klettres/en_GB/syllab"]) },
    Person { name: "english-narrator", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "en-us",
        source: Source::Stamps(None) },
    Person { name: "belarusian-woman", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "be",
        source: Source::Stamps(Some("be")) },
];

impl Person {
    /// Returns the folder of this person's recordings in a corpus.
    pub fn folder(&self, corpus: &Path) -> PathBuf {
        corpus.join("held-out").join(self.name)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_credits_name_everyone_whom_the_shipped_base_is_measured_on() {
        let credits = include_str!("../../../../models/CREDITS.md");
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../../../models/base/manifest.json")).unwrap();
        let speakers = manifest["speakers"].as_array().unwrap();
        for person in manifest["recipe"]["people"].as_array().unwrap() {
            let [name, package, licence, credit] =
                ["name", "package", "licence", "credit"].map(|key| person[key].as_str().unwrap());
            let row = format!("| {name} | {package} | {licence} | {credit} |");
            assert!(credits.contains(&row), "{row}");
            assert!(!speakers.iter().any(|speaker| speaker == name), "{name} is held out");
        }
    }
}
