//! `cargo xtask test`: all tests in stages, their numbers read from what the runners print, one line at the end.

use crate::build;
use crate::count::Count;
use crate::pack;
use crate::serve::Site;
use crate::setup;
use crate::shell::{Result, cache, cargo, command, create_dir, files, read_text, root, shown, stderr};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

type Stage = (&'static str, &'static str, fn() -> Result<Outcome>);

/// In the order in which they run: what fails soonest comes first.
const STAGES: [Stage; 6] = [
    ("native", "the library, the command line and this runner", native),
    ("wasm", "the wasm in Chromium, by wasm-pack", wasm),
    ("js", "the types of the JavaScript, and what runs in Node", js),
    ("package", "the npm package, installed by a plain page, Vite and webpack", package),
    ("browser", "the page in Chromium, Firefox and WebKit", browser),
    (
        ON_DEMAND,
        "the kernels by Vulkan, in both precisions: on a graphics card, or on Mesa's software",
        graphics,
    ),
];

/// Runs only where it is named: it compiles burn once more, for Vulkan, which takes as long as all the rest.
const ON_DEMAND: &str = "graphics";

/// What a stage counted, and what was wrong with it besides failing tests.
#[derive(Default)]
struct Outcome {
    count: Count,
    trouble: Option<String>,
    /// What this machine lacks, for want of which nothing ran: counted as skipped.
    lacking: Option<String>,
}

pub fn run(chosen: &[&str]) -> Result<ExitCode> {
    if let Some(unknown) = chosen.iter().find(|word| STAGES.iter().all(|(name, ..)| name != *word)) {
        let names = STAGES.map(|(name, ..)| name).join(", ");
        return Err(format!("no stage is called {unknown}: there are {names}"));
    }
    let begun = Instant::now();
    let mut table = Vec::new();
    let mut sum = Count::default();
    for (name, what, stage) in STAGES.into_iter().filter(|(name, ..)| match chosen {
        [] => *name != ON_DEMAND,
        named => named.contains(name),
    }) {
        let start = Instant::now();
        eprintln!("\n=== {name}: {what} ({} min so far)", begun.elapsed().as_secs() / 60);
        let Outcome { mut count, trouble, lacking } =
            stage().unwrap_or_else(|message| Outcome { trouble: Some(message), ..Outcome::default() });
        let ran = count.passed + count.failed > 0 || lacking.is_some();
        let trouble = trouble.or_else(|| (!ran).then(|| "no test ran".to_string()));
        count.skipped += usize::from(lacking.is_some());
        // A stage that could not be counted is a failure like a failed test.
        count.failed += usize::from(trouble.is_some() && count.failed == 0);
        sum += count;
        table.push(format!("{name:8} {:>7.1} s  {count}", start.elapsed().as_secs_f32()));
        table.extend(trouble.or(lacking).map(|why| format!("{:8} {why}", "")));
    }
    println!("\n{}", table.join("\n"));
    if sum.skipped > 0 {
        println!("\nSKIPPED: {} tests did not run here; they prove nothing.", sum.skipped);
    }
    println!("{sum}");
    Ok(if sum.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn native() -> Result<Outcome> {
    let mut cargo = cargo();
    cargo.args(["test", "--release", "--no-fail-fast", "--workspace", "--exclude", "ownvoice-web*"]);
    // One build for all of it: with Open MPI, the tests of ranks run as well; without, they are counted as skipped.
    if setup::mpi() {
        cargo.args(["--features", "ownvoice/mpi"]);
    } else {
        eprintln!(
            "SKIPPED: Open MPI is not installed (Debian: openmpi-bin libopenmpi-dev libclang-dev); the tests of ranks do not run"
        );
    }
    setup::ffmpeg();
    let mut outcome = libtest(&mut cargo)?;
    for check in CHECKS {
        outcome.count += house_rule(&check);
    }
    Ok(outcome)
}

/// A house rule that a tool of cargo's checks; it counts as one test.
struct Check {
    name: &'static str,
    /// The subcommand, which may not be installed.
    tool: &'static str,
    arguments: &'static [&'static str],
    rustdocflags: &'static str,
}

const CHECKS: [Check; 4] = [
    Check { name: "format", tool: "fmt", arguments: &["--all", "--check"], rustdocflags: "" },
    Check {
        name: "lints",
        tool: "clippy",
        arguments: &[
            "--release",
            "--quiet",
            "--workspace",
            "--exclude",
            "ownvoice-web*",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ],
        rustdocflags: "",
    },
    Check {
        name: "documentation",
        tool: "doc",
        arguments: &["--release", "--quiet", "--no-deps", "--package", "ownvoice"],
        rustdocflags: "--deny warnings",
    },
    // What `cargo publish --dry-run` checks before it builds: the manifest, and that each file of the crate is there.
    Check {
        name: "crate",
        tool: "package",
        arguments: &["--package", "ownvoice", "--no-verify", "--allow-dirty", "--offline", "--quiet"],
        rustdocflags: "",
    },
];

fn house_rule(check: &Check) -> Count {
    let Check { name, tool, arguments, rustdocflags } = check;
    // `cargo doc --help` opens a manual page; a tool that is missing fails either way.
    let installed = cargo().args([tool, "-h"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        eprintln!("{name}: SKIPPED, cargo {tool} is not installed (rustup component add rustfmt clippy)");
        return Count { skipped: 1, ..Count::default() };
    }
    let mut command = cargo();
    command.arg(tool).args(*arguments);
    if !rustdocflags.is_empty() {
        command.env("RUSTDOCFLAGS", rustdocflags);
    }
    one_test(name, &mut command)
}

/// Counts a command as one test, which passes where the command succeeds.
fn one_test(name: &str, command: &mut Command) -> Count {
    let passed = command.stdout(stderr()).status().is_ok_and(|status| status.success());
    eprintln!("{name}: {}", if passed { "ok".into() } else { format!("FAILED: {}", shown(command)) });
    Count { passed: usize::from(passed), failed: usize::from(!passed), skipped: 0 }
}

/// A build of its own: kernels in half precision, which Chromium's software does not have, and steps of training on them against the CPU.
fn graphics() -> Result<Outcome> {
    if !setup::vulkan() {
        let lacking = "SKIPPED: no driver of Vulkan is installed (Debian: mesa-vulkan-drivers libvulkan1); kernels in half precision are tested nowhere else";
        eprintln!("{lacking}");
        return Ok(Outcome { lacking: Some(lacking.into()), ..Outcome::default() });
    }
    let mut cargo = cargo();
    cargo.args(["test", "--release", "--no-fail-fast", "--package", "ownvoice", "--features", "webgpu"]);
    cargo.args(["--test", "fused", "--test", "precision", "--test", "operations"]);
    libtest(&mut cargo)
}

fn wasm() -> Result<Outcome> {
    let browser = setup::browser()?;
    let mut wasm_pack = command("wasm-pack");
    setup::with_tools(&mut wasm_pack)?;
    setup::wasm_environment(&mut wasm_pack)?;
    // no-install: what it needs is there, and it must fetch nothing.
    wasm_pack
        .args(["test", "--mode", "no-install", "--headless", "--chrome", "--chromedriver"])
        .arg(&browser.driver)
        .args(["--release", "web"]);
    wasm_pack.env("CHROMEDRIVER", &browser.driver).env("WASM_BINDGEN_TEST_TIMEOUT", "900");
    libtest(&mut wasm_pack)
}

/// Runs a command whose tests report as Rust's do, and counts them while they scroll by.
fn libtest(command: &mut Command) -> Result<Outcome> {
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("{}: {e}", shown(command)))?;
    let (mut count, mut skipped) = (Count::default(), 0);
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        let _ = std::io::stderr().write_all(&line);
        let text = String::from_utf8_lossy(&line);
        skipped += usize::from(Count::is_skipped(&text));
        if let Some(more) = Count::from_libtest(&text) {
            count += more.without(std::mem::take(&mut skipped));
        }
        line.clear();
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    let trouble = (!status.success() && count.failed == 0).then(|| format!("{}: {status}", shown(command)));
    Ok(Outcome { count, trouble, lacking: None })
}

/// The type checker counts as one test. The Node tests are those of tests/js.
fn js() -> Result<Outcome> {
    setup::node_modules()?;
    build::page()?;
    let mut tsc = command("node");
    tsc.args(["tests/node_modules/typescript/bin/tsc", "--project", "tests"]);
    let types = one_test("types", &mut tsc);
    let scripts = tests(&root().join("tests/js"));
    let mut outcome = if scripts.is_empty() { Outcome::default() } else { node(&scripts, 1, &[])? };
    outcome.count += types;
    Ok(outcome)
}

fn package() -> Result<Outcome> {
    setup::node_modules()?;
    let browser = setup::browser()?;
    let tarball = pack::pack()?;
    let published = one_test(
        "npm",
        setup::npm().args(["publish", "--dry-run", "--offline", "--loglevel", "warn"]).arg(&tarball),
    );
    let scripts = tests(&root().join("tests/package"));
    let environment = [("OWNVOICE_TARBALL", tarball.as_os_str()), ("CHROMIUM", browser.chromium.as_os_str())];
    let mut outcome = node(&scripts, 1, &environment)?;
    outcome.count += published;
    Ok(outcome)
}

fn browser() -> Result<Outcome> {
    setup::node_modules()?;
    let browser = setup::browser()?;
    setup::other_browsers();
    build::page()?;
    let scripts = tests(&root().join("tests/browser"));
    if scripts.is_empty() {
        return Err("tests/browser has no *.test.mjs".to_string());
    }
    let site = Site::open(0)?;
    let environment = [("OWNVOICE_URL", site.url.as_ref()), ("CHROMIUM", browser.chromium.as_os_str())];
    let (paired, alone): (Vec<_>, Vec<_>) = scripts.into_iter().partition(|script| {
        let name = script.file_name().unwrap_or_default().to_string_lossy();
        PAIRED.iter().any(|paired| name == format!("{paired}.test.mjs"))
    });
    let mut outcome = node(&paired, 2, &environment)?;
    let Outcome { count, trouble, .. } = node(&alone, 1, &environment)?;
    outcome.count += count;
    outcome.trouble = outcome.trouble.or(trouble);
    Ok(outcome)
}

/// Files that two browsers run side by side: they neither hear a microphone or see a camera as it plays, nor measure time.
const PAIRED: [&str; 19] = [
    "access",
    "browsers",
    "card",
    "contract",
    "deletion",
    "faults",
    "faults-card",
    "files",
    "helpers",
    "memory",
    "policy",
    "precision",
    "profile",
    "recordings",
    "recovery",
    "scripts",
    "speaking",
    "storage",
    "warnings",
];

fn tests(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.to_string_lossy().ends_with(".test.mjs")).collect()
}

/// Runs Node's test runner.
///
/// * `at_once`: files; one where two Chromiums would measure each other
fn node(scripts: &[PathBuf], at_once: usize, environment: &[(&str, &std::ffi::OsStr)]) -> Result<Outcome> {
    create_dir(&cache())?;
    let report = cache().join(format!("tap-{}.txt", std::process::id()));
    let mut node = command("node");
    node.args([
        "--test",
        // A file that hangs, which no limit of its tests would end: a third more than the longest takes here, beside another.
        "--test-timeout=1200000",
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=tap",
    ])
    .arg(format!("--test-reporter-destination={}", report.display()))
    .arg(format!("--test-concurrency={at_once}"))
    .args(scripts)
    .envs(environment.iter().copied())
    // The native command line, for tests that make what the page reads, or read what it made.
    .env("OWNVOICE_TARGET_DIR", crate::shell::native_target())
    .stdout(stderr());
    let status = node.status().map_err(|e| format!("node: {e}"))?;
    let count = Count::from_tap(&read_text(&report)?);
    let _ = std::fs::remove_file(&report);
    let trouble = (!status.success() && count.failed == 0).then(|| format!("node --test: {status}"));
    Ok(Outcome { count, trouble, lacking: None })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_house_rule_passes_fails_or_is_skipped() {
        let rule = |tool, arguments| house_rule(&Check { name: "a rule", tool, arguments, rustdocflags: "" });
        assert_eq!(rule("pkgid", &["--package", "xtask"]), Count { passed: 1, ..Count::default() });
        assert_eq!(rule("pkgid", &["--package", "none-of-ours"]), Count { failed: 1, ..Count::default() });
        assert_eq!(rule("none-of-cargo", &[]), Count { skipped: 1, ..Count::default() });
    }
}
