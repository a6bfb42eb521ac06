//! `cargo xtask readme`: writes README's tables from the base's manifest and the committed measurements.
//!
//! A table stands between `<!-- figures:begin NAME -->` and `<!-- figures:end -->`. README holds no other measured figures, so that they cannot go stale.
//! The tests also check the links, paths, commands and code names of all Markdown files.

use crate::shell::{Result, read_text, root, write};
use serde_json::Value;

const README: &str = "README.md";
const MANIFEST: &str = "models/base/manifest.json";
/// Measurements: groups of `{ command, commit, setting, rows }`, with rows as `cargo xtask bench --json` prints them.
const BENCH: &str = "docs/bench.json";

const BEGIN: &str = "<!-- figures:begin ";
const END: &str = "<!-- figures:end -->";

/// `cargo xtask readme`.
pub fn run() -> Result {
    let path = root().join(README);
    let (old, figures) = (read_text(&path)?, Figures::load()?);
    let new = figures.fill(&old)?;
    if new == old {
        eprintln!("{README} is up to date");
        return Ok(());
    }
    write(&path, new)?;
    eprintln!("{README} is updated");
    Ok(())
}

/// The sources of the tables.
struct Figures {
    manifest: Value,
    bench: Value,
}

impl Figures {
    fn load() -> Result<Self> {
        let json = |path: &str| -> Result<Value> {
            let text = read_text(&root().join(path))?;
            serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))
        };
        Ok(Self { manifest: json(MANIFEST)?, bench: json(BENCH)? })
    }

    /// Returns the text with each marked table replaced.
    fn fill(&self, text: &str) -> Result<String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(BEGIN) {
            let name_end = rest[at..].find(" -->").ok_or("a begin marker is not closed")? + at;
            let name = &rest[at + BEGIN.len()..name_end];
            let body = name_end + " -->".len();
            let end = rest[body..].find(END).ok_or_else(|| format!("{name} has no end marker"))? + body;
            filled += &rest[..body];
            filled += &format!("\n{}\n", self.table(name)?);
            filled += END;
            rest = &rest[end + END.len()..];
        }
        Ok(filled + rest)
    }

    fn table(&self, name: &str) -> Result<String> {
        match name {
            "confirm" | "choose" | "engines" => self.clones(name),
            "page" => self.page(),
            "speed" => self.speed(),
            _ => Err(format!(
                "there is no table {name}; the tables are confirm, choose, engines, page and speed"
            )),
        }
    }

    /// Returns the value of a measurement and its group.
    fn row(&self, name: &str) -> Result<(f64, &Value)> {
        let groups = self.bench.as_array().into_iter().flatten();
        let mut found = groups.filter_map(|group| {
            let row = group["rows"].as_array()?.iter().find(|row| row["name"] == name)?;
            Some((row["value"].as_f64()?, group))
        });
        found.next().ok_or_else(|| format!("{BENCH} has no row {name}"))
    }

    /// The table of clones of the held-out speakers of a role, measured by external evaluators.
    fn clones(&self, role: &str) -> Result<String> {
        let Some(speakers) = self.manifest["quality"]["external"][role].as_object() else {
            return Ok("This base has not been measured yet (`ownvoice measure`).".into());
        };
        let cell = |speaker: &Value, whose: &[&str], key: &str, decimals: usize| {
            let figures = whose.iter().filter_map(|row| speaker[row][key].as_f64());
            figures.map(|figure| format!("{figure:.decimals$}")).collect::<Vec<_>>().join(", ")
        };
        let all = &["base", "clone", "recordings"][..];
        let rows = [
            ("similarity (GE2E cosine): base, clone, other recordings", all, "similarity", 2),
            ("mean of the pitch, semitones too high: clone", &["clone"], "pitch_error", 1),
            ("spread of the pitch, semitones too wide: clone", &["clone"], "spread_error", 1),
            ("words misheard, %: base, clone, recordings", all, "words_misheard", 1),
            ("P.808, 1 to 5: base, clone, recordings", all, "p808", 2),
            ("DNSMOS, 1 to 5: base, clone, recordings", all, "dnsmos", 2),
            ("harmonics to noise (HNR), dB: base, clone, recordings", all, "hnr_db", 1),
        ];
        let rows = rows.map(|(what, whose, key, decimals)| {
            let cells = speakers.values().map(|speaker| cell(speaker, whose, key, decimals));
            [what.to_string()].into_iter().chain(cells).collect()
        });
        let names: Vec<&str> = speakers.keys().map(String::as_str).collect();
        Ok(table(&format!("| a minute of speech at most | {} |", names.join(" | ")), rows))
    }

    /// The table of the page's waiting times and download sizes.
    fn page(&self) -> Result<String> {
        let bytes = |part: &str| {
            self.manifest["files"][part]["bytes"]
                .as_f64()
                .ok_or_else(|| format!("{MANIFEST} has no size of {part}"))
        };
        let parts = [bytes("weights")?, bytes("lexicon")?, bytes("aligner")?, bytes("vocoder")?];
        let base = format!("{:.1} MB", parts.iter().sum::<f64>() / 1e6);
        let measured = |what: &str, name: &str, decimals: usize, unit: &str| -> Result<Vec<String>> {
            let (value, group) = self.row(name)?;
            Ok(vec![what.to_string(), format!("{value:.decimals$} {unit}"), source(group)])
        };
        let rows = [
            measured("first visit to first sound", "page.first_sound_s", 1, "s")?,
            measured("a recorded minute learned, on the CPU", "page.minute_learned_s", 0, "s")?,
            measured("the program, gzipped", "size.wasm_gz_mb", 1, "MB")?,
            vec!["the base voice".to_string(), base, format!("`{MANIFEST}`")],
            measured("all scripts, gzipped", "page.scripts_gz_kb", 1, "KB")?,
            measured("of these, two libraries", "page.libraries_gz_kb", 1, "KB")?,
            measured("memory after a clone and 5 sentences", "page.memory_mb.first", 1, "MB")?,
            measured("memory after two more and 50", "page.memory_mb.last", 1, "MB")?,
            measured("the npm package, unpacked", "package.unpacked_mb", 1, "MB")?,
        ];
        Ok(table("| headless Chromium on two cores | | measured by |", rows))
    }

    /// The table of the time of one fine-tuning iteration, beside other libraries.
    fn speed(&self) -> Result<String> {
        let ours = |name: &str| self.row(name).map(|(value, _)| value);
        let native = ours("train.native.cpu.s_per_iter")?;
        let (wasm, cores) = (ours("train.wasm.cpu.s_per_iter")?, ours("train.wasm.cores.s_per_iter")?);
        let webgpu = ours("train.webgpu.s_per_iter")?;
        let line = |what: &str, name: &str, base: Option<f64>| -> Result<Vec<String>> {
            let seconds = ours(name)?;
            Ok(vec![
                what.to_string(),
                digits(seconds),
                base.map_or_else(String::new, |ours| digits(seconds / ours)),
            ])
        };
        let rows = [
            line("**ownvoice, native**", "train.native.cpu.s_per_iter", None)?,
            line("PyTorch", "train.native.pytorch.s_per_iter", Some(native))?,
            line("the same from burn's own layers", "train.native.op_by_op.s_per_iter", Some(native))?,
            line("**ownvoice, wasm on two cores**", "train.wasm.cores.s_per_iter", None)?,
            line("ownvoice, wasm on one core", "train.wasm.cpu.s_per_iter", Some(cores))?,
            line("jax-js, wasm", "train.jax.wasm.s_per_iter", Some(wasm))?,
            line("TensorFlow.js, wasm", "train.tfjs.wasm.s_per_iter", Some(wasm))?,
            line("**ownvoice, WebGPU on SwiftShader**", "train.webgpu.s_per_iter", None)?,
            line("jax-js, WebGPU on SwiftShader", "train.jax.webgpu.s_per_iter", Some(webgpu))?,
            line("TensorFlow.js, WebGPU on SwiftShader", "train.tfjs.webgpu.s_per_iter", Some(webgpu))?,
        ];
        let head = "| one iteration on two cores, 8 x 128 frames | seconds | times ours |";
        let (_, group) = self.row("train.native.cpu.s_per_iter")?;
        let (dispatches, software) = self.row("train.dispatches_per_iter")?;
        let (moved, _) = self.row("train.webgpu.mb_per_iter")?;
        let (table, group, software) = (table(head, rows), source(group), source(software));
        Ok(format!(
            "{table}\n\nMeasured by {group}.\nOn WebGPU an iteration is {dispatches} dispatches and moves {moved:.0} MB ({software})."
        ))
    }
}

/// Formats the command and the commit of a group of measurements.
fn source(group: &Value) -> String {
    let text = |key: &str| group[key].as_str().unwrap_or_default();
    format!("`{}` at {}", text("command"), text("commit"))
}

/// Formats a number with three significant digits.
fn digits(value: f64) -> String {
    format!("{value:.*}", (2 - value.abs().log10().floor() as i32).max(0) as usize)
}

/// Formats a Markdown table.
fn table(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let columns = head.matches('|').count() - 1;
    let rows = rows.into_iter().map(|cells| format!("| {} |", cells.join(" | ")));
    [head.to_string(), format!("|{}", "---|".repeat(columns))]
        .into_iter()
        .chain(rows)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests;
