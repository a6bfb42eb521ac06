//! Files in and out. Errors name the file; what is written is there as a whole or not at all.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    Error, Result,
    audio::{self, Audio},
};

pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io(path))
}

/// A recording. That it cannot be read as one is an error about this file.
pub fn read_audio(path: &Path) -> Result<Audio> {
    audio::read(&read(path)?).map_err(|error| error.in_file(path))
}

/// Writes beside the file, then renames: whatever interrupts this, the file is the old one or the new one.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let partial = partial(path)?;
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&partial); // What is left of it is of no use; the first error is the one that matters.
        Error::io(path)(source)
    })
}

/// Whether [`write`] can write here, checked before work that takes hours. What is no file, such as a device, is not replaced by one.
pub fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path)(io::ErrorKind::IsADirectory.into()));
    }
    if path.exists() && !path.is_file() {
        return Err(Error::io(path)(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")));
    }
    let partial = partial(path)?;
    fs::write(&partial, []).and_then(|()| fs::remove_file(&partial)).map_err(Error::io(path))
}

/// The same for a folder, which is made.
pub fn check_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    check_writable(&folder.join("out"))
}

/// A name to write under until the file is whole: in the same folder, as renaming needs it, under a name of this process's own.
pub fn partial(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::io(path)(std::io::ErrorKind::InvalidFilename.into()))?;
    Ok(path.with_file_name(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id())))
}

/// Fills `bytes` from a position on: any thread may, for there is no cursor that they share.
#[cfg(unix)]
pub fn read_at(file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, position)
}

#[cfg(windows)]
pub fn read_at(file: &File, mut bytes: &mut [u8], mut position: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, bytes, position)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (bytes, position) = (&mut bytes[count..], position + count as u64);
    }
    Ok(())
}

/// In a page there is no file to have opened.
#[cfg(not(any(unix, windows)))]
pub fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_write_replaces_the_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("voice");
        check_writable(&path).unwrap();
        assert_eq!(names(folder.path()), [""; 0], "trying leaves nothing");
        write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old", "trying changes nothing");
        // A reader that has the old file open keeps it: it was replaced, not written over.
        let before = fs::File::open(&path).unwrap();
        write(&path, "new, and longer").unwrap();
        assert_eq!(std::io::read_to_string(before).unwrap(), "old");
        assert_eq!(
            (names(folder.path()), fs::read(&path).unwrap()),
            (vec!["voice".to_string()], b"new, and longer".to_vec())
        );
    }

    #[test]
    fn what_cannot_be_written_is_found_before_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("missing/voice"), folder.path().to_path_buf()] {
            assert_eq!(check_writable(&path).unwrap_err().code(), "io");
            assert_eq!(write(&path, "voice").unwrap_err().code(), "io");
        }
        assert_eq!(names(folder.path()), [""; 0]);
        if cfg!(unix) {
            assert_eq!(check_writable(Path::new("/dev/null")).unwrap_err().code(), "io");
        }
        assert!(names(folder.path().parent().unwrap()).iter().all(|name| !name.ends_with(".partial")));
    }

    #[test]
    fn a_file_that_is_no_wav_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three.wav");
        fs::write(&path, "no sound").unwrap();
        let error = read_audio(&path).unwrap_err();
        assert!(error.code() == "audio-unreadable" && error.to_string().contains("three.wav"), "{error}");
        assert_eq!(read_audio(&folder.path().join("four.wav")).unwrap_err().code(), "io");
    }
}
