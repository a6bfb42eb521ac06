//! Checks the imports of modules: none imports itself through others, and the rooms (top-level modules) of a crate import only those above them in DESIGN's
//! table.

use crate::shell::{files, read_text, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with the modules that it imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns a source without its unit tests, which stand at the end.
pub fn without_tests(source: &str) -> &str {
    source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// Returns the paths of a source that begin with `crate`, `super` or `self`, in expressions and in `use` trees, except those in comments and unit tests.
fn paths(source: &str) -> Vec<Vec<String>> {
    let code: String = without_tests(source)
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                found.extend(tree(&code[at..]).0);
            }
        }
    }
    found
}

/// Parses a `use` tree; returns its paths and the rest of the text.
fn tree(text: &str) -> (Vec<Vec<String>>, &str) {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut all = Vec::new();
        while !rest.is_empty() && !rest.starts_with('}') {
            let (paths, after) = tree(rest);
            all.extend(paths);
            // Skips "as other".
            let end = after.find([',', '}']).unwrap_or(after.len());
            rest = after[end..].trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        }
        return (all, rest.strip_prefix('}').unwrap_or_default());
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix("::").filter(|rest| !rest.starts_with('<')) {
        Some(below) => {
            let (paths, rest) = tree(below);
            (paths.into_iter().map(|path| [vec![name.to_string()], path].concat()).collect(), rest)
        }
        None => (vec![vec![name.to_string()]], rest),
    }
}

/// Returns the module path of a source file, such as `["text", "letters"]`; empty for the crate's root.
fn module_of(below: &Path) -> Vec<String> {
    let mut path: Vec<String> =
        below.with_extension("").iter().map(|name| name.to_string_lossy().to_string()).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

/// Returns the graph of a crate's modules without its root. Imports of a module's own submodules are not edges.
fn rust_modules(sources: &Path) -> Graph {
    let module = |path: &Path| module_of(path.strip_prefix(sources).expect("the path is below the folder"));
    let modules: BTreeMap<_, _> =
        rust_files(sources).iter().map(|path| (module(path), read_text(path))).collect();
    let mut graph = Graph::new();
    for (module, text) in modules.iter().filter(|(module, _)| !module.is_empty()) {
        let imported = paths(text.as_deref().expect("the file can be read")).into_iter().filter_map(|path| {
            let mut names = resolved(module, &path);
            while !modules.contains_key(&names) {
                names.pop();
            }
            (!names.is_empty() && !names.starts_with(module)).then(|| names.join("::"))
        });
        graph.insert(module.join("::"), imported.collect());
    }
    graph
}

/// Returns the Rust files of a folder and its subfolders.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder exists").flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// Resolves a path of a module to one from the crate's root.
fn resolved(module: &[String], path: &[String]) -> Vec<String> {
    let supers = path.iter().filter(|name| *name == "super").count();
    let base = if path[0] == "crate" { &[] } else { &module[..module.len().saturating_sub(supers)] };
    let names = path.iter().filter(|name| !matches!(name.as_str(), "crate" | "super" | "self"));
    base.iter().chain(names).cloned().collect()
}

/// Returns the graph of the scripts in some folders of `top`, by their paths in it. Imports of types count too.
fn scripts(top: &Path, folders: &[&str]) -> Graph {
    let mut graph = Graph::new();
    for folder in folders {
        let scripts = files(&top.join(folder))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "js"));
        for path in scripts {
            let text = read_text(&path).expect("the script can be read");
            let quoted = text.split("\".").skip(1).filter_map(|rest| rest.split('"').next());
            let imported =
                quoted.filter(|path| path.ends_with(".js")).map(|path| resolve(folder, &format!(".{path}")));
            let name = path.file_name().expect("the path has a file name").to_string_lossy().to_string();
            graph.insert(resolve(folder, &name), imported.collect());
        }
    }
    graph
}

/// Resolves a path, which may begin with `./` or `../`, against a folder.
pub fn resolve(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/').filter(|part| *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// Returns the import cycles of a graph (its strongly connected components).
fn cycles(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (module.as_str(), reach(graph, module))).collect();
    let mut cycles: Vec<Vec<&str>> = Vec::new();
    for (module, imports) in &reached {
        if imports.contains(module) && !cycles.iter().any(|cycle| cycle.contains(module)) {
            cycles.push(imports.iter().copied().filter(|other| reached[other].contains(module)).collect());
        }
    }
    cycles
}

/// Returns everything that a module imports, directly or through others.
fn reach<'a>(graph: &'a Graph, module: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![module];
    while let Some(next) = open.pop() {
        let imported = graph.get_key_value(next).into_iter().flat_map(|(_, imported)| imported);
        for name in imported.filter(|name| graph.contains_key(*name)) {
            if reached.insert(name.as_str()) {
                open.push(name);
            }
        }
    }
    reached
}

/// Returns the rooms of a crate in the order of DESIGN's table, whose first column has paths below `sources`.
fn rooms(design: &str, sources: &str) -> Vec<String> {
    let start = format!("`{sources}/");
    let rows = design.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.map(|row| row.split(" |").next().unwrap_or_default());
    let module = |path: &str| path.split(['`', '.', '/']).next().unwrap_or_default().to_string();
    cells.flat_map(|cell| cell.split(start.as_str()).skip(1).map(module).collect::<Vec<_>>()).collect()
}

/// Returns the imports of rooms below the importing one, and the modules whose room is not in the table.
fn faults(rooms: &[String], modules: &Graph) -> Vec<String> {
    let room = |module: &str| module.split("::").next().unwrap_or_default().to_string();
    let mut faults = Vec::new();
    for (module, imported) in modules {
        let Some(place) = rooms.iter().position(|name| *name == room(module)) else {
            faults.push(format!("{module} is not in the table"));
            continue;
        };
        let lower = imported.iter().filter(|name| rooms[place + 1..].contains(&room(name)));
        faults.extend(lower.map(|name| format!("{module} imports {name}")));
    }
    faults
}

/// The imports against the order, which DESIGN explains below the table.
const EXCEPTIONS: [&str; 3] =
    ["trace imports conv::activation", "trace imports lstm::options", "trace imports patches::patch"];

#[test]
fn rooms_import_only_those_above_them_in_the_design() {
    let design = read_text(&root().join("DESIGN.md")).expect("DESIGN.md can be read");
    let mut found = Vec::new();
    for (sources, module, imported) in [
        ("crate/fused/src", "precision::replay", "lstm"),
        ("crate/ownvoice/src", "clone::clip", "align"),
        ("crate/cli/src", "commands::measure", "evaluate::measure"),
    ] {
        let modules = rust_modules(&root().join(sources));
        assert!(modules[module].contains(imported), "{module}: {:?}", modules[module]);
        found.extend(faults(&rooms(&design, sources), &modules));
    }
    assert_eq!(found, EXCEPTIONS);
}

#[test]
fn no_module_imports_itself_through_others() {
    let mut found: Vec<String> = Vec::new();
    let mut check = |folder: &str, graph: &Graph| {
        found.extend(cycles(graph).iter().map(|cycle| format!("{folder}: {}", cycle.join(", "))));
    };
    for sources in [
        "crate/fused/src",
        "crate/ownvoice/src",
        "crate/cli/src",
        "crate/testing/src",
        "web/src",
        "web/lips/src",
        "web/nets/src",
        "xtask/src",
    ] {
        check(sources, &rust_modules(&root().join(sources)));
    }
    for (top, folders, least) in [("web/js", vec![""], 10), ("www", vec!["", "shared", "lips", "nets"], 30)] {
        let scripts = scripts(&root().join(top), &folders);
        assert!(scripts.len() > least, "{top}: {scripts:?}");
        check(top, &scripts);
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn imports_are_found() {
    let source = "use crate::{\n    Error,\n    b::{c as x, d},\n};\nuse super::f;\n// crate::x\nfn f() { crate::e::g(); a::super::z() }\n#[cfg(test)]\nmod tests { use crate::y; }\n";
    let found: Vec<String> = paths(source).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::Error", "crate::b::c", "crate::b::d", "crate::e::g", "super::f"]);
    let names = |path: &str| path.split("::").map(str::to_string).collect::<Vec<_>>();
    assert_eq!(resolved(&names("a::b"), &names("super::super::c")), names("c"));
    assert_eq!(resolved(&names("a::b"), &names("self::c")), names("a::b::c"));
    assert_eq!(module_of(Path::new("text/mod.rs")), ["text"]);
    assert_eq!(module_of(Path::new("lib.rs")), Vec::<String>::new());
    assert_eq!(resolve("lips", "../shared/dom.js"), "shared/dom.js");
    assert_eq!(resolve("", "./lips/app.js"), "lips/app.js");
}

#[test]
fn cycles_and_imports_of_lower_rooms_are_found() {
    let design = "| `crate/x/src/e.rs`, `crate/x/src/a` | x |\n| other |\n| `crate/y/src/q` | q |\n| `crate/x/src/b` | `crate/x/src/z` |\n";
    let rooms = rooms(design, "crate/x/src");
    assert_eq!(rooms, ["e", "a", "b"]);
    let graph = |edges: &[(&str, &[&str])]| -> Graph {
        let imported = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        edges.iter().map(|(module, names)| (module.to_string(), imported(names))).collect()
    };
    let modules = graph(&[("a::x", &["b::y", "e", "a"]), ("c", &[])]);
    assert_eq!(faults(&rooms, &modules), ["a::x imports b::y", "c is not in the table"]);
    let modules = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b", "d"]), ("d", &[])]);
    assert_eq!(cycles(&modules), [["b", "c"]]);
}
