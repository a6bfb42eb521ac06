//! A speaker's own readout of a predictor's states: what a minute can teach where it cannot teach the predictor.

use burn::{module::Param, nn::Linear, prelude::*};
use half::f16;

/// What a speaker's recordings add to a linear readout: a weight for each state, and a bias.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadDelta(Vec<f32>);

impl HeadDelta {
    /// Rounded as in a voice file, so that a saved voice sounds the same. `None` where a number is beyond any readout's.
    ///
    /// * `weights`: `[S + 1]`, the bias last
    pub fn new(weights: Vec<f32>) -> Option<Self> {
        let rounded: Vec<f32> = weights.into_iter().map(|weight| f16::from_f32(weight).to_f32()).collect();
        rounded.iter().all(|weight| weight.abs() <= MAX_READOUT).then_some(Self(rounded))
    }

    /// `[S + 1]`
    pub fn weights(&self) -> &[f32] {
        &self.0
    }

    /// Numbers of one that can be added to a projection: one a state, and a bias.
    pub fn width_of(projection: &Linear) -> usize {
        projection.weight.dims()[0] + 1
    }

    /// A projection with this added to some of its outputs.
    ///
    /// * `projection`: from S states
    pub fn added_to(&self, projection: &Linear, is_read: impl Fn(usize) -> bool) -> Linear {
        let Linear { weight, bias } = projection;
        let (device, outputs) = (&weight.device(), weight.dims()[1]);
        let shares: Vec<f32> = (0..outputs).map(|output| f32::from(u8::from(is_read(output)))).collect();
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

/// States lie between -1 and 1, and neither a logit nor the logarithm of a length needs more.
const MAX_READOUT: f32 = 100.0;
