//! Finds what building and testing need, or installs it. Each piece is looked for first, so nothing is done twice.
//!
//! One long file: a function of a few lines for each thing that may be missing.

use crate::shell::{
    Result, cache, command, create_dir, files, find, fingerprint, output, prepend_path, read_text,
    remove_dir, root, run, timed, wasm_target, write,
};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const WASM: &str = "wasm32-unknown-unknown";
const WASM_PACK_VERSION: &str = "0.15.1";
const TRUNK_VERSION: &str = "0.21.14";
/// The toolchain that Debian's packages become.
const DEBIAN: &str = "debian";
/// Where Debian's rustc looks for the standard library of wasm.
const DEBIAN_LIBRARY: &str = "/usr/lib/rustlib/wasm32-unknown-unknown/lib";

/// All of it, and Trunk if asked for: it takes longest and nothing here waits for it.
pub fn all(trunk: bool) -> Result {
    wasm_toolchain()?;
    bindgen()?;
    wasm_pack()?;
    browser()?;
    node_modules()?;
    page_modules()?;
    // What some tests need, and are skipped without.
    other_browsers();
    ffmpeg();
    mpi();
    vulkan();
    if trunk {
        let folder = tool("trunk", "trunk", TRUNK_VERSION, &["--locked"])?;
        eprintln!("Trunk is in {}", folder.display());
    }
    eprintln!("all is set up");
    Ok(())
}

/// The compiler that builds wasm: the active toolchain, or one by name.
#[derive(Clone, Copy)]
pub struct WasmToolchain(Option<&'static str>);

impl WasmToolchain {
    pub fn apply(self, command: &mut Command) {
        if let Some(name) = self.0 {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
    }

    /// Whether it compiles an empty library against the standard library of wasm. A folder with files would be no proof: they may be another version's.
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

/// The standard library of wasm: from rustup, or, where that cannot be fetched, built from Debian's packages.
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
        let added = timed("set-up: standard library of wasm (rustup target add)", || {
            run(command("rustup").args(["target", "add", WASM]))
        });
        if added.is_ok() && active.works() {
            return Ok(active);
        }
    }
    if !can_apt() {
        return Err(format!(
            "this Rust has no {WASM}: run `rustup target add {WASM}` (on Debian, as root, xtask builds it without rustup's servers)"
        ));
    }
    timed("set-up: standard library of wasm (Debian's rustc-web, built once)", || debian_library(rustup))?;
    let found = if rustup { debian } else { active };
    if found.works() {
        Ok(found)
    } else {
        Err(format!("Debian's rustc was installed, but still does not compile for {WASM}"))
    }
}

/// Debian packages a newer rustc and the matching source of the library, but not the library for wasm without an operating system.
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

    // What another version left there would clash.
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

/// `LLVM version: 22.1.8` -> `22`
fn llvm_major(rustc: &str) -> Option<&str> {
    rustc.lines().find_map(|line| line.strip_prefix("LLVM version: "))?.split('.').next()
}

/// cargo with the compiler, the build folder and the flags of the wasm.
pub fn cargo_wasm() -> Result<Command> {
    let mut cargo = command("cargo");
    wasm_environment(&mut cargo)?;
    Ok(cargo)
}

/// For cargo, and for wasm-pack, which calls it.
pub fn wasm_environment(command: &mut Command) -> Result {
    create_dir(&wasm_target())?;
    wasm_toolchain()?.apply(command);
    // RUSTFLAGS of the environment would silently replace those of .cargo/config.toml, and SIMD with them.
    command
        .env("CARGO_TARGET_DIR", wasm_target())
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    Ok(())
}

/// The folder of wasm-bindgen's tools, of the very version that the library was resolved to.
pub fn bindgen() -> Result<PathBuf> {
    let lock = read_text(&root().join("Cargo.lock"))?;
    let version = locked_version(&lock, "wasm-bindgen").ok_or("Cargo.lock has no wasm-bindgen")?;
    tool("wasm-bindgen-cli", "wasm-bindgen", version, &[])
}

/// The folder of wasm-pack.
pub fn wasm_pack() -> Result<PathBuf> {
    tool("wasm-pack", "wasm-pack", WASM_PACK_VERSION, &[])
}

/// The folder that holds a program of this version: on the PATH, among what was installed before, or installed now.
fn tool(package: &str, program: &str, version: &str, flags: &[&str]) -> Result<PathBuf> {
    let own = cache().join("tools").join(format!("{package}-{version}"));
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let fits = |path: &Path| {
        output(command(path).arg("--version"))
            .is_ok_and(|said| said.split_whitespace().any(|word| word == version))
    };
    for path in [Some(own.join("bin").join(&name)), find(program)].into_iter().flatten() {
        if path.is_file() && fits(&path) {
            return Ok(path.parent().expect("a file is in a folder").to_path_buf());
        }
    }
    let install = |more: &[&str]| {
        let mut cargo = command("cargo");
        cargo.args(["install", package, "--version", version, "--root"]).arg(&own).args(flags).args(more);
        // Outside the repository: its settings are not meant for tools.
        create_dir(&own)?;
        // Half the time to build, and what they do here takes seconds either way.
        cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
        run(cargo.current_dir(&own).env_remove("CARGO_TARGET_DIR"))
    };
    timed(&format!("set-up: {package} {version} (some minutes, once)"), || {
        // With the versions that its authors tested; a mirror that lags may lack one of those, then with any that fit.
        if flags.contains(&"--locked") {
            install(&[])
        } else {
            install(&["--locked"]).or_else(|_| install(&[]))
        }
    })?;
    Ok(own.join("bin"))
}

/// The version of a package in Cargo.lock.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

/// A Chromium and the driver of the same version.
pub struct Browser {
    pub chromium: PathBuf,
    pub driver: PathBuf,
}

pub fn browser() -> Result<Browser> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    if can_apt() {
        timed("set-up: Chromium and its driver (apt)", || apt(&["chromium", "chromium-driver"]))?;
    }
    find_browser().ok_or_else(|| {
        "no Chromium with its chromedriver: install both (Debian: chromium chromium-driver; macOS: brew install --cask google-chrome chromedriver), \
         or set CHROMIUM and CHROMEDRIVER to their paths"
            .to_string()
    })
}

/// Firefox and WebKit for the tests of the page in them, where they can be installed; without them the tests report that they were skipped.
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

/// ffmpeg for the tests of videos, where it can be installed; without it those tests report that they were skipped.
pub fn ffmpeg() {
    if find("ffmpeg").is_none()
        && can_apt()
        && let Err(message) = timed("set-up: ffmpeg (apt)", || apt(&["ffmpeg"]))
    {
        eprintln!("no ffmpeg: {message}");
    }
}

/// A compiler of C++, which libFuzzer is built by, where it can be installed; without one its build fails with an error.
pub fn cpp() {
    if ["c++", "g++", "clang++"].iter().all(|name| find(name).is_none())
        && can_apt()
        && let Err(message) = timed("set-up: g++ (apt)", || apt(&["g++"]))
    {
        eprintln!("no g++: {message}");
    }
}

/// Whether something computes by Vulkan here: a graphics card, or Mesa's software, which is installed where that is possible.
pub fn vulkan() -> bool {
    let drivers = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];
    let found = || {
        env::var_os("VK_DRIVER_FILES").is_some()
            || drivers.iter().any(|folder| !files(Path::new(folder)).is_empty())
    };
    if !found() && can_apt() {
        let installed =
            timed("set-up: Vulkan in software (apt)", || apt(&["mesa-vulkan-drivers", "libvulkan1"]));
        if let Err(message) = installed {
            eprintln!("no Vulkan: {message}");
        }
    }
    found()
}

/// Whether ranks of a training can be built and started: Open MPI with its headers, and the library that reads them. Installed where that is possible.
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

/// Whether libclang lies where bindgen looks for it: Open MPI's headers are read with it, and a build without it fails.
fn has_libclang() -> bool {
    let named = env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    let configured = output(command("llvm-config").arg("--libdir")).ok();
    let configured = configured.map(|said| PathBuf::from(said.trim()));
    let usual = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    // Debian's: x86_64-linux-gnu, and lib of llvm-14.
    let deeper = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let deeper = deeper.flat_map(|folder| [folder.join("lib"), folder]);
    named.into_iter().chain(configured).chain(usual).chain(deeper).any(|place| {
        let names = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| is_libclang(&name.to_string_lossy()))
    })
}

/// `libclang.so`, `libclang-14.so.1` and their like; `libclang-cpp.so` is another library.
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

/// What the browser tests and the type checker are made of: tests/node_modules as the lock file has it.
pub fn node_modules() -> Result {
    installed("tests")
}

/// The libraries of the page: page-libraries/node_modules as the lock file has it, hashes checked.
pub fn page_modules() -> Result {
    installed("page-libraries")
}

fn installed(folder: &str) -> Result {
    let node = output(command("node").arg("--version"))
        .map_err(|_| "Node is not installed: version 20 or later is needed".to_string())?;
    if node_major(&node).is_none_or(|major| major < 20) {
        return Err(format!("Node {} is too old: version 20 or later is needed", node.trim()));
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

/// What ownvoice is measured against in the browser: tests/peers/node_modules as the lock file has it.
pub fn peers() -> Result {
    installed("tests/peers")
}

/// A Python with PyTorch, to measure against; one of our own in the cache.
pub fn pytorch() -> Result<PathBuf> {
    let folder = cache().join("py");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if output(command(&python).args(["-c", "import torch"])).is_ok() {
        return Ok(python);
    }
    let system =
        find("python3").or_else(|| find("python")).ok_or("Python is not installed: PyTorch needs it")?;
    timed("set-up: PyTorch (pip; some gigabytes, once)", || {
        run(command(&system).args(["-m", "venv"]).arg(&folder))?;
        run(command(&python).args(["-m", "pip", "install", "--quiet", "torch"]))
    })?;
    Ok(python)
}

/// `v20.20.2` -> 20
fn node_major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

pub fn npm() -> Command {
    command(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Puts wasm-bindgen and wasm-pack on a command's PATH.
pub fn with_tools(command: &mut Command) -> Result {
    prepend_path(command, &[&bindgen()?, &wasm_pack()?])
}

/// Whether packages can be installed here without asking anyone: Debian or a relative, as root.
fn can_apt() -> bool {
    find("apt-get").is_some() && output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn apt(packages: &[&str]) -> Result {
    let apt_get = |arguments: &[&str]| {
        run(command("apt-get")
            .args(["-qq", "-y", "-o", "DPkg::Lock::Timeout=600"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install: Vec<&str> = ["install", "--no-install-recommends"].iter().chain(packages).copied().collect();
    // Lists of packages may be missing or stale.
    apt_get(&["update"])?;
    apt_get(&install)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_the_lock_file() {
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
    fn libclang_is_told_from_its_neighbours() {
        assert!(["libclang.so", "libclang.so.14", "libclang-14.so.1"].into_iter().all(is_libclang));
        for other in ["libclang-cpp.so.14", "libclang.a", "libclangAST.so", "libclang-14.a", "clang.so"] {
            assert!(!is_libclang(other), "{other}");
        }
    }

    #[test]
    fn versions_of_programs() {
        assert_eq!(llvm_major("rustc 1.96.0\nhost: x86_64\nLLVM version: 22.1.8\n"), Some("22"));
        assert_eq!(llvm_major("rustc 1.96.0\n"), None);
        assert_eq!(node_major("v20.20.2\n"), Some(20));
        assert_eq!(node_major("not a version"), None);
    }
}
