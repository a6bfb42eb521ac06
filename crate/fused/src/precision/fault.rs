//! Finds the first operation of a step with non-finite output.

use serde::Serialize;
use std::fmt;

use super::{
    dump::{CallRecord, Dump},
    replay::Replayer,
    statistics::Statistics,
};
use crate::{Operation, Precision, Result};

/// The origin of non-finite values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Culprit {
    /// The data of a clip are non-finite.
    Clip { clip: String, tensor: String },
    /// An operation has finite inputs and a non-finite output.
    ///
    /// * `overflows`: whether the output is finite in single precision
    Forward { path: String, operation: Operation, largest_input: f32, overflows: bool },
    /// An operation is given a non-finite input that is not the output of a recorded operation.
    Given { path: String, operation: Operation, input: String },
    /// The backward pass of an operation has finite inputs and returns a non-finite gradient.
    Backward { path: String, operation: Operation, gradient: String },
    /// The gradient of an operation's output is non-finite and is not a result of a recorded operation.
    Behind { path: String, operation: Operation },
    /// The gradient of a parameter that no recorded operation reads is non-finite.
    Parameter { path: String },
}

impl Culprit {
    /// Returns the path of the module, parameter or clip, and the operation if there is one.
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
                write!(f, "clip {clip}: its {tensor} has non-finite values")
            }
            Self::Forward { path, operation, largest_input, overflows } => {
                let what = match overflows {
                    true => "overflows in half precision, and not in single",
                    false => "has a non-finite output for finite inputs",
                };
                write!(f, "{path}: {} {what}; its largest input is {largest_input:.3e}", operation.name())
            }
            Self::Given { path, operation, input } => {
                write!(f, "{path}: {} is given a non-finite {input}", operation.name())
            }
            Self::Backward { path, operation, gradient } => {
                write!(
                    f,
                    "{path}: the backward pass of {} returns a non-finite gradient of {gradient}",
                    operation.name()
                )
            }
            Self::Behind { path, operation } => {
                write!(
                    f,
                    "the gradient of the output of {path}: {} is non-finite, and no recorded operation computed it",
                    operation.name()
                )
            }
            Self::Parameter { path } => write!(f, "the gradient of {path} is non-finite"),
        }
    }
}

/// Returns the origin of the first non-finite values, or `None` if everything in the dump is finite.
///
/// * `replayer`: computes operations as the step of the dump did
///
/// Fails with `device-lost` if the device of the replayer no longer answers.
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
    let largest = |values: &[f32]| Statistics::from_values(values).largest;
    let largest_input = record.inputs.iter().map(|(_, input)| largest(&input.values)).fold(0.0, f32::max);
    Ok(Some(Culprit::Forward { path, operation, largest_input, overflows }))
}
