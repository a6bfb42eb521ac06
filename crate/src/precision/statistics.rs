//! Magnitudes of tensors: how near they come to the ends of f16. Counted on the device, with one readback for all.

use burn::{
    module::{Module, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};
use half::f16;
use serde::{Deserialize, Deserializer, Serialize};

use super::dump::CallName;
use crate::{
    Result,
    nn::{
        is_cpu,
        readback::{read, read_data},
        trace::Call,
    },
    weights::track_path,
};

/// Of one tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Largest magnitude; in JSON null where it is no number.
    #[serde(deserialize_with = "number_or_null")]
    pub largest: f32,
    /// Share of zeros.
    pub zeros: f32,
    /// Share of values that f16 keeps with fewer bits or as zero: below its least normal number, 6e-5, and not zero.
    pub subnormal: f32,
    pub nans: usize,
    pub infinities: usize,
}

fn number_or_null<'a, D: Deserializer<'a>>(value: D) -> Result<f32, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f32::NAN))
}

/// Of [`Statistics`], on the device.
const VALUES: usize = 5;

impl Statistics {
    /// Of values on the host, in one pass.
    pub fn of(values: &[f32]) -> Self {
        let least = f16::MIN_POSITIVE.to_f32();
        let (mut largest, mut zeros, mut small, mut nans, mut infinities) = (0.0f32, 0, 0, 0, 0);
        // Few enough for counts of 32 bits, as wide as the values, so that the loop vectorises.
        for piece in values.chunks(1 << 20) {
            let mut counts = [0u32; 4];
            for value in piece {
                let magnitude = value.abs();
                largest = if magnitude > largest { magnitude } else { largest };
                counts[0] += u32::from(magnitude == 0.0);
                counts[1] += u32::from(magnitude < least);
                counts[2] += u32::from(magnitude.is_nan());
                counts[3] += u32::from(magnitude == f32::INFINITY);
            }
            let [of_zeros, of_small, of_nans, of_infinities] = counts.map(|count| count as usize);
            (zeros, small) = (zeros + of_zeros, small + of_small);
            (nans, infinities) = (nans + of_nans, infinities + of_infinities);
        }
        let share = |number: usize| number as f32 / values.len().max(1) as f32;
        Self { largest, zeros: share(zeros), subnormal: share(small - zeros), nans, infinities }
    }

    /// On the device: largest, zeros, values below f16's least normal number, NaNs, infinities, `[VALUES]`.
    fn queue(values: Tensor<1>) -> Tensor<1> {
        let magnitudes = values.abs();
        let count = |mask: Tensor<1, Bool>| mask.float().sum();
        Tensor::cat(
            vec![
                magnitudes.clone().max(),
                count(magnitudes.clone().equal_elem(0.0)),
                count(magnitudes.clone().lower_elem(f16::MIN_POSITIVE.to_f32())),
                count(magnitudes.clone().is_nan()),
                count(magnitudes.is_inf()),
            ],
            0,
        )
    }

    /// From what [`Self::queue`] made of `count` values.
    fn read(queued: &[f32], count: usize) -> Self {
        let &[largest, zeros, small, nans, infinities] = queued else { unreachable!("[VALUES]") };
        let count = count.max(1) as f32;
        Self {
            largest,
            zeros: zeros / count,
            subnormal: (small - zeros) / count,
            nans: nans as usize,
            infinities: infinities as usize,
        }
    }

    pub fn is_finite(&self) -> bool {
        self.nans + self.infinities == 0
    }

    /// Whether some value leaves f16's range.
    pub fn overflows_half(&self) -> bool {
        !self.is_finite() || self.largest > f16::MAX.to_f32()
    }
}

/// Of one parameter: its values and, where it has one, its gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfParameter {
    /// The parameter's path.
    pub path: String,
    pub weight: Statistics,
    pub gradient: Option<Statistics>,
}

/// Of what came out of one call of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfOutput {
    #[serde(flatten)]
    pub call: CallName,
    pub output: Statistics,
}

/// Of the outputs of calls, in order.
///
/// Fails with `device-lost` where the device no longer answers.
pub async fn of_outputs(calls: Vec<Call>) -> Result<Vec<OfOutput>> {
    let (names, outputs): (Vec<_>, Vec<_>) =
        CallName::of_each(calls).map(|(name, call)| (name, call.output.values)).unzip();
    let counted = count(outputs).await?;
    Ok(names.into_iter().zip(counted).map(|(call, output)| OfOutput { call, output }).collect())
}

/// Of all parameters of a module and their gradients, in order.
///
/// Fails with `device-lost` where the device no longer answers.
pub async fn of_module<M: Module>(module: &M, gradients: &Gradients) -> Result<Vec<OfParameter>> {
    let mut visitor = Visit { gradients, path: Vec::new(), found: Vec::new(), values: Vec::new() };
    module.visit(&mut visitor);
    let Visit { found, values, .. } = visitor;
    Ok(rows(found, count(values).await?.into_iter()))
}

/// Of each tensor: on a GPU counted there, with one readback for all; on the CPU in one pass over memory.
async fn count(tensors: Vec<Tensor<1>>) -> Result<Vec<Statistics>> {
    let Some(first) = tensors.first() else { return Ok(Vec::new()) };
    if is_cpu(&first.device()) {
        let mut counted = Vec::with_capacity(tensors.len());
        for values in tensors {
            let data = read_data(values).await?;
            counted.push(Statistics::of(data.as_slice::<f32>().expect("computed in f32")));
        }
        return Ok(counted);
    }
    let counts: Vec<usize> = tensors.iter().map(|values| values.dims()[0]).collect();
    let queued = read(Tensor::cat(tensors.into_iter().map(Statistics::queue).collect(), 0)).await?;
    Ok(queued
        .chunks_exact(VALUES)
        .zip(counts)
        .map(|(values, count)| Statistics::read(values, count))
        .collect())
}

/// * `counted`: each parameter's, followed by its gradient's where there is one
fn rows(found: Vec<(String, bool)>, mut counted: impl Iterator<Item = Statistics>) -> Vec<OfParameter> {
    let mut next = || counted.next().expect("each was counted");
    found
        .into_iter()
        .map(|(path, has_gradient)| OfParameter {
            path,
            weight: next(),
            gradient: has_gradient.then(&mut next),
        })
        .collect()
}

struct Visit<'a> {
    gradients: &'a Gradients,
    path: Vec<String>,
    /// Path, and whether there is a gradient.
    found: Vec<(String, bool)>,
    /// Of each, then of its gradient.
    values: Vec<Tensor<1>>,
}

impl ModuleVisitor for Visit<'_> {
    track_path!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        let count = value.shape().num_elements();
        let gradient = value.grad(self.gradients);
        self.found.push((self.path.join("."), gradient.is_some()));
        self.values.push(value.inner().reshape([count]));
        self.values.extend(gradient.map(|gradient| gradient.reshape([count])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::LinearConfig;

    #[test]
    fn the_device_counts_what_the_host_counts() {
        let values = [0.0f32, -0.0, 1e-6, -3e-5, 1e-3, -70_000.0, f32::INFINITY, f32::NEG_INFINITY];
        let queued = Statistics::queue(Tensor::from_floats(values, &Device::flex()));
        let found = Statistics::read(&queued.into_data().try_to_vec::<f32>().unwrap(), values.len());
        assert_eq!(found, Statistics::of(&values));
        assert_eq!((found.zeros, found.subnormal, found.infinities), (0.25, 0.25, 2));
        assert!(found.overflows_half() && Statistics::of(&[70_000.0]).is_finite());
        assert_eq!(Statistics::of(&[f32::NAN, 1.0]).nans, 1);
        let json = serde_json::to_string(&found).unwrap();
        assert!(serde_json::from_str::<Statistics>(&json).unwrap().largest.is_nan(), "{json}");
        let nan = Statistics::queue(Tensor::from_floats([f32::NAN, 1.0, 2.0], &Device::flex()));
        assert_eq!(Statistics::read(&nan.into_data().try_to_vec::<f32>().unwrap(), 3).nans, 1);
    }

    #[test]
    fn each_parameter_has_its_row() {
        let device = Device::flex().autodiff();
        let layer = LinearConfig::new(2, 3).init(&device);
        let input = Tensor::<2>::from_floats([[0.0, 5.0]], &device);
        let gradients = layer.forward(input).sum().backward();
        let rows = pollster::block_on(of_module(&layer, &gradients)).unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(names, ["weight", "bias"]);
        let gradient = rows[0].gradient.unwrap();
        assert_eq!((gradient.largest, gradient.zeros), (5.0, 0.5));
    }
}
