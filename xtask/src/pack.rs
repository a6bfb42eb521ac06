//! `cargo xtask pack`: makes the npm tarball.

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

/// Collects the files of the package in `dist/npm`, packs them and returns the path of the tarball. The package has no weights: its users choose a base voice.
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
    let report = output(npm().args(["pack", "--json", "--pack-destination", ".."]).current_dir(&folder))?;
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
