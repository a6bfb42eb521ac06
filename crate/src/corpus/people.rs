//! Recordings of people that Debian packages, as a corpus: which may be trained on, and which are for measuring only.
//!
//! ```text
//! DIR/<person>/..            people to train on, in the layout of LJSpeech
//! DIR/<person>@<f>x<p>/..    the same people with other formants and another pitch
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
    make::{PERTURBATIONS, begin, perturb},
    perturbation::Perturbation,
    program::run,
};
use crate::{
    Error, Result,
    audio::{
        Audio, SPEECH_LEVEL_DB,
        level::{check_clip, normalize, trim_silence},
        mel::MelConfig,
        prepare_clip, wav,
    },
    files,
    text::Phonemizer,
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
    /// Prompts of a telephone exchange in the folder of a voice, their texts in `core-sounds-<language>.txt.gz`; joined into clips.
    Asterisk(&'static str),
    /// A folder with CMU's `transcription`, of `<s> text </s> (id)`.
    Sphinx(&'static str),
    /// Folders of words, each recorded in a file of its name, as `egypt_camel.ogg`; joined into clips.
    Words(&'static [&'static str]),
    /// Tux Paint's descriptions of its stamps in a language, or in that of the program; joined into clips.
    Stamps(Option<&'static str>),
}

impl Source {
    /// Whether a recording is a word or a phrase, too short for a clip.
    fn is_joined(self) -> bool {
        matches!(self, Self::Words(_) | Self::Stamps(_) | Self::Asterisk(_))
    }
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

const GPL: &str = "GPL-2";
const STAMPS: &str = "/usr/share/tuxpaint/stamps";
const STAMPS_CREDIT: &str = "Tux Paint Stamps: Bill Kendrick and others";

/// Everyone. The copyright file of each package was read; GPL recordings are measured on only.
#[rustfmt::skip]
pub const PEOPLE: [Person; 10] = [
    Person { name: "russian-nsh", package: "festvox-ru", licence: "BSD-like", credit: "2005 Nickolay V. Shmyrev", language: "ru", role: Role::Train,
        source: Source::Festvox("/usr/share/festival/voices/russian/msu_ru_nsh_clunits") },
    Person { name: "russian-ivrvoice", package: "asterisk-core-sounds-ru-g722", licence: "CC-BY-3.0", credit: "2010 Maxim Topal, ivrvoice.ru", language: "ru", role: Role::Train,
        source: Source::Asterisk("ru_RU_f_IvrvoiceRU") },
    Person { name: "french-june", package: "asterisk-core-sounds-fr-g722", licence: "CC-BY-SA-3.0", credit: "2006-2008 June Wallack", language: "fr", role: Role::Train,
        source: Source::Asterisk("fr_CA_f_June") },
    Person { name: "italian-carlo", package: "asterisk-core-sounds-it-g722", licence: "CC-BY-SA-3.0", credit: "2012 Carlo Flora, segreterietelefoniche.it", language: "it", role: Role::Train,
        source: Source::Asterisk("it_IT_m_Carlo") },
    Person { name: "english-man", package: "ktuberling-data", licence: GPL, credit: "KTuberling: Eric Bischoff, Albert Astals Cid and others", language: "en-us", role: Role::Choose,
        source: Source::Words(&["/usr/share/ktuberling/sounds/en"]) },
    Person { name: "greek-woman", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "el", role: Role::Choose,
        source: Source::Stamps(Some("el")) },
    Person { name: "english-reader", package: "pocketsphinx-testdata", licence: "public domain (LibriVox), packaged under BSD-2", credit: "LibriVox reader of Sense and Sensibility, chapter 1",
        language: "en-us", role: Role::Confirm, source: Source::Sphinx("/usr/share/pocketsphinx/test/data/librivox") },
    Person { name: "english-woman", package: "klettres-data", licence: GPL, credit: "KLettres: Anne-Marie Mahfouf and others", language: "en-gb", role: Role::Confirm,
        source: Source::Words(&["/usr/share/klettres/en_GB/alpha", "/usr/share/klettres/en_GB/syllab"]) },
    Person { name: "english-narrator", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "en-us", role: Role::Confirm,
        source: Source::Stamps(None) },
    Person { name: "belarusian-woman", package: "tuxpaint-stamps-default", licence: GPL, credit: STAMPS_CREDIT, language: "be", role: Role::Confirm,
        source: Source::Stamps(Some("be")) },
];

/// What is known of a recording's words.
enum Words {
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
        match self.role {
            Role::Choose | Role::Confirm => corpus.join("held-out").join(self.name),
            Role::Train => corpus.join(self.name),
        }
    }

    /// The recordings in an order that does not change.
    fn recordings(&self) -> Result<Vec<Found>> {
        let mut found = match self.source {
            Source::Festvox(folder) => festvox(Path::new(folder))?,
            Source::Asterisk(voice) => asterisk(voice, self.language)?,
            Source::Sphinx(folder) => sphinx(Path::new(folder))?,
            Source::Words(folders) => words(folders)?,
            Source::Stamps(language) => stamps(language)?,
        };
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

/// Shorter recordings are single words, longer ones more than a page's visitor reads at once.
const SECONDS: std::ops::RangeInclusive<f32> = 1.2..=12.0;
/// Recordings of a word are joined until a clip is as long as a sentence.
const JOINED_SECONDS: f32 = 4.0;
/// Of a recording's own silence, beside the margin of [`trim_silence`], that stays between two words.
const PAUSE_SECONDS: f32 = 0.2;

/// Of the recordings to train on, one in so many is made into each of eight other speakers, as engines' voices are.
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
    let index = out.join("people.json");
    begin(out, &index)?;
    let mut people = Vec::new();
    for person in &PEOPLE {
        let recordings = person.recordings()?;
        let summary = make_person(&person.folder(out), person, recordings)?;
        progress(&summary);
        people.push(summary);
        if person.role == Role::Train {
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
    files::write(&index, serde_json::to_string_pretty(&people).expect("plain data"))?;
    Ok(people)
}

fn make_person(folder: &Path, person: &Person, recordings: Vec<Found>) -> Result<PersonSummary> {
    let (wavs, phones) = (folder.join("wavs"), folder.join("phones"));
    begin(folder, &folder.join("metadata.csv"))?;
    for folder in [&wavs, &phones] {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let decoded = recordings
        .into_par_iter()
        .map(|Found { path, words }| Ok(Utterance { samples: decode(&path)?, words }))
        .collect::<Result<Vec<_>>>()?;
    let utterances = if person.source.is_joined() { join(decoded) } else { decoded };
    let made: Vec<Option<(String, f32)>> = utterances
        .par_iter()
        .enumerate()
        .map(|(index, utterance)| {
            let Some(samples) = utterance.prepared() else { return Ok(None) };
            let seconds = seconds(&samples);
            if !SECONDS.contains(&seconds) {
                return Ok(None);
            }
            let id = format!("{}-{index:05}", person.name);
            let text = match &utterance.words {
                Words::Text(text) if person.language.starts_with("en") => text.clone(),
                Words::Text(text) => ipa::transcribe(text, person.language)?,
                Words::Phones(times) => {
                    files::write(&phones.join(format!("{id}.csv")), phone_lines(times))?;
                    in_braces(times)
                }
            };
            files::write(&wavs.join(format!("{id}.wav")), wav::write(&samples, SAMPLE_RATE_HZ))?;
            Ok(Some((format!("{id}|{text}"), seconds)))
        })
        .collect::<Result<_>>()?;
    let _ = fs::remove_dir(&phones); // Where nobody wrote phones it is empty, and goes.
    let metadata = made.iter().flatten().fold(String::new(), |mut lines, (line, _)| {
        let _ = writeln!(lines, "{line}");
        lines
    });
    files::write(&folder.join("metadata.csv"), metadata)?;
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

fn seconds(samples: &[f32]) -> f32 {
    samples.len() as f32 / SAMPLE_RATE_HZ as f32
}

/// A recording at [`SAMPLE_RATE_HZ`], and what is known of its words.
struct Utterance {
    samples: Vec<f32>,
    words: Words,
}

impl Utterance {
    /// Made ready as a visitor's clip is. `None` for one that no visitor could use: too quiet, too noisy, too short.
    fn prepared(&self) -> Option<Vec<f32>> {
        let config = MelConfig { sample_rate_hz: SAMPLE_RATE_HZ, ..MelConfig::speech_16k() };
        let audio = Audio { samples: self.samples.clone(), sample_rate_hz: SAMPLE_RATE_HZ };
        let samples = match self.words {
            // Times are counted from the recording's start, so the silence there stays.
            Words::Phones(_) => normalize(&audio.samples, SPEECH_LEVEL_DB),
            Words::Text(_) => prepare_clip(&audio, &config).ok()?,
        };
        let audio = Audio { samples, sample_rate_hz: SAMPLE_RATE_HZ };
        check_clip(&audio).is_ok().then_some(audio.samples)
    }
}

/// Clips of [`JOINED_SECONDS`] from recordings of a word or a phrase each: `A`, `ball` and `coat` become `A, ball, coat.`
fn join(recordings: Vec<Utterance>) -> Vec<Utterance> {
    let mut clips: Vec<(Vec<f32>, String)> = Vec::new();
    for Utterance { samples, words } in recordings {
        let Words::Text(text) = words else { unreachable!("what is joined has a text") };
        let speech = trim_silence(&samples, SAMPLE_RATE_HZ);
        if speech.is_empty() {
            continue;
        }
        let pause = (PAUSE_SECONDS / 2.0 * SAMPLE_RATE_HZ as f32) as usize;
        let speech = &samples[speech.start.saturating_sub(pause)..(speech.end + pause).min(samples.len())];
        let text = text.trim_end_matches(['.', ' ']);
        match clips.last_mut() {
            Some((clip, texts)) if seconds(clip).max(seconds(speech)) < JOINED_SECONDS => {
                clip.extend_from_slice(speech);
                *texts += &format!(", {text}");
            }
            _ => clips.push((speech.to_vec(), text.to_string())),
        }
    }
    let utterance = |(samples, text)| Utterance { samples, words: Words::Text(format!("{text}.")) };
    clips.into_iter().map(utterance).collect()
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

/// Any recording by ffmpeg, at [`SAMPLE_RATE_HZ`].
fn decode(path: &Path) -> Result<Vec<f32>> {
    let rate = SAMPLE_RATE_HZ.to_string();
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-i"]).arg(path).args(["-f", "wav", "-ac", "1", "-ar", &rate, "-"]);
    Ok(wav::read(&run(&mut ffmpeg)?.stdout)?.samples)
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

const ASTERISK_SOUNDS: &str = "/usr/share/asterisk/sounds";
const ASTERISK_DOCUMENTS: &str = "/usr/share/doc";

/// The prompts of a voice whose text is known: [`prompts`] names each by its path without the extension.
fn asterisk(voice: &str, language: &str) -> Result<Vec<Found>> {
    let folder = Path::new(ASTERISK_SOUNDS).join(voice);
    entries(&folder)?; // Names the package that is missing.
    let texts = format!("{ASTERISK_DOCUMENTS}/asterisk-core-sounds-{language}/core-sounds-{language}.txt.gz");
    let output = run(Command::new("gzip").args(["-dc", &texts]))?;
    let recorded = |(name, text): (&str, &str)| {
        let path = folder.join(name).with_extension("g722");
        path.is_file().then(|| Found { path, words: Words::Text(text.to_string()) })
    };
    Ok(prompts(&String::from_utf8_lossy(&output.stdout)).filter_map(recorded).collect())
}

/// `name: text` a line. Texts in brackets are sounds, and letters that were lost in a conversion have become question marks within a word.
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

/// KTuberling's theme that another person speaks.
const OTHER_SPEAKER: &str = "tv_";

/// Recordings of a word each, of which the lexicon has the phones; what stands before an underscore is a theme's name.
fn words(folders: &[&str]) -> Result<Vec<Found>> {
    let phonemizer = Phonemizer::embedded();
    let mut found = Vec::new();
    for path in folders.iter().map(|folder| entries(Path::new(folder))).collect::<Result<Vec<_>>>()?.concat()
    {
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let word = stem.rsplit('_').next().unwrap_or_default();
        // A single letter is its name: the word "a" would be an article.
        let text = if word.len() == 1 { word.to_uppercase() } else { word.to_string() };
        if phonemizer.lexicon().get(word).is_some() && !stem.starts_with(OTHER_SPEAKER) {
            found.push(Found { path, words: Words::Text(text) });
        }
    }
    Ok(found)
}

/// `<name>_desc_<language>.ogg`, whose text is a line `<language>.utf8=text` of `<name>.txt`; `<name>_desc.ogg` speaks its first line, without
/// the article.
fn stamps(language: Option<&str>) -> Result<Vec<Found>> {
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
            found.push(Found { words: Words::Text(text.to_string()), path });
        }
    }
    Ok(found)
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
    fn words_are_joined_into_clips_with_their_own_silence() {
        let silence = vec![0.0; 8_000];
        let word = |length: usize| (0..length).map(|n| (n as f32 * 0.1).sin() * 0.3).collect::<Vec<_>>();
        let recording = |length: usize, text: &str| Utterance {
            samples: [silence.clone(), word(length), silence.clone()].concat(),
            words: Words::Text(text.to_string()),
        };
        let empty = Utterance { samples: silence.clone(), words: Words::Text("nothing".into()) };
        let recordings =
            vec![recording(8_000, "A"), empty, recording(50_000, "ball."), recording(70_000, "a long one")];
        let clips: Vec<(f32, String)> = join(recordings)
            .into_iter()
            .map(|Utterance { samples, words }| match words {
                Words::Text(text) => (seconds(&samples), text),
                Words::Phones(_) => panic!("a text"),
            })
            .collect();
        assert_eq!(
            clips.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["A, ball.", "a long one."]
        );
        // Each word keeps 0.15 s of the silence on either side.
        assert!((clips[0].0 - (58_000.0 / 16_000.0 + 0.6)).abs() < 0.1, "{clips:?}");
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
    fn prompts_are_what_is_spoken() {
        let texts = "\u{feff}; Sounds\n\nactivated: Attivato.\nbeep: [a tone]\ndigits/0: zero\nat: il tempo sar? esattamente\nagain: Ancora?\n";
        let found: Vec<_> = prompts(texts).collect();
        assert_eq!(found, [("activated", "Attivato."), ("digits/0", "zero"), ("again", "Ancora?")]);
    }

    #[test]
    fn a_missing_package_is_named() {
        let message = entries(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("festvox-ru") && message.contains("klettres-data"), "{message}");
    }
}
