//! Records the calls of operations on their device: inputs, output and, after the backward pass, the gradient of the output.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn::{prelude::*, tensor::Gradients};
use serde::{Deserialize, Serialize};

use crate::{
    Precision, conv::activation::Activation, lstm::options::ScanOptions, operation::Operation,
    patches::patch::Patch,
};

/// A tensor of any rank, flattened, without autodiff.
#[derive(Debug, Clone)]
pub struct Value {
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Tensor<1>,
}

impl Value {
    /// Flattens a tensor.
    pub fn from_tensor<const D: usize>(tensor: &Tensor<D>) -> Self {
        let shape = tensor.dims().to_vec();
        let count = shape.iter().product::<usize>();
        Self { shape, values: tensor.clone().inner().reshape([count]) }
    }
}

/// The arguments of a call that are not tensors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attributes {
    #[default]
    None,
    Scan(ScanOptions),
    Taps(usize),
    Patch(Patch),
    Activation(Activation),
    Normalisation {
        epsilon: f32,
        activation: Activation,
    },
    /// The number of frames that a mean is taken over.
    Frames(usize),
}

/// One call of an operation.
#[derive(Debug, Clone)]
pub struct Call {
    /// The module's path.
    pub path: String,
    pub operation: Operation,
    /// The precision the call was computed in, which may differ from the plan's.
    pub precision: Precision,
    pub attributes: Attributes,
    /// The inputs by name. The list is empty if the probe keeps only outputs.
    pub inputs: Vec<(&'static str, Value)>,
    pub output: Value,
    /// Zeros that were added to the output, so that their gradient is that of the output. `None` without autodiff.
    tap: Option<Tensor<1>>,
}

impl Call {
    /// Returns the gradient of the output, if the loss depends on the output.
    pub fn gradient(&self, gradients: &Gradients) -> Option<Tensor<1>> {
        self.tap.as_ref()?.grad(gradients)
    }
}

/// A recorder of calls, in the order in which they are made. Clones share the record.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    calls: Arc<Mutex<Vec<Call>>>,
    outputs_alone: bool,
}

impl Probe {
    /// Returns a probe that keeps the output of each call, and neither inputs nor gradients. The autodiff graph is that of a step without a probe.
    pub fn for_outputs() -> Self {
        Self { outputs_alone: true, ..Self::default() }
    }

    /// Returns whether calls are kept with their inputs.
    pub fn keeps_inputs(&self) -> bool {
        !self.outputs_alone
    }

    /// Removes and returns all calls so far.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls())
    }

    /// Returns the number of calls so far.
    pub fn count(&self) -> usize {
        self.calls().len()
    }

    /// Drops all calls but the first `count`.
    pub fn truncate(&self, count: usize) {
        self.calls().truncate(count);
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call. Returns the output plus zeros whose gradient autodiff keeps; it keeps none of a tensor in the middle of the graph.
    pub fn put<const D: usize>(
        &self,
        path: &str,
        (operation, precision): (Operation, Precision),
        attributes: Attributes,
        inputs: Vec<(&'static str, Value)>,
        output: Tensor<D>,
    ) -> Tensor<D> {
        let recorded = Value::from_tensor(&output);
        let tap = (output.is_autodiff() && self.keeps_inputs())
            .then(|| Tensor::<1>::zeros([output.shape().num_elements()], &output.device()).require_grad());
        let shape = output.dims();
        let output = match &tap {
            Some(tap) => output + tap.clone().reshape(shape),
            None => output,
        };
        self.calls().push(Call {
            path: path.to_string(),
            operation,
            precision,
            attributes,
            inputs,
            output: recorded,
            tap,
        });
        output
    }
}
