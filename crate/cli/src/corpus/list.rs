//! Lists of recordings and their texts, such as `metadata.csv`: lines of `id|text`, or a table with a header whose columns are separated by bars, tabs, commas
//! or semicolons.
//!
//! A list that could be read in two ways is refused, because a wrong column would be trained on as the text.

use std::path::Path;

use ownvoice::{Error, Result, files, text::normalize};

/// A line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number of its line, from 1.
    pub line: usize,
    /// The name or the path of the recording.
    pub id: String,
    pub text: String,
    /// The speaker, if the list has a column for it.
    pub speaker: Option<String>,
}

/// The names of columns in a header, in lower case with underscores.
const ID_NAMES: [&str; 16] = [
    "id",
    "file",
    "filename",
    "file_name",
    "file_id",
    "path",
    "audio",
    "audio_file",
    "audio_path",
    "wav",
    "wav_filename",
    "wav_path",
    "clip",
    "utterance_id",
    "utt_id",
    "recording",
];
const TEXT_NAMES: [&str; 6] =
    ["text", "transcript", "transcription", "sentence", "raw_text", "raw_transcription"];
const NORMALIZED_NAMES: [&str; 6] = [
    "normalized_text",
    "normalised_text",
    "normalized_transcription",
    "normalised_transcription",
    "normalized",
    "normalised",
];
const SPEAKER_NAMES: [&str; 4] = ["speaker", "speaker_id", "speaker_name", "client_id"];

/// The columns of a table, by its header.
struct Columns {
    id: usize,
    text: usize,
    speaker: Option<usize>,
    count: usize,
}

/// Reads a list. Errors name the line.
pub fn read(file: &Path) -> Result<Vec<Entry>> {
    let text = read_to_string(file)?;
    let mut rows = rows(&text);
    let Some((first, header)) = rows.first() else { return Ok(Vec::new()) };
    let columns = Columns::new(header).map_err(|what| invalid(file, *first, what))?;
    if columns.is_some() {
        rows.remove(0);
    }
    rows.into_iter()
        .map(|(line, fields)| {
            let entry = match &columns {
                Some(columns) => columns.entry(line, &fields),
                None => without_header(line, &fields),
            };
            let entry = entry.map_err(|what| invalid(file, line, what))?;
            if entry.id.is_empty() {
                return Err(invalid(file, line, "the id is empty"));
            }
            if entry.text.is_empty() {
                return Err(invalid(file, line, "the text is empty"));
            }
            Ok(entry)
        })
        .collect()
}

/// Returns the error of a line.
pub fn invalid(file: &Path, line: usize, what: impl std::fmt::Display) -> Error {
    Error::corpus_invalid(format!("{}, line {line}: {what}", file.display()))
}

/// Splits a list into the fields of its lines that are not blank, without the space around them.
///
/// A bar or a tab separates fields wherever it stands, as in LJSpeech, whose texts hold single quotation marks; commas and semicolons may be quoted.
fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match ['|', '\t'].into_iter().find(|&separator| first.contains(separator)) {
        Some(separator) => (1..)
            .zip(text.lines())
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(line, fields)| {
                (line, fields.split(separator).map(|field| field.trim().to_string()).collect())
            })
            .collect(),
        None => {
            let separator = if Columns::new(&quoted_row(first, b';')).is_ok_and(|found| found.is_some()) {
                b';'
            } else {
                b','
            };
            quoted_rows(text, separator)
        }
    }
}

/// Splits a line at a separator that may be quoted.
fn quoted_row(line: &str, separator: u8) -> Vec<String> {
    quoted_rows(line, separator).into_iter().next().unwrap_or_default().1
}

fn quoted_rows(text: &str, separator: u8) -> Vec<(usize, Vec<String>)> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let (mut rows, mut line, mut counted) = (Vec::new(), 1, 0);
    for record in reader.records().map_while(std::result::Result::ok) {
        // The position of a record is that of the blank lines before it.
        let start = record.position().map_or(0, |position| position.byte() as usize);
        let start = start + text[start..].len() - text[start..].trim_start().len();
        line += text[counted..start].matches('\n').count();
        counted = start;
        let fields: Vec<String> = record.iter().map(str::to_string).collect();
        if fields.iter().any(|field| !field.is_empty()) {
            rows.push((line, fields));
        }
    }
    rows
}

impl Columns {
    /// Finds the columns of a header. Returns `None` if a line is no header, and what is wrong with one that can be read in two ways.
    fn new(header: &[String]) -> Result<Option<Self>, String> {
        let names: Vec<String> =
            header.iter().map(|name| name.to_lowercase().replace([' ', '-'], "_")).collect();
        let find = |known: &[&str]| -> Result<Option<usize>, String> {
            let found: Vec<usize> =
                (0..names.len()).filter(|&column| known.contains(&names[column].as_str())).collect();
            match found[..] {
                [] => Ok(None),
                [column] => Ok(Some(column)),
                [one, other, ..] => Err(format!(
                    "the columns {:?} and {:?} mean the same; remove one of them",
                    header[one], header[other]
                )),
            }
        };
        let is_named = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
        if !(is_named(&ID_NAMES) && (is_named(&TEXT_NAMES) || is_named(&NORMALIZED_NAMES))) {
            return Ok(None);
        }
        let normalized = find(&NORMALIZED_NAMES)?;
        let (Some(id), Some(text)) =
            (find(&ID_NAMES)?, if normalized.is_some() { normalized } else { find(&TEXT_NAMES)? })
        else {
            return Ok(None);
        };
        Ok(Some(Self { id, text, speaker: find(&SPEAKER_NAMES)?, count: names.len() }))
    }

    fn entry(&self, line: usize, fields: &[String]) -> Result<Entry, String> {
        if fields.len() < self.count || fields[self.count..].iter().any(|field| !field.is_empty()) {
            return Err(format!(
                "it has {} columns and the header {}; a text with the separator in it has to stand in quotation marks, \
                 in a file whose columns are separated by commas",
                fields.len(),
                self.count
            ));
        }
        let field = |column: usize| fields[column].clone();
        // A quotation mark that is not closed takes all lines behind it into its field.
        if field(self.text).contains('\n') {
            return Err("a quotation mark is not closed, or the text has several lines".into());
        }
        Ok(Entry { line, id: field(self.id), text: field(self.text), speaker: self.speaker.map(field) })
    }
}

/// Reads `id|text`, or `id|text|normalised text` as in LJSpeech.
fn without_header(line: usize, fields: &[String]) -> Result<Entry, String> {
    let filled = fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
    let entry = |text: &str| Entry { line, id: fields[0].clone(), text: text.to_string(), speaker: None };
    match &fields[..filled.max(2).min(fields.len())] {
        [_, text] if text.contains('\n') => {
            Err("a quotation mark is not closed, or the text has several lines".into())
        }
        [_, text] => Ok(entry(text)),
        [_, text, normalized] if is_normalized(text, normalized) => Ok(entry(normalized)),
        [_, text, other] => Err(format!(
            "the third column, {other:?}, is not the normalised form of {text:?}; write id|text, or name the columns \
             in a first line such as id|text|speaker"
        )),
        [_] | [] => Err("there is no \"|\" between id and text".into()),
        more => Err(format!(
            "it has {} columns; write id|text, or name the columns in a first line such as id|speaker|text",
            more.len()
        )),
    }
}

/// Returns whether a text is the normalised form of another: most of its words are those that the other is read with.
fn is_normalized(text: &str, normalized: &str) -> bool {
    if text == normalized {
        return true;
    }
    let words = |text: &str| -> Vec<String> {
        let read = normalize(text).unwrap_or_default();
        read.split_whitespace()
            .map(|word| word.trim_end_matches([',', '.', '?', '!']).to_lowercase())
            .filter(|word| !word.is_empty())
            .collect()
    };
    let (read, mut written) = (words(text), words(normalized));
    let most = read.len().max(written.len());
    let mut shared = 0;
    for word in &read {
        if let Some(place) = written.iter().position(|other| other == word) {
            written.swap_remove(place);
            shared += 1;
        }
    }
    shared > 0 && 2 * shared >= most
}

/// Reads a text file without the space around the text. Fails with `corpus-invalid` if it is empty.
pub fn read_text(file: &Path) -> Result<String> {
    let text = read_to_string(file)?.trim().to_string();
    if text.is_empty() {
        Err(Error::corpus_invalid(format!("{}: the file is empty", file.display())))
    } else {
        Ok(text)
    }
}

/// Reads a file of UTF-8 or, as spreadsheets and editors of Windows write it, of UTF-16.
pub fn read_to_string(file: &Path) -> Result<String> {
    let bytes = files::read(file).map_err(|error| Error::corpus_invalid(error.to_string()))?;
    decoded(&bytes)
        .map_err(|what| Error::corpus_invalid(format!("{}{what}; save it as UTF-8", file.display())))
}

/// Decodes a text, and returns it with line feeds and without its byte order mark. An error says what follows the file's name.
pub fn decoded(bytes: &[u8]) -> Result<String, String> {
    // Without a mark, every other byte of English UTF-16 is zero.
    let zeros = |first: usize| bytes.iter().skip(first).step_by(2).take(16).all(|&byte| byte == 0);
    let utf16: Option<fn([u8; 2]) -> u16> = match bytes {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        [_, 0, ..] if zeros(1) => Some(u16::from_le_bytes),
        [0, _, ..] if zeros(0) => Some(u16::from_be_bytes),
        _ => None,
    };
    let text = match utf16 {
        Some(unit) => {
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
            String::from_utf16(&units)
                .ok()
                .filter(|_| bytes.len().is_multiple_of(2))
                .ok_or(": it is damaged UTF-16")?
        }
        None => str::from_utf8(bytes)
            .map_err(|error| {
                let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
                format!(", line {line}: it is not UTF-8")
            })?
            .to_string(),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(bytes: &[u8]) -> Result<Vec<(String, String, Option<String>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metadata.csv");
        std::fs::write(&file, bytes).unwrap();
        let entries = read(&file).map_err(|error| {
            assert_eq!(error.code(), "corpus-invalid");
            error.to_string().replace(&file.display().to_string(), "FILE")
        })?;
        Ok(entries.into_iter().map(|entry| (entry.id, entry.text, entry.speaker)).collect())
    }

    #[test]
    fn a_third_column_is_the_normalised_text_or_is_refused() {
        for (line, text) in [
            ("a|5 cats|five cats", "five cats"),
            ("a|5 cats|", "5 cats"),
            (
                "a|In 1465 Dr. Sweynheim printed,|In fourteen sixty-five Doctor Sweynheim printed,",
                "In fourteen sixty-five Doctor Sweynheim printed,",
            ),
            ("a|It cost £5.|It cost five pounds.", "It cost five pounds."),
            ("a|\"Hello,\" he said|\"Hello,\" he said", "\"Hello,\" he said"),
            ("a|The lake is calm.", "The lake is calm."),
            ("a|The lake is calm.|||", "The lake is calm."),
            ("a | The lake is calm. ", "The lake is calm."),
        ] {
            assert_eq!(listed(line.as_bytes()).unwrap(), [("a".into(), text.into(), None)], "{line}");
        }
        for line in [
            "a|The lake is calm.|2.35",
            "a|The lake is calm.|anna",
            "a|anna|The lake is calm.",
            "a|2.35|The lake is calm.",
            "a|anna|en|The lake is calm.",
            "a|The lake is calm.|The lake is calm.|anna",
            "a|The lake is calm.|en|2.35",
            "a|A lantern | swings",
            "a|A lantern | swings | here",
            "a|The lake is calm.|The dog barks loudly.",
            "a||The lake is calm.",
            "a|",
            "a||",
            "|The lake is calm.",
            "a",
            "a,The lake, it seems, is calm.",
            "a;The lake is calm.",
            "a.wav,\"The lake is calm.\",2.35",
        ] {
            let alone = listed(line.as_bytes()).unwrap_err();
            assert!(alone.starts_with("FILE, line 1: "), "{line}: {alone}");
            let error = listed(format!("b|Hello.\n\n{line}").as_bytes()).unwrap_err();
            assert!(error.starts_with("FILE, line 3: "), "{line}: {error}");
        }
    }

    #[test]
    fn tables_with_a_header_are_read_in_any_order_and_with_any_separator() {
        let entry = |id: &str, text: &str, speaker: Option<&str>| {
            vec![(id.to_string(), text.to_string(), speaker.map(str::to_string))]
        };
        for separator in ["|", "\t", ",", ";"] {
            for (header, row, expected) in [
                ("id text", "a Hello", entry("a", "Hello", None)),
                ("text id", "Hello a", entry("a", "Hello", None)),
                ("ID Text", "a Hello", entry("a", "Hello", None)),
                ("path sentence", "a.mp3 Hello", entry("a.mp3", "Hello", None)),
                ("client_id path sentence age", "anna a.mp3 Hello 30", entry("a.mp3", "Hello", Some("anna"))),
                ("file duration transcript", "a.wav 2.35 Hello", entry("a.wav", "Hello", None)),
                ("id text normalized_text", "a 5 five", entry("a", "five", None)),
                ("wav_filename wav_filesize transcript", "a.wav 99 hello", entry("a.wav", "hello", None)),
                ("File-Name Normalized-Text", "a Hello", entry("a", "Hello", None)),
            ] {
                for end in ["\n", "\r\n", "\r"] {
                    let list = format!("{header}{end}{row}{end}").replace(' ', separator);
                    assert_eq!(listed(list.as_bytes()).as_ref(), Ok(&expected), "{list:?}");
                }
            }
        }
        for list in ["id|text|transcript\na|x|y", "id|file|text\na|b|c"] {
            assert!(listed(list.as_bytes()).unwrap_err().contains("line 1: the columns"), "{list}");
        }
    }

    #[test]
    fn quotation_marks_hold_commas_and_errors_name_the_line_of_the_file() {
        let list = "\n\nfile,text\n\na.wav,\"Hello, there; \"\"you\"\".\"\n";
        assert_eq!(listed(list.as_bytes()).unwrap()[0].1, "Hello, there; \"you\".");
        assert_eq!(listed(b"a.wav,\"Hello, there.\"").unwrap()[0].1, "Hello, there.");
        let list = format!("{list}\n \nb.wav,Hello, there.\n");
        assert!(listed(list.as_bytes()).unwrap_err().starts_with("FILE, line 8: it has 3 columns"));
        let open = "file,text\na.wav,\"Hello.\nb.wav,There.\n";
        assert!(
            listed(open.as_bytes()).unwrap_err().starts_with("FILE, line 2: a quotation mark is not closed")
        );
        // In LJSpeech a quotation mark is only a character.
        let marks = listed(b"a|He said \"no\nb|and \"yes\", too").unwrap();
        assert_eq!((marks[0].1.as_str(), marks[1].1.as_str()), ("He said \"no", "and \"yes\", too"));
    }

    #[test]
    fn encodings_are_read_or_refused_with_their_line() {
        let text = "a|Hello, Zoë.\r\nb|Again.";
        let utf16 = |of: fn(u16) -> [u8; 2], mark: bool| -> Vec<u8> {
            let marked = if mark { format!("\u{feff}{text}") } else { text.to_string() };
            marked.encode_utf16().flat_map(of).collect()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            utf16(u16::to_le_bytes, true),
            utf16(u16::to_be_bytes, true),
            utf16(u16::to_le_bytes, false),
            utf16(u16::to_be_bytes, false),
        ] {
            let entries = listed(&bytes).unwrap();
            assert_eq!((entries[0].1.as_str(), entries[1].1.as_str()), ("Hello, Zoë.", "Again."));
        }
        assert_eq!(
            listed(b"a|Hello.\nb|Zo\xeb.").unwrap_err(),
            "FILE, line 2: it is not UTF-8; save it as UTF-8"
        );
        assert_eq!(listed(b"\xff\xfea\0|").unwrap_err(), "FILE: it is damaged UTF-16; save it as UTF-8");
    }
}
