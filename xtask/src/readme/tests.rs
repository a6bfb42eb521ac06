//! Checks the documents against the repository: figures, links, paths, commands and names.

use super::{BENCH, Figures, README};
use crate::shell::{files, read_text, root};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of build outputs and installed packages.
const GENERATED: [&str; 8] = [
    "target",
    "node_modules",
    "dist",
    "www/vendor",
    "www/pkg",
    "www/lips/pkg",
    "www/nets/pkg",
    "tests/browser/screenshots",
];
/// The top-level folders that paths in documents begin with.
const FOLDERS: [&str; 7] = ["crate/", "web/", "www/", "xtask/", "tests/", "models/", "docs/"];
/// Documents about earlier states of the code, which may name paths and commands that no longer exist.
const HISTORY: [&str; 2] = ["CHANGELOG.md", "docs/experiments/"];

fn is_history(name: &str) -> bool {
    HISTORY.iter().any(|document| name.starts_with(document))
}

/// Returns all files with one of these extensions, each as its path relative to the root and its full path.
fn sources(extensions: &[&str]) -> Vec<(String, PathBuf)> {
    fn walk(folder: &Path, extensions: &[&str], found: &mut Vec<(String, PathBuf)>) {
        let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let wanted = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
        };
        found.extend(files(folder).into_iter().filter(wanted).map(|path| (name(&path), path)));
        let mut folders: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir() && !path.is_symlink())
            .collect();
        folders.sort();
        for folder in folders {
            let path = name(&folder);
            let is_hidden = path.rsplit('/').next().unwrap().starts_with('.');
            if !is_hidden && !GENERATED.iter().any(|generated| is_in(&path, generated)) {
                walk(&folder, extensions, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), extensions, &mut found);
    found
}

/// Returns whether a path is, or lies in, a folder with this name at any depth.
fn is_in(path: &str, folder: &str) -> bool {
    format!("/{path}/").contains(&format!("/{folder}/"))
}

/// Returns all Markdown files: their paths and texts.
fn documents() -> Vec<(String, String)> {
    sources(&["md"]).into_iter().map(|(name, path)| (name, read_text(&path).unwrap())).collect()
}

/// Returns the code spans of a text, which must not span lines, and the lines of its fenced blocks.
fn code_spans(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            spans.push(line);
        } else {
            spans.extend(line.split('`').skip(1).step_by(2));
        }
    }
    spans
}

/// Returns the relative links and pictures of a text: a file, empty for the text itself, and the anchor of a heading.
fn links(text: &str) -> Vec<(&str, Option<&str>)> {
    let after = |start: &'static str, end: char| {
        text.split(start).skip(1).filter_map(move |rest| rest.split(end).next())
    };
    let found = after("](", ')').chain(after("src=\"", '"')).chain(after("href=\"", '"'));
    let relative =
        found.filter(|link| !link.is_empty() && !link.contains(':') && !link.contains(char::is_whitespace));
    relative
        .map(|link| link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading))))
        .collect()
}

/// Returns the anchors of a text's headings.
fn headings(text: &str) -> BTreeSet<String> {
    let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    let lines = text.lines().filter(|line| line.starts_with('#'));
    lines
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|&c| kept(c))
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

/// Returns the words that follow `program` at the beginning of a code span.
fn verbs<'a>(spans: &[&'a str], program: &str) -> BTreeSet<&'a str> {
    let word = |span: &&'a str| span.strip_prefix(program)?.split_whitespace().next();
    spans.iter().filter_map(word).filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

/// Returns the subcommands of the command line: the variants of enums that derive `Subcommand`, and their aliases.
fn subcommands() -> BTreeSet<String> {
    let mut verbs = BTreeSet::new();
    for (name, path) in sources(&["rs"]) {
        if name.starts_with("xtask/") {
            continue;
        }
        let source = read_text(&path).unwrap();
        for body in source.split("Subcommand)]").skip(1) {
            let body = body.split_once('{').map_or("", |(_, body)| body);
            let body = body.split("\n}").next().unwrap();
            for line in
                body.lines().map(str::trim).filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
            {
                let variant = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
                verbs.insert(kebab(variant));
            }
            verbs.extend(
                body.split("alias = \"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.into())),
            );
        }
    }
    verbs
}

/// Converts the name of a variant as clap does.
fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for (at, c) in variant.chars().enumerate() {
        if c.is_ascii_uppercase() && at > 0 {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[test]
fn the_tables_of_readme_are_up_to_date() {
    let text = read_text(&root().join(README)).unwrap();
    let filled = Figures::load().unwrap().fill(&text).unwrap();
    for (found, expected) in text.lines().zip(filled.lines()) {
        assert_eq!(found, expected, "run `cargo xtask readme`");
    }
    assert_eq!(text, filled, "run `cargo xtask readme`");
}

#[test]
fn marked_tables_are_replaced() {
    let old = "before\n<!-- figures:begin page -->\n| .935 |\n<!-- figures:end -->\nafter\n";
    let new = Figures::load().unwrap().fill(old).unwrap();
    assert!(new.starts_with("before\n<!-- figures:begin page -->\n| headless"), "{new}");
    assert!(new.ends_with("|\n<!-- figures:end -->\nafter\n"), "{new}");
    assert!(!new.contains("| .935 |"));
    assert!(Figures::load().unwrap().fill("<!-- figures:begin nothing -->\n<!-- figures:end -->").is_err());
}

#[test]
fn clones_have_a_column_each_and_a_cell_may_lack_figures() {
    let figures = |similarity: f64| json!({ "similarity": similarity, "p808": 3.0 });
    let speaker = json!({ "base": figures(0.5), "clone": figures(0.9), "recordings": figures(0.95) });
    let manifest = json!({ "quality": { "external": { "confirm": { "ann": speaker, "mean": speaker } } } });
    let figures = Figures { manifest, bench: Value::Null };
    let table = figures.table("confirm").unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "| a minute of speech at most | ann | mean |");
    assert!(lines[2].ends_with("| 0.50, 0.90, 0.95 | 0.50, 0.90, 0.95 |"), "{}", lines[2]);
    assert!(lines.iter().any(|line| line.starts_with("| words") && line.ends_with("|  |  |")), "{table}");
    assert!(figures.table("engines").unwrap().starts_with("This base has not been measured"));
}

#[test]
fn each_measurement_has_a_command_and_a_commit() {
    let bench = Figures::load().unwrap().bench;
    let mut names = BTreeSet::new();
    for group in bench.as_array().unwrap() {
        assert!(group["command"].is_string(), "{group}");
        let commit = group["commit"].as_str().unwrap();
        assert!(commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{commit}");
        for row in group["rows"].as_array().unwrap() {
            assert!(row["value"].is_number() && row["unit"].is_string(), "{row}");
            assert!(
                names.insert(row["name"].as_str().unwrap().to_string()),
                "{BENCH} has {} twice",
                row["name"]
            );
        }
    }
}

#[test]
fn link_targets_exist() {
    let mut dead = Vec::new();
    for (name, text) in documents() {
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for (file, heading) in links(&text) {
            let target = if file.is_empty() { root().join(&name) } else { folder.join(file) };
            let has_heading = |heading: &str| {
                fs::read_to_string(&target).is_ok_and(|text| headings(&text).contains(heading))
            };
            if !target.exists() || !heading.is_none_or(has_heading) {
                dead.push(format!("{name}: {file}#{}", heading.unwrap_or_default()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn paths_exist() {
    let mut missing = Vec::new();
    for (name, text) in documents().iter().filter(|(name, _)| !is_history(name)) {
        for path in code_spans(text).into_iter().flat_map(paths) {
            if !root().join(path).exists() {
                missing.push(format!("{name}: {path}"));
            }
        }
    }
    for (name, path) in
        sources(&["rs", "js", "mjs", "py"]).iter().filter(|(name, _)| !name.starts_with("xtask/src/readme"))
    {
        let source = read_text(path).unwrap();
        let named = source.lines().filter_map(comment).flat_map(|comment| {
            let documents = comment
                .split(|c: char| c.is_whitespace() || "()`,;:".contains(c))
                .map(|word| word.trim_end_matches('.'))
                .filter(|word| word.starts_with("docs/") && word.ends_with(".md"));
            code_spans(comment).into_iter().flat_map(paths).chain(documents).collect::<Vec<_>>()
        });
        missing
            .extend(named.filter(|path| !root().join(path).exists()).map(|path| format!("{name}: {path}")));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Returns the comment of a line.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let whole = ["//", "/**", "*", "#", "\"\"\""].iter().find_map(|start| line.strip_prefix(start));
    whole.or_else(|| line.split_once(" // ").map(|(_, comment)| comment))
}

/// Returns the paths of the repository in a code span, except generated files, outputs of the command and patterns.
fn paths(span: &str) -> Vec<&str> {
    let is_generated = |before: &str, path: &str| {
        before == "--out" || GENERATED.iter().any(|generated| is_in(path, generated))
    };
    let is_placeholder = |part: &str| {
        part.split('.')
            .next()
            .is_some_and(|stem| stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase()))
    };
    let is_pattern = |path: &str| {
        path.contains(['*', '<']) || path.split('/').any(is_placeholder) && !path.ends_with(".md")
    };
    let words: Vec<&str> = span.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
    let before = std::iter::once("").chain(words.iter().copied());
    let pairs = before
        .zip(words.iter().copied())
        .filter(|(_, word)| FOLDERS.iter().any(|folder| word.starts_with(folder)));
    pairs
        .filter(|(before, path)| !is_generated(before, path) && !is_pattern(path))
        .map(|(_, path)| path)
        .collect()
}

#[test]
fn commands_exist() {
    let known_verbs = subcommands();
    assert!(
        ["clone", "say", "train-aligner", "verify-aligner"].iter().all(|verb| known_verbs.contains(*verb)),
        "{known_verbs:?}"
    );
    let known_commands = verbs(&crate::HELP.lines().collect::<Vec<_>>(), "cargo xtask ");
    for (name, text) in documents().iter().filter(|(name, _)| !is_history(name)) {
        let spans = code_spans(text);
        let unknown: Vec<_> =
            verbs(&spans, "ownvoice ").into_iter().filter(|verb| !known_verbs.contains(*verb)).collect();
        assert!(unknown.is_empty(), "{name}: ownvoice has no {unknown:?}");
        let commands = verbs(&spans, "cargo xtask ");
        let unknown: Vec<_> = commands.difference(&known_commands).collect();
        assert!(unknown.is_empty(), "{name}: cargo xtask has no {unknown:?}");
        assert!(
            name != README || (commands.contains("serve") && commands.contains("test")),
            "README names serve and test"
        );
    }
}

#[test]
fn each_verb_is_in_readme() {
    let source = read_text(&root().join("crate/cli/src/commands/mod.rs")).unwrap();
    let groups = source.split("const GROUPS").nth(1).unwrap().split("];").next().unwrap();
    let shown: BTreeSet<&str> = groups
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    assert!(shown.len() > 15, "{shown:?}");
    let text = read_text(&root().join(README)).unwrap();
    let spans = code_spans(&text);
    let named = verbs(&spans, "ownvoice ");
    let missing: Vec<_> = shown.difference(&named).collect();
    assert!(missing.is_empty(), "README lacks {missing:?}");
}

/// Compares README's Rust program with an example, which is compiled with the tests.
#[test]
fn the_rust_program_of_readme_is_an_example() {
    let example = read_text(&root().join("crate/ownvoice/examples/clone_and_speak.rs")).unwrap();
    let lines = |text: &str| text.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    let readme = read_text(&root().join(README)).unwrap();
    let program = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = lines(&example);
    let missing: Vec<_> = lines(program).into_iter().filter(|line| !example.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn code_names_in_the_guides_exist() {
    let texts: Vec<String> =
        sources(&["rs", "js", "mjs", "ts", "py"]).iter().map(|(_, path)| read_text(path).unwrap()).collect();
    let words: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    let mut unknown = Vec::new();
    for name in ["DESIGN.md", "CONTRIBUTING.md"] {
        let text = read_text(&root().join(name)).unwrap();
        for span in code_spans(&text).into_iter().filter(|span| is_name(span)) {
            let missing = span.split("::").any(|part| !words.contains(part));
            unknown.extend(missing.then(|| format!("{name}: {span}")));
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Returns whether a code span is a name of the code, such as `EarlyStopping`, `StopRule::Voice`, `MISMATCH_SCORE` or `duration_scale`.
fn is_name(span: &str) -> bool {
    let capitals = span.chars().filter(char::is_ascii_uppercase).count();
    let is_path = span.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c))
        && span.starts_with(|c: char| c.is_ascii_alphabetic())
        && !span.ends_with('_');
    let is_type = span.starts_with(|c: char| c.is_ascii_uppercase())
        && span.len() > 2
        && (capitals < span.len() || span.len() > 4);
    is_path && (is_type || span.contains('_'))
}

#[test]
fn the_parts_of_documents_are_found() {
    let text = "See [a](docs/a.md#b), [site](https://burn.dev) and <img src=\"docs/c.png\">: `ownvoice say --text x`.\n```\ncargo xtask serve   # it\n```\n";
    assert_eq!(links(text), [("docs/a.md", Some("b")), ("docs/c.png", None)]);
    assert!(headings("# A, B\n## Page and package\n").iter().eq(["a-b", "page-and-package"]));
    let spans = code_spans(text);
    assert_eq!(spans, ["ownvoice say --text x", "cargo xtask serve   # it"]);
    assert_eq!(verbs(&spans, "ownvoice ").into_iter().collect::<Vec<_>>(), ["say"]);
    assert_eq!(
        paths("node tests/a.mjs tests/NAME.mjs --base models/base --out models/new www/pkg"),
        ["tests/a.mjs", "models/base"]
    );
    assert_eq!(comment("  /// See `tests/a.py`."), Some("/ See `tests/a.py`."));
    assert_eq!(comment("let a = 1; // b"), Some("b"));
    assert_eq!(comment("let a = \"https://b\";"), None);
    assert_eq!(commits("at 9c21a78, 1234567 of abcdefg").collect::<Vec<_>>(), ["9c21a78"]);
    assert!(is_test("two_ranks_train_as_one") && !is_test("duration_scale") && is_command("cargo test"));
    assert_eq!(kebab("TrainSpeakerEncoder"), "train-speaker-encoder");
    assert_eq!(
        ["EarlyStopping", "B", "MAX_CORES", "WAV", "a_word", "A::B", "word", "MAX_", "_hz"].map(is_name),
        [true, false, true, false, true, true, false, false, false]
    );
}

#[test]
fn each_decision_is_in_the_index() {
    let folder = root().join("docs/decisions");
    let index = read_text(&folder.join("README.md")).unwrap();
    let listed = links(&index);
    let names: Vec<String> = files(&folder)
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "README.md")
        .collect();
    assert!(names.len() > 50, "{names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !listed.contains(&(name.as_str(), None))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Checks that each decision has its sections, and that its evidence cites something that can be run, read or checked out.
#[test]
fn each_decision_has_evidence() {
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git").args(arguments).current_dir(root()).output();
        done.ok().filter(|done| done.status.success())
    };
    // A shallow clone, and sources without git, lack commits.
    let is_complete = git(&["rev-parse", "--is-shallow-repository"])
        .is_some_and(|answer| String::from_utf8_lossy(&answer.stdout).trim() == "false");
    let mut faults = Vec::new();
    for (name, text) in documents() {
        let Some(file) = name.strip_prefix("docs/decisions/").filter(|file| *file != "README.md") else {
            continue;
        };
        let section = |title: &str| {
            let rest = text.split_once(&format!("\n## {title}\n"))?.1;
            rest.split("\n## ").next().filter(|body| !body.trim().is_empty())
        };
        let (Some(_), Some(_), Some(evidence)) =
            (section("Context"), section("Decision"), section("Evidence"))
        else {
            faults.push(format!("{file} lacks a section"));
            continue;
        };
        let spans = code_spans(evidence);
        let is_cited = spans.iter().any(|span| is_command(span) || !paths(span).is_empty() || is_test(span))
            || commits(evidence).next().is_some();
        if !is_cited {
            faults.push(format!("{file} cites neither a command nor a test, a path or a commit"));
        }
        let unknown =
            commits(&text).filter(|hash| git(&["cat-file", "-e", &format!("{hash}^{{commit}}")]).is_none());
        faults.extend(unknown.filter(|_| is_complete).map(|hash| format!("{file}: no commit {hash}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns whether a code span is a command.
fn is_command(span: &str) -> bool {
    ["ownvoice ", "cargo ", "node ", "npm ", "python ", "mpirun "].iter().any(|start| span.starts_with(start))
}

/// Returns whether a code span looks like the name of a test: three words or more, joined by underscores.
fn is_test(span: &str) -> bool {
    span.matches('_').count() > 1 && span.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Returns the hashes of commits in a text, which may be abbreviated.
fn commits(text: &str) -> impl Iterator<Item = &str> {
    let is_hash = |word: &&str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_hash)
}
