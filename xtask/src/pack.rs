//! `cargo xtask pack`: makes the npm tarballs, of the package and of the base voice.

use crate::build;
use crate::setup::npm;
use crate::shell::{Result, copy_dir, create_dir, output, remove_dir, root};
use std::fs;
use std::path::{Path, PathBuf};

/// `cargo xtask pack`.
pub fn run() -> Result {
    let [program, base] = pack()?;
    // Programs read the path of `ownvoice` from the standard output.
    eprintln!("{}", base.display());
    println!("{}", program.display());
    Ok(())
}

/// Packs `ownvoice` and `ownvoice-base`, and returns the paths of the tarballs. The weights are a package of their own, because an embedder may choose another base.
pub fn pack() -> Result<[PathBuf; 2]> {
    build::voice()?;
    let program = collected("npm", &["web/package.json", "web/README.md"])?;
    for part in ["js", "pkg"] {
        copy_dir(&root().join("web").join(part), &program.join(part))?;
    }
    let base = collected("npm-base", &["models/prompts.json", "models/CREDITS.md"])?;
    // The folders keep their places beside each other, because the manifest's paths are relative. `files` in package.json leaves out diagrams.
    for (from, to) in [("web/base", ""), ("models/base", "base"), ("models/lexicon", "lexicon")] {
        copy_dir(&root().join(from), &base.join(to))?;
    }
    Ok([packed(&program)?, packed(&base)?])
}

/// Returns a new folder in `dist` with these files and the licences.
fn collected(name: &str, files: &[&str]) -> Result<PathBuf> {
    let folder = root().join("dist").join(name);
    remove_dir(&folder)?;
    create_dir(&folder)?;
    for file in files.iter().chain(&["LICENSE-MIT", "LICENSE-APACHE"]) {
        let source = root().join(file);
        let name = source.file_name().expect("a file has a name");
        fs::copy(&source, folder.join(name)).map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(folder)
}

/// Packs a folder and returns the path of the tarball.
fn packed(folder: &Path) -> Result<PathBuf> {
    let report = output(npm().args(["pack", "--json", "--pack-destination", ".."]).current_dir(folder))?;
    Ok(root().join("dist").join(tarball(&report)?))
}

/// Reads the file name from the output of `npm pack --json`: a list of packages or, since npm 12, an object of packages by name.
fn tarball(report: &str) -> Result<String> {
    let packed: serde_json::Value =
        serde_json::from_str(report).map_err(|e| format!("npm pack: {e}: {report}"))?;
    let first = packed.get(0).or_else(|| packed.as_object()?.values().next());
    let name = first.and_then(|package| package["filename"].as_str());
    name.map(str::to_string).ok_or_else(|| format!("npm pack prints no file name: {report}"))
}

#[cfg(test)]
mod tests {
    use super::tarball;

    #[test]
    fn the_name_of_the_tarball_is_read() {
        assert_eq!(
            tarball(r#"[{"id": "ownvoice@0.1.0", "filename": "ownvoice-0.1.0.tgz"}]"#).unwrap(),
            "ownvoice-0.1.0.tgz"
        );
        assert_eq!(
            tarball(r#"{"ownvoice": {"filename": "ownvoice-0.1.0.tgz"}}"#).unwrap(),
            "ownvoice-0.1.0.tgz"
        );
        assert!(tarball("[]").is_err());
    }
}
