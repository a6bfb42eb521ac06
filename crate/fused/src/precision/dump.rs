//! One training step as data, on the host and as a safetensors file.

use std::collections::{BTreeMap, HashMap};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use crate::{
    ComputePlan, Error, Operation, Precision, Result,
    readback::read,
    trace::{Attributes, Call, Value},
};

/// A tensor on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Vec<f32>,
}

impl Values {
    /// Reads a tensor back from its device.
    pub async fn read(value: Value) -> Result<Self> {
        Ok(Self { shape: value.shape, values: read(value.values).await? })
    }

    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }

    /// Multiplies all values by a factor.
    pub fn times(mut self, factor: f32) -> Self {
        if factor != 1.0 {
            self.values.iter_mut().for_each(|value| *value *= factor);
        }
        self
    }
}

/// A recorded call of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    pub call: CallName,
    /// The precision the call was computed in.
    pub precision: Precision,
    pub attributes: Attributes,
    pub inputs: Vec<(String, Values)>,
    pub output: Values,
    /// The gradient of the output, divided by the loss scale. `None` if the loss does not depend on the output.
    pub gradient: Option<Values>,
}

impl CallRecord {
    /// Returns the input of a name.
    pub fn input(&self, name: &str) -> Option<&Values> {
        self.inputs.iter().find(|(of, _)| of == name).map(|(_, values)| values)
    }
}

/// The key by which two dumps are joined: the module, the operation, and the number of the call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallName {
    pub path: String,
    pub operation: Operation,
    pub number: usize,
}

impl CallName {
    /// Names the calls of a step, in order.
    pub fn number(calls: Vec<Call>) -> impl Iterator<Item = (Self, Call)> {
        let mut numbers: BTreeMap<(String, Operation), usize> = BTreeMap::new();
        calls.into_iter().map(move |call| {
            let (path, operation) = (call.path.clone(), call.operation);
            let next = numbers.entry((path.clone(), operation)).or_default();
            let number = *next;
            *next += 1;
            (Self { path, operation, number }, call)
        })
    }
}

/// The circumstances of a dump.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub device: String,
    pub plan: ComputePlan,
    /// The factor of the loss before the backward pass.
    pub loss_scale: f32,
    /// The losses by name; `None` for a non-finite loss.
    pub losses: Vec<(String, Option<f32>)>,
    /// The clips of the batch, in order.
    pub clips: Vec<String>,
    /// The clips with non-finite data, each with the name of the tensor.
    pub bad_clips: Vec<(String, String)>,
}

/// One training step.
#[derive(Debug, Clone, PartialEq)]
pub struct Dump {
    pub about: About,
    /// The calls, in the order of the forward pass.
    pub calls: Vec<CallRecord>,
    /// The gradients by parameter path, divided by the loss scale.
    pub gradients: BTreeMap<String, Values>,
    /// The values that the optimizer added to each parameter, by path.
    pub updates: BTreeMap<String, Values>,
}

/// The key of the metadata under which the [`Index`] is stored as JSON.
const INDEX: &str = "dump";

/// The content of a file other than tensors.
#[derive(Serialize, Deserialize)]
struct Index {
    about: About,
    calls: Vec<IndexedCall>,
}

#[derive(Serialize, Deserialize)]
struct IndexedCall {
    #[serde(flatten)]
    call: CallName,
    precision: Precision,
    attributes: Attributes,
    inputs: Vec<String>,
    has_gradient: bool,
}

impl Dump {
    /// Returns whether all outputs and gradients are finite.
    pub fn is_finite(&self) -> bool {
        let of_calls = |record: &CallRecord| {
            record.output.is_finite() && record.gradient.as_ref().is_none_or(Values::is_finite)
        };
        self.calls.iter().all(of_calls) && self.gradients.values().all(Values::is_finite)
    }

    /// Writes the dump as a safetensors file with the tensors `call.NUMBER.in.NAME`, `call.NUMBER.out`, `call.NUMBER.grad`, `gradient.PATH`, `update.PATH`.
    pub fn serialize(&self) -> Vec<u8> {
        let mut tensors: Vec<(String, &Values)> = Vec::new();
        let mut calls = Vec::with_capacity(self.calls.len());
        for (number, record) in self.calls.iter().enumerate() {
            let name = |part: &str| format!("call.{number}.{part}");
            tensors
                .extend(record.inputs.iter().map(|(input, values)| (name(&format!("in.{input}")), values)));
            tensors.push((name("out"), &record.output));
            tensors.extend(record.gradient.iter().map(|gradient| (name("grad"), gradient)));
            calls.push(IndexedCall {
                call: record.call.clone(),
                precision: record.precision,
                attributes: record.attributes.clone(),
                inputs: record.inputs.iter().map(|(input, _)| input.clone()).collect(),
                has_gradient: record.gradient.is_some(),
            });
        }
        tensors.extend(self.gradients.iter().map(|(path, values)| (format!("gradient.{path}"), values)));
        tensors.extend(self.updates.iter().map(|(path, values)| (format!("update.{path}"), values)));
        let bytes: Vec<Vec<u8>> = tensors
            .iter()
            .map(|(_, tensor)| tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let views = tensors.iter().zip(&bytes).map(|((name, tensor), bytes)| {
            (name, TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).expect("shape fits the bytes"))
        });
        let index = serde_json::to_string(&Index { about: self.about.clone(), calls }).expect("plain data");
        safetensors::serialize(views, Some(HashMap::from([(INDEX.to_string(), index)])))
            .expect("names are distinct")
    }

    /// Reads a file of [`Self::serialize`], which is untrusted. Fails with `checkpoint-corrupt`.
    pub fn deserialize(bytes: &[u8]) -> Result<Self> {
        let corrupt = |what: String| Error::DumpCorrupt(what);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| corrupt(error.to_string()))?;
        let file = SafeTensors::deserialize(bytes).map_err(|error| corrupt(error.to_string()))?;
        let index = header.metadata().as_ref().and_then(|metadata| metadata.get(INDEX));
        let index = index.ok_or_else(|| corrupt("it has no index".into()))?;
        let Index { about, calls } =
            serde_json::from_str(index).map_err(|error| corrupt(error.to_string()))?;
        let take = |name: &str| {
            let view = file.tensor(name).map_err(|error| corrupt(error.to_string()))?;
            if view.dtype() != Dtype::F32 {
                return Err(corrupt(format!("{name} is {:?}", view.dtype())));
            }
            let values = view.data().chunks_exact(4);
            let values =
                values.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
            Ok(Values { shape: view.shape().to_vec(), values })
        };
        let calls = calls.into_iter().enumerate().map(
            |(number, IndexedCall { call, precision, attributes, inputs, has_gradient })| {
                let inputs = inputs
                    .into_iter()
                    .map(|input| Ok((input.clone(), take(&format!("call.{number}.in.{input}"))?)))
                    .collect::<Result<_>>()?;
                let output = take(&format!("call.{number}.out"))?;
                let gradient = has_gradient.then(|| take(&format!("call.{number}.grad"))).transpose()?;
                Ok(CallRecord { call, precision, attributes, inputs, output, gradient })
            },
        );
        let calls = calls.collect::<Result<_>>()?;
        let below = |prefix: &str| {
            let named = file
                .names()
                .into_iter()
                .filter_map(|name| name.strip_prefix(prefix).map(|path| (name, path)));
            named.map(|(name, path)| Ok((path.to_string(), take(name)?))).collect::<Result<BTreeMap<_, _>>>()
        };
        Ok(Self { about, calls, gradients: below("gradient.")?, updates: below("update.")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_with_non_finite_values_survives_its_file() {
        let values = |values: &[f32]| Values { shape: vec![1, values.len()], values: values.to_vec() };
        let dump = Dump {
            about: About {
                loss_scale: 4096.0,
                losses: vec![("before".into(), Some(0.5)), ("after".into(), None)],
                ..About::default()
            },
            calls: vec![CallRecord {
                call: CallName { path: "a.b".into(), operation: Operation::Convolution, number: 0 },
                precision: Precision::Mixed,
                attributes: Attributes::Taps(5),
                inputs: vec![("input".into(), values(&[1.0])), ("weight".into(), values(&[2.0, 3.0]))],
                output: values(&[f32::INFINITY]),
                gradient: Some(values(&[-1.0])),
            }],
            gradients: BTreeMap::from([("a.b.weight".into(), values(&[0.0, 1e-30]))]),
            updates: BTreeMap::new(),
        };
        let bytes = dump.serialize();
        assert_eq!(Dump::deserialize(&bytes).unwrap(), dump);
        for cut in [0, 7, 20, bytes.len() - 1] {
            assert!(matches!(Dump::deserialize(&bytes[..cut]), Err(Error::DumpCorrupt(_))));
        }
    }
}
