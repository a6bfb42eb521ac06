//! Paths of the repository and the cache, and helpers to run programs and handle files.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

/// A result whose error is a message to print.
pub type Result<T = (), E = String> = std::result::Result<T, E>;

/// Returns the root of the repository. From the environment of `cargo run`, because two checkouts may share a build folder, and with it this program.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let xtask = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        Path::new(&xtask).parent().expect("xtask is a folder of the repository").to_path_buf()
    });
    &ROOT
}

/// Returns the folder of build folders and installed tools, which outlives the checkout.
pub fn cache() -> PathBuf {
    match env::var_os("XDG_CACHE_HOME") {
        Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
        _ => env::home_dir().unwrap_or_else(env::temp_dir).join(".cache"),
    }
    .join("ownvoice")
}

/// Returns the build folder of native crates.
pub fn native_target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| cache().join("target"), |folder| root().join(folder))
}

/// Returns the build folder for WebAssembly, whose toolchain may differ from the native one.
pub fn wasm_target() -> PathBuf {
    cache().join("target-wasm")
}

/// Returns a command that runs at the root of the repository, without the variables that `cargo run` sets: build scripts that watch them would run again.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text == "CARGO"
            || ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"].iter().any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    command
}

/// Returns cargo for native crates.
pub fn cargo() -> Command {
    let mut command = command("cargo");
    command.env("CARGO_TARGET_DIR", native_target());
    command
}

/// Puts folders first on the PATH of a command.
pub fn prepend_path(command: &mut Command, folders: &[&Path]) -> Result {
    let old = env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().map(|f| f.to_path_buf()).chain(env::split_paths(&old));
    command.env("PATH", env::join_paths(all).map_err(|e| e.to_string())?);
    Ok(())
}

/// Formats a command as it would be typed.
pub fn shown(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command. Its output goes to stderr, so that stdout holds only the results of xtask.
pub fn run(command: &mut Command) -> Result {
    let status = command.stdout(stderr()).status().map_err(|e| format!("{}: {e}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", shown(command))) }
}

/// Runs a command and returns its stdout; the error has its stderr.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{}: {e}", shown(command)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{}: {}\n{}",
            shown(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// Returns our stderr, to be the stdout of another program.
pub fn stderr() -> Stdio {
    #[cfg(unix)]
    if let Ok(stderr) = std::os::fd::AsFd::as_fd(&std::io::stderr()).try_clone_to_owned() {
        return stderr.into();
    }
    Stdio::inherit()
}

/// Finds a program on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// Runs a step; prints its name before and its duration after.
pub fn timed<T>(what: &str, action: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("--- {what}");
    let start = Instant::now();
    let done = action()?;
    eprintln!("--- {what}: {:.1} s", start.elapsed().as_secs_f32());
    Ok(done)
}

/// Returns a hash of a file's content that detects changes. It is not cryptographic.
pub fn fingerprint(path: &Path) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    read(path)?.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result {
    fs::write(path, contents).map_err(|e| format!("{}: {e}", path.display()))
}

pub fn create_dir(path: &Path) -> Result {
    fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Removes a folder and its content, if it exists.
pub fn remove_dir(path: &Path) -> Result {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {e}", path.display())),
        _ => Ok(()),
    }
}

/// Returns the files of a folder, sorted by name; none if the folder does not exist.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Copies a folder and its content, except hidden files. Links are followed.
pub fn copy_dir(from: &Path, to: &Path) -> Result {
    create_dir(to)?;
    for entry in fs::read_dir(from).map_err(|e| format!("{}: {e}", from.display()))?.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        } else if source.is_dir() {
            copy_dir(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(|e| format!("{}: {e}", source.display()))?;
        }
    }
    Ok(())
}
