//! IDX files, in which MNIST and its relatives are published: a header of sizes, then bytes. They may be compressed by gzip.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;

use ownvoice::{
    Error, Result, files,
    nets::{NetConfig, Picture, Pictures, picture::check_size},
};

/// The most bytes of a decompressed file: MNIST's training pictures take 47 MB.
const MAX_BYTES: u64 = 1 << 30;

/// Which pictures of a folder of IDX files are read, if it holds both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    Train,
    Test,
}

/// Reads pictures and labels of a folder, or returns `None` if it holds no pictures in this format.
pub fn read(folder: &Path, split: Split, config: &NetConfig) -> Result<Option<Pictures>> {
    let Some(pictures) = find(folder, "images-idx3", split)? else { return Ok(None) };
    let labels = find(folder, "labels-idx1", split)?.ok_or_else(|| {
        Error::corpus_invalid("there are pictures in an IDX file, but no labels").in_file(folder)
    })?;
    let ([count, height, width], bytes) = parse::<3>(&pictures)?;
    let ([labelled], labels) = parse::<1>(&labels)?;
    if labelled != count {
        let message = format!("there are {labelled} labels for {count} pictures");
        return Err(Error::corpus_invalid(message).in_file(pictures));
    }
    check_size(width, height).map_err(|error| error.in_file(&pictures))?;
    let grey = |pixels: &[u8]| pixels.iter().flat_map(|&value| [value; 3]).collect::<Vec<u8>>();
    let items = bytes
        .chunks_exact(height * width)
        .zip(&labels)
        .map(|(pixels, &label)| Ok((Picture::from_rgb(width, height, &grey(pixels), config)?, label.into())))
        .collect::<Result<Vec<(Picture, usize)>>>()?;
    let classes = items.iter().map(|(_, class)| class + 1).max().unwrap_or(0);
    let pictures = Pictures { names: (0..classes).map(|class| class.to_string()).collect(), items };
    pictures.check()?;
    Ok(Some(pictures))
}

/// Returns the file whose name contains `part`, of several the one of this split.
fn find(folder: &Path, part: &str, split: Split) -> Result<Option<PathBuf>> {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| name(path).contains(part)).collect();
    found.sort();
    let wanted = found.iter().position(|path| name(path).starts_with("train") == (split == Split::Train));
    Ok((!found.is_empty()).then(|| found.swap_remove(wanted.unwrap_or(0))))
}

/// Returns the sizes and the bytes of a file of `D` dimensions, which is untrusted input.
fn parse<const D: usize>(path: &Path) -> Result<([usize; D], Vec<u8>)> {
    let damaged =
        |reason: &str| Error::corpus_invalid(format!("this is no IDX file of bytes: {reason}")).in_file(path);
    let mut bytes = files::read(path)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        GzDecoder::new(&bytes[..])
            .take(MAX_BYTES)
            .read_to_end(&mut unpacked)
            .map_err(|error| damaged(&error.to_string()))?;
        bytes = unpacked;
    }
    // Zeros, the type of bytes, and the number of dimensions.
    let header = 4 + 4 * D;
    if bytes.len() < header || bytes[..4] != [0, 0, 8, D as u8] {
        return Err(damaged("it begins otherwise"));
    }
    let mut sizes = [0; D];
    for (size, four) in sizes.iter_mut().zip(bytes[4..header].chunks_exact(4)) {
        *size = u32::from_be_bytes([four[0], four[1], four[2], four[3]]) as usize;
    }
    let count = sizes.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
    if count != Some(bytes.len() - header) {
        return Err(damaged(&format!("its sizes are {sizes:?}, and {} bytes follow", bytes.len() - header)));
    }
    Ok((sizes, bytes.split_off(header)))
}
