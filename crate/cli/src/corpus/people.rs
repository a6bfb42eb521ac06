//! People whose recordings are packaged by Debian, and whether they may be trained on or only measured on.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The use of a person's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Bases are trained on them; their licence allows derived works.
    Train,
    /// They are held out, and defaults are chosen on them. Voices of the teacher confirm, see [`super::teacher::HELD_OUT_VOICES`].
    Choose,
}

/// The layout of a person's recordings and their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The Russian voice of festvox: recordings in `wav/`, phones with their times in `lab/`.
    Festvox(&'static str),
    /// Prompts of a telephone exchange in the folder of a voice, with texts in `core-sounds-<language>.txt.gz`; joined to clips.
    Asterisk(&'static str),
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
        matches!(self, Self::Words(_) | Self::Stamps(_) | Self::Asterisk(_))
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
    pub role: Role,
    pub(super) source: Source,
}

const GPL: &str = "GPL-2";
pub(super) const STAMPS: &str = "/usr/share/tuxpaint/stamps";
const STAMPS_CREDIT: &str = "Tux Paint Stamps: Bill Kendrick and others";

/// All people. The licences are those of the packages' copyright files. A base is trained on recordings only if their licence leaves its own as it is; those
/// under the GPL are only measured on.
#[rustfmt::skip]
pub const PEOPLE: [Person; 8] = [
    Person { name: "russian-nsh", package: "festvox-ru", licence: "BSD-like", credit: "2005 Nickolay V. Shmyrev", language: "ru", role: Role::Train,
        source: Source::Festvox("/usr/share/festival/voices/russian/msu_ru_nsh_clunits") },
    Person { name: "russian-ivrvoice", package: "asterisk-core-sounds-ru-g722", licence: "CC-BY-3.0", credit: "2010 Maxim Topal, ivrvoice.ru", language: "ru", role: Role::Train,
        source: Source::Asterisk("ru_RU_f_IvrvoiceRU") },
    Person { name: "english-man", package: "ktuberling-data", licence: GPL, credit: "KTuberling: Eric Bischoff, Albert Astals Cid and others", language: "en-us", role: Role::Choose,
        source: Source::Words(&["/usr/share/ktuberling/sounds/en"]) },
    Person { name: "greek-woman", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "el", role: Role::Choose,
        source: Source::Stamps(Some("el")) },
    Person { name: "english-reader", package: "pocketsphinx-testdata", licence: "public domain (LibriVox), packaged under BSD-2", credit: "LibriVox reader of Sense and Sensibility, chapter 1",
        language: "en-us", role: Role::Choose, source: Source::Sphinx("/usr/share/pocketsphinx/test/data/librivox") },
    Person { name: "english-woman", package: "klettres-data", licence: GPL, credit: "KLettres: Anne-Marie Mahfouf and others", language: "en-gb", role: Role::Choose,
        source: Source::Words(&["/usr/share/klettres/en_GB/alpha", "/usr/share/klettres/en_GB/syllab"]) },
    Person { name: "english-narrator", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "en-us", role: Role::Choose,
        source: Source::Stamps(None) },
    Person { name: "belarusian-woman", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "be", role: Role::Choose,
        source: Source::Stamps(Some("be")) },
];

impl Person {
    /// Whether no part of a base may be trained on this person.
    pub fn is_held_out(&self) -> bool {
        self.role != Role::Train
    }

    /// Whether bases learn only from the sound of the recordings, because texts in other languages would teach sequences of phones that English lacks.
    pub fn is_without_text(&self) -> bool {
        matches!(self.source, Source::Asterisk(_))
    }

    /// Returns the folder of this person's recordings in a corpus.
    pub fn folder(&self, corpus: &Path) -> PathBuf {
        match self.role {
            Role::Choose => corpus.join("held-out").join(self.name),
            Role::Train => corpus.join(self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credits_name_everyone_behind_the_shipped_base() {
        let credits = include_str!("../../../../models/CREDITS.md");
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../../../models/base/manifest.json")).unwrap();
        let speakers = manifest["speakers"].as_array().unwrap();
        for person in manifest["recipe"]["people"].as_array().unwrap() {
            let [name, package, licence, credit] =
                ["name", "package", "licence", "credit"].map(|key| person[key].as_str().unwrap());
            let row = format!("| {name} | {package} | {licence} | {credit} |");
            assert!(credits.contains(&row), "{row}");
            let is_trained = speakers.iter().any(|speaker| speaker == name);
            assert_eq!(is_trained, person["role"] == "train", "{name}");
        }
    }

    #[test]
    fn the_held_out_people_are_several_and_separate_from_training() {
        let of = |role: Role| PEOPLE.iter().filter(move |person| person.role == role);
        assert!(of(Role::Choose).count() >= 4);
        let languages: std::collections::BTreeSet<_> =
            PEOPLE.iter().filter(|person| person.is_held_out()).map(|person| person.language).collect();
        assert!(languages.len() >= 2 && languages.contains("en-us"), "{languages:?}");
        let is_shared_alike =
            |person: &Person| person.licence.contains("GPL") || person.licence.contains("-SA");
        assert!(!of(Role::Train).any(is_shared_alike), "{PEOPLE:?}");
        // No package may serve both uses, because its people may share rooms and microphones.
        for held_out in PEOPLE.iter().filter(|person| person.is_held_out()) {
            assert!(of(Role::Train).all(|person| person.package != held_out.package));
        }
    }
}
