//! Loading a base voice from its folder.

use burn::prelude::Device;
use std::{fs, path::Path};

use crate::{
    Error, Result,
    voice::{Base, BaseFiles, Manifest, Voice},
};

/// Loads `directory/manifest.json` and the files that it names.
pub fn load(directory: &Path, device: &Device) -> Result<Base> {
    let read = |path: &Path| fs::read(path).map_err(Error::io(path));
    let manifest = read_manifest(directory)?;
    let manifest_json = serde_json::to_string(&manifest).expect("plain data");
    let weights = read(&directory.join(&manifest.files.weights.path))?;
    let lexicon = read(&directory.join(&manifest.files.lexicon.path))?;
    let aligner = read(&directory.join(&manifest.files.aligner.path))?;
    let vocoder = manifest.files.vocoder.as_ref().map(|entry| read(&directory.join(&entry.path))).transpose()?;
    let files = BaseFiles { manifest_json: &manifest_json, weights: &weights, lexicon: &lexicon, aligner: &aligner, vocoder: vocoder.as_deref() };
    Base::load(files, device)
}

pub fn read_manifest(directory: &Path) -> Result<Manifest> {
    let path = directory.join("manifest.json");
    let json = fs::read(&path).map_err(Error::io(&path))?;
    serde_json::from_slice(&json).map_err(|error| Error::BaseCorrupt(format!("manifest.json: {error}")))
}

/// Writes `directory/manifest.json`.
pub fn write_manifest(directory: &Path, manifest: &Manifest) -> Result<()> {
    let path = directory.join("manifest.json");
    let json = serde_json::to_string_pretty(manifest).expect("plain data") + "\n";
    fs::write(&path, json).map_err(Error::io(&path))
}

/// The voice in a file, or the base's own speaker where there is none.
pub fn voice(base: &Base, file: Option<&Path>) -> Result<Voice> {
    match file {
        Some(path) => Voice::open(base, &fs::read(path).map_err(Error::io(path))?),
        None => Ok(Voice::unadapted(base)),
    }
}
