//! Where things are, and how other programs are run.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

/// Errors here are read by people only.
pub type Result<T = (), E = String> = std::result::Result<T, E>;

/// The repository. Asked of cargo as it runs: a build folder that two checkouts share may hold the other's xtask.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let xtask = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        Path::new(&xtask).parent().expect("xtask is a folder of the repository").to_path_buf()
    });
    &ROOT
}

/// What outlives a clean clone: build folders and installed tools.
pub fn cache() -> PathBuf {
    match env::var_os("XDG_CACHE_HOME") {
        Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
        _ => env::home_dir().unwrap_or_else(env::temp_dir).join(".cache"),
    }
    .join("ownvoice")
}

/// Build folder of everything native.
pub fn native_target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| cache().join("target"), |folder| root().join(folder))
}

/// Build folder of the wasm. It may come from another compiler than the native one, and they share nothing.
pub fn wasm_target() -> PathBuf {
    cache().join("target-wasm")
}

/// A program to be run at the root of the repository, without the variables that `cargo run` sets for xtask: build scripts
/// that watch those variables would run again.
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

/// cargo, for the native crates.
pub fn cargo() -> Command {
    let mut command = command("cargo");
    command.env("CARGO_TARGET_DIR", native_target());
    command
}

/// Puts a folder first on the PATH of a command.
pub fn prepend_path(command: &mut Command, folders: &[&Path]) -> Result {
    let old = env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().map(|f| f.to_path_buf()).chain(env::split_paths(&old));
    command.env("PATH", env::join_paths(all).map_err(|e| e.to_string())?);
    Ok(())
}

/// The command as one would type it.
pub fn shown(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command to its end. Its output goes to stderr, so that stdout holds only what xtask answers.
pub fn run(command: &mut Command) -> Result {
    let status = command.stdout(stderr()).status().map_err(|e| format!("{}: {e}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", shown(command))) }
}

/// Runs a command quietly and returns what it printed; the error is what it complained.
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

/// Our stderr as another program's stdout.
pub fn stderr() -> Stdio {
    #[cfg(unix)]
    if let Ok(stderr) = std::os::fd::AsFd::as_fd(&std::io::stderr()).try_clone_to_owned() {
        return stderr.into();
    }
    Stdio::inherit()
}

/// A program on the PATH.
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

/// A fingerprint of a file's content, to find changes; not a cryptographic one.
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

/// Removes a folder with all that is in it; one that is not there is as good.
pub fn remove_dir(path: &Path) -> Result {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {e}", path.display())),
        _ => Ok(()),
    }
}

/// Files of a folder, sorted by name; none where there is no folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Copies a folder with all that is in it, following links. Hidden files stay behind.
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
