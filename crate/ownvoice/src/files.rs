//! Reads and writes files. Errors name the file, and a file is written completely or not at all.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    Error, Result,
    audio::{self, Audio},
};

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io(path))
}

/// Reads a recording. The error names the file.
pub fn read_audio(path: &Path) -> Result<Audio> {
    audio::read(&read(path)?).map_err(|error| error.in_file(path))
}

/// Writes a temporary file and renames it, so that an interrupted write leaves the old file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let partial = partial(path)?;
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&partial); // The first error is the one to report.
        Error::io(path)(source)
    })
}

/// Checks that [`write()`] can write here, before work that takes hours. Fails on what is not a regular file, such as a device, which a rename would replace.
pub fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path)(io::ErrorKind::IsADirectory.into()));
    }
    if path.exists() && !path.is_file() {
        return Err(Error::io(path)(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
    }
    let partial = partial(path)?;
    fs::write(&partial, []).and_then(|()| fs::remove_file(&partial)).map_err(Error::io(path))
}

/// Creates a folder and checks that files can be written into it.
pub fn check_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    check_writable(&folder.join("out"))
}

/// Returns the path of the temporary file of [`write()`]. It is in the same folder, as renaming requires, and its name is unique to this process.
pub fn partial(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::io(path)(std::io::ErrorKind::InvalidFilename.into()))?;
    Ok(path.with_file_name(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id())))
}

/// Fills `bytes` from a position of a file. It has no cursor, so that threads can share the file.
#[cfg(unix)]
pub fn read_at(file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, position)
}

/// Fills `bytes` from a position of a file. It has no cursor, so that threads can share the file.
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

/// Fails, since a page has no files.
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
    fn a_write_replaces_the_file_and_leaves_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("voice");
        check_writable(&path).unwrap();
        assert_eq!(names(folder.path()), [""; 0], "a check leaves no file");
        write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old", "a check does not change the file");
        // A reader that has the old file open keeps it, since the file was replaced and not overwritten.
        let before = fs::File::open(&path).unwrap();
        write(&path, "new, and longer").unwrap();
        assert_eq!(std::io::read_to_string(before).unwrap(), "old");
        assert_eq!(
            (names(folder.path()), fs::read(&path).unwrap()),
            (vec!["voice".to_string()], b"new, and longer".to_vec())
        );
    }

    #[test]
    fn a_check_finds_what_cannot_be_written_and_leaves_no_file() {
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
    fn an_unreadable_recording_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three.wav");
        fs::write(&path, "no sound").unwrap();
        let error = read_audio(&path).unwrap_err();
        assert!(error.code() == "audio-unreadable" && error.to_string().contains("three.wav"), "{error}");
        assert_eq!(read_audio(&folder.path().join("four.wav")).unwrap_err().code(), "io");
    }
}
