//! A recording of operations on their device: what went into each call, what came out, and, after the backward pass, the gradient of that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn::{prelude::*, tensor::Gradients};
use serde::{Deserialize, Serialize};

use super::{
    Precision, conv::activation::Activation, lstm::options::ScanOptions, operation::Operation,
    patches::patch::Patch,
};

/// A tensor of any rank, without gradients.
#[derive(Debug, Clone)]
pub struct Value {
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Tensor<1>,
}

impl Value {
    pub fn of<const D: usize>(tensor: &Tensor<D>) -> Self {
        let shape = tensor.dims().to_vec();
        let count = shape.iter().product::<usize>();
        Self { shape, values: tensor.clone().inner().reshape([count]) }
    }
}

/// What a call was given beside tensors.
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
    /// Frames that a mean is taken over.
    Frames(usize),
}

/// One call of an operation.
#[derive(Debug, Clone)]
pub struct Call {
    /// The module's path.
    pub path: String,
    pub operation: Operation,
    /// In which it computed: a module may have another than its plan.
    pub precision: Precision,
    pub attributes: Attributes,
    /// None where outputs alone are kept.
    pub inputs: Vec<(&'static str, Value)>,
    pub output: Value,
    /// Zeros that were added to the output: their gradient is the output's. `None` where none is computed.
    tap: Option<Tensor<1>>,
}

impl Call {
    /// The gradient of the output, where the loss depends on it.
    pub fn gradient(&self, gradients: &Gradients) -> Option<Tensor<1>> {
        self.tap.as_ref()?.grad(gradients)
    }
}

/// Where calls are recorded, in their order.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    calls: Arc<Mutex<Vec<Call>>>,
    outputs_alone: bool,
}

impl Probe {
    /// Keeps what comes out of each call, and neither inputs nor gradients: the graph is that of a step without a probe.
    pub fn of_outputs() -> Self {
        Self { outputs_alone: true, ..Self::default() }
    }

    /// Whether calls are kept with what went into them.
    pub fn keeps_inputs(&self) -> bool {
        !self.outputs_alone
    }

    /// All calls so far.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls())
    }

    /// How many calls so far.
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

    /// Returns the output plus zeros whose gradient is kept: of a tensor in the middle of a graph none is.
    pub fn put<const D: usize>(
        &self,
        path: &str,
        (operation, precision): (Operation, Precision),
        attributes: Attributes,
        inputs: Vec<(&'static str, Value)>,
        output: Tensor<D>,
    ) -> Tensor<D> {
        let recorded = Value::of(&output);
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
