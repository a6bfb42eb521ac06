//! Which modules of the library import which: none may import itself over others.

use crate::shell::{read_text, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names after `crate::` in a source, in paths and in trees of `use`; comments and unit tests are left out.
fn imports(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: String =
        code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(tree) = rest.strip_prefix('{') else {
            names.insert(name(rest));
            continue;
        };
        let (mut depth, mut begins) = (0, true);
        for (at, c) in tree.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' => begins = depth == 0,
                c if c.is_whitespace() => {}
                _ if begins && depth == 0 => {
                    names.insert(name(&tree[at..]));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    names
}

/// The first modules of the library's paths, each with those that it imports.
fn modules(sources: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, path) in rust_files(sources, sources) {
        modules.entry(module).or_default().extend(imports(&read_text(&path).expect("a source")));
    }
    modules
}

/// The sources below a folder, each with its first module.
fn rust_files(sources: &Path, folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(rust_files(sources, &path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(sources).expect("it is below");
            let module = below.iter().next().and_then(|name| name.to_str()).expect("a name");
            found.push((module.trim_end_matches(".rs").to_string(), path));
        }
    }
    found
}

/// A module that imports itself over others.
fn circle(modules: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let reached = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            for imported in modules.get(module).into_iter().flatten().filter(|imported| *imported != module) {
                if seen.insert(imported) {
                    next.push(imported);
                }
            }
        }
        seen
    };
    modules.keys().find(|module| reached(module).contains(module)).cloned()
}

#[test]
fn the_library_has_no_circle() {
    let mut modules = modules(&root().join("crate/src"));
    assert!(modules["train"].contains("align") && modules["cli"].contains("pipeline"), "{modules:?}");
    // The facade imports all of them, the binary the command line.
    modules.retain(|module, _| !["lib", "main"].contains(&module.as_str()));
    assert_eq!(circle(&modules), None, "{modules:#?}");
}

#[test]
fn a_circle_is_found() {
    let source = "use crate::{\n    Error,\n    b::{c, d},\n};\n// crate::x\nfn f() { crate::e::g() }\n#[cfg(test)]\nmod tests { use crate::y; }\n";
    let found = imports(source);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["Error", "b", "e"]);
    let imports = |of: &str| BTreeSet::from([of.to_string()]);
    let mut modules = BTreeMap::from([("a".to_string(), found), ("b".to_string(), imports("c"))]);
    assert_eq!(circle(&modules), None);
    modules.insert("c".to_string(), imports("b"));
    assert_eq!(circle(&modules).as_deref(), Some("b"));
}
