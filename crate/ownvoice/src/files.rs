//! Reads and writes files. Errors name the file, and a file is written completely or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    Error, Result,
    audio::{self, Audio, Note},
};

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io(path))
}

/// Reads a recording. The error names the file.
pub fn read_audio(path: &Path) -> Result<Audio> {
    read_audio_with_notes(path).map(|(audio, _)| audio)
}

/// Reads a recording as [`read_audio`] does, and returns what was unusual about the file.
pub fn read_audio_with_notes(path: &Path) -> Result<(Audio, Vec<Note>)> {
    audio::read_with_notes(&read(path)?).map_err(|error| error.in_file(path))
}

/// Writes a temporary file and renames it, so that an interrupted write leaves the old file. A link stays, and a replaced file keeps its permissions. What is no
/// regular file, such as a pipe or a device, is written to directly.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let bytes = bytes.as_ref();
    if is_special(path) {
        let written = OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes));
        return written.map_err(Error::io(path));
    }
    let target = behind_links(path);
    let partial = partial(&target)?;
    let written = File::create(&partial).and_then(|mut file| {
        // Before the content, which others must not read meanwhile.
        if let Ok(replaced) = fs::metadata(&target) {
            file.set_permissions(replaced.permissions())?;
        }
        file.write_all(bytes)?;
        drop(file);
        fs::rename(&partial, &target)
    });
    written.map_err(|source| {
        let _ = fs::remove_file(&partial); // The first error is the one to report.
        Error::io(path)(source)
    })
}

/// Checks that [`write()`] can write a file here, before work that takes hours.
pub fn check_writable(path: &Path) -> Result<()> {
    check_room(path, 0)
}

/// Checks that [`write()`] can write a file of some bytes here: that it is no folder, and that the disk has room.
pub fn check_room(path: &Path, bytes: usize) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path)(io::ErrorKind::IsADirectory.into()));
    }
    if is_special(path) {
        return Ok(());
    }
    let partial = partial(&behind_links(path))?;
    let written = fs::write(&partial, vec![0; bytes]);
    let removed = fs::remove_file(&partial);
    written.and(removed).map_err(Error::io(path))
}

/// Whether something other than a file or a folder is there.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Follows symbolic links, also one to a file that does not exist yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // Links may form a circle, which the write reports.
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// The most links that are followed, as by Linux.
const MAX_LINKS: usize = 40;

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
        assert!(names(folder.path().parent().unwrap()).iter().all(|name| !name.ends_with(".partial")));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("voices")).unwrap();
        let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
        for permissions in [0o600, 0o640, 0o666, 0o444] {
            fs::write(path("voices/me"), "old").unwrap();
            fs::set_permissions(path("voices/me"), PermissionsExt::from_mode(permissions)).unwrap();
            write(&path("voices/me"), "new").unwrap();
            assert_eq!(mode("voices/me"), permissions);
            fs::remove_file(path("voices/me")).unwrap();
        }
        fs::write(path("plain"), "").unwrap();
        write(&path("voices/me"), "new").unwrap();
        assert_eq!(mode("voices/me"), mode("plain"), "a new file has the usual permissions");

        symlink("voices/me", path("relative")).unwrap();
        symlink(path("voices/me"), path("absolute")).unwrap();
        symlink("relative", path("of a link")).unwrap();
        symlink("voices/new", path("to nothing")).unwrap();
        for (link, file) in [
            ("relative", "voices/me"),
            ("absolute", "voices/me"),
            ("of a link", "voices/me"),
            ("to nothing", "voices/new"),
        ] {
            check_writable(&path(link)).unwrap();
            write(&path(link), link).unwrap();
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink(), "{link}");
            assert_eq!(fs::read_to_string(path(file)).unwrap(), link);
        }
        assert_eq!(names(&path("voices")), ["me", "new"]);
        symlink("circle", path("circle")).unwrap();
        assert!(write(&path("circle"), "x").is_err() || fs::metadata(path("circle")).is_ok());
        symlink("missing/voice", path("nowhere")).unwrap();
        assert_eq!(check_writable(&path("nowhere")).unwrap_err().code(), "io");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_and_a_full_disk_is_an_error() {
        check_writable(Path::new("/dev/null")).unwrap();
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(fs::metadata("/dev/null").is_ok_and(|found| !found.is_file()));
        let error = write(Path::new("/dev/full"), "x").unwrap_err();
        assert!(error.code() == "io" && error.to_string().starts_with("/dev/full: "), "{error}");
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
