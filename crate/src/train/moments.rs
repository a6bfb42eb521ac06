//! The optimizer's moments beside a checkpoint's weights.

use burn::prelude::*;
use std::collections::HashMap;

use super::adam::{Adam, Moments};
use crate::weights::{Weight, Weights};

const FIRST_MOMENT: &str = "adam.first.";
const SECOND_MOMENT: &str = "adam.second.";

/// The optimizer's moments as weights beside the model's.
pub fn moment_weights(adam: &Adam) -> Weights {
    let mut weights = Weights::new();
    for (path, Moments { first, second }) in &adam.moments {
        for (prefix, values) in [(FIRST_MOMENT, first), (SECOND_MOMENT, second)] {
            weights.insert(format!("{prefix}{path}"), Weight { shape: values.dims().to_vec(), values: values.clone() });
        }
    }
    weights
}

/// Takes the optimizer's moments out of a checkpoint's weights.
pub fn take_moments(weights: &mut HashMap<String, (Vec<usize>, Vec<f32>)>, device: &Device) -> Vec<(String, Moments)> {
    let paths: Vec<String> = weights.keys().filter_map(|name| name.strip_prefix(FIRST_MOMENT).map(str::to_string)).collect();
    let mut take = |prefix: &str, path: &str| {
        let (_, values) = weights.remove(&format!("{prefix}{path}"))?;
        Some(Tensor::<1>::from_floats(values.as_slice(), &device.clone().inner()))
    };
    paths.into_iter().filter_map(|path| Some((path.clone(), Moments { first: take(FIRST_MOMENT, &path)?, second: take(SECOND_MOMENT, &path)? }))).collect()
}
