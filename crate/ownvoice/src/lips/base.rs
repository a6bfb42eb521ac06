//! A lip-to-speech base: a folder with a manifest, weights and optionally a vocoder.

use std::{
    fs,
    path::{Component, Path},
    sync::Arc,
};

use burn::{module::Module, prelude::*};
use serde::{Deserialize, Serialize};

use super::{clock::FRAMES_PER_SECOND, config::LipConfig, model::LipTacotron, track::SEARCH_EVERY};
use crate::{
    Error, Result,
    audio::mel::MelConfig,
    files,
    vocoder::Vocoder,
    voice::{
        FileEntry,
        base::load_vocoder,
        folder::{MANIFEST, VOCODER},
    },
};
use burn_fused::weights::{Metadata, Storage, apply_all, collect, deserialize, serialize};

/// The file name of the weights.
pub const WEIGHTS: &str = "weights.safetensors";
/// The value of `kind` in the manifest.
const KIND: &str = "lips";

/// The `manifest.json` of a lip-to-speech base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipManifest {
    /// `lips`; the manifest of a text-to-speech base has no kind.
    pub kind: String,
    pub name: String,
    pub licence: String,
    pub files: LipFiles,
    pub model: LipConfig,
    pub mel: MelConfig,
    /// The frame rate of the input.
    pub pictures_per_second: usize,
    /// The number of pictures of a window, in training and synthesis.
    pub window_pictures: usize,
    /// The names of the rows of the speaker table.
    pub speakers: Vec<String>,
    /// The training configuration and data.
    pub recipe: serde_json::Value,
    /// Quality measures by name.
    pub quality: serde_json::Value,
}

/// The files of a lip-to-speech base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipFiles {
    pub weights: FileEntry,
    /// The vocoder of a text-to-speech base with the same mels, in this folder or in a sibling; Griffin-Lim without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocoder: Option<FileEntry>,
}

impl LipManifest {
    /// Checks that the entries are consistent and supported by this program. The error names the one that is not.
    fn check(&self) -> Result<(), String> {
        let files = std::iter::once(&self.files.weights).chain(&self.files.vocoder);
        if let Some(far) = files.map(|entry| &entry.path).find(|path| !is_near(path)) {
            return Err(format!("{far} is neither in the folder nor in a sibling of it"));
        }
        self.model.check()?;
        if self.pictures_per_second != FRAMES_PER_SECOND {
            let found = self.pictures_per_second;
            return Err(format!(
                "its input has {found} pictures a second; only {FRAMES_PER_SECOND} are supported"
            ));
        }
        let windows = SEARCH_EVERY..=10 * FRAMES_PER_SECOND;
        if !windows.contains(&self.window_pictures) || !self.window_pictures.is_multiple_of(SEARCH_EVERY) {
            return Err(format!("the window of {} pictures is not supported", self.window_pictures));
        }
        if self.model.tacotron.speakers != self.speakers.len() || self.model.tacotron.mels != self.mel.mels {
            return Err("the manifest does not match the model".into());
        }
        self.mel.check().map_err(|error| error.to_string())
    }
}

/// Returns whether a path stays in the folder or leads into a sibling of it.
fn is_near(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.next_if_eq(&Component::ParentDir);
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The bytes of a lip-to-speech base, which are untrusted.
#[derive(Debug, Clone, Copy)]
pub struct LipBaseFiles<'a> {
    pub manifest_json: &'a str,
    pub weights: &'a [u8],
    pub vocoder: Option<&'a [u8]>,
}

/// A lip-to-speech base on its device.
pub struct LipBase {
    pub manifest: LipManifest,
    pub model: LipTacotron,
    pub vocoder: Arc<dyn Vocoder>,
    pub device: Device,
}

impl LipBase {
    /// Loads the base in a folder.
    ///
    /// # Errors
    /// Fails with `io`, or with `base-corrupt` if a file is not the one that the manifest names or the manifest is invalid.
    pub fn open(folder: &Path, device: &Device) -> Result<Self> {
        let read = |entry: &FileEntry| files::read(&folder.join(&entry.path));
        let json = String::from_utf8_lossy(&files::read(&folder.join(MANIFEST))?).into_owned();
        let manifest = parse(&json)?;
        let vocoder = manifest.files.vocoder.as_ref().map(read).transpose()?;
        let weights = read(&manifest.files.weights)?;
        let files = LipBaseFiles { manifest_json: &json, weights: &weights, vocoder: vocoder.as_deref() };
        Self::load(files, device)
    }

    /// Checks the files and loads the base onto a device. Fails with `base-corrupt`.
    pub fn load(files: LipBaseFiles, device: &Device) -> Result<Self> {
        let manifest = parse(files.manifest_json)?;
        manifest.files.weights.verify("weights", files.weights)?;
        if let (Some(entry), Some(content)) = (&manifest.files.vocoder, files.vocoder) {
            entry.verify("vocoder", content)?;
        }
        let vocoder = load_vocoder(manifest.files.vocoder.as_ref(), files.vocoder, &manifest.mel)?;
        let (weights, _) = deserialize(files.weights).map_err(Error::base_corrupt)?;
        let blank = LipTacotron::new(&manifest.model, device);
        let model = apply_all(blank, weights).map_err(Error::base_corrupt)?.valid();
        Ok(Self { manifest, model, vocoder, device: device.clone() })
    }

    /// Returns the row of the speaker table with a name, or the first without one. Fails with `option-invalid` if there is none.
    pub fn speaker(&self, name: Option<&str>) -> Result<usize> {
        let Some(name) = name else { return Ok(0) };
        self.manifest.speakers.iter().position(|speaker| speaker == name).ok_or_else(|| {
            Error::option_invalid(format!(
                "there is no speaker {name}: the speakers are {}",
                self.manifest.speakers.join(", ")
            ))
        })
    }
}

fn parse(json: &str) -> Result<LipManifest> {
    let corrupt = |what: String| Error::base_corrupt(format!("manifest.json: {what}"));
    /// The kind is checked first, because the other fields depend on it.
    #[derive(Deserialize)]
    struct Kind {
        kind: Option<String>,
    }
    let Kind { kind } = serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
    if kind.as_deref() != Some(KIND) {
        let found = kind.unwrap_or("text".into());
        return Err(corrupt(format!("it is a {found} base, not a lips base")));
    }
    let manifest: LipManifest = serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
    manifest.check().map_err(corrupt)?;
    Ok(manifest)
}

/// Copies a lip-to-speech base, with its vocoder in its own folder, after checking all of it.
///
/// # Errors
/// Fails as [`LipBase::open`] does.
pub fn import(from: &Path, to: &Path) -> Result<LipManifest> {
    let mut manifest = LipBase::open(from, &Device::flex())?.manifest;
    let copy = |entry: &mut FileEntry, name: &str| -> Result<()> {
        files::write(&to.join(name), files::read(&from.join(&entry.path))?)?;
        entry.path = name.into();
        Ok(())
    };
    copy(&mut manifest.files.weights, WEIGHTS)?;
    manifest.files.vocoder.as_mut().map(|entry| copy(entry, VOCODER)).transpose()?;
    write_manifest(to, &manifest)?;
    Ok(manifest)
}

fn write_manifest(folder: &Path, manifest: &LipManifest) -> Result<()> {
    let json = serde_json::to_string_pretty(manifest).expect("plain data") + "\n";
    files::write(&folder.join(MANIFEST), json)
}

/// The vocoder of a base that is about to be written.
pub struct VocoderFile {
    /// The path, relative to the base's folder.
    path: String,
    content: Vec<u8>,
    /// Whether the file is written with the base.
    is_own: bool,
}

impl VocoderFile {
    /// Decides where the vocoder lies: if the two folders are siblings, as in `models`, the base shares the other's file; otherwise it has a copy.
    ///
    /// * `from`, `name`: the existing folder and file of a text-to-speech base
    /// * `to`:           the existing folder of the lip-to-speech base
    pub fn of(from: &Path, name: &str, to: &Path, content: Vec<u8>) -> Result<Self> {
        let [from, to] = [from, to].map(|folder| fs::canonicalize(folder).map_err(Error::io(folder)));
        let (from, to) = (from?, to?);
        let sibling = from.file_name().filter(|_| from != to && from.parent() == to.parent());
        let shared = sibling.map(|folder| format!("../{}/{name}", folder.to_string_lossy()));
        Ok(match shared.filter(|path| is_near(path)) {
            Some(path) => Self { path, content, is_own: false },
            None => Self { path: VOCODER.into(), content, is_own: true },
        })
    }
}

/// The result of a training, to be written.
pub struct Trained<'a> {
    pub model: &'a LipTacotron,
    pub config: LipConfig,
    pub mel: MelConfig,
    pub window_pictures: usize,
    pub speakers: Vec<String>,
    pub vocoder: Option<VocoderFile>,
    pub recipe: serde_json::Value,
    pub quality: serde_json::Value,
}

/// Encodes the weights in half precision.
pub fn weights(trained: &Trained) -> Result<Vec<u8>> {
    Ok(pollster::block_on(serialize(collect(trained.model), Storage::Half, Metadata::new()))?)
}

/// Writes the encoded [`weights`], the vocoder and the manifest.
pub fn write(folder: &Path, trained: Trained, weights: &[u8]) -> Result<()> {
    let manifest = LipManifest {
        kind: KIND.into(),
        name: "ownvoice lips".into(),
        licence: "MIT OR Apache-2.0".into(),
        files: LipFiles {
            weights: FileEntry::new(WEIGHTS, weights),
            vocoder: trained.vocoder.as_ref().map(|file| FileEntry::new(&file.path, &file.content)),
        },
        model: trained.config,
        mel: trained.mel,
        pictures_per_second: FRAMES_PER_SECOND,
        window_pictures: trained.window_pictures,
        speakers: trained.speakers,
        recipe: trained.recipe,
        quality: trained.quality,
    };
    files::write(&folder.join(WEIGHTS), weights)?;
    if let Some(VocoderFile { path, content, .. }) = trained.vocoder.filter(|file| file.is_own) {
        files::write(&folder.join(path), content)?;
    }
    write_manifest(folder, &manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_in_the_folder_or_in_a_sibling() {
        for near in ["weights.safetensors", "parts/weights.safetensors", "../base/vocoder.safetensors"] {
            assert!(is_near(near), "{near}");
        }
        for far in ["", "..", "/etc/passwd", "../../secret", "a/../../secret", "../base/../../secret"] {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn a_vocoder_is_shared_between_siblings_and_copied_elsewhere() {
        let models = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = models.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            folder
        };
        let (base, lips, far) = (folder("base"), folder("lips"), folder("far/lips"));
        let of = |to: &Path| {
            let file = VocoderFile::of(&base, "vocoder.safetensors", to, vec![1]).unwrap();
            (file.path, file.is_own)
        };
        assert_eq!(of(&lips), ("../base/vocoder.safetensors".into(), false));
        assert_eq!(of(&far), (VOCODER.into(), true));
        assert_eq!(of(&base), (VOCODER.into(), true));
    }
}
