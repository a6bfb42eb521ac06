//! The optimizer's state in a checkpoint.

use burn::prelude::*;

use crate::{Error, Result};
use burn_fused::{
    adam::{Adam, Moments, SCALING as SCALING_VALUES},
    weights::{HostWeights, Weight, Weights},
};

const FIRST_MOMENT: &str = "adam.first.";
const SECOND_MOMENT: &str = "adam.second.";
const SCALING: &str = "adam.scaling";

/// Returns the optimizer's moments and its loss scaling as named weights.
pub fn optimizer_weights(adam: &Adam) -> Weights {
    let scaling = adam.scaling.iter().map(|scaling| {
        (SCALING.to_string(), Weight { shape: scaling.dims().to_vec(), values: scaling.clone() })
    });
    let mut weights: Weights = scaling.collect();
    for (path, Moments { first, second }) in &adam.moments {
        for (prefix, values) in [(FIRST_MOMENT, first), (SECOND_MOMENT, second)] {
            weights.insert(
                format!("{prefix}{path}"),
                Weight { shape: values.dims().to_vec(), values: values.clone() },
            );
        }
    }
    weights
}

/// Moves the optimizer's state from a checkpoint's weights into `adam`. Fails with `checkpoint-corrupt` where a moment has no parameter, or another size.
///
/// * `parameters`: the parameters of the module that is trained
pub fn restore_optimizer(
    adam: &mut Adam,
    parameters: &Weights,
    weights: &mut HostWeights,
    device: &Device,
) -> Result<()> {
    let corrupt = |name: &str| Error::checkpoint_corrupt(format!("{name} does not fit the model"));
    let paths: Vec<String> =
        weights.keys().filter_map(|name| name.strip_prefix(FIRST_MOMENT).map(str::to_string)).collect();
    let scaling = weights.get(SCALING).map(|_| SCALING_VALUES);
    let mut take = |name: &str, count: usize| match weights.remove(name) {
        Some((_, values)) if values.len() == count => {
            Ok(Tensor::<1>::from_floats(values.as_slice(), &device.clone().inner()))
        }
        _ => Err(corrupt(name)),
    };
    adam.scaling = scaling.map(|count| take(SCALING, count)).transpose()?;
    let moments = paths.into_iter().map(|path| {
        let count = parameters.get(&path).ok_or_else(|| corrupt(&path))?.shape.iter().product();
        let (first, second) =
            (take(&format!("{FIRST_MOMENT}{path}"), count)?, take(&format!("{SECOND_MOMENT}{path}"), count)?);
        Ok((path, Moments { first, second }))
    });
    adam.moments = moments.collect::<Result<_>>()?;
    Ok(())
}
