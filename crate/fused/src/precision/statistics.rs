//! Statistics of the magnitudes of tensors, which show how near they are to the limits of f16. They are computed on the device, with one readback for all tensors.

use burn::{module::Module, prelude::*, tensor::Gradients};
use half::f16;
use serde::{Deserialize, Deserializer, Serialize};

use super::dump::CallName;
use crate::{
    Result, is_cpu,
    readback::{read, read_data},
    trace::Call,
    weights::visit,
};

/// The statistics of one tensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The largest magnitude; null in JSON if it is non-finite.
    #[serde(deserialize_with = "number_or_null")]
    pub largest: f32,
    /// The share of zeros.
    pub zeros: f32,
    /// The share of nonzero values below the least normal f16, 6e-5, which f16 keeps with fewer bits or as zero.
    pub subnormal: f32,
    pub nans: usize,
    pub infinities: usize,
}

fn number_or_null<'a, D: Deserializer<'a>>(value: D) -> Result<f32, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f32::NAN))
}

/// The number of values of [`Statistics::queue`].
const VALUES: usize = 5;

impl Statistics {
    /// Computes the statistics of values on the host, in one pass.
    pub fn from_values(values: &[f32]) -> Self {
        let least = f16::MIN_POSITIVE.to_f32();
        let (mut largest, mut zeros, mut small, mut nans, mut infinities) = (0.0f32, 0, 0, 0, 0);
        // Counts of 32 bits are as wide as the values, so that the loop vectorises; a piece is small enough for them.
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

    /// Computes on the device: the largest magnitude and the numbers of zeros, of values below the least normal f16, of NaNs and of infinities, `[VALUES]`.
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

    /// Converts the result of [`Self::queue`] for `count` values.
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

    /// Returns whether a value is outside the range of f16.
    pub fn overflows_half(&self) -> bool {
        !self.is_finite() || self.largest > f16::MAX.to_f32()
    }
}

/// The statistics of a parameter and of its gradient, if it has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterStatistics {
    /// The path of the parameter.
    pub path: String,
    pub weight: Statistics,
    pub gradient: Option<Statistics>,
}

/// The statistics of the output of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputStatistics {
    #[serde(flatten)]
    pub call: CallName,
    pub output: Statistics,
}

/// Computes the statistics of the outputs of calls, in order. Fails with `device-lost` if the device no longer answers.
pub async fn output_statistics(calls: Vec<Call>) -> Result<Vec<OutputStatistics>> {
    let (names, outputs): (Vec<_>, Vec<_>) =
        CallName::number(calls).map(|(name, call)| (name, call.output.values)).unzip();
    let counted = count(outputs).await?;
    Ok(names.into_iter().zip(counted).map(|(call, output)| OutputStatistics { call, output }).collect())
}

/// Computes the statistics of all parameters of a module and their gradients, in order. Fails with `device-lost` if the device no longer answers.
pub async fn module_statistics<M: Module>(
    module: &M,
    gradients: &Gradients,
) -> Result<Vec<ParameterStatistics>> {
    let (mut paths, mut tensors) = (Vec::new(), Vec::new());
    visit(module, |path, parameter| {
        let gradient = parameter.gradient(gradients);
        paths.push((path.to_string(), gradient.is_some()));
        tensors.push(parameter.values());
        tensors.extend(gradient);
    });
    Ok(rows(paths, count(tensors).await?.into_iter()))
}

/// Computes the statistics of each tensor: on a GPU there, with one readback for all; on the CPU in one pass over memory.
async fn count(tensors: Vec<Tensor<1>>) -> Result<Vec<Statistics>> {
    let Some(first) = tensors.first() else { return Ok(Vec::new()) };
    if is_cpu(&first.device()) {
        let mut counted = Vec::with_capacity(tensors.len());
        for values in tensors {
            let data = read_data(values).await?;
            counted.push(Statistics::from_values(data.as_slice::<f32>().expect("computed in f32")));
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

/// Joins paths and statistics.
///
/// * `paths`:   the path of each parameter, and whether it has a gradient
/// * `counted`: the statistics of each parameter, followed by those of its gradient if it has one
fn rows(
    paths: Vec<(String, bool)>,
    mut counted: impl Iterator<Item = Statistics>,
) -> Vec<ParameterStatistics> {
    let mut next = || counted.next().expect("every tensor was counted");
    paths
        .into_iter()
        .map(|(path, has_gradient)| ParameterStatistics {
            path,
            weight: next(),
            gradient: has_gradient.then(&mut next),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::LinearConfig;

    #[test]
    fn device_and_host_compute_the_same_statistics() {
        let values = [0.0f32, -0.0, 1e-6, -3e-5, 1e-3, -70_000.0, f32::INFINITY, f32::NEG_INFINITY];
        let queued = Statistics::queue(Tensor::from_floats(values, &Device::flex()));
        let found = Statistics::read(&queued.into_data().try_to_vec::<f32>().unwrap(), values.len());
        assert_eq!(found, Statistics::from_values(&values));
        assert_eq!((found.zeros, found.subnormal, found.infinities), (0.25, 0.25, 2));
        assert!(found.overflows_half() && Statistics::from_values(&[70_000.0]).is_finite());
        assert_eq!(Statistics::from_values(&[f32::NAN, 1.0]).nans, 1);
        let json = serde_json::to_string(&found).unwrap();
        assert!(serde_json::from_str::<Statistics>(&json).unwrap().largest.is_nan(), "{json}");
        let nan = Statistics::queue(Tensor::from_floats([f32::NAN, 1.0, 2.0], &Device::flex()));
        assert_eq!(Statistics::read(&nan.into_data().try_to_vec::<f32>().unwrap(), 3).nans, 1);
    }

    #[test]
    fn each_parameter_has_a_row() {
        let device = Device::flex().autodiff();
        let layer = LinearConfig::new(2, 3).init(&device);
        let input = Tensor::<2>::from_floats([[0.0, 5.0]], &device);
        let gradients = layer.forward(input).sum().backward();
        let rows = pollster::block_on(module_statistics(&layer, &gradients)).unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(names, ["weight", "bias"]);
        let gradient = rows[0].gradient.unwrap();
        assert_eq!((gradient.largest, gradient.zeros), (5.0, 0.5));
    }
}
