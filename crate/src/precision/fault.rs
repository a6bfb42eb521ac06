//! The first operation of a step that makes something that is no number.

use serde::Serialize;
use std::fmt;

use super::{
    dump::{CallRecord, Dump},
    replay::Replayer,
    statistics::Statistics,
};
use crate::{
    Result,
    nn::{Operation, Precision},
};

/// Where something that is no number begins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Culprit {
    /// In the data of a clip.
    Clip { clip: String, tensor: String },
    /// In an operation whose inputs are numbers.
    ///
    /// * `overflows`: in single precision it makes numbers of them
    Forward { path: String, operation: Operation, largest_input: f32, overflows: bool },
    /// Before an operation: what it is given is no number, and no recorded operation made it.
    Given { path: String, operation: Operation, input: String },
    /// In an operation's backward pass, which was given numbers.
    Backward { path: String, operation: Operation, gradient: String },
    /// In the backward pass before an operation, between those that are recorded.
    Behind { path: String, operation: Operation },
    /// In the gradient of a parameter that no recorded operation reads.
    Parameter { path: String },
}

impl Culprit {
    /// The module's path, and its operation, where it lies in one.
    pub fn place(&self) -> (&str, Option<Operation>) {
        match self {
            Self::Clip { clip, .. } => (clip, None),
            Self::Parameter { path } => (path, None),
            Self::Forward { path, operation, .. }
            | Self::Given { path, operation, .. }
            | Self::Backward { path, operation, .. }
            | Self::Behind { path, operation } => (path, Some(*operation)),
        }
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Clip { clip, tensor } => {
                write!(f, "clip {clip}: something in its {tensor} is no number")
            }
            Self::Forward { path, operation, largest_input, overflows } => {
                let what = match overflows {
                    true => "overflows in half precision, and not in single",
                    false => "makes something that is no number of numbers",
                };
                write!(f, "{path}: {} {what}; its largest input is {largest_input:.3e}", operation.name())
            }
            Self::Given { path, operation, input } => {
                write!(f, "{path}: {} is given {input} with something that is no number", operation.name())
            }
            Self::Backward { path, operation, gradient } => {
                write!(
                    f,
                    "{path}: the backward pass of {} makes something that is no number of {gradient}'s gradient",
                    operation.name()
                )
            }
            Self::Behind { path, operation } => {
                write!(
                    f,
                    "the gradient that reaches {path}: {} is no number, and no recorded operation made it so",
                    operation.name()
                )
            }
            Self::Parameter { path } => write!(f, "the gradient of {path} is no number"),
        }
    }
}

/// Names it; `None` where everything in the dump is a number.
///
/// * `replayer`: computes as the dump's step did
///
/// Fails with `device-lost` where the replayer's device no longer answers.
pub async fn first_fault(dump: &Dump, replayer: &Replayer) -> Result<Option<Culprit>> {
    if let Some((clip, tensor)) = dump.about.bad_clips.first() {
        return Ok(Some(Culprit::Clip { clip: clip.clone(), tensor: tensor.clone() }));
    }
    for record in &dump.calls {
        if let Some(culprit) = forward(record, replayer).await? {
            return Ok(Some(culprit));
        }
    }
    for record in dump.calls.iter().rev() {
        let name = || (record.call.path.clone(), record.call.operation);
        match &record.gradient {
            Some(gradient) if !gradient.is_finite() => {
                let (path, operation) = name();
                return Ok(Some(Culprit::Behind { path, operation }));
            }
            Some(_) => {
                let gradients =
                    replayer.replay(record, record.precision).await?.map(|replayed| replayed.gradients);
                let bad = gradients.into_iter().flatten().find(|(_, values)| !values.is_finite());
                if let Some((gradient, _)) = bad {
                    let (path, operation) = name();
                    return Ok(Some(Culprit::Backward { path, operation, gradient }));
                }
            }
            None => {}
        }
    }
    let parameter = dump.gradients.iter().find(|(_, values)| !values.is_finite());
    Ok(parameter.map(|(path, _)| Culprit::Parameter { path: path.clone() }))
}

async fn forward(record: &CallRecord, replayer: &Replayer) -> Result<Option<Culprit>> {
    let (path, operation) = (record.call.path.clone(), record.call.operation);
    if let Some((input, _)) = record.inputs.iter().find(|(_, values)| !values.is_finite()) {
        return Ok(Some(Culprit::Given { path, operation, input: input.clone() }));
    }
    if record.output.is_finite() {
        return Ok(None);
    }
    let overflows = record.precision == Precision::Mixed
        && replayer.replay(record, Precision::F32).await?.is_some_and(|again| again.output.is_finite());
    let largest = |values: &[f32]| Statistics::of(values).largest;
    let largest_input = record.inputs.iter().map(|(_, input)| largest(&input.values)).fold(0.0, f32::max);
    Ok(Some(Culprit::Forward { path, operation, largest_input, overflows }))
}
