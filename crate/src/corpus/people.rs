//! Recordings of people that Debian packages, as a corpus: which may be trained on, and which are for measuring only.
//!
//! ```text
//! DIR/<person>/..            people to train on, in the layout of LJSpeech; without text where none is known, as under untranscribed/
//! DIR/untranscribed/<person>/wavs/<id>.wav
//! DIR/held-out/<person>/..   people to measure on, whom no part of a base trains on
//! DIR/people.json            package, licence, credit, role and seconds of each
//! ```
//!
//! Texts of other languages are written as phones in braces, see [`super::ipa`].

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsStr,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    engines::SAMPLE_RATE_HZ,
    ipa,
    make::{PERTURBATIONS, perturb},
    perturbation::Perturbation,
};
use crate::{
    Error, Result,
    audio::{
        Audio, SPEECH_LEVEL_DB,
        level::{check_clip, normalize},
        mel::MelConfig,
        prepare_clip, wav,
    },
};

/// What a person's recordings are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Bases train on them: the licence allows derived works.
    Train,
    /// Held out: defaults are chosen on them.
    Choose,
    /// Held out: what was chosen is confirmed on them.
    Confirm,
}

/// Where a person's recordings lie, and where their texts do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The Russian voice of festvox: `wav/`, and phones with their times in `lab/`.
    Festvox(&'static str),
    /// A folder, and those below it, without texts.
    Untranscribed(&'static str),
    /// The game Fish Fillets: `sound/*/<language>/*-<role>-*.ogg`, whose texts the levels' scripts hold.
    Fillets { language: &'static str, role: &'static str },
    /// A folder with CMU's `transcription`, of `<s> text </s> (id)`.
    Sphinx(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    pub name: &'static str,
    /// Debian's package of the recordings.
    pub package: &'static str,
    pub licence: &'static str,
    pub credit: &'static str,
    /// espeak-ng's name of the language.
    pub language: &'static str,
    pub role: Role,
    source: Source,
}

const FILLETS: &str = "/usr/share/games/fillets-ng";
const GPL: &str = "GPL-2";
const FILLETS_CREDIT: &str = "Fish Fillets NG: ALTAR interactive, Ivo and Pavel Danihelka and others";

/// Everyone. The copyright file of each package was read; GPL recordings are measured on only.
#[rustfmt::skip]
pub const PEOPLE: [Person; 9] = [
    Person { name: "russian-nsh", package: "festvox-ru", licence: "BSD-like", credit: "2005 Nickolay V. Shmyrev", language: "ru", role: Role::Train,
        source: Source::Festvox("/usr/share/festival/voices/russian/msu_ru_nsh_clunits") },
    Person { name: "russian-ivrvoice", package: "asterisk-core-sounds-ru-g722", licence: "CC-BY-3.0", credit: "2010 Maxim Topal, ivrvoice.ru", language: "ru", role: Role::Train,
        source: Source::Untranscribed("/usr/share/asterisk/sounds/ru_RU_f_IvrvoiceRU") },
    Person { name: "french-june", package: "asterisk-core-sounds-fr-g722", licence: "CC-BY-SA-3.0", credit: "2006-2008 June Wallack", language: "fr", role: Role::Train,
        source: Source::Untranscribed("/usr/share/asterisk/sounds/fr_CA_f_June") },
    Person { name: "italian-carlo", package: "asterisk-core-sounds-it-g722", licence: "CC-BY-SA-3.0", credit: "2012 Carlo Flora, segreterietelefoniche.it", language: "it", role: Role::Train,
        source: Source::Untranscribed("/usr/share/asterisk/sounds/it_IT_m_Carlo") },
    Person { name: "czech-woman", package: "fillets-ng-data-cs", licence: GPL, credit: FILLETS_CREDIT, language: "cs", role: Role::Choose,
        source: Source::Fillets { language: "cs", role: "m" } },
    Person { name: "czech-man", package: "fillets-ng-data-cs", licence: GPL, credit: FILLETS_CREDIT, language: "cs", role: Role::Choose,
        source: Source::Fillets { language: "cs", role: "v" } },
    Person { name: "dutch-woman", package: "fillets-ng-data-nl", licence: GPL, credit: FILLETS_CREDIT, language: "nl", role: Role::Confirm,
        source: Source::Fillets { language: "nl", role: "m" } },
    Person { name: "dutch-man", package: "fillets-ng-data-nl", licence: GPL, credit: FILLETS_CREDIT, language: "nl", role: Role::Confirm,
        source: Source::Fillets { language: "nl", role: "v" } },
    Person { name: "english-reader", package: "pocketsphinx-testdata", licence: "public domain (LibriVox), packaged under BSD-2", credit: "LibriVox reader of Sense and Sensibility, chapter 1",
        language: "en-us", role: Role::Confirm, source: Source::Sphinx("/usr/share/pocketsphinx/test/data/librivox") },
];

/// What is known of a recording's words.
enum Words {
    Unknown,
    Text(String),
    /// ARPAbet with stress, empty for a pause, and where each ends in seconds.
    Phones(Vec<(&'static str, f32)>),
}

struct Found {
    path: PathBuf,
    words: Words,
}

impl Person {
    pub fn is_held_out(&self) -> bool {
        self.role != Role::Train
    }

    /// Where a corpus keeps this person's recordings.
    pub fn folder(&self, corpus: &Path) -> PathBuf {
        match (self.role, self.source) {
            (Role::Choose | Role::Confirm, _) => corpus.join("held-out").join(self.name),
            (Role::Train, Source::Untranscribed(_)) => corpus.join(UNTRANSCRIBED).join(self.name),
            (Role::Train, _) => corpus.join(self.name),
        }
    }

    /// The recordings in an order that does not change.
    fn recordings(&self) -> Result<Vec<Found>> {
        let mut found = match self.source {
            Source::Festvox(folder) => festvox(Path::new(folder))?,
            Source::Untranscribed(folder) => {
                let audio = |path: &Path| {
                    ["g722", "gsm", "wav", "ogg"]
                        .iter()
                        .any(|extension| path.extension() == Some(OsStr::new(extension)))
                };
                below(Path::new(folder))?
                    .into_iter()
                    .filter(|path| audio(path))
                    .map(|path| Found { path, words: Words::Unknown })
                    .collect()
            }
            Source::Fillets { language, role } => fillets(language, role)?,
            Source::Sphinx(folder) => sphinx(Path::new(folder))?,
        };
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

/// Folder of people whose words nobody wrote down.
pub const UNTRANSCRIBED: &str = "untranscribed";
/// Shorter recordings are single words, longer ones more than a page's visitor reads at once.
const SECONDS: std::ops::RangeInclusive<f32> = 1.2..=12.0;

/// Of the recordings that have phone times, one in so many is made into each of eight other speakers, as engines' voices are.
const PERTURBED_STRIDE: usize = 4;

/// One line of `people.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonSummary {
    pub name: String,
    pub package: String,
    pub licence: String,
    pub credit: String,
    pub language: String,
    pub role: Role,
    pub utterances: usize,
    pub seconds: f32,
}

/// Makes the corpus of all people whose packages are installed; names the packages that are not.
pub fn make_people(out: &Path, progress: &(dyn Fn(&PersonSummary) + Sync)) -> Result<Vec<PersonSummary>> {
    let mut people = Vec::new();
    for person in &PEOPLE {
        let recordings = person.recordings()?;
        let summary = make_person(&person.folder(out), person, &recordings)?;
        progress(&summary);
        people.push(summary);
        if matches!(person.source, Source::Festvox(_)) {
            PERTURBATIONS.par_iter().try_for_each(|&(formants, pitch)| {
                let name = format!("{}@{formants}x{pitch}", person.name);
                perturb(
                    &person.folder(out),
                    &out.join(name),
                    Perturbation { formants, pitch },
                    PERTURBED_STRIDE,
                )
            })?;
        }
    }
    write(&out.join("people.json"), serde_json::to_string_pretty(&people).expect("plain data"))?;
    Ok(people)
}

fn make_person(folder: &Path, person: &Person, recordings: &[Found]) -> Result<PersonSummary> {
    let (wavs, phones) = (folder.join("wavs"), folder.join("phones"));
    for folder in [&wavs, &phones] {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let made: Vec<Option<(String, f32)>> = recordings
        .par_iter()
        .enumerate()
        .map(|(index, Found { path, words })| {
            let Some(samples) = read_any(path, matches!(words, Words::Phones(_)))? else { return Ok(None) };
            let seconds = samples.len() as f32 / SAMPLE_RATE_HZ as f32;
            if !SECONDS.contains(&seconds) {
                return Ok(None);
            }
            let id = format!("{}-{index:05}", person.name);
            let text = match words {
                Words::Unknown => String::new(),
                Words::Text(text) if person.language.starts_with("en") => text.clone(),
                Words::Text(text) => ipa::transcribe(text, person.language)?,
                Words::Phones(times) => {
                    write(&phones.join(format!("{id}.csv")), phone_lines(times))?;
                    in_braces(times)
                }
            };
            write(&wavs.join(format!("{id}.wav")), wav::write(&samples, SAMPLE_RATE_HZ))?;
            Ok(Some((format!("{id}|{text}"), seconds)))
        })
        .collect::<Result<_>>()?;
    let _ = fs::remove_dir(&phones); // Where nobody wrote phones it is empty, and goes.
    let metadata = made.iter().flatten().fold(String::new(), |mut lines, (line, _)| {
        let _ = writeln!(lines, "{line}");
        lines
    });
    if !recordings.iter().any(|found| matches!(found.words, Words::Unknown)) {
        write(&folder.join("metadata.csv"), metadata)?;
    }
    Ok(PersonSummary {
        name: person.name.into(),
        package: person.package.into(),
        licence: person.licence.into(),
        credit: person.credit.into(),
        language: person.language.into(),
        role: person.role,
        utterances: made.iter().flatten().count(),
        seconds: made.iter().flatten().map(|(_, seconds)| seconds).sum(),
    })
}

/// `phone,end_seconds` a line, as engines' phones are kept: without stress.
fn phone_lines(times: &[(&str, f32)]) -> String {
    times.iter().fold(String::new(), |mut lines, (phone, end)| {
        let phone = if phone.is_empty() {
            "pau".into()
        } else {
            phone.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase()
        };
        let _ = writeln!(lines, "{phone},{end:.4}");
        lines
    })
}

/// `{D AA1} {Y EH0}.`: from pause to pause one brace.
fn in_braces(times: &[(&str, f32)]) -> String {
    let runs = times.split(|(phone, _)| phone.is_empty()).filter(|run| !run.is_empty());
    let braced: Vec<String> = runs
        .map(|run| format!("{{{}}}", run.iter().map(|(phone, _)| *phone).collect::<Vec<_>>().join(" ")))
        .collect();
    braced.join(", ") + "."
}

/// Any recording by ffmpeg, made ready as a visitor's clip is. `None` for one that no visitor could use: too quiet, too noisy, too short.
///
/// * `whole`: whether the silence at its ends stays, as times are counted from its start
fn read_any(path: &Path, whole: bool) -> Result<Option<Vec<f32>>> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-i"]).arg(path).args([
        "-f",
        "wav",
        "-ac",
        "1",
        "-ar",
        &SAMPLE_RATE_HZ.to_string(),
        "-",
    ]);
    let output = ffmpeg.output().map_err(|error| {
        Error::corpus_invalid(format!("ffmpeg does not start ({error}); install it with the package manager"))
    })?;
    if !output.status.success() {
        return Err(Error::corpus_invalid(format!(
            "{}: {}",
            path.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    let config = MelConfig { sample_rate_hz: SAMPLE_RATE_HZ, ..MelConfig::speech_16k() };
    let audio = wav::read(&output.stdout)?;
    let prepared = match whole {
        true => Ok(normalize(&audio.samples, SPEECH_LEVEL_DB)),
        false => prepare_clip(&audio, &config),
    };
    let Ok(samples) = prepared else { return Ok(None) };
    let audio = Audio { samples, sample_rate_hz: SAMPLE_RATE_HZ };
    Ok(check_clip(&audio).is_ok().then_some(audio.samples))
}

/// What `lab/` holds for each recording: a header, then `end_seconds 125 phone` a line.
fn festvox(folder: &Path) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for label in entries(&folder.join("lab"))? {
        let path = folder.join("wav").join(label.file_stem().expect("it has a name")).with_extension("wav");
        if path.is_file() {
            found.push(Found { path, words: Words::Phones(russian_phones(&read(&label)?)?) });
        }
    }
    Ok(found)
}

/// Phones of festvox-ru (a doubled letter is palatalised, or a stressed vowel) and the nearest ARPAbet; a pause is empty.
#[rustfmt::skip]
const RUSSIAN: &[(&str, &str)] = &[
    ("pau", ""), ("aa", "AA1"), ("a", "AH0"), ("ae", "AH0"), ("ay", "IH0"), ("ii", "IY1"), ("i", "IH0"), ("yy", "IH1"), ("y", "IH0"),
    ("uu", "UW1"), ("u", "UW0"), ("ur", "UW0"), ("ee", "EH1"), ("e", "EH0"), ("oo", "AO1"), ("j", "Y"), ("c", "T S"), ("ch", "CH"), ("sch", "SH"),
    ("sh", "SH"), ("zh", "ZH"), ("h", "HH"), ("hh", "HH"), ("p", "P"), ("pp", "P"), ("b", "B"), ("bb", "B"), ("t", "T"), ("tt", "T"), ("d", "D"), ("dd", "D"),
    ("k", "K"), ("kk", "K"), ("g", "G"), ("gg", "G"), ("m", "M"), ("mm", "M"), ("n", "N"), ("nn", "N"), ("l", "L"), ("ll", "L"), ("r", "R"), ("rr", "R"),
    ("f", "F"), ("ff", "F"), ("v", "V"), ("vv", "V"), ("s", "S"), ("ss", "S"), ("z", "Z"), ("zz", "Z"),
];

/// A phone that takes two of ours gives each half of its time.
fn russian_phones(label: &str) -> Result<Vec<(&'static str, f32)>> {
    let (mut phones, mut start) = (Vec::new(), 0.0);
    for line in label.lines().skip_while(|line| *line != "#").skip(1) {
        let mut fields = line.split_whitespace();
        let (Some(end), Some(name)) = (fields.next().and_then(|end| end.parse::<f32>().ok()), fields.nth(1))
        else {
            continue;
        };
        let entry = RUSSIAN.iter().find(|(phone, _)| *phone == name);
        let (_, ours) = entry.ok_or_else(|| {
            Error::corpus_invalid(format!("festvox-ru has a phone that is unknown: {name}"))
        })?;
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

/// `dialogId("let-m-divna", ..)` and, on the line after it, `dialogStr("text")`.
fn fillets(language: &str, role: &str) -> Result<Vec<Found>> {
    let (scripts, sounds) = (Path::new(FILLETS).join("script"), Path::new(FILLETS).join("sound"));
    let mut found = Vec::new();
    for level in entries(&scripts)? {
        let script = level.join(format!("dialogs_{language}.lua"));
        let folder = sounds.join(level.file_name().expect("it has a name")).join(language);
        if script.is_file() && folder.is_dir() {
            found.extend(dialogs(&read(&script)?, role).into_iter().map(|(id, text)| Found {
                path: folder.join(format!("{id}.ogg")),
                words: Words::Text(text),
            }));
        }
    }
    found.retain(|found| found.path.is_file());
    Ok(found)
}

/// Id and text of each line that a role says.
fn dialogs(script: &str, role: &str) -> Vec<(String, String)> {
    let quoted = |line: &str| line.split('"').nth(1).map(str::to_string);
    let mut id = None;
    let mut found = Vec::new();
    for line in script.lines().map(str::trim) {
        if line.starts_with("dialogId(") {
            id = quoted(line).filter(|id| id.split('-').nth(1) == Some(role));
        } else if line.starts_with("dialogStr(")
            && let (Some(id), Some(text)) = (id.take(), quoted(line))
        {
            found.push((id, text));
        }
    }
    found
}

/// `<s> text </s> (id)` a line.
fn sphinx(folder: &Path) -> Result<Vec<Found>> {
    let line = |line: &str| {
        let (text, id) = line.strip_prefix("<s>")?.split_once("</s>")?;
        let id = id.trim().trim_start_matches('(').trim_end_matches(')');
        Some(Found { path: folder.join(format!("{id}.wav")), words: Words::Text(text.trim().to_string()) })
    };
    Ok(read(&folder.join("transcription"))?
        .lines()
        .filter_map(line)
        .filter(|found| found.path.is_file())
        .collect())
}

fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() { found.extend(below(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

/// What lies in a folder, sorted. A folder that is missing belongs to a package that is.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(missing(folder))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(missing(path))
}

fn missing(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| {
        let packages: Vec<&str> = PEOPLE.iter().map(|person| person.package).collect();
        Error::corpus_invalid(format!(
            "{}: {error}; install the packages {} and fillets-ng-data",
            path.display(),
            packages.join(", ")
        ))
    }
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, bytes).map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credits_name_whoever_the_shipped_base_owes() {
        let credits = include_str!("../../../models/CREDITS.md");
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../../models/base/manifest.json")).unwrap();
        let speakers = manifest["speakers"].as_array().unwrap();
        for person in &PEOPLE {
            let row =
                format!("| {} | {} | {} | {} |", person.name, person.package, person.licence, person.credit);
            let owed = person.is_held_out() || speakers.iter().any(|speaker| speaker == person.name);
            assert_eq!(credits.contains(&row), owed, "{row}");
        }
        assert!(
            speakers
                .iter()
                .all(|speaker| !PEOPLE.iter().any(|person| person.is_held_out() && speaker == person.name))
        );
    }

    #[test]
    fn the_held_out_people_are_enough_to_decide_on() {
        let of = |role: Role| PEOPLE.iter().filter(move |person| person.role == role);
        assert!(of(Role::Choose).count() >= 2 && of(Role::Confirm).count() >= 2);
        let languages: std::collections::BTreeSet<_> =
            PEOPLE.iter().filter(|person| person.is_held_out()).map(|person| person.language).collect();
        assert!(languages.len() >= 2 && languages.contains("en-us"), "{languages:?}");
        assert!(
            of(Role::Train).all(|person| !person.licence.starts_with("GPL")),
            "GPL recordings are measured on only"
        );
        // A package whose people are held out must not lend others to training: rooms and microphones would be known.
        for held_out in PEOPLE.iter().filter(|person| person.is_held_out()) {
            assert!(of(Role::Train).all(|person| person.package != held_out.package));
        }
    }

    #[test]
    fn lines_of_a_dialog_belong_to_their_role() {
        let script = "dialogId(\"let-m-divna\", \"font_small\", \"What?\")\ndialogStr(\"Co je to?\")\n\n\
                      dialogId(\"let-v-vrak\", \"font_big\", \"This.\")\ndialogStr(\"To je vrak.\")\ndialogStr(\"stray\")\n";
        assert_eq!(dialogs(script, "m"), [("let-m-divna".to_string(), "Co je to?".to_string())]);
        assert_eq!(dialogs(script, "v"), [("let-v-vrak".to_string(), "To je vrak.".to_string())]);
    }

    #[test]
    fn russian_phones_have_their_times() {
        let label = "separator ;\n#\n0.2 125 pau\n0.3 125 c\n0.5 125 aa\n0.6 125 pau\n";
        let phones = russian_phones(label).unwrap();
        assert_eq!(phones.iter().map(|(phone, _)| *phone).collect::<Vec<_>>(), ["", "T", "S", "AA1", ""]);
        assert_eq!(phone_lines(&phones), "pau,0.2000\nt,0.2500\ns,0.3000\naa,0.5000\npau,0.6000\n");
        assert_eq!(in_braces(&phones), "{T S AA1}.");
        assert!(russian_phones("#\n0.2 125 qq\n").is_err());
        assert!(RUSSIAN.iter().all(|(_, ours)| crate::text::symbols::parse(ours).is_some()));
    }

    #[test]
    fn a_missing_package_is_named() {
        let message = entries(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("festvox-ru") && message.contains("fillets-ng-data"), "{message}");
    }
}
