//! The spectrogram loss on the CPU.

use burn::backend::{Flex, tensor::FloatTensor};

use super::ops::{LossBackwardOps, LossOps, PARTS};
use crate::flex::{contiguous, dims, tensor, values, values_mut};

/// The number of independent sums over a frame, so that the compiler vectorises them.
const LANES: usize = 16;

impl LossOps for Flex {
    fn errors(
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let [predicted, targets, mask] = [predicted, targets, mask].map(contiguous);
        let mels = dims(&predicted)[2];
        let mut sums = vec![0.0; PARTS];
        pulp::Arch::new().dispatch(|| {
            let frames = values(&predicted).chunks_exact(mels).zip(values(&targets).chunks_exact(mels));
            for (frame, ((predicted, targets), mask)) in frames.zip(values(&mask)).enumerate() {
                let mut lanes = [0.0f32; LANES];
                for (predicted, targets) in predicted.chunks(LANES).zip(targets.chunks(LANES)) {
                    for ((sum, predicted), target) in lanes.iter_mut().zip(predicted).zip(targets) {
                        let error = (predicted - target) * mask;
                        *sum += error.abs() + error * error;
                    }
                }
                sums[frame % PARTS] += lanes.iter().sum::<f32>();
            }
        });
        tensor(sums, vec![PARTS])
    }
}

impl LossBackwardOps for Flex {
    fn errors_backward(
        grad: FloatTensor<Self>,
        predicted: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        mask: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let [grad, mut predicted, targets, mask] = [grad, predicted, targets, mask].map(contiguous);
        let mels = dims(&predicted)[2];
        let grad_predicted = values_mut(&mut predicted);
        pulp::Arch::new().dispatch(|| {
            let frames = grad_predicted.chunks_exact_mut(mels).zip(values(&targets).chunks_exact(mels));
            for (frame, ((predicted, targets), mask)) in frames.zip(values(&mask)).enumerate() {
                let grad = values(&grad)[frame % PARTS] * mask;
                for (predicted, target) in predicted.iter_mut().zip(targets) {
                    let error = (*predicted - target) * mask;
                    let sign = f32::from(u8::from(error > 0.0)) - f32::from(u8::from(error < 0.0));
                    *predicted = grad * (sign + 2.0 * error);
                }
            }
        });
        predicted
    }
}
