//! A speaker's change of a predictor's linear projection. A minute of speech suffices to fit it, but not to train the predictor.

use burn::{module::Param, nn::Linear, prelude::*};
use half::f16;

/// The values that are added to a linear projection for a speaker: a weight for each hidden state, and a bias.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadDelta(Vec<f32>);

impl HeadDelta {
    /// Rounds the values as a voice file does, so that a saved voice sounds the same. Returns `None` where one is non-finite or out of range.
    ///
    /// * `weights`: `[S + 1]`, the bias last
    pub fn new(weights: Vec<f32>) -> Option<Self> {
        let rounded: Vec<f32> = weights.into_iter().map(|weight| f16::from_f32(weight).to_f32()).collect();
        rounded.iter().all(|weight| weight.abs() <= MAX_WEIGHT).then_some(Self(rounded))
    }

    /// Returns the weights `[S + 1]`, the bias last.
    pub fn weights(&self) -> &[f32] {
        &self.0
    }

    /// Returns the number of values of a delta for a projection: one for each hidden state, and a bias.
    pub fn width_of(projection: &Linear) -> usize {
        projection.weight.dims()[0] + 1
    }

    /// Returns a projection with this delta added to some of its outputs.
    ///
    /// * `projection`:  from S hidden states
    /// * `is_affected`: whether the delta is added to an output
    pub fn added_to(&self, projection: &Linear, is_affected: impl Fn(usize) -> bool) -> Linear {
        let Linear { weight, bias } = projection;
        let (device, outputs) = (&weight.device(), weight.dims()[1]);
        let shares: Vec<f32> = (0..outputs).map(|output| f32::from(u8::from(is_affected(output)))).collect();
        let columns: Vec<f32> =
            self.0.iter().flat_map(|x| shares.iter().map(move |share| share * x)).collect();
        let (weights, biases) = columns.split_at(columns.len() - outputs);
        let added = Tensor::<2>::from_data(TensorData::new(weights.to_vec(), weight.dims()), device);
        let added_bias = Tensor::<1>::from_data(TensorData::new(biases.to_vec(), [outputs]), device);
        Linear {
            weight: Param::from_tensor(weight.val() + added),
            bias: bias.as_ref().map(|bias| Param::from_tensor(bias.val() + added_bias)),
        }
    }
}

/// The largest absolute value. Hidden states lie between -1 and 1, and neither a logit nor the logarithm of a duration needs larger weights.
const MAX_WEIGHT: f32 = 100.0;
