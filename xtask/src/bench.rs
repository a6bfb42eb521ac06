//! `cargo xtask bench`: figures of the native library, of the page and of the files, measured here and now.

use crate::build;
use crate::serve::Site;
use crate::setup;
use crate::shell::{Result, cargo, command, files, root, shown};
use serde_json::Value;
use std::process::{Command, Stdio};

/// One figure. The source's own fields beyond these (batch, window, device ..) stay in the JSON.
struct Row(Value);

impl Row {
    fn new(name: &str, value: f64, unit: &str) -> Self {
        Self(serde_json::json!({ "name": name, "value": value, "unit": unit }))
    }

    fn value(&self) -> f64 {
        self.0["value"].as_f64().expect("checked")
    }

    /// A row must have a name, a number and a unit: a null is not a measurement.
    fn checked(value: Value) -> Result<Self> {
        let whole = value["name"].is_string() && value["value"].is_number() && value["unit"].is_string();
        if whole { Ok(Self(value)) } else { Err(format!("not a figure: {value}")) }
    }
}

/// Arguments of cargo that run `crate/examples/bench`.
const RUN: [&str; 7] = ["run", "--release", "--quiet", "--package", "ownvoice", "--example", "bench"];

type Source = (&'static str, fn() -> Result<Vec<Row>>);

/// A graphics card, by the way to it.
#[derive(Clone, Copy)]
pub enum Device {
    Vulkan,
    Cuda,
}

impl std::str::FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "vulkan" => Ok(Self::Vulkan),
            "cuda" => Ok(Self::Cuda),
            _ => Err("the devices are vulkan and cuda".to_string()),
        }
    }
}

const SOURCES: [Source; 6] = [
    ("native, and PyTorch", native),
    ("speech from lips", lips),
    ("browser", browser),
    ("other libraries in the same browser", peers),
    ("size of the wasm", wasm_size),
    ("size of the base voice", base_size),
];

/// A figure that cannot be measured is reported on stderr and fails the command.
pub fn run(json: bool, device: Option<Device>) -> Result {
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    let sources = match device {
        None => &SOURCES[..],
        Some(Device::Vulkan) => &VULKAN,
        Some(Device::Cuda) => &CUDA,
    };
    for &(what, source) in sources {
        eprintln!("=== {what}");
        match source() {
            Ok(measured) => rows.extend(measured),
            Err(why) => missing.push(format!("{what}: {why}")),
        }
    }
    rows.extend(ratios(&rows));
    if json {
        let rows: Vec<&Value> = rows.iter().map(|row| &row.0).collect();
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?);
    } else {
        println!("{}", table(&rows));
    }
    if missing.is_empty() { Ok(()) } else { Err(format!("not measured:\n{}", missing.join("\n"))) }
}

/// Ours and PyTorch's in turn, so that both meet the machine alike; of each figure the least.
fn native() -> Result<Vec<Row>> {
    const ROUNDS: usize = 3;
    let python = setup::pytorch()?;
    let mut best: Vec<Row> = Vec::new();
    for _ in 0..ROUNDS {
        let ours = rows_of(cargo().args(RUN))?;
        let theirs = rows_of(command(&python).arg("tests/peers/pytorch.py"))?;
        for row in ours.into_iter().chain(theirs) {
            match best.iter_mut().find(|known| known.0["name"] == row.0["name"]) {
                Some(known) if row.value() < known.value() => *known = row,
                Some(_) => (),
                None => best.push(row),
            }
        }
    }
    Ok(best)
}

/// The rows about lips alone: the rest is [`native`]'s.
fn lips() -> Result<Vec<Row>> {
    setup::ffmpeg();
    let rows = rows_of(cargo().args(RUN).args(["--", "--iterations", "1", "--lips", "models/lips"]))?;
    Ok(rows
        .into_iter()
        .filter(|row| row.0["name"].as_str().is_some_and(|name| name.contains(".lips")))
        .collect())
}

fn peers() -> Result<Vec<Row>> {
    setup::node_modules()?;
    setup::peers()?;
    rows_of(command("node").arg("tests/peers/bench.mjs").env("CHROMIUM", setup::browser()?.chromium))
}

/// How many times as fast as another ours is: its seconds over our seconds, where both were measured; of several others the fastest.
fn ratios(rows: &[Row]) -> Vec<Row> {
    let value = |name: &str| rows.iter().find(|row| row.0["name"] == *name).map(Row::value);
    let least = |names: &[&str]| names.iter().filter_map(|name| value(name)).min_by(f64::total_cmp);
    let tfjs = ["train.tfjs.wasm.s_per_iter", "train.tfjs.cpu.s_per_iter"];
    [
        (
            "train.native.cpu.vs_op_by_op",
            "train.native.cpu.s_per_iter",
            least(&["train.native.op_by_op.s_per_iter"]),
        ),
        (
            "train.native.cpu.vs_pytorch",
            "train.native.cpu.s_per_iter",
            least(&["train.native.pytorch.s_per_iter"]),
        ),
        ("train.wasm.vs_tfjs", "train.wasm.cpu.s_per_iter", least(&tfjs)),
        ("train.wasm.vs_jax", "train.wasm.cpu.s_per_iter", least(&["train.jax.wasm.s_per_iter"])),
        ("train.wasm.cores.vs_tfjs", "train.wasm.cores.s_per_iter", least(&tfjs)),
        ("train.wasm.cores.vs_jax", "train.wasm.cores.s_per_iter", least(&["train.jax.wasm.s_per_iter"])),
        ("train.webgpu.vs_tfjs", "train.webgpu.s_per_iter", least(&["train.tfjs.webgpu.s_per_iter"])),
        ("train.webgpu.vs_jax", "train.webgpu.s_per_iter", least(&["train.jax.webgpu.s_per_iter"])),
    ]
    .into_iter()
    .filter_map(|(name, ours, theirs)| Some(Row::new(name, theirs? / value(ours)?, "times as fast")))
    .collect()
}

const ADAPTER: Source = ("the browser's own adapter", || in_browser(&["adapter"]));
const VULKAN: [Source; 3] = [
    ("Vulkan in f32", || gpu("vulkan", "f32")),
    ("Vulkan in mixed precision", || gpu("vulkan", "mixed")),
    ADAPTER,
];
const CUDA: [Source; 3] =
    [("CUDA in f32", || gpu("cuda", "f32")), ("CUDA in mixed precision", || gpu("cuda", "mixed")), ADAPTER];

/// Natively on a graphics card.
fn gpu(device: &str, precision: &str) -> Result<Vec<Row>> {
    let arguments = ["--features", device, "--", "--device", device, "--precision", precision];
    rows_of(cargo().args(RUN).args(arguments))
}

fn browser() -> Result<Vec<Row>> {
    in_browser(&["cpu", "software"])
}

fn in_browser(what: &[&str]) -> Result<Vec<Row>> {
    setup::node_modules()?;
    let chromium = setup::browser()?.chromium;
    build::page()?;
    let site = Site::open(0)?;
    rows_of(
        command("node")
            .arg("tests/browser/bench.mjs")
            .args(what)
            .env("OWNVOICE_URL", &site.url)
            .env("CHROMIUM", chromium),
    )
}

fn wasm_size() -> Result<Vec<Row>> {
    build::page()?;
    Ok(vec![Row::new("size.wasm_gz_mb", megabytes(build::module_bytes()?), "MB")])
}

/// The weights: what a visitor downloads besides the wasm.
fn base_size() -> Result<Vec<Row>> {
    let weights = files(&root().join("models/base"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
    let bytes: u64 = weights.filter_map(|path| path.metadata().ok()).map(|about| about.len()).sum();
    if bytes == 0 {
        Err("models/base has no weights".to_string())
    } else {
        Ok(vec![Row::new("size.base_mb", megabytes(bytes), "MB")])
    }
}

fn megabytes(bytes: u64) -> f64 {
    (bytes as f64 / 1e4).round() / 100.0
}

/// Runs a program that prints a JSON array of rows last; what it prints before is for people.
fn rows_of(command: &mut Command) -> Result<Vec<Row>> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("{}: {}", shown(command), output.status));
    }
    parse(&String::from_utf8_lossy(&output.stdout)).map_err(|why| format!("{}: {why}", shown(command)))
}

/// Rows as lines, as the library's own program prints them, or in an array at the end, as the other programs do.
fn parse(printed: &str) -> Result<Vec<Row>> {
    let rows: Vec<Value> = if printed.starts_with('{') {
        printed.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()
    } else {
        // The array starts a line; figures and words before it do not look like one.
        let start =
            if printed.starts_with('[') { 0 } else { printed.rfind("\n[").ok_or("it prints no rows")? };
        serde_json::from_str(&printed[start..])
    }
    .map_err(|e| e.to_string())?;
    rows.into_iter().map(Row::checked).collect()
}

/// Names, figures and units in columns; further fields as words behind.
fn table(rows: &[Row]) -> String {
    let cells: Vec<[String; 4]> = rows.iter().map(|row| cells(&row.0)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, value, unit) = (width(0), width(1), width(2));
    let line = |[n, v, u, more]: &[String; 4]| {
        format!("{n:name$}  {v:>value$} {u:unit$}  {more}").trim_end().to_string()
    };
    cells.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn cells(row: &Value) -> [String; 4] {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let more = row
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !["name", "value", "unit"].contains(&key.as_str()));
    let more: Vec<String> = more.map(|(key, value)| format!("{key} {}", text(value))).collect();
    [
        text(&row["name"]),
        number(row["value"].as_f64().unwrap_or(f64::NAN)),
        text(&row["unit"]),
        more.join(", "),
    ]
}

/// Three digits that count.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if size >= 100.0 => format!("{value:.0}"),
        size => format!("{value:.*}", (2 - size.log10().floor() as i32).max(0) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_words() {
        let rows =
            parse("warming up [1 of 2]\n[{\"name\":\"say.rtf.mel\",\"value\":0.0123,\"unit\":\"s/s\",\"device\":\"cpu\"}]\n").unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(table(&rows), "say.rtf.mel  0.0123 s/s  device cpu");
        assert_eq!(parse("[]").unwrap().len(), 0);
        let line = "{\"name\":\"x\",\"value\":1,\"unit\":\"s\"}\n";
        assert_eq!(parse(&line.repeat(2)).unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        assert!(parse("nothing").is_err());
        assert!(parse("[{\"name\":\"x\",\"value\":null,\"unit\":\"s\"}]").is_err());
        assert!(parse("[{\"name\":\"x\",\"value\":1}]").is_err());
    }

    #[test]
    fn ratios_compare_with_the_fastest_that_was_measured() {
        let row = |name: &str, value: f64| Row::new(name, value, "s");
        let rows = [
            row("train.wasm.cpu.s_per_iter", 0.5),
            row("train.tfjs.cpu.s_per_iter", 30.0),
            row("train.tfjs.wasm.s_per_iter", 4.0),
        ];
        let found: Vec<(String, f64)> =
            ratios(&rows).iter().map(|row| (row.0["name"].as_str().unwrap().into(), row.value())).collect();
        assert_eq!(found, [("train.wasm.vs_tfjs".to_string(), 8.0)]);
    }

    #[test]
    fn three_digits() {
        let shown = [1234.5, 100.0, 12.345, 0.5, 0.0123, 0.0].map(number);
        assert_eq!(shown, ["1234", "100", "12.3", "0.500", "0.0123", "0"]);
    }
}
