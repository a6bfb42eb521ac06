//! Collects the licences of the libraries in a WebAssembly module: most of them require their text in every copy.

use crate::setup::{WASM, cargo_wasm};
use crate::shell::{Result, output, read_text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A dependency with its licence.
#[derive(Debug, PartialEq)]
struct Notice {
    /// Name and version.
    name: String,
    /// The SPDX expression.
    licence: String,
    texts: Vec<String>,
}

/// Returns the notices of all dependencies of a package, each licence text once.
pub fn wasm(package: &str) -> Result<String> {
    // `cargo metadata` alone would include dependencies of other packages. Procedural macros leave no code of their own. A repeated package is printed without
    // its dependencies; `--no-dedupe` would print millions of lines.
    let mut tree = cargo_wasm()?;
    tree.args([
        "tree",
        "--package",
        package,
        "--target",
        WASM,
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ]);
    let linked = linked(&output(&mut tree)?);
    let mut metadata = cargo_wasm()?;
    metadata.args(["metadata", "--format-version", "1", "--filter-platform", WASM]);
    let metadata: Value =
        serde_json::from_str(&output(&mut metadata)?).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // Only packages of this workspace have no source.
    let others = packages.filter(|package| !package["source"].is_null() && linked.contains(&named(package)));
    Ok(written(&others.map(notice).collect::<Result<Vec<_>>>()?))
}

/// Reads name and version from each line of `cargo tree`.
fn linked(tree: &str) -> BTreeSet<String> {
    let line = |line: &str| {
        line.split_once(" v")
            .map(|(name, rest)| format!("{name} {}", rest.split(' ').next().unwrap_or_default()))
    };
    tree.lines().filter_map(line).collect()
}

/// Returns the name and version of a package.
fn named(package: &Value) -> String {
    let text = |field: &str| package[field].as_str().unwrap_or_default();
    format!("{} {}", text("name"), text("version"))
}

/// Reads the licence files of a package.
fn notice(package: &Value) -> Result<Notice> {
    let text = |field: &str| package[field].as_str().unwrap_or_default().to_string();
    let name = named(package);
    let manifest = text("manifest_path");
    let folder = Path::new(&manifest).parent().ok_or_else(|| format!("{name} has no folder"))?;
    let mut files: Vec<_> = fs::read_dir(folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    files.retain(|path| {
        path.is_file()
            && ["LICEN", "COPYING", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|start| file_name(path).starts_with(start))
    });
    // One of several alternative licences suffices, and MIT is short and requires only its text.
    let short: Vec<_> = files.iter().filter(|path| file_name(path).contains("MIT")).cloned().collect();
    let licence = text("license");
    let chosen = if licence.contains("OR") || licence.contains('/') {
        if short.is_empty() { files } else { short }
    } else {
        files
    };
    let texts = chosen.iter().map(|path| Ok(read_text(path)?.trim().to_string())).collect::<Result<_>>()?;
    Ok(Notice { name, licence, texts })
}

/// Formats the list of dependencies, then each licence text with the dependencies that have it.
fn written(notices: &[Notice]) -> String {
    let mut out = String::from(
        "The WebAssembly program contains the Rust standard library (MIT OR Apache-2.0) and these libraries:\n\n",
    );
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Notice { name, licence, texts: own } in notices {
        let _ = writeln!(out, "  {name} ({licence})");
        for text in own {
            texts.entry(text).or_default().push(name);
        }
    }
    for (text, names) in texts {
        let _ = write!(out, "\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_a_tree() {
        let found = linked(
            "ownvoice-web v0.1.0 (/somewhere/web)\nburn v0.22.0\nzstd-sys v2.1.2+zstd.1.5.7 (*)\n\nburn v0.22.0 (*)\n",
        );
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["burn 0.22.0", "ownvoice-web 0.1.0", "zstd-sys 2.1.2+zstd.1.5.7"]
        );
    }

    #[test]
    fn a_text_is_written_once() {
        let notice = |name: &str, texts: &[&str]| Notice {
            name: name.into(),
            licence: "MIT".into(),
            texts: texts.iter().map(|&text| text.into()).collect(),
        };
        let text = written(&[
            notice("a 1.0", &["Permission is granted"]),
            notice("b 2.0", &["Permission is granted"]),
            notice("c 3.0", &["Another"]),
        ]);
        assert_eq!(text.matches("Permission is granted").count(), 1);
        assert!(text.contains("a 1.0, b 2.0\n\nPermission is granted"), "{text}");
        assert!(text.contains("  c 3.0 (MIT)"));
    }
}
