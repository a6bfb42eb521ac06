//! The update on the CPU.

use burn::backend::{Flex, tensor::FloatTensor};

use super::ops::{AdamOps, GROW_AFTER, PARTS, SCALE_MAX, SCALING, Settings};
use crate::nn::flex::{packed, tensor, values, values_mut};

impl AdamOps for Flex {
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self> {
        let (mut parts, gradient) = (packed(parts), packed(gradient));
        let sums = &mut values_mut(&mut parts)[place * PARTS..][..PARTS];
        pulp::Arch::new().dispatch(|| {
            // As many sums as a few registers hold: neither one after the other, nor losing small squares in a large sum.
            for chunk in values(&gradient).chunks(PARTS) {
                for (sum, value) in sums.iter_mut().zip(chunk) {
                    *sum += value * value;
                }
            }
        });
        parts
    }

    fn clip(squared_norm: FloatTensor<Self>, scaling: FloatTensor<Self>, clip_norm: f32, grows: bool) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (squared_norm, scaling) = (packed(squared_norm), packed(scaling));
        let &[scale, since, overflows] = values(&scaling) else { unreachable!("[SCALING]") };
        let norm = values(&squared_norm)[0].sqrt();
        let growing = grows && since + 1.0 >= GROW_AFTER;
        let clipped = (clip_norm / (norm / scale + 1e-6)).min(1.0) / scale;
        let (factor, scaling) = match norm.is_finite() {
            false => (0.0, [if grows { (0.5 * scale).max(1.0) } else { scale }, 0.0, overflows + 1.0]),
            true if growing => (clipped, [(2.0 * scale).min(SCALE_MAX), 0.0, overflows]),
            true => (clipped, [scale, since + 1.0, overflows]),
        };
        (tensor(vec![factor], vec![1]), tensor(scaling.to_vec(), vec![SCALING]))
    }

    fn update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        factor: FloatTensor<Self>,
        settings: Settings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let factor = values(&packed(factor))[0];
        if factor == 0.0 {
            return (parameter, first, second);
        }
        let [mut parameter, gradient, mut first, mut second] = [parameter, gradient, first, second].map(packed);
        let Settings { rate, kept, beta_1, beta_2, epsilon } = settings;
        let (moving, gradient) = (values_mut(&mut parameter), values(&gradient));
        let count = moving.len();
        let (gradient, first_moving, second_moving) = (&gradient[..count], &mut values_mut(&mut first)[..count], &mut values_mut(&mut second)[..count]);
        pulp::Arch::new().dispatch(|| {
            for i in 0..count {
                let gradient = gradient[i] * factor;
                first_moving[i] = beta_1 * first_moving[i] + (1.0 - beta_1) * gradient;
                second_moving[i] = beta_2 * second_moving[i] + (1.0 - beta_2) * gradient * gradient;
                moving[i] = kept * moving[i] - rate * first_moving[i] / (second_moving[i].sqrt() + epsilon);
            }
        });
        (parameter, first, second)
    }
}
