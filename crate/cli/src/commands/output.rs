//! Checks the output path of a verb before it reads anything. An existing output is replaced only by output of the same kind, so that a mistyped path destroys
//! nothing.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Read, Write},
    path::Path,
};

use super::console::Console;
use crate::corpus::recordings::EXTENSIONS;
use ownvoice::{
    Error, Result, files,
    report::Report,
    voice::{AttentiveVoice, folder::MANIFEST},
};

/// The kind of an output: a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    Voice,
    Weights,
    Wav,
    Png,
    Base,
    LipBase,
    Attention,
    Corpus,
    People,
    Features,
    LipFeatures,
    /// A folder that may also contain other files.
    Files,
}
use OutputKind::{
    Attention, Base, Corpus, Features, Files, LipBase, LipFeatures, People, Png, Voice, Wav, Weights,
};

/// The number of bytes that identify the kind of a file. A voice file names its format early.
const BEGINNING: u64 = 1 << 16;

impl OutputKind {
    fn name(self) -> &'static str {
        match self {
            Voice => "a voice",
            Weights => "weights of a model",
            Wav => "a WAV file",
            Png => "a PNG picture",
            Base => "a base",
            LipBase => "a lip-to-speech base",
            Attention => "an attention model",
            Corpus => "a corpus",
            People => "a corpus of people",
            Features => "features",
            LipFeatures => "features of faces",
            Files => "files",
        }
    }

    fn is_file(self) -> bool {
        matches!(self, Voice | Weights | Wav | Png)
    }

    /// Returns the extensions of such files. Others that are no format's are accepted too.
    fn extensions(self) -> &'static [&'static str] {
        match self {
            Voice => &["ownvoice"],
            Weights => &["safetensors"],
            Wav => &["wav", "wave"],
            Png => &["png"],
            _ => &[],
        }
    }

    /// Returns the size of a file for which there must be room, in bytes: a voice takes 3 MB.
    fn room(self) -> usize {
        if self == Voice { 8 << 20 } else { 0 }
    }

    /// Returns the kind of a file from its first bytes.
    fn of_file(beginning: &[u8]) -> Option<Self> {
        let holds = |words: &[u8]| beginning.windows(words.len()).any(|window| window == words);
        match beginning {
            [b'R', b'I', b'F', b'F', ..] => Some(Wav),
            [0x89, b'P', b'N', b'G', ..] => Some(Png),
            // The header of safetensors.
            [_, _, _, _, _, 0, 0, 0, b'{', ..] => {
                Some(if holds(b"ownvoice-voice-") { Voice } else { Weights })
            }
            _ => None,
        }
    }

    /// Returns the kind of a folder from the name of its index file.
    fn of_folder(folder: &Path) -> Result<Option<Self>> {
        let has = |name: &str| folder.join(name).is_file();
        if has(MANIFEST) {
            let manifest = files::read(&folder.join(MANIFEST))?;
            let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap_or_default();
            return Ok(Some(if manifest["kind"] == "lips" { LipBase } else { Base }));
        }
        let indices = [
            (AttentiveVoice::FILE, Attention),
            ("faces.json", LipFeatures),
            ("features.json", Features),
            ("people.json", People),
            ("corpus.json", Corpus),
        ];
        Ok(indices.into_iter().find(|(name, _)| has(name)).map(|(_, made)| made))
    }
}

/// The extensions of pictures of other formats.
const PICTURES: [&str; 9] = ["jpg", "jpeg", "gif", "bmp", "webp", "svg", "pdf", "tif", "tiff"];

/// Returns the extension of a path if it is that of another format.
fn foreign_extension(path: &Path, made: OutputKind) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_lowercase();
    let known = |made: OutputKind| made.extensions().contains(&extension.as_str());
    let is_format = [Voice, Weights, Wav, Png].into_iter().any(known)
        || EXTENSIONS.contains(&extension.as_str())
        || PICTURES.contains(&extension.as_str());
    (is_format && !known(made)).then_some(extension)
}

/// Whether a path is standard output. A file of that name is `./-`.
fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// Writes the file that a verb makes. What took long to make is kept in the folder of temporary files if it cannot be written, which the error says.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = match is_standard_output(path) {
        true => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush()).map_err(Error::io(path))
        }
        false => files::write(path, bytes),
    };
    written.map_err(|error| {
        let kept = tempfile::Builder::new()
            .prefix("ownvoice-")
            .suffix(
                &path.extension().map(|extension| format!(".{}", extension.display())).unwrap_or_default(),
            )
            .tempfile()
            .and_then(|mut file| {
                file.write_all(bytes).and_then(|()| file.keep().map_err(|error| error.error))
            });
        match kept {
            Ok((_, kept)) => Error::io(path)(io::Error::other(format!(
                "{}; it was written to {} instead",
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string),
                kept.display()
            ))),
            Err(_) => error,
        }
    })
}

/// Checks that a verb can write to `path` and may replace what is there, and reports a replacement as a note.
///
/// # Errors
/// Fails with `io` if the path cannot be written, and with `option-invalid` if it has content or an extension of another kind.
pub fn check(path: &Path, made: OutputKind, console: &Console) -> Result<()> {
    if is_standard_output(path) {
        if !matches!(made, Voice | Wav | Png) {
            return Err(Error::option_invalid(format!(
                "{} cannot be written to standard output; choose a path",
                made.name()
            )));
        }
        if io::stdout().is_terminal() {
            return Err(Error::option_invalid(format!(
                "{} is not for a terminal; redirect standard output to a file or a program",
                made.name()
            )));
        }
        console.keep_standard_output();
        return Ok(());
    }
    let refused = |found: &str| {
        Err(Error::option_invalid(format!(
            "{} holds {found}, and {} would replace it; move it away or choose another path",
            path.display(),
            made.name()
        )))
    };
    // A training creates the folder of its weights. Other files need an existing folder.
    let parent = path.parent().filter(|folder| made == Weights && !folder.as_os_str().is_empty());
    parent.map_or(Ok(()), |folder| fs::create_dir_all(folder).map_err(Error::io(folder)))?;
    let found = if made.is_file() {
        files::check_room(path, made.room())?;
        let beginning = beginning(path).map_err(Error::io(path))?;
        match OutputKind::of_file(&beginning) {
            None if !beginning.is_empty() => return refused("something else"),
            found => found,
        }
    } else {
        files::check_folder(path)?;
        OutputKind::of_folder(path)?
    };
    match found {
        Some(found) if found == made => {
            console.note(&format!("{}: {} is replaced", path.display(), found.name()));
        }
        Some(found) if made != Files => return refused(found.name()),
        _ => {}
    }
    match foreign_extension(path, made) {
        Some(extension) if made.is_file() => Err(Error::option_invalid(format!(
            "{}: {} is made, and no {extension} file; choose a name that ends in .{}",
            path.display(),
            made.name(),
            made.extensions()[0]
        ))),
        _ => Ok(()),
    }
}

/// Returns the first bytes of a file, or none if there is no file. A pipe or a device has no content to replace.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(bytes);
    }
    match File::open(path) {
        Ok(file) => file.take(BEGINNING).read_to_end(&mut bytes).map(|_| bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(bytes),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_fused::weights::{Metadata, Storage, Weights as Tensors, serialize};
    use ownvoice::{audio::wav, voice};

    fn quiet() -> Console {
        Console::new(false, true)
    }

    #[test]
    fn a_file_is_replaced_by_its_own_kind_only() {
        let folder = tempfile::tempdir().unwrap();
        let base = voice::Base::open("../../models/base", &burn::prelude::Device::flex()).unwrap();
        let stored =
            |metadata| pollster::block_on(serialize(Tensors::new(), Storage::Half, metadata)).unwrap();
        let files = [
            (Some(Voice), voice::Voice::unadapted(&base).save().unwrap()),
            (Some(Weights), stored(Metadata::new())),
            (Some(Weights), fs::read("../../models/base/aligner.safetensors").unwrap()),
            (Some(Wav), wav::write(&[0.0; 10], 16_000)),
            (Some(Png), b"\x89PNG\r\n\x1a\n".to_vec()),
            (None, b"Dear diary".to_vec()),
        ];
        let path = folder.path().join("there");
        for (found, bytes) in files {
            fs::write(&path, &bytes).unwrap();
            for made in [Voice, Weights, Wav, Png] {
                let code = check(&path, made, &quiet()).err().map(|error| error.code());
                assert_eq!(code.is_none(), found == Some(made), "{made:?} over {found:?}");
                assert!(code.is_none_or(|code| code == "option-invalid"));
            }
            assert_eq!(fs::read(&path).unwrap(), bytes, "the check changes nothing");
        }
        fs::write(&path, []).unwrap();
        check(&path, Wav, &quiet()).unwrap();
        fs::remove_file(&path).unwrap();
        check(&path, Wav, &quiet()).unwrap();
    }

    #[test]
    fn an_extension_of_another_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let code = |name: &str, made| {
            check(&folder.path().join(name), made, &quiet()).err().map(|error| error.code())
        };
        for (made, good) in [
            (Wav, ["a.wav", "a.WAV", "a.wave", "a", "a.v1", "a.tmp"]),
            (Png, ["a.png", "a.PNG", "a", "a.out", "a.v1", "a.tmp"]),
            (Voice, ["a.ownvoice", "a.OWNVOICE", "a", "a.voice", "a.v1", "a.mine"]),
            (Weights, ["a.safetensors", "a", "a.bin", "a.out", "a.v1", "a.tmp"]),
        ] {
            good.iter().for_each(|name| assert_eq!(code(name, made), None, "{name}"));
        }
        for name in ["a.mp3", "a.MP3", "a.flac", "a.ogg", "a.m4a", "a.aif", "a.jpg", "a.safetensors"] {
            for made in [Wav, Voice, Png] {
                assert_eq!(code(name, made), Some("option-invalid"), "{name}");
            }
        }
        for (name, made) in
            [("a.wav", Png), ("a.png", Wav), ("a.wav", Voice), ("a.ownvoice", Wav), ("a.jpeg", Png)]
        {
            assert_eq!(code(name, made), Some("option-invalid"), "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the check leaves nothing");
    }

    #[test]
    fn a_folder_is_replaced_by_its_own_kind_only() {
        for (name, content, found) in [
            ("manifest.json", r#"{"kind": "lips"}"#, LipBase),
            ("manifest.json", "{}", Base),
            (AttentiveVoice::FILE, "", Attention),
            ("faces.json", "", LipFeatures),
            ("features.json", "", Features),
            ("people.json", "", People),
            ("corpus.json", "", Corpus),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(name), content).unwrap();
            for made in [Base, LipBase, Attention, Corpus, People, Features, LipFeatures] {
                assert_eq!(
                    check(folder.path(), made, &quiet()).is_ok(),
                    made == found,
                    "{made:?} over {found:?}"
                );
            }
            check(folder.path(), Files, &quiet()).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the check leaves nothing");
        }
    }
}
