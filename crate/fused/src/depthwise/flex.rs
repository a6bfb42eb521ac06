//! Depthwise convolution on the CPU: rows of pixels are divided among all cores, and the channels of a pixel fill vector registers.

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::ops::{DepthwiseBackwardOps, DepthwiseOps};
use crate::{
    flex::{contiguous, dims, for_each, tensor, values},
    patches::Patch,
};

fn four(tensor: &FlexTensor) -> [usize; 4] {
    dims(tensor).try_into().expect("four dimensions")
}

/// Adds the products of two slices to sums.
#[inline(always)]
fn add_products(sums: &mut [f32], a: &[f32], b: &[f32]) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum += a * b;
    }
}

impl DepthwiseOps for Flex {
    fn convolve_depthwise(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        patch: Patch,
    ) -> FloatTensor<Self> {
        let (input, weight) = (contiguous(input), contiguous(weight));
        let [batch, height, width, channels] = four(&input);
        let (rows, columns) = (patch.count(height), patch.count(width));
        let (from, kernel) = (values(&input), values(&weight));
        let mut made = vec![0.0; batch * rows * columns * channels];
        for_each(
            made.chunks_mut(columns * channels).enumerate().collect(),
            |(number, made): (usize, &mut [f32])| {
                let (item, row) = (number / rows, number % rows);
                pulp::Arch::new().dispatch(|| {
                    for (column, sums) in made.chunks_exact_mut(channels).enumerate() {
                        for (tap, kernel) in kernel.chunks_exact(channels).enumerate() {
                            let y = patch.neighbour(row, tap / patch.side, height);
                            let x = patch.neighbour(column, tap % patch.side, width);
                            if let (Some(y), Some(x)) = (y, x) {
                                let place = ((item * height + y) * width + x) * channels;
                                add_products(sums, &from[place..][..channels], kernel);
                            }
                        }
                    }
                });
            },
        );
        tensor(made, vec![batch, rows, columns, channels])
    }
}

impl DepthwiseBackwardOps for Flex {
    fn depthwise_backward_input(
        grad: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        [batch, height, width, channels]: [usize; 4],
        patch: Patch,
    ) -> FloatTensor<Self> {
        let (grad, weight) = (contiguous(grad), contiguous(weight));
        let (rows, columns) = (patch.count(height), patch.count(width));
        let (from, kernel) = (values(&grad), values(&weight));
        let mut made = vec![0.0; batch * height * width * channels];
        for_each(
            made.chunks_mut(width * channels).enumerate().collect(),
            |(number, made): (usize, &mut [f32])| {
                let (item, y) = (number / height, number % height);
                pulp::Arch::new().dispatch(|| {
                    for (x, sums) in made.chunks_exact_mut(channels).enumerate() {
                        for (row, down) in patch.readers(y, height) {
                            for (column, across) in patch.readers(x, width) {
                                let place = ((item * rows + row) * columns + column) * channels;
                                let tap = (down * patch.side + across) * channels;
                                add_products(sums, &from[place..][..channels], &kernel[tap..][..channels]);
                            }
                        }
                    }
                });
            },
        );
        tensor(made, vec![batch, height, width, channels])
    }

    fn depthwise_backward_weight(
        grad: FloatTensor<Self>,
        input: FloatTensor<Self>,
        patch: Patch,
    ) -> FloatTensor<Self> {
        let (grad, input) = (contiguous(grad), contiguous(input));
        let [batch, height, width, channels] = four(&input);
        let (rows, columns) = (patch.count(height), patch.count(width));
        let (gradients, from) = (values(&grad), values(&input));
        let count = patch.side * patch.side * channels;
        // Each item has sums of its own, which are added in order, so that the result does not depend on the number of cores.
        let mut of_items = vec![0.0; batch * count];
        for_each(of_items.chunks_mut(count).enumerate().collect(), |(item, sums): (usize, &mut [f32])| {
            pulp::Arch::new().dispatch(|| {
                for row in 0..rows {
                    for column in 0..columns {
                        let place = ((item * rows + row) * columns + column) * channels;
                        let gradient = &gradients[place..][..channels];
                        for (tap, sums) in sums.chunks_exact_mut(channels).enumerate() {
                            let y = patch.neighbour(row, tap / patch.side, height);
                            let x = patch.neighbour(column, tap % patch.side, width);
                            if let (Some(y), Some(x)) = (y, x) {
                                let place = ((item * height + y) * width + x) * channels;
                                add_products(sums, &from[place..][..channels], gradient);
                            }
                        }
                    }
                }
            });
        });
        let mut sums = vec![0.0; count];
        for of_item in of_items.chunks_exact(count) {
            sums.iter_mut().zip(of_item).for_each(|(sum, value)| *sum += value);
        }
        tensor(sums, vec![patch.side * patch.side, channels])
    }
}
