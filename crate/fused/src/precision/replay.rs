//! Computes one operation alone on recorded inputs, so that its error is separate from the error of its inputs.

use burn::prelude::*;

use super::dump::{CallRecord, Values};
use crate::{
    ComputePlan, Operation, Precision, Result, Scope,
    trace::{Attributes, Value},
};
#[cfg(not(target_family = "wasm"))]
use crate::{attention::AttentionMemory, lstm::Lstm};

/// The plan and the device with which operations are computed again.
#[derive(Debug, Clone)]
pub struct Replayer {
    pub plan: ComputePlan,
    pub device: Device,
    /// The factor of the gradients, with which they may overflow f16.
    pub loss_scale: f32,
}

/// The results of an operation for recorded inputs and the recorded gradient of its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    pub output: Values,
    /// The gradients of the inputs by name, divided by the loss scale. Empty if the gradient of the output was not recorded.
    pub gradients: Vec<(String, Values)>,
}

/// The inputs that have no gradient.
const CONSTANTS: [&str; 4] = ["norm.running_mean", "norm.running_var", "targets", "mask"];

impl Replayer {
    /// Computes a call again. Returns `None` if the operation cannot be computed alone.
    ///
    /// * `precision`: the precision of the products, which replaces that of the plan
    ///
    /// Fails with `device-lost` if the device no longer answers.
    pub async fn replay(&self, record: &CallRecord, precision: Precision) -> Result<Option<Replayed>> {
        let device = self.device.clone().autodiff();
        let leaves: Vec<Tensor<1>> = record
            .inputs
            .iter()
            .map(|(name, Values { values, .. })| {
                let leaf = Tensor::from_data(TensorData::new(values.clone(), [values.len()]), &device);
                if CONSTANTS.contains(&name.as_str()) { leaf } else { leaf.require_grad() }
            })
            .collect();
        let Some(output) = self.run(record, precision, &leaves) else { return Ok(None) };
        let read = |values: Tensor<1>, like: &Values| {
            let value = Value { shape: like.shape.clone(), values };
            async { Values::read(value).await }
        };
        let mut gradients = Vec::new();
        if let Some(gradient) = &record.gradient {
            let values = gradient.clone().times(self.loss_scale).values;
            let weights = Tensor::<1>::from_data(TensorData::new(values, [gradient.values.len()]), &device);
            let found = (output.clone() * weights).sum().backward();
            for ((name, like), leaf) in record.inputs.iter().zip(&leaves) {
                if let Some(of_leaf) = leaf.grad(&found) {
                    gradients.push((name.clone(), read(of_leaf, like).await?.times(1.0 / self.loss_scale)));
                }
            }
        }
        Ok(Some(Replayed { output: read(output.inner(), &record.output).await?, gradients }))
    }

    /// Runs the operation of a call on flattened inputs. Returns the flattened output.
    fn run(&self, record: &CallRecord, precision: Precision, leaves: &[Tensor<1>]) -> Option<Tensor<1>> {
        fn shaped<const D: usize>(
            record: &CallRecord,
            leaves: &[Tensor<1>],
            input: usize,
        ) -> Option<Tensor<D>> {
            let shape = <[usize; D]>::try_from(record.inputs.get(input)?.1.shape.clone()).ok()?;
            Some(leaves.get(input)?.clone().reshape(shape))
        }
        fn flat<const D: usize>(tensor: Tensor<D>) -> Option<Tensor<1>> {
            let count = tensor.shape().num_elements();
            Some(tensor.reshape([count]))
        }
        let one = |input| shaped::<1>(record, leaves, input);
        let two = |input| shaped::<2>(record, leaves, input);
        let three = |input| shaped::<3>(record, leaves, input);
        let compute_at = |path: &str| {
            let mut compute = Scope::new(self.plan.clone()).at(path).compute();
            compute.precision = precision;
            compute
        };
        let compute = compute_at(&record.call.path);
        match (record.call.operation, &record.attributes) {
            (Operation::Matmul, Attributes::None) => {
                let name = if record.input("w_ih").is_some() { "w_ih" } else { "weight" };
                flat(compute.matmul(two(0)?, two(1)?, name))
            }
            (Operation::MatmulConcat, Attributes::None) => {
                flat(compute.matmul_concat(three(0)?, two(1)?, two(2)?))
            }
            (Operation::Lstm, Attributes::Scan(options)) => {
                flat(compute.scan(three(0)?, two(1)?, two(2)?, options.clone()))
            }
            (Operation::Convolution, &Attributes::Taps(taps)) => {
                flat(compute.convolve(three(0)?, two(1)?, taps))
            }
            (Operation::Normalise, &Attributes::Normalisation { epsilon, activation }) => {
                flat(compute.normalise(two(0)?, [one(1)?, one(2)?], [one(3)?, one(4)?], epsilon, activation))
            }
            (Operation::Activate, &Attributes::Activation(activation)) => {
                flat(compute.activate(two(0)?, activation))
            }
            (Operation::Unfold, &Attributes::Taps(taps)) => flat(compute.unfold(three(0)?, taps)),
            // Left out of the WebAssembly, where nothing uses pictures.
            #[cfg(not(target_family = "wasm"))]
            (Operation::UnfoldPatches, &Attributes::Patch(patch)) => {
                flat(compute.unfold_patches(shaped::<5>(record, leaves, 0)?, patch))
            }
            #[cfg(not(target_family = "wasm"))]
            (Operation::Depthwise, &Attributes::Patch(patch)) => {
                flat(compute.convolve_depthwise(shaped::<4>(record, leaves, 0)?, two(1)?, patch))
            }
            (Operation::Loss, &Attributes::Frames(frames)) => {
                flat(compute.spectrogram_loss(three(0)?, three(1)?, three(2)?, frames))
            }
            // Left out of the WebAssembly, where nothing uses attention: its plain matmul would bring in all of burn's kernels.
            #[cfg(not(target_family = "wasm"))]
            (Operation::AttentionLstm, Attributes::None) => {
                // The path of the LSTM is that of the attention with a suffix.
                let of_lstm = compute_at(&format!("{}_lstm", record.call.path));
                let lstm = Lstm::from_tensors(two(1)?, two(2)?, one(3)?, of_lstm);
                let attended = AttentionMemory {
                    keys: three(5)?,
                    values: three(6)?,
                    mask: two(7)?,
                    energy: two(8)?,
                    location: two(9)?,
                    compute,
                };
                let made = attended.scan(three(0)?, &lstm, two(4)?, two(10)?, two(11)?);
                flat(Tensor::cat(vec![made.context, made.hidden, made.weights], 2))
            }
            _ => None,
        }
    }
}
