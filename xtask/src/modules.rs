//! Which modules of the library import which: only those above them in DESIGN's table, so that none imports itself over others.

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

/// Modules in the order of DESIGN's table, from the first on.
fn rooms(design: &str) -> Vec<String> {
    let rows = design.lines().filter_map(|line| line.strip_prefix("| `crate/src/"));
    let cells = rows.map(|row| row.split(" |").next().unwrap_or_default());
    let module = |path: &str| path.split(['`', '.', '/']).next().unwrap_or_default().to_string();
    cells.flat_map(|cell| cell.split("`crate/src/").map(module).collect::<Vec<_>>()).collect()
}

/// What imports a module that is not above it.
fn faults(rooms: &[String], modules: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (module, imported) in modules {
        let Some(place) = rooms.iter().position(|room| room == module) else {
            faults.push(format!("{module} is not in the table"));
            continue;
        };
        let below = imported.iter().filter(|name| *name != module && rooms[place..].contains(name));
        faults.extend(below.map(|name| format!("{module} imports {name}")));
    }
    faults
}

#[test]
fn modules_import_only_those_above_them_in_the_design() {
    let mut modules = modules(&root().join("crate/src"));
    assert!(modules["train"].contains("align") && modules["cli"].contains("pipeline"), "{modules:?}");
    modules.remove("main");
    let rooms = rooms(&read_text(&root().join("DESIGN.md")).expect("the design"));
    assert_eq!(faults(&rooms, &modules), Vec::<String>::new());
}

#[test]
fn a_module_that_imports_from_below_is_found() {
    let source = "use crate::{\n    Error,\n    b::{c, d},\n};\n// crate::x\nfn f() { crate::e::g() }\n#[cfg(test)]\nmod tests { use crate::y; }\n";
    let found = imports(source);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["Error", "b", "e"]);
    let rooms =
        rooms("| `crate/src/e.rs`, `crate/src/a` | x |\n| other |\n| `crate/src/b` | `crate/src/z` |\n");
    assert_eq!(rooms, ["e", "a", "b"]);
    let modules = BTreeMap::from([("a".to_string(), found), ("c".to_string(), BTreeSet::new())]);
    assert_eq!(faults(&rooms, &modules), ["a imports b", "c is not in the table"]);
}
