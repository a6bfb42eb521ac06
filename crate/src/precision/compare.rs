//! Two dumps of the same step, joined by module and operation.

use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    pin::Pin,
};

use super::{
    dump::{CallName, CallRecord, Dump, Values},
    metrics::Metrics,
    replay::Replayer,
};
use crate::{Error, Result, nn::Operation};

/// Which tensor of a call is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Output,
    /// The gradient that comes back to the output.
    OutputGradient,
    /// The gradient of the input of that name, or of the parameter where the row has no operation.
    Gradient(String),
    /// What the optimizer adds to a parameter.
    Update,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Output => write!(f, "output"),
            Self::OutputGradient => write!(f, "gradient of the output"),
            Self::Gradient(name) if name.is_empty() => write!(f, "gradient"),
            Self::Gradient(name) => write!(f, "gradient of {name}"),
            Self::Update => write!(f, "update"),
        }
    }
}

/// One tensor of both dumps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The module's path, or the parameter's.
    pub path: String,
    /// `None` for a parameter that no recorded operation reads.
    pub operation: Option<Operation>,
    /// Which of the operation's calls in that module.
    pub number: usize,
    pub what: What,
    /// In the network, with all error that came before. `None` where the step holds no such tensor.
    pub whole: Option<Metrics>,
    /// The operation alone on what the first dump recorded. `None` where it is not computed alone.
    pub alone: Option<Metrics>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some(operation) = self.operation {
            write!(f, ": {}", operation.name())?;
        }
        if self.number > 0 {
            write!(f, " (call {})", self.number + 1)?;
        }
        write!(f, ", {}", self.what)
    }
}

/// All rows in the order of the step: forward, then backward, then the update.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What passes.
    pub cosine: f64,
    pub rows: Vec<Row>,
    /// Calls of one dump alone.
    pub unmatched: Vec<String>,
}

impl Comparison {
    /// Rows that lie below in the network or alone, the first divergence first.
    pub fn below(&self) -> impl Iterator<Item = &Row> {
        let fails = |metrics: &Option<Metrics>| metrics.is_some_and(|metrics| !metrics.passes(self.cosine));
        self.rows.iter().filter(move |row| fails(&row.whole) || fails(&row.alone))
    }

    /// Rows whose operation is off by itself, on the very inputs of the first dump.
    pub fn at_fault(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.alone.is_some_and(|alone| !alone.passes(self.cosine)))
    }

    pub fn passes(&self) -> bool {
        self.unmatched.is_empty() && self.below().next().is_none()
    }

    /// One sentence: which operation is at fault, or that none is.
    pub fn verdict(&self) -> String {
        let worst = |metrics: Option<Metrics>| metrics.map_or(f64::NAN, |metrics| metrics.cosine);
        if let Some(row) = self.at_fault().next() {
            return format!("at fault: {row} (alone: cosine {:.4})", worst(row.alone));
        }
        if let Some(row) = self.below().next() {
            return format!(
                "no operation is off by itself; error adds up, first beyond {}: {row} (cosine {:.4})",
                self.cosine,
                worst(row.whole)
            );
        }
        match self.unmatched.first() {
            Some(call) => format!("only one of both has {call}: these are steps of different models"),
            None => format!("nothing below cosine {} in {} tensors", self.cosine, self.rows.len()),
        }
    }

    /// Module paths whose operations are off by themselves.
    pub fn paths_at_fault(&self) -> BTreeSet<&str> {
        self.at_fault().map(|row| row.path.as_str()).collect()
    }
}

/// Called before each operation with the number done and the total; false cancels.
pub type GoOn<'a> = dyn FnMut(usize, usize) -> Pin<Box<dyn Future<Output = bool>>> + 'a;

/// Never cancels.
pub fn to_the_end(_: usize, _: usize) -> Pin<Box<dyn Future<Output = bool>>> {
    Box::pin(std::future::ready(true))
}

/// Compares `found` with `reference`.
///
/// * `replayers`:     compute as `reference` did, and as `found`
/// * `alone_updates`: what the optimizer of `found` makes of the gradients of `reference`
///
/// Fails with `device-lost` where a device no longer answers, and with `cancelled` where `go_on` returns false.
pub async fn compare(
    reference: &Dump,
    found: &Dump,
    replayers: [&Replayer; 2],
    alone_updates: &BTreeMap<String, Values>,
    cosine: f64,
    go_on: &mut GoOn<'_>,
) -> Result<Comparison> {
    let by_name: BTreeMap<&CallName, &CallRecord> =
        found.calls.iter().map(|record| (&record.call, record)).collect();
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    let mut unmatched = unmatched(reference, found);
    let mut read = BTreeSet::new();
    let metrics = |a: &Values, b: &Values| Metrics::of(&a.values, &b.values);
    for (done, record) in reference.calls.iter().enumerate() {
        if !go_on(done, reference.calls.len()).await {
            return Err(Error::cancelled());
        }
        let Some(other) = by_name.get(&record.call) else { continue };
        let CallName { path, operation, number } = record.call.clone();
        let row = |what, whole, alone| Row {
            path: path.clone(),
            operation: Some(operation),
            number,
            what,
            whole,
            alone,
        };
        let replayed = replayers[1].replay(record, other.precision).await?;
        let alone = replayed.as_ref().map(|replayed| metrics(&record.output, &replayed.output));
        forward.push(row(What::Output, Some(metrics(&record.output, &other.output)), alone));
        // In the order of the backward pass, so the last call first.
        let mut of_call = Vec::new();
        if let (Some(of_reference), Some(of_found)) = (&record.gradient, &other.gradient) {
            of_call.push(row(What::OutputGradient, Some(metrics(of_reference, of_found)), None));
        }
        let expected = replayers[0].replay(record, record.precision).await?;
        let pairs = expected.iter().flat_map(|expected| &expected.gradients);
        for (name, of_reference) in pairs {
            let parameter = format!("{path}.{name}");
            let whole = reference.gradients.get(&parameter).zip(found.gradients.get(&parameter));
            let of_found =
                replayed.iter().flat_map(|replayed| &replayed.gradients).find(|(of, _)| of == name);
            if whole.is_some() {
                read.insert(parameter);
            }
            of_call.push(row(
                What::Gradient(name.clone()),
                whole.map(|(a, b)| metrics(a, b)),
                of_found.map(|(_, of_found)| metrics(of_reference, of_found)),
            ));
        }
        backward.push(of_call);
    }
    let mut rows = forward;
    rows.extend(backward.into_iter().rev().flatten());
    let parameter = |path: &String, operation, what, whole, alone| Row {
        path: path.clone(),
        operation,
        number: 0,
        what,
        whole,
        alone,
    };
    for (path, of_reference) in &reference.gradients {
        match found.gradients.get(path) {
            Some(_) if read.contains(path) => {}
            Some(of_found) => {
                let whole = Some(metrics(of_reference, of_found));
                rows.push(parameter(path, None, What::Gradient(String::new()), whole, None));
            }
            None => unmatched.push(format!("the gradient of {path}")),
        }
    }
    for (path, of_reference) in &reference.updates {
        // The sign of a gradient near zero is noise, and Adam's first step is little but signs: only the optimizer alone is judged.
        let alone = alone_updates.get(path).map(|of_found| metrics(of_reference, of_found));
        rows.push(parameter(path, Some(Operation::Adam), What::Update, None, alone));
    }
    Ok(Comparison { cosine, rows, unmatched })
}

fn unmatched(reference: &Dump, found: &Dump) -> Vec<String> {
    let names = |dump: &Dump| dump.calls.iter().map(|record| record.call.clone()).collect::<BTreeSet<_>>();
    let (these, those) = (names(reference), names(found));
    these
        .symmetric_difference(&those)
        .map(|name| format!("{}: {}", name.path, name.operation.name()))
        .collect()
}
