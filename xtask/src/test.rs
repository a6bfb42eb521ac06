//! `cargo xtask test`: runs all tests in stages, reads their counts from the output of the runners, and prints one line with the sums.

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

/// The name, description and function of each stage, in the order in which they run: the fastest come first.
const STAGES: [Stage; 6] = [
    ("native", "the native crates and this runner", native),
    ("wasm", "the WebAssembly in Chromium, by wasm-pack", wasm),
    ("js", "the types of the JavaScript, and the tests that run in Node", js),
    ("package", "the npm packages, installed in a plain page and with Vite, webpack and Next.js", package),
    ("browser", "the page in Chromium, Firefox and WebKit", browser),
    (
        ON_DEMAND,
        "the GPU kernels on Vulkan, in both precisions, on a graphics card or on Mesa's software driver",
        graphics,
    ),
];

/// The stage that runs only if it is named: it compiles burn once more, for Vulkan, which takes as long as all other stages together.
const ON_DEMAND: &str = "graphics";

/// The result of a stage.
#[derive(Default)]
struct Outcome {
    count: Count,
    /// An error other than a failed test.
    error: Option<String>,
    /// Why nothing ran on this machine. The stage counts as one skipped test.
    skipped: Option<String>,
}

/// Runs the chosen stages, or all except [`ON_DEMAND`] if none is chosen.
pub fn run(chosen: &[&str]) -> Result<ExitCode> {
    if let Some(unknown) = chosen.iter().find(|word| STAGES.iter().all(|(name, ..)| name != *word)) {
        let names = STAGES.map(|(name, ..)| name).join(", ");
        return Err(format!("there is no stage {unknown}; the stages are {names}"));
    }
    let start_of_all = Instant::now();
    let mut table = Vec::new();
    let mut sum = Count::default();
    for (name, what, stage) in STAGES.into_iter().filter(|(name, ..)| match chosen {
        [] => *name != ON_DEMAND,
        named => named.contains(name),
    }) {
        let start = Instant::now();
        eprintln!("\n=== {name}: {what} (after {} min)", start_of_all.elapsed().as_secs() / 60);
        let Outcome { mut count, error, skipped } =
            stage().unwrap_or_else(|message| Outcome { error: Some(message), ..Outcome::default() });
        let ran = count.passed + count.failed > 0 || skipped.is_some();
        let error = error.or_else(|| (!ran).then(|| "no test ran".to_string()));
        count.skipped += usize::from(skipped.is_some());
        // An error counts as a failed test, so that the stage cannot pass.
        count.failed += usize::from(error.is_some() && count.failed == 0);
        sum += count;
        table.push(format!("{name:8} {:>7.1} s  {count}", start.elapsed().as_secs_f32()));
        table.extend(error.or(skipped).map(|why| format!("{:8} {why}", "")));
    }
    println!("\n{}", table.join("\n"));
    if sum.skipped > 0 {
        println!("\nSKIPPED: {} tests did not run on this machine.", sum.skipped);
    }
    println!("{sum}");
    Ok(if sum.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn native() -> Result<Outcome> {
    let mut cargo = cargo();
    cargo.args(["test", "--release", "--no-fail-fast", "--workspace", "--exclude", "ownvoice-web*"]);
    // All native tests share one build. Without Open MPI, the tests of ranks as processes are not in it and count as skipped.
    if setup::mpi() {
        cargo.args(["--features", "ownvoice-cli/mpi"]);
    } else {
        eprintln!(
            "SKIPPED: Open MPI is not installed (Debian: openmpi-bin libopenmpi-dev libclang-dev); the tests of ranks as processes do not run"
        );
    }
    setup::ffmpeg();
    let mut outcome = libtest(&mut cargo)?;
    for check in CHECKS {
        outcome.count += run_check(&check);
    }
    Ok(outcome)
}

/// A check by a subcommand of cargo. It counts as one test.
struct Check {
    name: &'static str,
    /// The subcommand, which may be missing.
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
        // Only libraries: the documentation of the program would have the same path as that of the library ownvoice.
        arguments: &[
            "--release",
            "--quiet",
            "--no-deps",
            "--lib",
            "--package",
            "burn-fused",
            "--package",
            "ownvoice",
            "--package",
            "ownvoice-cli",
        ],
        rustdocflags: "--deny warnings",
    },
    // Packs the published crates as `cargo publish --dry-run` does before it builds them. In one command, because each depends on those before it, which cargo
    // then finds in a temporary registry.
    Check {
        name: "packages",
        tool: "package",
        arguments: &[
            "--no-verify",
            "--allow-dirty",
            "--offline",
            "--quiet",
            "--package",
            "burn-fused",
            "--package",
            "ownvoice",
            "--package",
            "ownvoice-cli",
        ],
        rustdocflags: "",
    },
];

/// Runs a check; counts it as skipped if its subcommand is missing.
fn run_check(check: &Check) -> Count {
    let Check { name, tool, arguments, rustdocflags } = check;
    // `-h`, because `cargo doc --help` opens a manual page.
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

/// Runs a command and counts it as one test, which passes if the command succeeds.
fn one_test(name: &str, command: &mut Command) -> Count {
    let passed = command.stdout(stderr()).status().is_ok_and(|status| status.success());
    eprintln!("{name}: {}", if passed { "ok".into() } else { format!("FAILED: {}", shown(command)) });
    Count { passed: usize::from(passed), failed: usize::from(!passed), skipped: 0 }
}

/// Compares the GPU kernels and training steps on them with the CPU. Only this stage tests kernels in half precision: the software adapter of Chromium has none.
fn graphics() -> Result<Outcome> {
    if !setup::vulkan() {
        let why = "SKIPPED: no Vulkan driver is installed (Debian: mesa-vulkan-drivers libvulkan1); no other stage tests kernels in half precision";
        eprintln!("{why}");
        return Ok(Outcome { skipped: Some(why.into()), ..Outcome::default() });
    }
    let mut cargo = cargo();
    cargo.args(["test", "--release", "--no-fail-fast"]);
    cargo.args(["--package", "burn-fused", "--package", "ownvoice", "--package", "ownvoice-cli"]);
    // The feature of all three packages, and that of the list of devices to test.
    cargo.args(["--features", "webgpu,ownvoice-testing/webgpu"]);
    cargo.args(["--test", "fused", "--test", "operations", "--test", "precision"]);
    libtest(&mut cargo)
}

fn wasm() -> Result<Outcome> {
    let browser = setup::browser()?;
    let mut wasm_pack = command("wasm-pack");
    setup::with_tools(&mut wasm_pack)?;
    setup::wasm_environment(&mut wasm_pack)?;
    // no-install: all its tools are installed already, and it must not download others.
    wasm_pack
        .args(["test", "--mode", "no-install", "--headless", "--chrome", "--chromedriver"])
        .arg(&browser.driver)
        .args(["--release", "web"]);
    wasm_pack.env("CHROMEDRIVER", &browser.driver).env("WASM_BINDGEN_TEST_TIMEOUT", "900");
    libtest(&mut wasm_pack)
}

/// Runs a command that prints test results in the format of Rust's test harness, passes its output on, and counts the tests.
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
            count += more.with_skipped(std::mem::take(&mut skipped));
        }
        line.clear();
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    let error = (!status.success() && count.failed == 0).then(|| format!("{}: {status}", shown(command)));
    Ok(Outcome { count, error, skipped: None })
}

/// Runs the type checker, which counts as one test, and the tests of `tests/js` in Node.
fn js() -> Result<Outcome> {
    setup::node_modules()?;
    build::page()?;
    let mut tsc = command("node");
    tsc.args(["tests/node_modules/typescript/bin/tsc", "--project", "tests"]);
    let types = one_test("types", &mut tsc);
    let scripts = tests(&root().join("tests/js"));
    let python = setup::speech_clients();
    let environment: Vec<_> =
        python.iter().map(|python| ("OWNVOICE_CLIENTS_PYTHON", python.as_os_str())).collect();
    let mut outcome =
        if scripts.is_empty() { Outcome::default() } else { node(&scripts, 1, &environment)?.0 };
    outcome.count += types;
    Ok(outcome)
}

fn package() -> Result<Outcome> {
    setup::node_modules()?;
    let browser = setup::browser()?;
    let [program, base] = pack::pack()?;
    let scripts = tests(&root().join("tests/package"));
    let environment = [
        ("OWNVOICE_TARBALL", program.as_os_str()),
        ("OWNVOICE_BASE_TARBALL", base.as_os_str()),
        ("CHROMIUM", browser.chromium.as_os_str()),
    ];
    let mut outcome = node(&scripts, 1, &environment)?.0;
    for tarball in [&program, &base] {
        let mut publish = setup::npm();
        publish.args(["publish", "--dry-run", "--offline", "--loglevel", "warn"]).arg(tarball);
        outcome.count += one_test("npm", &mut publish);
    }
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
    let mut outcome = with_retry(&paired, 2, &environment)?;
    let Outcome { count, error, .. } = with_retry(&alone, 1, &environment)?;
    outcome.count += count;
    outcome.error = outcome.error.or(error);
    Ok(outcome)
}

/// Runs test files, and runs a file in which a test failed once more, with no other beside it: a browser on a loaded machine now and then misses a time limit.
/// What fails both times has failed, and a file that passes at the second attempt is listed as unstable.
fn with_retry(
    scripts: &[PathBuf],
    concurrency: usize,
    environment: &[(&str, &std::ffi::OsStr)],
) -> Result<Outcome> {
    /// With more failed files something is wrong that a second attempt would only hide.
    const MOST_RETRIED: usize = 3;
    let (first, report) = node(scripts, concurrency, environment)?;
    let failed = failed_files(&report, scripts);
    if failed.is_empty() || failed.len() > MOST_RETRIED {
        return Ok(first);
    }
    let (second, report) = node(&failed, 1, environment)?;
    let failed_again = failed_files(&report, &failed);
    for script in failed.iter().filter(|script| !failed_again.contains(script)) {
        println!("UNSTABLE: {} failed, and passed when it ran again", script.display());
    }
    let resolved = first.count.failed.saturating_sub(second.count.failed);
    let count = Count { failed: second.count.failed, passed: first.count.passed + resolved, ..first.count };
    Ok(Outcome { count, ..second })
}

/// Returns the files of `scripts` in which a test failed, by Node's TAP report.
fn failed_files(report: &str, scripts: &[PathBuf]) -> Vec<PathBuf> {
    let mut failed = false;
    let mut places = Vec::new();
    for line in report.lines().map(str::trim_start) {
        if line.starts_with("not ok ") || line.starts_with("ok ") {
            failed = line.starts_with("not ok ");
        }
        places.extend(line.strip_prefix("location: '").filter(|_| failed));
    }
    let failed =
        |script: &&PathBuf| places.iter().any(|place| place.starts_with(&format!("{}:", script.display())));
    scripts.iter().filter(failed).cloned().collect()
}

/// Test files that may run two at a time: none uses a microphone or camera in real time, and none measures time.
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

/// Returns the test files of a folder.
fn tests(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.to_string_lossy().ends_with(".test.mjs")).collect()
}

/// Runs test files with Node's test runner, and returns its TAP report too.
///
/// * `concurrency`: how many files run at a time; one where two browsers would disturb each other's measurements
fn node(
    scripts: &[PathBuf],
    concurrency: usize,
    environment: &[(&str, &std::ffi::OsStr)],
) -> Result<(Outcome, String)> {
    create_dir(&cache())?;
    let report = cache().join(format!("tap-{}.txt", std::process::id()));
    let mut node = command("node");
    node.args([
        "--test",
        // Ends a file that hangs outside of its tests' own limits. The longest file takes three quarters of this on two cores, beside another one.
        "--test-timeout=1200000",
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=tap",
    ])
    .arg(format!("--test-reporter-destination={}", report.display()))
    .arg(format!("--test-concurrency={concurrency}"))
    .args(scripts)
    .envs(environment.iter().copied())
    // The build folder of the command line, which some tests use to write files for the page or to read files from it.
    .env("OWNVOICE_TARGET_DIR", crate::shell::native_target())
    .stdout(stderr());
    let status = node.status().map_err(|e| format!("node: {e}"))?;
    let said = read_text(&report)?;
    let _ = std::fs::remove_file(&report);
    let count = Count::from_tap(&said);
    let status = (!status.success() && count.failed == 0).then(|| format!("node --test: {status}"));
    Ok((Outcome { count, error: late_errors(&said).or(status), skipped: None }, said))
}

/// Returns what Node's TAP report says of errors after the end of a test: they fail its file, which is all that the list of failed tests says.
fn late_errors(report: &str) -> Option<String> {
    let errors = report.lines().filter_map(|line| line.strip_prefix("# "));
    let late: Vec<&str> =
        errors.filter(|line| line.contains("asynchronous activity after the test")).collect();
    (!late.is_empty()).then(|| late.join("\n"))
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::modules::{resolve, rust_files, without_tests};
    use crate::shell::output;

    /// Checks what `cargo package --no-verify` does not: that the files of `include_str!` and `include_bytes!` are in the packages.
    #[test]
    fn packages_contain_the_files_that_their_code_includes() {
        let mut missing = Vec::new();
        for (package, folder) in
            [("burn-fused", "crate/fused"), ("ownvoice", "crate/ownvoice"), ("ownvoice-cli", "crate/cli")]
        {
            let mut cargo = cargo();
            cargo.args(["package", "--list", "--offline", "--allow-dirty", "--package", package]);
            let list = output(&mut cargo).unwrap();
            let folder = root().join(folder);
            for path in rust_files(&folder.join("src")) {
                let source = read_text(&path).unwrap();
                let parent = path.parent().unwrap().strip_prefix(&folder).unwrap().to_string_lossy();
                for start in ["include_str!(\"", "include_bytes!(\""] {
                    let files = without_tests(&source).split(start).skip(1);
                    let files = files.map(|rest| resolve(&parent, rest.split('"').next().unwrap()));
                    missing.extend(files.filter(|file| !list.lines().any(|line| line == file)));
                }
            }
        }
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn the_files_of_failed_tests_are_found() {
        let report = "\
            ok 1 - a\n  ---\n  location: '/t/a.test.mjs:3:1'\n  ...\n\
            # Subtest: b\n    not ok 1 - c\n      ---\n      location: '/t/b.test.mjs:5:1'\n      ...\n\
            not ok 2 - b\n  ---\n  duration_ms: 0.5\n  location: '/t/b.test.mjs:3:1'\n  ...\n\
            ok 3 - d # SKIP\n  ---\n  location: '/t/bb.test.mjs:3:1'\n  ...\n";
        let scripts = ["/t/a.test.mjs", "/t/b.test.mjs", "/t/bb.test.mjs"].map(PathBuf::from);
        assert_eq!(failed_files(report, &scripts), [PathBuf::from("/t/b.test.mjs")]);
        assert!(failed_files("ok 1 - a\n", &scripts).is_empty());
    }

    #[test]
    fn a_file_that_fails_once_passes_and_one_that_fails_twice_does_not() {
        let folder = cache().join(format!("retry-{}", std::process::id()));
        create_dir(&folder).unwrap();
        let file = |name: &str, body: &str| {
            let path = folder.join(format!("{name}.test.mjs"));
            let imports =
                "import { existsSync, writeFileSync } from 'node:fs'; import { test } from 'node:test';";
            let text = format!("{imports}\ntest('good', () => {{}});\ntest('{name}', () => {{ {body} }});\n");
            crate::shell::write(&path, text).unwrap();
            path
        };
        let mark = folder.join("mark").display().to_string().replace('\\', "/");
        let once =
            format!("if (!existsSync('{mark}')) {{ writeFileSync('{mark}', ''); throw new Error('once'); }}");
        let scripts = [file("steady", ""), file("once", &once), file("twice", "throw new Error('twice');")];
        let outcome = with_retry(&scripts, 1, &[]).unwrap();
        crate::shell::remove_dir(&folder).unwrap();
        assert_eq!(outcome.count, Count { passed: 5, failed: 1, skipped: 0 });
    }

    #[test]
    fn an_error_after_the_end_of_a_test_is_found() {
        let late =
            r#"Error: Test "a" at a.test.mjs:2:1 generated asynchronous activity after the test ended."#;
        assert_eq!(late_errors(&format!("ok 1 - a\n# {late}\n# pass 1\n")).as_deref(), Some(late));
        assert_eq!(late_errors("ok 1 - a\n# pass 1\n"), None);
    }

    #[test]
    fn a_check_passes_fails_or_is_skipped() {
        let check =
            |tool, arguments| run_check(&Check { name: "a check", tool, arguments, rustdocflags: "" });
        assert_eq!(check("pkgid", &["--package", "xtask"]), Count { passed: 1, ..Count::default() });
        assert_eq!(
            check("pkgid", &["--package", "no-such-package"]),
            Count { failed: 1, ..Count::default() }
        );
        assert_eq!(check("no-such-subcommand", &[]), Count { skipped: 1, ..Count::default() });
    }
}
