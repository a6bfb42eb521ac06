//! The documents against the repository: figures, links, paths, commands and names.
//!
//! One long file: its checks share the search of documents and sources.

use super::{BENCH, Figures, README};
use crate::shell::{files, read_text, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Made by a build, installed, or not ours.
const SKIPPED: [&str; 7] =
    ["target", "node_modules", "dist", "www/vendor", "www/pkg", "www/lips/pkg", "tests/browser/screenshots"];
/// Where a path in a document begins.
const ROOMS: [&str; 7] = ["crate/", "web/", "www/", "xtask/", "tests/", "models/", "docs/"];
/// Documents of a time that is past: their paths and names may be gone.
const HISTORY: [&str; 2] = ["CHANGELOG.md", "docs/experiments/"];

fn is_history(name: &str) -> bool {
    HISTORY.iter().any(|past| name.starts_with(past))
}

/// All files with one of these endings, with their paths below the root.
fn tracked(endings: &[&str]) -> Vec<(String, PathBuf)> {
    fn walk(folder: &Path, endings: &[&str], found: &mut Vec<(String, PathBuf)>) {
        let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let wanted = |path: &PathBuf| {
            path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted))
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
            let hidden = path.rsplit('/').next().unwrap().starts_with('.');
            if !hidden
                && !SKIPPED.iter().any(|skipped| path == *skipped || path.ends_with(&format!("/{skipped}")))
            {
                walk(&folder, endings, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), endings, &mut found);
    found
}

/// The Markdown files, with what is in them.
fn documents() -> Vec<(String, String)> {
    tracked(&["md"]).into_iter().map(|(name, path)| (name, read_text(&path).unwrap())).collect()
}

/// What stands between two backticks on one line, and each line of a fenced block.
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

/// Where the links and pictures of a text point, but for other sites: a file, empty for the text itself, and a heading in it.
fn links(text: &str) -> Vec<(&str, Option<&str>)> {
    let after = |start: &'static str, end: char| {
        text.split(start).skip(1).filter_map(move |rest| rest.split(end).next())
    };
    let found = after("](", ')').chain(after("src=\"", '"')).chain(after("href=\"", '"'));
    let inside =
        found.filter(|link| !link.is_empty() && !link.contains(':') && !link.contains(char::is_whitespace));
    inside
        .map(|link| link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading))))
        .collect()
}

/// The anchors of a text's headings.
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

/// Words that follow `program` at the beginning of a code span.
fn verbs<'a>(spans: &[&'a str], program: &str) -> BTreeSet<&'a str> {
    let word = |span: &&'a str| span.strip_prefix(program)?.split_whitespace().next();
    spans.iter().filter_map(word).filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

/// Verbs of the command line: variants of the enums that clap makes subcommands of, and their former names.
fn subcommands() -> BTreeSet<String> {
    let mut verbs = BTreeSet::new();
    for (name, path) in tracked(&["rs"]) {
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

/// As clap names a variant.
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
fn figures_are_those_of_the_manifest_and_the_bench() {
    let text = read_text(&root().join(README)).unwrap();
    let filled = Figures::load().unwrap().fill(&text).unwrap();
    for (found, expected) in text.lines().zip(filled.lines()) {
        assert_eq!(found, expected, "`cargo xtask readme` writes it anew");
    }
    assert_eq!(text, filled, "`cargo xtask readme` writes it anew");
}

#[test]
fn each_table_is_made_anew() {
    let old = "before\n<!-- figures:begin people -->\n| .935 |\n<!-- figures:end -->\nafter\n";
    let new = Figures::load().unwrap().fill(old).unwrap();
    assert!(new.starts_with("before\n<!-- figures:begin people -->\n| a minute"), "{new}");
    assert!(new.ends_with("|\n<!-- figures:end -->\nafter\n"), "{new}");
    assert!(!new.contains("| .935 |"));
    assert!(Figures::load().unwrap().fill("<!-- figures:begin nothing -->\n<!-- figures:end -->").is_err());
}

#[test]
fn each_row_of_the_bench_has_its_command_and_commit() {
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
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for (name, text) in documents() {
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for (file, heading) in links(&text) {
            let target = if file.is_empty() { root().join(&name) } else { folder.join(file) };
            let has = |heading: &str| {
                fs::read_to_string(&target).is_ok_and(|text| headings(&text).contains(heading))
            };
            if !target.exists() || !heading.is_none_or(has) {
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
        tracked(&["rs", "js", "mjs", "py"]).iter().filter(|(name, _)| !name.starts_with("xtask/src/readme"))
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

/// The comment that a line is or ends with.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let whole = ["//", "/**", "*", "#", "\"\"\""].iter().find_map(|start| line.strip_prefix(start));
    whole.or_else(|| line.split_once(" // ").map(|(_, comment)| comment))
}

/// Paths of the repository in a code span, but for what a build or the command itself makes, and for patterns.
fn paths(span: &str) -> Vec<&str> {
    let made = |before: &str, path: &str| {
        before == "--out" || SKIPPED.iter().any(|skipped| path.starts_with(skipped))
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
    let pairs =
        before.zip(words.iter().copied()).filter(|(_, word)| ROOMS.iter().any(|room| word.starts_with(room)));
    pairs.filter(|(before, path)| !made(before, path) && !is_pattern(path)).map(|(_, path)| path).collect()
}

#[test]
fn commands_exist() {
    let ours = subcommands();
    assert!(
        ["clone", "say", "train-aligner", "verify-aligner"].iter().all(|verb| ours.contains(*verb)),
        "{ours:?}"
    );
    let known = verbs(&crate::HELP.lines().collect::<Vec<_>>(), "cargo xtask ");
    for (name, text) in documents().iter().filter(|(name, _)| !is_history(name)) {
        let spans = code_spans(text);
        let unknown: Vec<_> =
            verbs(&spans, "ownvoice ").into_iter().filter(|verb| !ours.contains(*verb)).collect();
        assert!(unknown.is_empty(), "{name}: ownvoice has no {unknown:?}");
        let asked = verbs(&spans, "cargo xtask ");
        assert!(asked.is_subset(&known), "{name}: cargo xtask has no {:?}", asked.difference(&known));
        assert!(
            name != README || (asked.contains("serve") && asked.contains("test")),
            "README names the two commands"
        );
    }
}

#[test]
fn each_verb_is_in_readme() {
    let source = read_text(&root().join("crate/src/cli/mod.rs")).unwrap();
    let groups = source.split("const GROUPS").nth(1).unwrap().split("];").next().unwrap();
    let ours: BTreeSet<&str> = groups
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    assert!(ours.len() > 15, "{ours:?}");
    let text = read_text(&root().join(README)).unwrap();
    let spans = code_spans(&text);
    let named = verbs(&spans, "ownvoice ");
    assert!(ours.is_subset(&named), "README lacks {:?}", ours.difference(&named));
}

/// The example is compiled with the tests.
#[test]
fn the_rust_program_is_an_example() {
    let example = read_text(&root().join("crate/examples/clone_and_speak.rs")).unwrap();
    let lines = |text: &str| text.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    let readme = read_text(&root().join(README)).unwrap();
    let program = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = lines(&example);
    let missing: Vec<_> = lines(program).into_iter().filter(|line| !example.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A glossary that the code does not keep to is none.
#[test]
fn names_of_the_code_are_in_the_code() {
    let sources: Vec<String> =
        tracked(&["rs", "js", "mjs", "ts", "py"]).iter().map(|(_, path)| read_text(path).unwrap()).collect();
    let words: BTreeSet<&str> =
        sources.iter().flat_map(|source| source.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
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

/// `EarlyStopping`, `StopRule::Voice`, `MISMATCH_SCORE` or `duration_scale`: a name of the code, not a word.
fn is_name(span: &str) -> bool {
    let capitals = span.chars().filter(char::is_ascii_uppercase).count();
    let written = span.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c))
        && span.starts_with(|c: char| c.is_ascii_alphabetic())
        && !span.ends_with('_');
    let is_type = span.starts_with(|c: char| c.is_ascii_uppercase())
        && span.len() > 2
        && (capitals < span.len() || span.len() > 4);
    written && (is_type || span.contains('_'))
}

#[test]
fn what_is_looked_for_is_found() {
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

/// Without evidence that can be run, read or checked out, a decision is an opinion.
#[test]
fn each_decision_has_evidence() {
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git").args(arguments).current_dir(root()).output();
        done.ok().filter(|done| done.status.success())
    };
    // A shallow checkout, and the sources without git, lack commits.
    let is_whole = git(&["rev-parse", "--is-shallow-repository"])
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
        faults.extend(unknown.filter(|_| is_whole).map(|hash| format!("{file}: no commit {hash}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn is_command(span: &str) -> bool {
    ["ownvoice ", "cargo ", "node ", "npm ", "python ", "mpirun "].iter().any(|start| span.starts_with(start))
}

/// The name of a test: words of the code, joined.
fn is_test(span: &str) -> bool {
    span.matches('_').count() > 1 && span.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Abbreviated hashes of commits in a text.
fn commits(text: &str) -> impl Iterator<Item = &str> {
    let is_hash = |word: &&str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_hash)
}
