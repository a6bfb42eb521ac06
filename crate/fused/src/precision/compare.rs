//! Compares two dumps of the same step, joined by module and operation.

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
use crate::{Error, Operation, Result};

/// The tensor of a call that is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Output,
    /// The gradient of the output.
    OutputGradient,
    /// The gradient of the named input. The name is empty for a parameter whose row has no operation.
    Gradient(String),
    /// The value that the optimizer adds to a parameter.
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

/// The comparison of one tensor of both dumps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The path of the module or the parameter.
    pub path: String,
    /// `None` for a parameter that no recorded operation reads.
    pub operation: Option<Operation>,
    /// The number of the call among those of the operation in the module.
    pub number: usize,
    pub what: What,
    /// The distance in the network, which includes the error of earlier operations. `None` if the step has no such tensor.
    pub whole: Option<Metrics>,
    /// The distance of the operation alone, on the inputs of the first dump. `None` if it was not computed alone.
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

/// The rows of a comparison in the order of the step: forward, backward, update.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The least cosine that passes.
    pub cosine: f64,
    pub rows: Vec<Row>,
    /// Calls and gradients that only one of the dumps has.
    pub unmatched: Vec<String>,
}

impl Comparison {
    /// Returns the rows that fail in the network or alone, the first divergence first.
    pub fn below(&self) -> impl Iterator<Item = &Row> {
        let fails = |metrics: &Option<Metrics>| metrics.is_some_and(|metrics| !metrics.passes(self.cosine));
        self.rows.iter().filter(move |row| fails(&row.whole) || fails(&row.alone))
    }

    /// Returns the rows whose operation fails alone, on the inputs of the first dump.
    pub fn at_fault(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.alone.is_some_and(|alone| !alone.passes(self.cosine)))
    }

    /// Returns whether both dumps have the same calls and every row passes.
    pub fn passes(&self) -> bool {
        self.unmatched.is_empty() && self.below().next().is_none()
    }

    /// Returns a sentence that names the operation at fault, or says that there is none.
    pub fn verdict(&self) -> String {
        let worst = |metrics: Option<Metrics>| metrics.map_or(f64::NAN, |metrics| metrics.cosine);
        if let Some(row) = self.at_fault().next() {
            return format!("at fault: {row} (alone: cosine {:.4})", worst(row.alone));
        }
        if let Some(row) = self.below().next() {
            return format!(
                "no operation is at fault alone; accumulated error is first below cosine {} at {row} (cosine {:.4})",
                self.cosine,
                worst(row.whole)
            );
        }
        match self.unmatched.first() {
            Some(call) => format!("only one of the dumps has {call}: they are steps of different models"),
            None => format!("nothing below cosine {} in {} tensors", self.cosine, self.rows.len()),
        }
    }

    /// Returns the paths of the modules with an operation at fault.
    pub fn paths_at_fault(&self) -> BTreeSet<&str> {
        self.at_fault().map(|row| row.path.as_str()).collect()
    }
}

/// A callback before each operation, with the number of operations done and the total. It cancels by returning false.
pub type GoOn<'a> = dyn FnMut(usize, usize) -> Pin<Box<dyn Future<Output = bool>>> + 'a;

/// A [`GoOn`] that never cancels.
pub fn to_the_end(_: usize, _: usize) -> Pin<Box<dyn Future<Output = bool>>> {
    Box::pin(std::future::ready(true))
}

/// Compares `found` with `reference`.
///
/// * `replayers`:     compute operations as `reference` and as `found` did
/// * `alone_updates`: the updates of the optimizer of `found` for the gradients of `reference`
///
/// Fails with `device-lost` if a device no longer answers, and with `cancelled` if `go_on` returns false.
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
    let mut compared = BTreeSet::new();
    for (done, record) in reference.calls.iter().enumerate() {
        if !go_on(done, reference.calls.len()).await {
            return Err(Error::Cancelled);
        }
        let Some(other) = by_name.get(&record.call) else { continue };
        let (output, gradients) =
            compare_call([reference, found], [record, other], replayers, &mut compared).await?;
        forward.push(output);
        backward.push(gradients);
    }
    let mut unmatched = unmatched(reference, found);
    let mut rows = forward;
    // Rows of the backward pass are in its order, so that those of the last call come first.
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
            Some(_) if compared.contains(path) => {}
            Some(of_found) => {
                let whole = Some(metrics(of_reference, of_found));
                rows.push(parameter(path, None, What::Gradient(String::new()), whole, None));
            }
            None => unmatched.push(format!("the gradient of {path}")),
        }
    }
    for (path, of_reference) in &reference.updates {
        // The first step of Adam depends mostly on the signs of gradients, which are noise near zero, so that only the optimizer alone is compared.
        let alone = alone_updates.get(path).map(|of_found| metrics(of_reference, of_found));
        rows.push(parameter(path, Some(Operation::Adam), What::Update, None, alone));
    }
    Ok(Comparison { cosine, rows, unmatched })
}

fn metrics(reference: &Values, found: &Values) -> Metrics {
    Metrics::between(&reference.values, &found.values)
}

/// Compares the records of one call. Returns the row of the output and the rows of the gradients.
///
/// * `compared`: receives the paths of the parameters whose gradients are among the rows
async fn compare_call(
    [reference, found]: [&Dump; 2],
    [record, other]: [&CallRecord; 2],
    replayers: [&Replayer; 2],
    compared: &mut BTreeSet<String>,
) -> Result<(Row, Vec<Row>)> {
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
    let output = row(What::Output, Some(metrics(&record.output, &other.output)), alone);
    let mut gradients = Vec::new();
    if let (Some(of_reference), Some(of_found)) = (&record.gradient, &other.gradient) {
        gradients.push(row(What::OutputGradient, Some(metrics(of_reference, of_found)), None));
    }
    let expected = replayers[0].replay(record, record.precision).await?;
    for (name, of_reference) in expected.iter().flat_map(|expected| &expected.gradients) {
        let parameter = format!("{path}.{name}");
        let whole = reference.gradients.get(&parameter).zip(found.gradients.get(&parameter));
        let of_found = replayed.iter().flat_map(|replayed| &replayed.gradients).find(|(of, _)| of == name);
        if whole.is_some() {
            compared.insert(parameter);
        }
        gradients.push(row(
            What::Gradient(name.clone()),
            whole.map(|(a, b)| metrics(a, b)),
            of_found.map(|(_, of_found)| metrics(of_reference, of_found)),
        ));
    }
    Ok((output, gradients))
}

/// Returns the calls that only one of the dumps has.
fn unmatched(reference: &Dump, found: &Dump) -> Vec<String> {
    let names = |dump: &Dump| dump.calls.iter().map(|record| record.call.clone()).collect::<BTreeSet<_>>();
    let (these, those) = (names(reference), names(found));
    these
        .symmetric_difference(&those)
        .map(|name| format!("{}: {}", name.path, name.operation.name()))
        .collect()
}
