//! A base of lips: a folder with a manifest, as every base is.

use std::{
    fs,
    path::{Component, Path},
    rc::Rc,
};

use burn::{module::Module, prelude::*};
use serde::{Deserialize, Serialize};

use super::{
    clock::FRAMES_PER_SECOND,
    model::{LipConfig, LipTacotron},
    track::SEARCH_EVERY,
};
use crate::{
    Error, Result,
    audio::mel::MelConfig,
    files,
    vocoder::Vocoder,
    voice::{
        FileEntry,
        folder::{MANIFEST, VOCODER},
        load_vocoder,
    },
    weights::{Metadata, Storage, apply_all, collect, deserialize, serialize},
};

/// The name of the weights in the folder.
pub const WEIGHTS: &str = "weights.safetensors";
/// The kind in a manifest.
const KIND: &str = "lips";

/// `manifest.json` of a base of lips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipManifest {
    /// `lips`: a base of text has none.
    pub kind: String,
    pub name: String,
    pub licence: String,
    pub files: LipFiles,
    pub model: LipConfig,
    pub mel: MelConfig,
    /// Of what it sees.
    pub pictures_per_second: usize,
    /// That it was trained on at once, and decodes at once.
    pub window_pictures: usize,
    /// Rows of the speaker table.
    pub speakers: Vec<String>,
    /// How it was trained, and on what.
    pub recipe: serde_json::Value,
    /// What was measured of it, by name.
    pub quality: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LipFiles {
    pub weights: FileEntry,
    /// That of a base of text, with the same mels, in the folder or in one beside it; without, Griffin-Lim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocoder: Option<FileEntry>,
}

impl LipManifest {
    /// Its entries must be consistent, and supported by this program. The error names the one that is not.
    fn check(&self) -> Result<(), String> {
        let files = std::iter::once(&self.files.weights).chain(&self.files.vocoder);
        if let Some(far) = files.map(|entry| &entry.path).find(|path| !is_near(path)) {
            return Err(format!("{far} is neither in the folder nor in one beside it"));
        }
        self.model.check()?;
        if self.pictures_per_second != FRAMES_PER_SECOND {
            let found = self.pictures_per_second;
            return Err(format!("it sees {found} pictures a second; here there are {FRAMES_PER_SECOND}"));
        }
        let windows = SEARCH_EVERY..=10 * FRAMES_PER_SECOND;
        if !windows.contains(&self.window_pictures) || !self.window_pictures.is_multiple_of(SEARCH_EVERY) {
            return Err(format!("a window of {} pictures", self.window_pictures));
        }
        if self.model.tacotron.speakers != self.speakers.len() || self.model.tacotron.mels != self.mel.mels {
            return Err("manifest and model disagree".into());
        }
        self.mel.check().map_err(|error| error.to_string())
    }
}

/// Whether a path stays in the folder, or goes to one beside it.
fn is_near(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.next_if_eq(&Component::ParentDir);
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The bytes of a base of lips. Nothing in them is believed unchecked.
#[derive(Debug, Clone, Copy)]
pub struct LipBaseFiles<'a> {
    pub manifest_json: &'a str,
    pub weights: &'a [u8],
    pub vocoder: Option<&'a [u8]>,
}

/// A base of lips on its device.
pub struct LipBase {
    pub manifest: LipManifest,
    pub model: LipTacotron,
    pub vocoder: Rc<dyn Vocoder>,
    pub device: Device,
}

impl LipBase {
    /// Loads the base in a folder.
    ///
    /// # Errors
    /// `io`, and `base-corrupt` where a file is not what the manifest names, or the manifest does not fit.
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

    /// The row of the speaker table that has a name, or the first without one. Fails with `option-invalid`.
    pub fn speaker(&self, name: Option<&str>) -> Result<usize> {
        let Some(name) = name else { return Ok(0) };
        self.manifest.speakers.iter().position(|speaker| speaker == name).ok_or_else(|| {
            Error::option_invalid(format!(
                "no speaker is called {name}: there are {}",
                self.manifest.speakers.join(", ")
            ))
        })
    }
}

fn parse(json: &str) -> Result<LipManifest> {
    let corrupt = |what: String| Error::base_corrupt(format!("manifest.json: {what}"));
    /// First of all: what else is missing follows from it.
    #[derive(Deserialize)]
    struct Kind {
        kind: Option<String>,
    }
    let Kind { kind } = serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
    if kind.as_deref() != Some(KIND) {
        let found = kind.unwrap_or("text".into());
        return Err(corrupt(format!("it is a base of {found}, not of lips")));
    }
    let manifest: LipManifest = serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
    manifest.check().map_err(corrupt)?;
    Ok(manifest)
}

/// Copies a base of lips that was made elsewhere, with its vocoder in its own folder, after all of it was found to fit.
///
/// # Errors
/// As [`LipBase::open`].
pub fn import(from: &Path, to: &Path) -> Result<LipManifest> {
    let mut manifest = LipBase::open(from, &Device::flex())?.manifest;
    let copied = |entry: &mut FileEntry, name: &str| -> Result<()> {
        files::write(&to.join(name), files::read(&from.join(&entry.path))?)?;
        entry.path = name.into();
        Ok(())
    };
    copied(&mut manifest.files.weights, WEIGHTS)?;
    manifest.files.vocoder.as_mut().map(|entry| copied(entry, VOCODER)).transpose()?;
    write_manifest(to, &manifest)?;
    Ok(manifest)
}

fn write_manifest(folder: &Path, manifest: &LipManifest) -> Result<()> {
    let json = serde_json::to_string_pretty(manifest).expect("plain data") + "\n";
    files::write(&folder.join(MANIFEST), json)
}

/// The vocoder of a base that is written.
pub struct VocoderFile {
    /// From the base's folder.
    path: String,
    content: Vec<u8>,
    /// Whether the file is to be written.
    is_own: bool,
}

impl VocoderFile {
    /// Where both folders lie beside each other, as those in `models` do, one base reads the other's vocoder; elsewhere it has its own.
    ///
    /// * `from`, `name`: folder and file of a base of text
    /// * `to`:           folder of the base of lips; both exist
    pub fn of(from: &Path, name: &str, to: &Path, content: Vec<u8>) -> Result<Self> {
        let [from, to] = [from, to].map(|folder| fs::canonicalize(folder).map_err(Error::io(folder)));
        let (from, to) = (from?, to?);
        let beside = from.file_name().filter(|_| from != to && from.parent() == to.parent());
        let shared = beside.map(|folder| format!("../{}/{name}", folder.to_string_lossy()));
        Ok(match shared.filter(|path| is_near(path)) {
            Some(path) => Self { path, content, is_own: false },
            None => Self { path: VOCODER.into(), content, is_own: true },
        })
    }
}

/// What a training came to, to be written.
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

/// The file of the weights, in half precision.
pub fn weights(trained: &Trained) -> Result<Vec<u8>> {
    pollster::block_on(serialize(collect(trained.model), Storage::Half, Metadata::new()))
}

/// Writes what [`weights`] made, the vocoder and the manifest.
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
    fn files_are_in_the_folder_or_in_one_beside_it() {
        for near in ["weights.safetensors", "parts/weights.safetensors", "../base/vocoder.safetensors"] {
            assert!(is_near(near), "{near}");
        }
        for far in ["", "..", "/etc/passwd", "../../secret", "a/../../secret", "../base/../../secret"] {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn a_vocoder_is_shared_beside_its_base_and_copied_elsewhere() {
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
