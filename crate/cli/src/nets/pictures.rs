//! Pictures by class: a folder with a folder for each class, or IDX files.

use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
};

use image::{ImageError, ImageReader, Limits, error::LimitErrorKind};
use rayon::prelude::*;

use super::idx::{self, Split};
use ownvoice::{
    Error, Result, files,
    nets::{
        NetConfig, Picture, Pictures,
        picture::{MAX_PIXELS, check_size},
    },
    report::Report,
};

/// Reads the pictures below a folder, as input of a net.
///
/// # Errors
/// Fails with `io`, `corpus-invalid` if an IDX file is damaged, `picture-unreadable`, `picture-size`, `classes-too-few` or `class-empty`.
pub fn read_pictures(
    folder: &Path,
    split: Split,
    config: &NetConfig,
    report: &dyn Report,
) -> Result<Pictures> {
    if let Some(pictures) = idx::read(folder, split, config)? {
        return Ok(pictures);
    }
    let mut pictures = Pictures { names: Vec::new(), items: Vec::new() };
    for class in sorted(folder)?.into_iter().filter(|path| path.is_dir()) {
        let name = class.file_name().unwrap_or_default().to_string_lossy().to_string();
        let (found, other): (Vec<PathBuf>, Vec<PathBuf>) =
            sorted(&class)?.into_iter().partition(|path| is_picture(path));
        if let Some(path) = other.first() {
            let more = other.len() - 1;
            report.note(&format!(
                "{} is no picture (.jpg, .jpeg or .png){}",
                path.display(),
                and_others(more)
            ));
        }
        let number = pictures.names.len();
        pictures.names.push(name);
        let read: Vec<Picture> = found.par_iter().map(|path| picture(path, config)).collect::<Result<_>>()?;
        pictures.items.extend(read.into_iter().map(|picture| (picture, number)));
    }
    pictures.check()?;
    Ok(pictures)
}

fn and_others(count: usize) -> String {
    if count == 0 { String::new() } else { format!(", nor are {count} others") }
}

/// Returns the visible entries of a folder in the order of their names.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = paths.map_err(Error::io(folder))?;
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    path.is_file() && matches!(extension.as_str(), "jpg" | "jpeg" | "png")
}

/// Decodes a picture. Its size is checked before its pixels take memory.
fn picture(path: &Path, config: &NetConfig) -> Result<Picture> {
    decode(&files::read(path)?, config).map_err(|error| error.in_file(path))
}

/// Decodes a PNG or JPEG file, which is untrusted input. Fails with `picture-unreadable` or `picture-size`.
pub fn decode(bytes: &[u8], config: &NetConfig) -> Result<Picture> {
    let reader =
        || ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(Error::picture_unreadable);
    let unreadable = |error: ImageError| Error::picture_unreadable(error);
    let (width, height) = reader()?.into_dimensions().map_err(unreadable)?;
    check_size(width as usize, height as usize)?;
    let mut reader = reader()?;
    let mut limits = Limits::default();
    // Four channels of two bytes, and the buffers of the decoder.
    limits.max_alloc = Some(10 * MAX_PIXELS as u64);
    reader.limits(limits);
    let decoded = reader.decode().map_err(|error| match &error {
        ImageError::Limits(limit) if matches!(limit.kind(), LimitErrorKind::DimensionError) => {
            Error::picture_size([width as usize, height as usize], [0, MAX_PIXELS])
        }
        _ => unreadable(error),
    })?;
    let rgb = decoded.into_rgb8();
    Picture::from_rgb(width as usize, height as usize, rgb.as_raw(), config)
}
