//! Builds the wasm and its JavaScript into `www/pkg`, and lays out the site.

use crate::setup::{self, WASM};
use crate::shell::{
    Result, command, copy_dir, create_dir, fingerprint, prepend_path, remove_dir, root, run, shown, timed, wasm_target, write,
};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which folder answers for which first part of a path. The page is last: it answers for the rest.
pub const SITE: [(&str, &str); 3] = [("js", "web/js"), ("models", "models"), ("", "www")];

/// `cargo xtask build`. As Trunk's hook it also lays the site into Trunk's staging folder.
pub fn all() -> Result {
    page()?;
    match env::var_os("TRUNK_STAGING_DIR") {
        Some(staging) => site(Path::new(&staging)),
        None => Ok(()),
    }
}

/// `www/pkg`: the module, its glue and its types.
pub fn page() -> Result {
    let bindgen = setup::bindgen()?;
    let mut cargo = cargo_wasm()?;
    cargo.args(["build", "--release", "--target", WASM, "--package", "ownvoice-web", "--lib"]);
    timed("wasm (the first time compiles burn, about 20 minutes on two cores)", || run(&mut cargo))?;

    let wasm = wasm_target().join(WASM).join("release/ownvoice_web.wasm");
    let package = package();
    let stamp = package.join(".built-from");
    let source = format!("{} {}", bindgen.display(), fingerprint(&wasm)?);
    if fs::read_to_string(&stamp).is_ok_and(|built| built == source) {
        return Ok(());
    }
    remove_dir(&package)?;
    let mut glue = command("wasm-bindgen");
    prepend_path(&mut glue, &[&bindgen])?;
    glue.args(["--target", "web", "--out-dir"]).arg(&package).arg(&wasm);
    timed("wasm-bindgen", || run(&mut glue))?;
    // The npm package and the type checker look beside the JavaScript, in web/.
    let beside = root().join("web/pkg");
    remove_dir(&beside)?;
    copy_dir(&package, &beside)?;
    write(&stamp, source)
}

pub fn package() -> PathBuf {
    root().join("www/pkg")
}

/// All files of the site in one folder, as a host of static files would have them.
fn site(to: &Path) -> Result {
    for (part, folder) in SITE {
        copy_dir(&root().join(folder), &to.join(part))?;
    }
    Ok(())
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
    setup::wasm_toolchain()?.apply(command);
    // RUSTFLAGS of the environment would silently replace those of .cargo/config.toml, and SIMD with them.
    command.env("CARGO_TARGET_DIR", wasm_target()).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    Ok(())
}

/// Bytes of a file after `gzip -9`, which Node has everywhere.
pub fn gzipped_bytes(path: &Path) -> Result<u64> {
    let script = "process.stdout.write(String(require('zlib').gzipSync(require('fs').readFileSync(process.argv[1]),{level:9}).length))";
    let mut node = command("node");
    let output = node.args(["-e", script]).arg(path).stderr(Stdio::inherit()).output().map_err(|e| format!("node: {e}"))?;
    String::from_utf8_lossy(&output.stdout).parse().map_err(|_| format!("{}: {}", shown(&node), output.status))
}
