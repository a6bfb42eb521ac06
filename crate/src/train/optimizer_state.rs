//! The optimizer's state beside a checkpoint's weights.

use burn::prelude::*;

use super::adam::{Adam, Moments};
use crate::weights::{HostWeights, Weight, Weights};

const FIRST_MOMENT: &str = "adam.first.";
const SECOND_MOMENT: &str = "adam.second.";
const SCALING: &str = "adam.scaling";

/// The optimizer's moments and its scaling of the loss, as weights beside the model's.
pub fn optimizer_weights(adam: &Adam) -> Weights {
    let scaling = adam.scaling.iter().map(|scaling| (SCALING.to_string(), Weight { shape: scaling.dims().to_vec(), values: scaling.clone() }));
    let mut weights: Weights = scaling.collect();
    for (path, Moments { first, second }) in &adam.moments {
        for (prefix, values) in [(FIRST_MOMENT, first), (SECOND_MOMENT, second)] {
            weights.insert(format!("{prefix}{path}"), Weight { shape: values.dims().to_vec(), values: values.clone() });
        }
    }
    weights
}

/// Takes the optimizer's state out of a checkpoint's weights.
pub fn restore_optimizer(adam: &mut Adam, weights: &mut HostWeights, device: &Device) {
    let paths: Vec<String> = weights.keys().filter_map(|name| name.strip_prefix(FIRST_MOMENT).map(str::to_string)).collect();
    let mut take = |name: &str| {
        let (_, values) = weights.remove(name)?;
        Some(Tensor::<1>::from_floats(values.as_slice(), &device.clone().inner()))
    };
    adam.scaling = take(SCALING);
    let moments = paths.into_iter().filter_map(|path| {
        let (first, second) = (take(&format!("{FIRST_MOMENT}{path}"))?, take(&format!("{SECOND_MOMENT}{path}"))?);
        Some((path, Moments { first, second }))
    });
    adam.moments = moments.collect();
}
