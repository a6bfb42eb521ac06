//! `cargo xtask pack`: the npm tarball.

use crate::build;
use crate::setup::npm;
use crate::shell::{Result, copy_dir, create_dir, output, remove_dir, root};
use std::fs;
use std::path::PathBuf;

/// `cargo xtask pack`.
pub fn run() -> Result {
    println!("{}", pack()?.display());
    Ok(())
}

/// Gathers in `dist/npm` what the package is made of, packs it and returns the tarball's path. No weights: who embeds it chooses the base voice.
pub fn pack() -> Result<PathBuf> {
    build::voice()?;
    let folder = root().join("dist/npm");
    remove_dir(&folder)?;
    create_dir(&folder)?;
    for file in ["web/package.json", "web/README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        let source = root().join(file);
        let name = source.file_name().expect("a file has a name");
        fs::copy(&source, folder.join(name)).map_err(|e| format!("{file}: {e}"))?;
    }
    for part in ["js", "pkg"] {
        copy_dir(&root().join("web").join(part), &folder.join(part))?;
    }
    let said = output(npm().args(["pack", "--json", "--pack-destination", ".."]).current_dir(&folder))?;
    Ok(root().join("dist").join(tarball(&said)?))
}

/// The file name in what `npm pack --json` prints: a list of packages, or, from npm 12 on, packages by name.
fn tarball(said: &str) -> Result<String> {
    let packed: serde_json::Value =
        serde_json::from_str(said).map_err(|e| format!("npm pack: {e}: {said}"))?;
    let first = packed.get(0).or_else(|| packed.as_object()?.values().next());
    let name = first.and_then(|package| package["filename"].as_str());
    name.map(str::to_string).ok_or_else(|| format!("npm pack names no file: {said}"))
}

#[cfg(test)]
mod tests {
    use super::tarball;

    #[test]
    fn name_of_the_tarball() {
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
