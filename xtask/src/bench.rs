//! `cargo xtask bench`: measures the speed of the native library and of the page, and the sizes of their files.

use crate::build;
use crate::serve::Site;
use crate::setup;
use crate::shell::{Result, cargo, command, files, output, root, shown};
use serde_json::Value;
use std::process::{Command, Stdio};

/// A measured value: a JSON object with name, value, unit, and further fields of the program that measured it (batch, window, device ..).
struct Row(Value);

impl Row {
    fn new(name: &str, value: f64, unit: &str) -> Self {
        Self(serde_json::json!({ "name": name, "value": value, "unit": unit }))
    }

    fn value(&self) -> f64 {
        self.0["value"].as_f64().expect("a row has a number")
    }

    /// Checks that a row has a name, a number and a unit. A missing measurement is null in some programs' output.
    fn checked(value: Value) -> Result<Self> {
        let complete = value["name"].is_string() && value["value"].is_number() && value["unit"].is_string();
        if complete { Ok(Self(value)) } else { Err(format!("not a measurement: {value}")) }
    }
}

/// The arguments of cargo that run `crate/cli/examples/bench`.
const RUN: [&str; 7] = ["run", "--release", "--quiet", "--package", "ownvoice-cli", "--example", "bench"];

/// The nets whose steps are measured.
const NETS: [&str; 3] = ["lenet", "resnet18", "mobilenetv1"];

/// The unit of a ratio of times.
const FASTER: &str = "times as fast";

type Source = (&'static str, fn() -> Result<Vec<Row>>);

/// A graphics card, by its interface.
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

const SOURCES: [Source; 7] = [
    ("native, and PyTorch", native),
    ("small nets, and PyTorch", nets),
    ("lip reading", lips),
    ("browser", browser),
    ("other libraries in the same browser", peers),
    ("size of the WebAssembly", wasm_size),
    ("size of the base voice", base_size),
];

/// Measures and prints everything, or only a graphics card. Fails at the end if a source failed.
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

/// Measures ownvoice and PyTorch alternately, so that both see the same load of the machine, and keeps the least value of each row.
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

/// Measures whole steps of small nets on pictures of their usual size, and their memory, beside PyTorch with torchvision and timm.
fn nets() -> Result<Vec<Row>> {
    let python = setup::pytorch()?;
    let mut rows = Vec::new();
    for net in NETS {
        let profile = ["profile", "--net", net, "--pretraining", "--runs", "3", "--json"];
        let ours = ["run", "--release", "--quiet", "--package", "ownvoice-cli", "--"];
        let printed = output(cargo().args(ours).args(profile))?;
        let profile: Value = serde_json::from_str(&printed).map_err(|e| e.to_string())?;
        let whole =
            profile["rows"].as_array().into_iter().flatten().find(|row| row["module"] == "whole step");
        let milliseconds =
            whole.and_then(|row| row["forward_ms"].as_f64()).ok_or("the profile has no whole step")?;
        let memory = profile["peak_memory_bytes"].as_f64().ok_or("the profile has no memory")?;
        rows.push(Row::new(&format!("nets.{net}.native.s_per_step"), milliseconds / 1e3, "s"));
        rows.push(Row::new(&format!("nets.{net}.native.peak_mb"), (memory / 1e6).round(), "MB"));
        rows.extend(rows_of(command(&python).args(["tests/peers/nets.py", "step", net]))?);
    }
    Ok(rows)
}

/// Measures lip reading. The bench prints other rows too, which [`native`] measures with more iterations.
fn lips() -> Result<Vec<Row>> {
    setup::ffmpeg();
    let rows = rows_of(cargo().args(RUN).args(["--", "--iterations", "1", "--lips", "models/lips"]))?;
    Ok(rows
        .into_iter()
        .filter(|row| row.0["name"].as_str().is_some_and(|name| name.contains(".lips")))
        .collect())
}

/// Measures jax-js and TensorFlow.js in the browser.
fn peers() -> Result<Vec<Row>> {
    setup::node_modules()?;
    setup::peers()?;
    rows_of(command("node").arg("tests/peers/bench.mjs").env("CHROMIUM", setup::browser()?.chromium))
}

/// Computes the speed-ups over other libraries: their time divided by ours, for all pairs that were measured. Of several variants of a library the fastest counts.
fn ratios(rows: &[Row]) -> Vec<Row> {
    let value = |name: &str| rows.iter().find(|row| row.0["name"] == *name).map(Row::value);
    let least = |names: &[&str]| names.iter().filter_map(|name| value(name)).min_by(f64::total_cmp);
    let tfjs = ["train.tfjs.wasm.s_per_iter", "train.tfjs.cpu.s_per_iter"];
    let of_nets = NETS.into_iter().filter_map(|net| {
        let seconds = |library| value(&format!("nets.{net}.{library}.s_per_step"));
        Some(Row::new(&format!("nets.{net}.vs_pytorch"), seconds("pytorch")? / seconds("native")?, FASTER))
    });
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
    .filter_map(|(name, ours, theirs)| Some(Row::new(name, theirs? / value(ours)?, FASTER)))
    .chain(of_nets)
    .collect()
}

const ADAPTER: Source = ("the WebGPU adapter of the browser", || in_browser(&["adapter"]));
const VULKAN: [Source; 3] = [
    ("Vulkan in f32", || gpu("vulkan", "f32")),
    ("Vulkan in mixed precision", || gpu("vulkan", "mixed")),
    ADAPTER,
];
const CUDA: [Source; 3] =
    [("CUDA in f32", || gpu("cuda", "f32")), ("CUDA in mixed precision", || gpu("cuda", "mixed")), ADAPTER];

/// Measures the native library on a graphics card.
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

/// Measures the size of the base's weights.
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

/// Runs a program and reads the rows from its standard output.
fn rows_of(command: &mut Command) -> Result<Vec<Row>> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("{}: {}", shown(command), output.status));
    }
    parse(&String::from_utf8_lossy(&output.stdout)).map_err(|why| format!("{}: {why}", shown(command)))
}

/// Parses rows: JSON objects, one a line, as the bench of the library prints them, or a JSON array at the end of other output.
fn parse(printed: &str) -> Result<Vec<Row>> {
    let rows: Vec<Value> = if printed.starts_with('{') {
        printed.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()
    } else {
        // The last line that begins with a bracket begins the array.
        let start = if printed.starts_with('[') {
            0
        } else {
            printed.rfind("\n[").ok_or("the output has no rows")?
        };
        serde_json::from_str(&printed[start..])
    }
    .map_err(|e| e.to_string())?;
    rows.into_iter().map(Row::checked).collect()
}

/// Formats rows as a table of names, values, units and further fields.
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

/// Formats a number with three significant digits.
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
    fn rows_follow_other_output() {
        let rows =
            parse("warming up [1 of 2]\n[{\"name\":\"say.rtf.mel\",\"value\":0.0123,\"unit\":\"s/s\",\"device\":\"cpu\"}]\n").unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(table(&rows), "say.rtf.mel  0.0123 s/s  device cpu");
        assert_eq!(parse("[]").unwrap().len(), 0);
        let line = "{\"name\":\"x\",\"value\":1,\"unit\":\"s\"}\n";
        assert_eq!(parse(&line.repeat(2)).unwrap().len(), 2);
    }

    #[test]
    fn rows_without_name_value_or_unit_are_refused() {
        assert!(parse("nothing").is_err());
        assert!(parse("[{\"name\":\"x\",\"value\":null,\"unit\":\"s\"}]").is_err());
        assert!(parse("[{\"name\":\"x\",\"value\":1}]").is_err());
    }

    #[test]
    fn speed_ups_compare_with_the_fastest_variant() {
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
    fn numbers_have_three_significant_digits() {
        let shown = [1234.5, 100.0, 12.345, 0.5, 0.0123, 0.0].map(number);
        assert_eq!(shown, ["1234", "100", "12.3", "0.500", "0.0123", "0"]);
    }
}
