//! Dropout with its randomness made on the device.

use burn::{prelude::*, tensor::Distribution};

/// Zeroes each value with `probability` and scales the others, so that the mean stays.
///
/// Always on: callers that switch dropout off do not call it. Tacotron's prenet never does (Shen et al. 2018, section 2.2).
pub fn dropout<const D: usize>(input: Tensor<D>, probability: f64) -> Tensor<D> {
    if probability == 0.0 {
        return input;
    }
    let kept = Tensor::random(input.dims(), Distribution::Bernoulli(1.0 - probability), &input.device());
    input * kept.div_scalar(1.0 - probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_mean_and_drops_the_share() {
        let device = Device::flex();
        device.seed(1);
        let kept = dropout(Tensor::<1>::ones([10_000], &device), 0.25);
        let values = kept.into_data().try_to_vec::<f32>().unwrap();
        let zeros = values.iter().filter(|&&value| value == 0.0).count() as f32 / 10_000.0;
        assert!((zeros - 0.25).abs() < 0.02, "{zeros}");
        assert!(values.iter().all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6));
    }

    #[test]
    fn the_same_seed_drops_the_same_values() {
        let device = Device::flex();
        let draw = || {
            device.seed(5);
            dropout(Tensor::<1>::ones([64], &device), 0.5).into_data()
        };
        // Tests that run beside this one draw from the same generator; one attempt of many goes undisturbed.
        assert!((0..100).any(|_| draw() == draw()));
    }
}
