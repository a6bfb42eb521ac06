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
            "people" => self.people(),
            "engines" => self.engines(),
            "page" => self.page(),
            "speed" => self.speed(),
            _ => Err(format!("there is no table {name}; the tables are people, engines, page and speed")),
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

    /// Formats measurements with a number of decimals.
    fn rows<S: AsRef<str>>(&self, names: &[S], decimals: usize) -> Result<Vec<String>> {
        names
            .iter()
            .map(|name| self.row(name.as_ref()).map(|(value, _)| format!("{value:.decimals$}")))
            .collect()
    }

    /// Formats figures of one clone in the manifest.
    fn clone<const N: usize>(&self, voice: &str, keys: [&str; N], decimals: usize) -> Result<String> {
        let value = |key: &str| {
            let value = self.manifest["quality"]["clones"][voice][key].as_f64();
            value
                .map(|value| format!("{value:.decimals$}"))
                .ok_or_else(|| format!("{MANIFEST} has no {key} of {voice}"))
        };
        Ok(keys.into_iter().map(value).collect::<Result<Vec<_>>>()?.join(", "))
    }

    /// The table of clones of people who are in no training set, measured by external evaluators.
    fn people(&self) -> Result<String> {
        const PREFIX: &str = "people.similarity.clone.";
        let rows = self
            .bench
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|group| group["rows"].as_array())
            .flatten();
        let people: Vec<&str> = rows.filter_map(|row| row["name"].as_str()?.strip_prefix(PREFIX)).collect();
        let of = |what: &str, rows: &[&str], decimals: usize| -> Result<Vec<String>> {
            let cell = |person: &&str| {
                let names: Vec<String> =
                    rows.iter().map(|row| format!("people.{what}.{row}.{person}")).collect();
                Ok(self.rows(&names, decimals)?.join(", "))
            };
            people.iter().map(cell).collect()
        };
        let all = ["base", "clone", "same_speaker"];
        let rows = [
            ("speaker similarity (GE2E cosine): base, clone, other recordings", of("similarity", &all, 2)?),
            ("words misheard in new English sentences, %: base, clone", of("words_misheard", &all[..2], 0)?),
            ("DNSMOS, 1 to 5: base, clone, recordings", of("dnsmos", &all, 2)?),
            ("harmonics to noise (HNR), dB: base, clone, recordings", of("hnr_db", &all, 1)?),
            ("cepstral peak (CPPS), dB: base, clone, recordings", of("cpps_db", &all, 1)?),
            ("spread of pitch, semitones: base, clone, recordings", of("pitch_spread", &all, 1)?),
        ];
        let rows = rows.map(|(what, values)| vec![what.to_string(), values.join(" | ")]);
        Ok(table(&format!("| a minute of speech at most | {} |", people.join(" | ")), rows))
    }

    /// The table of clones of held-out synthetic voices, from the manifest and by external evaluators.
    fn engines(&self) -> Result<String> {
        let voices: Vec<&str> =
            self.manifest["held_out"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let of = |cell: &dyn Fn(&str) -> Result<String>| {
            voices.iter().map(|voice| cell(voice)).collect::<Result<Vec<_>>>()
        };
        let outside = |what: &str, best: &str, decimals: usize, voice: &str| -> Result<String> {
            let names = ["base", "clone", best].map(|whose| format!("outside.{what}.{whose}.{voice}"));
            Ok(self.rows(&names, decimals)?.join(", "))
        };
        let error_rate = self.manifest["quality"]["speaker_encoder"]["equal_error_rate"]
            .as_f64()
            .ok_or_else(|| format!("{MANIFEST} has no equal error rate"))?;
        let encoder = format!(
            "speaker encoder ({:.1} % equal error rate): base, clone, same speaker",
            100.0 * error_rate
        );
        let rows: [(&str, Vec<String>); 7] = [
            (
                "similarity of cepstral and pitch statistics: base, clone, same speaker",
                of(&|voice| {
                    self.clone(voice, ["similarity.base", "similarity.clone", "similarity.same_speaker"], 2)
                })?,
            ),
            (
                &encoder,
                of(&|voice| {
                    self.clone(
                        voice,
                        ["speaker_encoder.base", "speaker_encoder.clone", "speaker_encoder.same_speaker"],
                        2,
                    )
                })?,
            ),
            (
                "GE2E, an external encoder: base, clone, same speaker",
                of(&|voice| outside("similarity", "same_speaker", 2, voice))?,
            ),
            (
                "mean pitch in Hz: base, clone, speaker",
                of(&|voice| self.clone(voice, ["pitch_hz.base", "pitch_hz.clone", "pitch_hz.target"], 0))?,
            ),
            (
                "mel-cepstral distortion in dB: base, clone",
                of(&|voice| self.clone(voice, ["mcd_db.base", "mcd_db"], 1))?,
            ),
            (
                "phoneme error rate: base, clone, recordings",
                of(&|voice| {
                    self.clone(
                        voice,
                        ["phoneme_error_rate.base", "phoneme_error_rate", "phoneme_error_rate.recordings"],
                        3,
                    )
                })?,
            ),
            (
                "words misheard by an external recogniser, %: base, clone, recordings",
                of(&|voice| outside("words_percent", "recordings", 0, voice))?,
            ),
        ];
        let rows = rows.map(|(what, cells)| [vec![what.to_string()], cells].concat());
        Ok(table(&format!("| 60 s of speech, CPU | {} |", voices.join(" | ")), rows))
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
