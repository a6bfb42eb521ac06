//! Rounds the state of a training to bfloat16 when a checkpoint is stored, which halves the file. The training continues from the rounded state, so that a
//! resumed training is bit-identical to an uninterrupted one.
//!
//! Moments are rounded themselves. Parameters are rounded in their differences from the base, to 0.4 % of the change; a voice file keeps 8 bits and a scale per
//! row.

use burn::prelude::*;

use crate::voice::{Adapted, adaptable};
use burn_fused::{
    adam::{Adam, Moments},
    weights::{Weight, Weights, map},
};

/// Rounds to the 8 significant bits of bfloat16, by a multiplication and two differences (Dekker 1971, section 5), since not every device has the type.
fn rounded<const D: usize>(values: Tensor<D>) -> Tensor<D> {
    const SPLIT: f32 = 65_537.0; // 2^16 + 1 removes 16 of 24 bits.
    let product = values.clone().mul_scalar(SPLIT);
    product.clone() - (product - values)
}

/// Rounds the moments of the optimizer.
pub fn round_moments(adam: &mut Adam) {
    for Moments { first, second } in adam.moments.values_mut() {
        *first = rounded(first.clone());
        *second = rounded(second.clone());
    }
}

/// Rounds each parameter to its origin plus a rounded difference, which [`differences`] and [`sum`] restore exactly.
pub fn round_parameters(parts: Adapted, origin: &Weights) -> Adapted {
    each(parts, origin, |values, origin| {
        let near = |values: Tensor<1>| origin.clone() + rounded(values - origin.clone());
        let once = near(near(values));
        // The sum is rounded too, so that a difference of some millionths of the parameter may not be its own rounding. It is then dropped.
        let unstable = near(once.clone()).not_equal(once.clone());
        once.mask_where(unstable, origin)
    })
}

/// Returns the differences of parameters of [`round_parameters`] from their origin.
pub fn differences(parts: &Adapted, origin: &Weights) -> Weights {
    let difference = |(name, Weight { shape, values }): (String, Weight)| {
        let values = rounded(values - origin[&name].values.clone());
        (name, Weight { shape, values })
    };
    adaptable(parts).into_iter().map(difference).collect()
}

/// Returns the parameters, given their differences in `parts`.
pub fn sum(parts: Adapted, origin: &Weights) -> Adapted {
    each(parts, origin, |values, origin| origin + values)
}

/// Maps each parameter, flattened, together with the origin of the same name.
fn each(parts: Adapted, origin: &Weights, change: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1>) -> Adapted {
    map(parts, |path, values| Some(change(values, origin.get(path)?.values.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Tacotron, TacotronConfig};
    use burn::tensor::Distribution;
    use burn_fused::{
        Scope,
        adam::AdamConfig,
        weights::{HostWeights, Metadata, Storage, apply, deserialize, serialize},
    };

    fn host(parts: &Adapted) -> HostWeights {
        let bytes = pollster::block_on(serialize(adaptable(parts), Storage::Full, Metadata::new())).unwrap();
        deserialize(&bytes).unwrap().0
    }

    /// The changes range from much larger to much smaller than the parameters.
    #[test]
    fn rounded_parameters_are_restored_exactly_from_half_the_bytes() {
        let device = Device::flex();
        device.seed(9);
        for size in [1.0, 1e-2, 1e-4, 3e-5, 1e-5, 1e-6, 1e-8] {
            let Tacotron { decoder, postnet, speakers, .. } =
                Tacotron::new(&TacotronConfig::tiny(1), &device);
            let base = Adapted { decoder, postnet, speaker: speakers, scope: Scope::default() };
            let origin = adaptable(&base);
            let moved = each(base.clone().train(), &origin, |values, _| {
                values.clone() + values.random_like(Distribution::Normal(0.0, 1.0)).mul_scalar(size)
            });
            let rounded = round_parameters(moved.clone(), &origin);
            let stored =
                pollster::block_on(serialize(differences(&rounded, &origin), Storage::Full, Metadata::new()))
                    .unwrap();
            let count: usize = origin.values().map(|weight| weight.shape.iter().product::<usize>()).sum();
            assert!(stored.len() < 2 * count + 20_000, "{} bytes for {count} values", stored.len());
            let read = apply(base.train(), deserialize(&stored).unwrap().0).unwrap();
            assert_eq!(host(&sum(read, &origin)), host(&rounded), "changes of {size}");
            // The changes are kept to within 0.4 %, or within 1e-4 of the parameter.
            for (name, (_, values)) in host(&moved) {
                let (kept, origin) = (&host(&rounded)[&name].1, origin[&name].values.to_data());
                let origin: Vec<f32> = origin.try_to_vec().unwrap();
                for ((value, kept), origin) in values.iter().zip(kept).zip(origin) {
                    let bound = 0.004 * (value - origin).abs() + 1e-4 * origin.abs();
                    assert!(
                        (value - kept).abs() <= bound,
                        "{name}: {origin} to {value} is rounded to {kept}"
                    );
                }
            }
        }
    }

    #[test]
    fn moments_are_rounded_to_eight_bits() {
        let mut adam = Adam::new(AdamConfig::default());
        let values = Tensor::<1>::from_floats([1.0, -0.123_456_7, 3e-17, 0.0], &Device::flex());
        adam.moments.insert("x".into(), Moments { first: values.clone(), second: values.clone().abs() });
        round_moments(&mut adam);
        let found: Vec<f32> = adam.moments["x"].first.to_data().try_to_vec().unwrap();
        assert!(found.iter().all(|value| value.to_bits().trailing_zeros() >= 16), "{found:?}");
        let expected: Vec<f32> = values.to_data().try_to_vec().unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= expected.abs() / 256.0, "{expected} is rounded to {found}");
        }
    }
}
