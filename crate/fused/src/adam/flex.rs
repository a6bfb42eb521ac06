//! The update on the CPU.

use burn::backend::{Flex, tensor::FloatTensor};

use super::ops::{AdamOps, GROW_AFTER, MAX_SCALE, PARTS, SCALING, Settings};
use crate::flex::{contiguous, dims, for_each, tensor, values, values_mut};

/// The number of values that a core updates at a time.
const PIECE: usize = 1 << 16;

impl AdamOps for Flex {
    fn squares(parts: FloatTensor<Self>, gradient: FloatTensor<Self>, place: usize) -> FloatTensor<Self> {
        let (mut parts, gradient) = (contiguous(parts), contiguous(gradient));
        let sums = &mut values_mut(&mut parts)[place * PARTS..][..PARTS];
        let pieces = values(&gradient).chunks(PIECE);
        let mut of_pieces = vec![[0.0; PARTS]; pieces.len()];
        for_each(pieces.zip(&mut of_pieces).collect(), |(piece, sums)| {
            pulp::Arch::new().dispatch(|| {
                // `PARTS` sums fit a few vector registers. A single sum would be slower, since each addition waits for the one before, and less accurate, since
                // small squares are lost to rounding in a large sum.
                for chunk in piece.chunks(PARTS) {
                    for (sum, value) in sums.iter_mut().zip(chunk) {
                        *sum += value * value;
                    }
                }
            });
        });
        of_pieces.iter().for_each(|piece| sums.iter_mut().zip(piece).for_each(|(sum, value)| *sum += value));
        parts
    }

    fn clip(
        squared_norm: FloatTensor<Self>,
        scaling: FloatTensor<Self>,
        clip_norm: f32,
        grows: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (squared_norm, scaling) = (contiguous(squared_norm), contiguous(scaling));
        let &[scale, since, overflows] = values(&scaling) else { unreachable!("[SCALING]") };
        let norm = values(&squared_norm)[0].sqrt();
        let growing = grows && since + 1.0 >= GROW_AFTER;
        let clipped = (clip_norm / (norm / scale + 1e-6)).min(1.0) / scale;
        let (factor, scaling) = match norm.is_finite() {
            false => (0.0, [if grows { (0.5 * scale).max(1.0) } else { scale }, 0.0, overflows + 1.0]),
            true if growing => (clipped, [(2.0 * scale).min(MAX_SCALE), 0.0, overflows]),
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
        let factor = values(&contiguous(factor))[0];
        if factor == 0.0 {
            return (parameter, first, second);
        }
        let [parameter, gradient, mut first, mut second] =
            [parameter, gradient, first, second].map(contiguous);
        let Settings { rate, kept, beta_1, beta_2, epsilon } = settings;
        // The caller still holds the parameter, so that an update in place would copy it first.
        let mut moved = Box::new_uninit_slice(values(&parameter).len());
        let work = moved
            .chunks_mut(PIECE)
            .zip(values(&parameter).chunks(PIECE))
            .zip(values(&gradient).chunks(PIECE));
        let work =
            work.zip(values_mut(&mut first).chunks_mut(PIECE).zip(values_mut(&mut second).chunks_mut(PIECE)));
        for_each(work.collect(), |(((moved, parameter), gradient), (first, second))| {
            pulp::Arch::new().dispatch(|| {
                for ((((moved, value), gradient), first), second) in
                    moved.iter_mut().zip(parameter).zip(gradient).zip(first).zip(second)
                {
                    let gradient = gradient * factor;
                    *first = beta_1 * *first + (1.0 - beta_1) * gradient;
                    *second = beta_2 * *second + (1.0 - beta_2) * gradient * gradient;
                    moved.write(kept * value - rate * *first / (second.sqrt() + epsilon));
                }
            });
        });
        // SAFETY: All tensors have the same number of values, so that the loop has written every value.
        let moved = unsafe { moved.assume_init() }.into_vec();
        (tensor(moved, dims(&parameter)), first, second)
    }
}
