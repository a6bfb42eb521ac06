//! Finds the tools for building and testing, and installs those that are missing.

use crate::shell::{
    Result, cache, command, create_dir, files, find, fingerprint, output, prepend_path, read_text,
    remove_dir, root, run, timed, wasm_target, write,
};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const WASM: &str = "wasm32-unknown-unknown";
const WASM_PACK_VERSION: &str = "0.15.1";
const TRUNK_VERSION: &str = "0.21.14";
/// The name under which rustup links Debian's toolchain.
const DEBIAN: &str = "debian";
/// The folder where Debian's rustc expects the standard library for WebAssembly.
const DEBIAN_LIBRARY: &str = "/usr/lib/rustlib/wasm32-unknown-unknown/lib";

/// `cargo xtask setup`: finds or installs everything, and Trunk only on request, because nothing here needs it and it takes longest.
pub fn all(trunk: bool) -> Result {
    wasm_toolchain()?;
    bindgen()?;
    wasm_pack()?;
    browser()?;
    node_modules()?;
    page_modules()?;
    // Optional: tests that need these are skipped without them.
    other_browsers();
    ffmpeg();
    mpi();
    vulkan();
    speech_clients();
    if trunk {
        let folder = tool("trunk", "trunk", TRUNK_VERSION, &["--locked"])?;
        eprintln!("Trunk is in {}", folder.display());
    }
    eprintln!("all is set up");
    Ok(())
}

/// The toolchain that compiles to WebAssembly: the active one, or one by name.
#[derive(Clone, Copy)]
pub struct WasmToolchain(Option<&'static str>);

impl WasmToolchain {
    pub fn apply(self, command: &mut Command) {
        if let Some(name) = self.0 {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
    }

    /// Returns whether the toolchain compiles a small library for WebAssembly. The folder of the standard library may exist, but hold files of another version.
    fn works(self) -> bool {
        let Ok(()) = create_dir(&cache()) else { return false };
        let (source, artefact) = (cache().join("probe.rs"), cache().join("probe.rmeta"));
        let mut rustc = command("rustc");
        self.apply(rustc.env("RUSTUP_AUTO_INSTALL", "0"));
        rustc
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--target", WASM])
            .arg("-o")
            .arg(artefact)
            .arg(&source);
        write(&source, "pub fn probe() -> Vec<u8> { Vec::new() }").is_ok() && output(&mut rustc).is_ok()
    }
}

/// Finds a toolchain for WebAssembly. A missing standard library comes from rustup or, if that cannot be downloaded, is built from Debian's packages.
pub fn wasm_toolchain() -> Result<WasmToolchain> {
    let (active, debian) = (WasmToolchain(None), WasmToolchain(Some(DEBIAN)));
    if active.works() {
        return Ok(active);
    }
    let rustup = find("rustup").is_some();
    if rustup && debian.works() {
        return Ok(debian);
    }
    if rustup {
        let added = timed("set-up: standard library for WebAssembly (rustup target add)", || {
            run(command("rustup").args(["target", "add", WASM]))
        });
        if added.is_ok() && active.works() {
            return Ok(active);
        }
    }
    if !can_apt() {
        return Err(format!(
            "this Rust has no {WASM}: run `rustup target add {WASM}` (on Debian, as root, xtask builds it from packages instead)"
        ));
    }
    timed("set-up: standard library for WebAssembly (Debian's rustc-web, built once)", || {
        debian_library(rustup)
    })?;
    let found = if rustup { debian } else { active };
    if found.works() {
        Ok(found)
    } else {
        Err(format!("Debian's rustc is installed, but does not compile for {WASM}"))
    }
}

/// Builds the standard library for WebAssembly with Debian's rustc-web: Debian packages its source, but not the library for this target.
fn debian_library(rustup: bool) -> Result {
    apt(&["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm"])?;
    let about = output(command("/usr/bin/rustc").arg("-vV"))?;
    let llvm = llvm_major(&about).ok_or_else(|| format!("/usr/bin/rustc names no LLVM:\n{about}"))?;
    apt(&[&format!("lld-{llvm}")])?;

    let empty = cache().join("std-wasm");
    remove_dir(&empty)?;
    create_dir(&empty.join("src"))?;
    write(
        &empty.join("Cargo.toml"),
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n",
    )?;
    write(&empty.join("src/lib.rs"), "#![no_std]\n")?;
    run(command("/usr/bin/cargo")
        .args(["build", "-Zbuild-std=std,panic_abort,panic_unwind,test", "--release", "--target", WASM])
        .current_dir(&empty)
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", empty.join("target"))
        .env_remove("RUSTFLAGS"))?;

    // Files of another version would conflict.
    let library = Path::new(DEBIAN_LIBRARY);
    remove_dir(library)?;
    create_dir(library)?;
    for built in files(&empty.join("target").join(WASM).join("release/deps")) {
        let name = built.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libempty-") {
            fs::copy(&built, library.join(&name)).map_err(|e| format!("{}: {e}", library.display()))?;
        }
    }
    remove_dir(&empty)?;
    if rustup { run(command("rustup").args(["toolchain", "link", DEBIAN, "/usr"])) } else { Ok(()) }
}

/// Reads LLVM's major version from the output of `rustc -vV`: 22 of `LLVM version: 22.1.8`.
fn llvm_major(rustc: &str) -> Option<&str> {
    rustc.lines().find_map(|line| line.strip_prefix("LLVM version: "))?.split('.').next()
}

/// Returns cargo with the toolchain, build folder and flags for WebAssembly.
pub fn cargo_wasm() -> Result<Command> {
    let mut cargo = command("cargo");
    wasm_environment(&mut cargo)?;
    Ok(cargo)
}

/// Sets the environment for WebAssembly builds on a command: cargo, or wasm-pack, which calls cargo.
pub fn wasm_environment(command: &mut Command) -> Result {
    create_dir(&wasm_target())?;
    wasm_toolchain()?.apply(command);
    // RUSTFLAGS would replace the flags of .cargo/config.toml, which enable SIMD.
    command
        .env("CARGO_TARGET_DIR", wasm_target())
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    Ok(())
}

/// Returns the folder of wasm-bindgen's tools, in the version of the library in Cargo.lock: they must be equal.
pub fn bindgen() -> Result<PathBuf> {
    let lock = read_text(&root().join("Cargo.lock"))?;
    let version = locked_version(&lock, "wasm-bindgen").ok_or("Cargo.lock has no wasm-bindgen")?;
    tool("wasm-bindgen-cli", "wasm-bindgen", version, &[])
}

/// Returns the folder of wasm-pack.
pub fn wasm_pack() -> Result<PathBuf> {
    tool("wasm-pack", "wasm-pack", WASM_PACK_VERSION, &[])
}

/// Returns the folder that holds a program of this version: the cache, or one on the PATH. Installs the program into the cache otherwise.
fn tool(package: &str, program: &str, version: &str, flags: &[&str]) -> Result<PathBuf> {
    let own = cache().join("tools").join(format!("{package}-{version}"));
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let has_version = |path: &Path| {
        output(command(path).arg("--version"))
            .is_ok_and(|line| line.split_whitespace().any(|word| word == version))
    };
    for path in [Some(own.join("bin").join(&name)), find(program)].into_iter().flatten() {
        if path.is_file() && has_version(&path) {
            return Ok(path.parent().expect("the path has a parent").to_path_buf());
        }
    }
    let install = |more: &[&str]| {
        let mut cargo = command("cargo");
        cargo.args(["install", package, "--version", version, "--root"]).arg(&own).args(flags).args(more);
        // Not in the repository, whose .cargo/config.toml would apply.
        create_dir(&own)?;
        // Halves the build time; the tools run for seconds either way.
        cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
        run(cargo.current_dir(&own).env_remove("CARGO_TARGET_DIR"))
    };
    timed(&format!("set-up: {package} {version} (a few minutes, once)"), || {
        // A mirror may lack a version of the program's lock file.
        if flags.contains(&"--locked") {
            install(&[])
        } else {
            install(&["--locked"]).or_else(|_| install(&[]))
        }
    })?;
    Ok(own.join("bin"))
}

/// Reads the version of a package from the text of Cargo.lock.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

/// A Chromium and its WebDriver, which must have the same version.
pub struct Browser {
    pub chromium: PathBuf,
    pub driver: PathBuf,
}

/// Finds or installs Chromium.
pub fn browser() -> Result<Browser> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    if can_apt() {
        timed("set-up: Chromium and its driver (apt)", || apt(&["chromium", "chromium-driver"]))?;
    }
    find_browser().ok_or_else(|| {
        "Chromium or its chromedriver is missing: install both (Debian: chromium chromium-driver; macOS: brew install --cask google-chrome chromedriver), \
         or set CHROMIUM and CHROMEDRIVER to their paths"
            .to_string()
    })
}

/// Installs Firefox and WebKit if that is possible. Without them, the tests of the page in them are skipped.
pub fn other_browsers() {
    let firefox = find("firefox").or_else(|| find("firefox-esr"));
    let webkit = find("WebKitWebDriver").and(find("Xvfb"));
    for (name, found, packages) in
        [("Firefox", firefox, &["firefox-esr"][..]), ("WebKit", webkit, &["webkit2gtk-driver", "xvfb"])]
    {
        if found.is_none()
            && can_apt()
            && let Err(message) = timed(&format!("set-up: {name} (apt)"), || apt(packages))
        {
            eprintln!("no {name}: {message}");
        }
    }
}

/// Installs ffmpeg if that is possible. Without it, the tests of videos are skipped.
pub fn ffmpeg() {
    if find("ffmpeg").is_none()
        && can_apt()
        && let Err(message) = timed("set-up: ffmpeg (apt)", || apt(&["ffmpeg"]))
    {
        eprintln!("no ffmpeg: {message}");
    }
}

/// Installs a C++ compiler if that is possible. Without one, the build of libFuzzer fails.
pub fn cpp() {
    if ["c++", "g++", "clang++"].iter().all(|name| find(name).is_none())
        && can_apt()
        && let Err(message) = timed("set-up: g++ (apt)", || apt(&["g++"]))
    {
        eprintln!("no g++: {message}");
    }
}

/// Returns whether a Vulkan driver is installed: that of a graphics card or Mesa's software driver, which is installed if that is possible.
pub fn vulkan() -> bool {
    let drivers = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];
    let found = || {
        env::var_os("VK_DRIVER_FILES").is_some()
            || drivers.iter().any(|folder| !files(Path::new(folder)).is_empty())
    };
    if !found() && can_apt() {
        let installed = timed("set-up: Mesa's software driver for Vulkan (apt)", || {
            apt(&["mesa-vulkan-drivers", "libvulkan1"])
        });
        if let Err(message) = installed {
            eprintln!("no Vulkan: {message}");
        }
    }
    found()
}

/// Returns whether ranks as processes can be built and started: it takes Open MPI with its headers, and libclang, which bindgen reads them with. They are
/// installed if that is possible.
pub fn mpi() -> bool {
    let found = || find("mpirun").is_some() && find("mpicc").is_some() && has_libclang();
    if !found() && can_apt() {
        let installed =
            timed("set-up: Open MPI (apt)", || apt(&["openmpi-bin", "libopenmpi-dev", "libclang-dev"]));
        if let Err(message) = installed {
            eprintln!("no Open MPI: {message}");
        }
    }
    found()
}

/// Returns whether libclang is in one of the folders where bindgen looks for it.
fn has_libclang() -> bool {
    let named = env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    let configured = output(command("llvm-config").arg("--libdir")).ok();
    let configured = configured.map(|line| PathBuf::from(line.trim()));
    let usual = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    // Debian's folders: /usr/lib/x86_64-linux-gnu and /usr/lib/llvm-14/lib.
    let deeper = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let deeper = deeper.flat_map(|folder| [folder.join("lib"), folder]);
    named.into_iter().chain(configured).chain(usual).chain(deeper).any(|place| {
        let names = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| is_libclang(&name.to_string_lossy()))
    })
}

/// Returns whether a file name is that of libclang, such as `libclang.so` or `libclang-14.so.1`, but not of the library `libclang-cpp.so`.
fn is_libclang(name: &str) -> bool {
    let version = name.strip_prefix("libclang").and_then(|rest| rest.split(".so").next());
    name.contains(".so")
        && version.is_some_and(|version| {
            version.is_empty()
                || version
                    .strip_prefix('-')
                    .is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
        })
}

/// Finds Chromium and its driver by environment variables, on the PATH and in the usual folders.
fn find_browser() -> Option<Browser> {
    let first = |variable: &str, names: &[&str], places: &[&str]| {
        let named = env::var_os(variable).map(PathBuf::from);
        let on_path = names.iter().filter_map(|name| find(name));
        named.into_iter().chain(on_path).chain(places.iter().map(PathBuf::from)).find(|path| path.is_file())
    };
    let chromium = first(
        "CHROMIUM",
        &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"],
        &[
            "/usr/bin/chromium",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
        ],
    )?;
    let driver = first(
        "CHROMEDRIVER",
        &["chromedriver"],
        &[
            "/usr/bin/chromedriver",
            "/usr/lib/chromium-browser/chromedriver",
            "/opt/homebrew/bin/chromedriver",
        ],
    )?;
    Some(Browser { chromium, driver })
}

/// Installs the packages of the browser tests and the type checker into `tests/node_modules`, as the lock file lists them.
pub fn node_modules() -> Result {
    install_packages("tests")
}

/// Installs the libraries of the page into `page-libraries/node_modules`, as the lock file lists them, with checked hashes.
pub fn page_modules() -> Result {
    install_packages("page-libraries")
}

/// Runs `npm ci` in a folder if its lock file changed since the last time.
fn install_packages(folder: &str) -> Result {
    let node = output(command("node").arg("--version"))
        .map_err(|_| "Node is not installed; version 20 or later is needed".to_string())?;
    if node_major(&node).is_none_or(|major| major < 20) {
        return Err(format!("Node {} is too old; version 20 or later is needed", node.trim()));
    }
    let path = root().join(folder);
    let stamp = path.join("node_modules/.ownvoice-lock");
    let lock = fingerprint(&path.join("package-lock.json"))?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    timed(&format!("set-up: Node packages of {folder} (npm ci)"), || {
        run(npm().arg("ci").current_dir(&path))
    })?;
    write(&stamp, lock)
}

/// Installs the libraries that the bench compares with in the browser into `tests/peers/node_modules`.
pub fn peers() -> Result {
    install_packages("tests/peers")
}

/// Returns a Python with PyTorch, to compare with, from a virtual environment in the cache.
pub fn pytorch() -> Result<PathBuf> {
    let folder = cache().join("py");
    let python = python_in(&folder);
    if output(command(&python).args(["-c", "import torch, torchvision, timm"])).is_ok() {
        return Ok(python);
    }
    timed("set-up: PyTorch (pip; a few gigabytes, once)", || {
        make_environment(&folder, &["torch", "torchvision", "timm"].map(OsStr::new))
    })?;
    Ok(python)
}

/// Returns the Python of a virtual environment.
fn python_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Makes a virtual environment with packages, which are arguments of `pip install`.
fn make_environment(folder: &Path, packages: &[&OsStr]) -> Result {
    let system = find("python3").or_else(|| find("python")).ok_or("Python is not installed")?;
    run(command(&system).args(["-m", "venv", "--clear"]).arg(folder))?;
    run(command(python_in(folder)).args(["-m", "pip", "install", "--quiet"]).args(packages))
}

/// Returns a Python with the clients of `tests/clients`, from a virtual environment in the cache that holds the listed versions. Without it, the tests of the
/// speech server with these clients are skipped.
pub fn speech_clients() -> Option<PathBuf> {
    let folder = cache().join("speech-clients");
    let python = python_in(&folder);
    let install = || -> Result {
        let list = root().join("tests/clients/requirements.txt");
        let (stamp, wanted) = (folder.join(".requirements"), fingerprint(&list)?);
        if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        timed("set-up: clients of the speech server (pip)", || {
            make_environment(&folder, &[OsStr::new("--no-deps"), OsStr::new("-r"), list.as_os_str()])
        })?;
        write(&stamp, wanted)
    };
    match install() {
        Ok(()) => Some(python),
        Err(message) => {
            eprintln!("no clients of the speech server: {message}");
            None
        }
    }
}

/// Reads Node's major version: 20 of `v20.20.2`.
fn node_major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Returns the command npm.
pub fn npm() -> Command {
    command(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Puts wasm-bindgen and wasm-pack on the PATH of a command.
pub fn with_tools(command: &mut Command) -> Result {
    prepend_path(command, &[&bindgen()?, &wasm_pack()?])
}

/// Returns whether apt can install packages without a password: on Debian or a derivative, as root.
fn can_apt() -> bool {
    find("apt-get").is_some() && output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Installs Debian packages.
fn apt(packages: &[&str]) -> Result {
    let apt_get = |arguments: &[&str]| {
        run(command("apt-get")
            .args(["-qq", "-y", "-o", "DPkg::Lock::Timeout=600"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install: Vec<&str> = ["install", "--no-install-recommends"].iter().chain(packages).copied().collect();
    // The package lists may be missing or outdated.
    apt_get(&["update"])?;
    apt_get(&install)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_version_is_read() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.80\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"..\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(locked_version(lock, "wasm"), None);
    }

    #[test]
    fn the_lock_file_of_this_repository_has_a_wasm_bindgen() {
        let lock = read_text(&root().join("Cargo.lock")).unwrap();
        assert!(locked_version(&lock, "wasm-bindgen").unwrap().starts_with("0.2."));
    }

    #[test]
    fn libclang_is_told_from_similar_names() {
        assert!(["libclang.so", "libclang.so.14", "libclang-14.so.1"].into_iter().all(is_libclang));
        for other in ["libclang-cpp.so.14", "libclang.a", "libclangAST.so", "libclang-14.a", "clang.so"] {
            assert!(!is_libclang(other), "{other}");
        }
    }

    #[test]
    fn major_versions_are_read() {
        assert_eq!(llvm_major("rustc 1.96.0\nhost: x86_64\nLLVM version: 22.1.8\n"), Some("22"));
        assert_eq!(llvm_major("rustc 1.96.0\n"), None);
        assert_eq!(node_major("v20.20.2\n"), Some(20));
        assert_eq!(node_major("not a version"), None);
    }
}
