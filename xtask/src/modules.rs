//! Which modules import which: the library's rooms only those above them in DESIGN's table, and no source itself over others.

use crate::shell::{files, read_text, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules, each with those that it imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Paths after `crate`, `super` and `self` in a source, with that word, in expressions and in trees of `use`; comments and unit tests are left out.
fn paths(source: &str) -> Vec<Vec<String>> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: String =
        code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
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

/// The paths of a tree as `use` has it, and what follows.
fn tree(text: &str) -> (Vec<Vec<String>>, &str) {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut all = Vec::new();
        while !rest.is_empty() && !rest.starts_with('}') {
            let (paths, behind) = tree(rest);
            all.extend(paths);
            // "as other" up to the comma.
            let end = behind.find([',', '}']).unwrap_or(behind.len());
            rest = behind[end..].trim_start_matches(|c: char| c == ',' || c.is_whitespace());
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

/// The module of a source: `["text", "letters"]`; none for the crate's root.
fn module_of(below: &Path) -> Vec<String> {
    let mut path: Vec<String> =
        below.with_extension("").iter().map(|name| name.to_string_lossy().to_string()).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

/// The modules of a crate but its root, each with those that it imports. What a module imports from below itself is its own.
fn rust_modules(sources: &Path) -> Graph {
    let module = |path: &Path| module_of(path.strip_prefix(sources).expect("it is below"));
    let modules: BTreeMap<_, _> =
        rust_files(sources).iter().map(|path| (module(path), read_text(path))).collect();
    let mut graph = Graph::new();
    for (module, text) in modules.iter().filter(|(module, _)| !module.is_empty()) {
        let imported = paths(text.as_deref().expect("a source")).into_iter().filter_map(|path| {
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

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// A path from the crate's root on.
fn resolved(module: &[String], path: &[String]) -> Vec<String> {
    let ups = path.iter().filter(|name| *name == "super").count();
    let base = if path[0] == "crate" { &[] } else { &module[..module.len().saturating_sub(ups)] };
    let below = path.iter().filter(|name| !matches!(name.as_str(), "crate" | "super" | "self"));
    base.iter().chain(below).cloned().collect()
}

/// The scripts of some folders below `top`, by their paths in it, each with the paths that it imports, types included.
fn scripts(top: &Path, folders: &[&str]) -> Graph {
    let mut graph = Graph::new();
    for folder in folders {
        let scripts = files(&top.join(folder))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "js"));
        for path in scripts {
            let text = read_text(&path).expect("a script");
            let quoted = text.split("\".").skip(1).filter_map(|rest| rest.split('"').next());
            let imported =
                quoted.filter(|path| path.ends_with(".js")).map(|path| script(folder, &format!(".{path}")));
            let name = path.file_name().expect("a file").to_string_lossy().to_string();
            graph.insert(script(folder, &name), imported.collect());
        }
    }
    graph
}

/// The path of a script from a path relative to a folder, which may begin with `./` or `../`.
fn script(folder: &str, relative: &str) -> String {
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

/// Modules that import each other over others, by circle.
fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (module.as_str(), reach(graph, module))).collect();
    let mut circles: Vec<Vec<&str>> = Vec::new();
    for (module, those) in &reached {
        if those.contains(module) && !circles.iter().any(|circle| circle.contains(module)) {
            circles.push(those.iter().copied().filter(|other| reached[other].contains(module)).collect());
        }
    }
    circles
}

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

/// Modules in the order of DESIGN's table, from the first on.
fn rooms(design: &str) -> Vec<String> {
    let rows = design.lines().filter_map(|line| line.strip_prefix("| `crate/src/"));
    let cells = rows.map(|row| row.split(" |").next().unwrap_or_default());
    let module = |path: &str| path.split(['`', '.', '/']).next().unwrap_or_default().to_string();
    cells.flat_map(|cell| cell.split("`crate/src/").map(module).collect::<Vec<_>>()).collect()
}

/// What imports a module of a room that is not above it.
fn faults(rooms: &[String], modules: &Graph) -> Vec<String> {
    let room = |module: &str| module.split("::").next().unwrap_or_default().to_string();
    let mut faults = Vec::new();
    for (module, imported) in modules {
        let Some(place) = rooms.iter().position(|name| *name == room(module)) else {
            faults.push(format!("{module} is not in the table"));
            continue;
        };
        let below = imported.iter().filter(|name| rooms[place + 1..].contains(&room(name)));
        faults.extend(below.map(|name| format!("{module} imports {name}")));
    }
    faults
}

#[test]
fn rooms_import_only_those_above_them_in_the_design() {
    let modules = rust_modules(&root().join("crate/src"));
    assert!(modules["train::clip"].contains("align") && modules["cli::measure"].contains("pipeline"));
    let rooms = rooms(&read_text(&root().join("DESIGN.md")).expect("the design"));
    assert_eq!(faults(&rooms, &modules), Vec::<String>::new());
}

#[test]
fn no_source_imports_itself_over_others() {
    for sources in ["crate/src", "web/src", "xtask/src"] {
        let modules = rust_modules(&root().join(sources));
        assert_eq!(circles(&modules), Vec::<Vec<&str>>::new(), "{sources}");
    }
    for (top, folders, least) in [("web/js", vec![""], 10), ("www", vec!["", "shared", "lips"], 30)] {
        let scripts = scripts(&root().join(top), &folders);
        assert!(scripts.len() > least, "{top}: {scripts:?}");
        assert_eq!(circles(&scripts), Vec::<Vec<&str>>::new(), "{top}");
    }
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let source = "use crate::{\n    Error,\n    b::{c as x, d},\n};\nuse super::f;\n// crate::x\nfn f() { crate::e::g(); a::super::z() }\n#[cfg(test)]\nmod tests { use crate::y; }\n";
    let found: Vec<String> = paths(source).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::Error", "crate::b::c", "crate::b::d", "crate::e::g", "super::f"]);
    let names = |path: &str| path.split("::").map(str::to_string).collect::<Vec<_>>();
    assert_eq!(resolved(&names("a::b"), &names("super::super::c")), names("c"));
    assert_eq!(resolved(&names("a::b"), &names("self::c")), names("a::b::c"));
    assert_eq!(module_of(Path::new("text/mod.rs")), ["text"]);
    assert_eq!(module_of(Path::new("lib.rs")), Vec::<String>::new());
    assert_eq!(script("lips", "../shared/dom.js"), "shared/dom.js");
    assert_eq!(script("", "./lips/app.js"), "lips/app.js");
}

#[test]
fn a_module_that_imports_from_below_is_found() {
    let rooms =
        rooms("| `crate/src/e.rs`, `crate/src/a` | x |\n| other |\n| `crate/src/b` | `crate/src/z` |\n");
    assert_eq!(rooms, ["e", "a", "b"]);
    let graph = |edges: &[(&str, &[&str])]| -> Graph {
        let imported = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        edges.iter().map(|(module, names)| (module.to_string(), imported(names))).collect()
    };
    let modules = graph(&[("a::x", &["b::y", "e", "a"]), ("c", &[])]);
    assert_eq!(faults(&rooms, &modules), ["a::x imports b::y", "c is not in the table"]);
    let modules = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b", "d"]), ("d", &[])]);
    assert_eq!(circles(&modules), [["b", "c"]]);
}
