//! The update on the CPU.

use burn::backend::{Flex, tensor::FloatTensor};

use super::ops::{AdamOps, PARTS, Settings};
use crate::nn::flex::{dims, packed, tensor, values};

impl AdamOps for Flex {
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self> {
        let gradient = packed(gradient);
        let (shape, mut sums) = (dims(&parts), values(&packed(parts)).to_vec());
        pulp::Arch::new().dispatch(|| {
            // As many sums as a few registers hold: neither one after the other, nor losing small squares in a large sum.
            for chunk in values(&gradient).chunks(PARTS) {
                for (sum, value) in sums[place * PARTS..][..PARTS].iter_mut().zip(chunk) {
                    *sum += value * value;
                }
            }
        });
        tensor(sums, shape)
    }

    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        squared_norm: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let [parameter, gradient, first, second] = [parameter, gradient, first, second].map(packed);
        let Settings { rate, kept, beta_1, beta_2, epsilon, .. } = settings;
        let scale = settings.scale(values(&squared_norm)[0]);
        let count = values(&parameter).len();
        let gradient = &values(&gradient)[..count];
        let mut weights = values(&parameter).to_vec();
        let (mut firsts, mut seconds) = (values(&first).to_vec(), values(&second).to_vec());
        let (moving, first_moving, second_moving) = (&mut weights[..count], &mut firsts[..count], &mut seconds[..count]);
        pulp::Arch::new().dispatch(|| {
            for i in 0..count {
                let gradient = gradient[i] * scale;
                first_moving[i] = beta_1 * first_moving[i] + (1.0 - beta_1) * gradient;
                second_moving[i] = beta_2 * second_moving[i] + (1.0 - beta_2) * gradient * gradient;
                moving[i] = kept * moving[i] - rate * first_moving[i] / (second_moving[i].sqrt() + epsilon);
            }
        });
        (tensor(weights, dims(&parameter)), tensor(firsts, dims(&first)), tensor(seconds, dims(&second)))
    }
}
