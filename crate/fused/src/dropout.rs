//! Dropout (Srivastava et al. 2014) with random numbers of the device.

use burn::{prelude::*, tensor::Distribution};

/// Zeroes each value with `probability` and divides the others by `1 - probability`, which keeps the mean.
///
/// There is no mode in which it does nothing, since the prenet of Tacotron 2 keeps its dropout during synthesis (Shen et al. 2018, section 2.2); callers without
/// dropout leave the call out.
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
    fn dropout_zeroes_the_given_share_and_scales_the_rest() {
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
        // Tests in other threads draw from the same generator, so that some attempts fail.
        assert!((0..100).any(|_| draw() == draw()));
    }
}
