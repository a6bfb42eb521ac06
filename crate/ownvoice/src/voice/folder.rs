//! The folder of a base: its manifest and the files beside it.

use std::path::Path;

use burn::prelude::Device;

use super::{Base, BaseFiles, FileEntry, Files, Manifest, Voice};
use crate::{Error, Result, files};

/// The name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The name of the optional vocoder.
pub const VOCODER: &str = "vocoder.safetensors";
/// The name of the optional speaker encoder.
pub const SPEAKER_ENCODER: &str = "speaker_encoder.safetensors";

impl Base {
    /// Loads the base in a folder: `manifest.json` and the files that it names.
    ///
    /// Fails with `io` where a file cannot be read, and with `base-corrupt` where one differs from the manifest.
    ///
    /// ```
    /// use ownvoice::{Base, Device};
    ///
    /// # let models = ownvoice_testing::tiny_folder();
    /// # let folder = models.path().join("base");
    /// let base = Base::open(folder, &Device::flex())?;
    /// assert_eq!(base.sample_rate_hz(), 16_000);
    /// assert_eq!(Base::open("nowhere", &Device::flex()).err().unwrap().code(), "io");
    /// # Ok::<(), ownvoice::Error>(())
    /// ```
    pub fn open(folder: impl AsRef<Path>, device: &Device) -> Result<Self> {
        let folder = folder.as_ref();
        let read = |entry: &FileEntry| files::read(&folder.join(&entry.path));
        let manifest = read_manifest(folder)?;
        let manifest_json = serde_json::to_string(&manifest).expect("plain data");
        let Files { weights, lexicon, aligner, vocoder, .. } = &manifest.files;
        let (weights, lexicon, aligner) = (read(weights)?, read(lexicon)?, read(aligner)?);
        let vocoder = vocoder.as_ref().map(read).transpose()?;
        let files = BaseFiles {
            manifest_json: &manifest_json,
            weights: &weights,
            lexicon: &lexicon,
            aligner: &aligner,
            vocoder: vocoder.as_deref(),
        };
        Self::load(files, device)
    }
}

/// Reads `folder/manifest.json`.
pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    let json = files::read(&folder.join(MANIFEST))?;
    serde_json::from_slice(&json).map_err(|error| Error::base_corrupt(format!("manifest.json: {error}")))
}

/// Writes `folder/manifest.json`.
pub fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<()> {
    let json = serde_json::to_string_pretty(manifest).expect("plain data") + "\n";
    files::write(&folder.join(MANIFEST), json)
}

/// Writes a file, and its entry in the manifest beside it if it is part of a base. A base cannot be loaded if a file differs from its entry, and a vocoder without
/// an entry is not used.
pub fn write_part(path: &Path, content: &[u8]) -> Result<()> {
    files::write(path, content)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.join(MANIFEST).is_file() {
        return Ok(());
    }
    let mut manifest = read_manifest(folder)?;
    let Files { weights, lexicon, aligner, vocoder, speaker_encoder } = &mut manifest.files;
    let is = |name: &str| path.file_name().is_some_and(|file| Path::new(name) == Path::new(file));
    for (part, name) in [(&mut *vocoder, VOCODER), (&mut *speaker_encoder, SPEAKER_ENCODER)] {
        if part.is_none() && is(name) {
            *part = Some(FileEntry::new(name, content));
        }
    }
    let named = [Some(weights), Some(lexicon), Some(aligner), vocoder.as_mut(), speaker_encoder.as_mut()];
    match named.into_iter().flatten().find(|entry| is(&entry.path)) {
        Some(entry) => *entry = FileEntry::new(&entry.path, content),
        None => return Ok(()),
    }
    write_manifest(folder, &manifest)
}

/// Opens the voice in a file; without a file returns the voice of the base's default speaker.
pub fn voice(base: &Base, file: Option<&Path>) -> Result<Voice> {
    match file {
        Some(path) => Voice::open(base, &files::read(path)?).map_err(|error| error.in_file(path)),
        None => Ok(Voice::unadapted(base)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_base_loads_after_one_of_its_files_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base");
        fs::create_dir_all(folder.path().join("lexicon")).unwrap();
        fs::create_dir_all(&base).unwrap();
        let shipped = Path::new("../../models");
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
        let model = crate::align::recogniser::Recogniser::new(80, &device);
        let trained = pollster::block_on(crate::align::ForcedAligner::serialize(&model, 80)).unwrap();
        assert_ne!(trained, fs::read(&aligner).unwrap());
        write_part(&aligner, &trained).unwrap();
        Base::open(&base, &device).unwrap();
        // The manifest gets an entry for a vocoder that it did not name.
        let bytes = fs::read(base.join(VOCODER)).unwrap();
        let mut manifest = read_manifest(&base).unwrap();
        let entry = manifest.files.vocoder.take();
        write_manifest(&base, &manifest).unwrap();
        write_part(&base.join(VOCODER), &bytes).unwrap();
        assert_eq!(read_manifest(&base).unwrap().files.vocoder, entry);
        // Other files do not change the manifest.
        let manifest = fs::read(base.join(MANIFEST)).unwrap();
        write_part(&base.join("notes.txt"), b"later").unwrap();
        assert_eq!(fs::read(base.join(MANIFEST)).unwrap(), manifest);
    }
}
