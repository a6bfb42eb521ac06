//! Loading a base voice from its folder.

use burn::prelude::Device;
use std::{fs, path::Path};

use crate::{
    Error, Result, files,
    voice::{Base, BaseFiles, FileEntry, Files, Manifest, Voice},
};

pub const MANIFEST: &str = "manifest.json";

/// Loads `directory/manifest.json` and the files that it names.
pub fn load(directory: &Path, device: &Device) -> Result<Base> {
    let read = |path: &Path| fs::read(path).map_err(Error::io(path));
    let manifest = read_manifest(directory)?;
    let manifest_json = serde_json::to_string(&manifest).expect("plain data");
    let weights = read(&directory.join(&manifest.files.weights.path))?;
    let lexicon = read(&directory.join(&manifest.files.lexicon.path))?;
    let aligner = read(&directory.join(&manifest.files.aligner.path))?;
    let vocoder =
        manifest.files.vocoder.as_ref().map(|entry| read(&directory.join(&entry.path))).transpose()?;
    let files = BaseFiles {
        manifest_json: &manifest_json,
        weights: &weights,
        lexicon: &lexicon,
        aligner: &aligner,
        vocoder: vocoder.as_deref(),
    };
    Base::load(files, device)
}

pub fn read_manifest(directory: &Path) -> Result<Manifest> {
    let path = directory.join(MANIFEST);
    let json = fs::read(&path).map_err(Error::io(&path))?;
    serde_json::from_slice(&json).map_err(|error| Error::base_corrupt(format!("manifest.json: {error}")))
}

/// Writes `directory/manifest.json`.
pub fn write_manifest(directory: &Path, manifest: &Manifest) -> Result<()> {
    let path = directory.join(MANIFEST);
    let json = serde_json::to_string_pretty(manifest).expect("plain data") + "\n";
    files::write(&path, json)
}

/// Writes a file, and where it is one of a base's, what the manifest beside it says of it: a base whose files are not those of its manifest cannot be loaded.
pub fn write_part(path: &Path, content: &[u8]) -> Result<()> {
    files::write(path, content)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.join(MANIFEST).is_file() {
        return Ok(());
    }
    let mut manifest = read_manifest(folder)?;
    let Files { weights, lexicon, aligner, vocoder, speaker_encoder } = &mut manifest.files;
    let named = [Some(weights), Some(lexicon), Some(aligner), vocoder.as_mut(), speaker_encoder.as_mut()]
        .into_iter()
        .flatten();
    match named
        .into_iter()
        .find(|entry| path.file_name().is_some_and(|name| Path::new(&entry.path) == Path::new(name)))
    {
        Some(entry) => *entry = FileEntry::new(&entry.path, content),
        None => return Ok(()),
    }
    write_manifest(folder, &manifest)
}

/// The voice in a file, or the base's own speaker where there is none.
pub fn voice(base: &Base, file: Option<&Path>) -> Result<Voice> {
    match file {
        Some(path) => Voice::open(base, &fs::read(path).map_err(Error::io(path))?),
        None => Ok(Voice::unadapted(base)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_loads_after_one_of_its_files_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base");
        fs::create_dir_all(folder.path().join("lexicon")).unwrap();
        fs::create_dir_all(&base).unwrap();
        let shipped = Path::new("../models");
        for name in [
            "lexicon/en.lex",
            "base/manifest.json",
            "base/weights.safetensors",
            "base/aligner.safetensors",
            "base/vocoder.safetensors",
        ] {
            fs::copy(shipped.join(name), folder.path().join(name)).unwrap();
        }
        let aligner = base.join("aligner.safetensors");
        let device = Device::flex();
        let model = crate::model::recogniser::Recogniser::new(80, &device);
        let trained = pollster::block_on(crate::align::ForcedAligner::serialize(&model, 80)).unwrap();
        assert_ne!(trained, fs::read(&aligner).unwrap());
        write_part(&aligner, &trained).unwrap();
        load(&base, &device).unwrap();
        // A file that no manifest names is a file.
        let manifest = fs::read(base.join(MANIFEST)).unwrap();
        write_part(&base.join("notes.txt"), b"later").unwrap();
        assert_eq!(fs::read(base.join(MANIFEST)).unwrap(), manifest);
    }
}
