//! Patches on the CPU: the rows of pictures are divided among all cores.

use std::mem::MaybeUninit;

use burn::backend::{Flex, flex::FlexTensor, tensor::FloatTensor};

use super::{
    Patch,
    ops::{PatchBackwardOps, PatchOps},
};
use crate::flex::{contiguous, dims, for_each, tensor, values, written};

fn five(tensor: &FlexTensor) -> [usize; 5] {
    dims(tensor).try_into().expect("five dimensions")
}

impl Patch {
    /// Returns the place that a tap of a patch reads, or `None` outside the picture.
    pub(crate) fn neighbour(self, patch: usize, tap: usize, places: usize) -> Option<usize> {
        (patch * self.stride + tap).checked_sub(self.side / 2).filter(|&place| place < places)
    }

    /// Returns the patches that read a place, each with the tap that reads it.
    pub(crate) fn readers(self, place: usize, places: usize) -> impl Iterator<Item = (usize, usize)> {
        let ahead = place + self.side / 2;
        let first = (ahead + 1).saturating_sub(self.side).div_ceil(self.stride);
        let last = (ahead / self.stride + 1).min(self.count(places));
        (first..last).map(move |patch| (patch, ahead - patch * self.stride))
    }
}

impl PatchOps for Flex {
    fn unfold_patches(input: FloatTensor<Self>, patch: Patch) -> FloatTensor<Self> {
        let input = contiguous(input);
        let [batch, height, width, length, channels] = five(&input);
        let (rows, columns, taps) = (patch.count(height), patch.count(width), patch.side * patch.side);
        let row = columns * length * taps * channels;
        let from = values(&input);
        // SAFETY: a share is a row of patches, and every patch is written for every picture.
        let unfolded = unsafe {
            written(batch * rows * row, row, |number, made| {
                let (item, at) = (number / rows, number % rows);
                for (column, made) in made.chunks_exact_mut(length * taps * channels).enumerate() {
                    let place = |tap: usize| {
                        let y = patch.neighbour(at, tap / patch.side, height)?;
                        let x = patch.neighbour(column, tap % patch.side, width)?;
                        Some(&from[((item * height + y) * width + x) * length * channels..])
                    };
                    let places: Vec<Option<&[f32]>> = (0..taps).map(place).collect();
                    for (picture, made) in made.chunks_exact_mut(taps * channels).enumerate() {
                        for (place, made) in places.iter().zip(made.chunks_exact_mut(channels)) {
                            match place {
                                Some(place) => {
                                    made.write_copy_of_slice(&place[picture * channels..][..channels]);
                                }
                                None => made.fill(MaybeUninit::new(0.0)),
                            }
                        }
                    }
                }
            })
        };
        tensor(unfolded, vec![batch, rows, columns, length, taps * channels])
    }
}

impl PatchBackwardOps for Flex {
    fn fold_patches(
        unfolded: FloatTensor<Self>,
        [batch, height, width, length, channels]: [usize; 5],
        patch: Patch,
    ) -> FloatTensor<Self> {
        let unfolded = contiguous(unfolded);
        let (rows, columns, taps) = (patch.count(height), patch.count(width), patch.side * patch.side);
        let from = values(&unfolded);
        let mut folded = vec![0.0; batch * height * width * length * channels];
        let work = folded.chunks_mut(width * length * channels).enumerate().collect();
        for_each(work, |(number, sums): (usize, &mut [f32])| {
            let (item, y) = (number / height, number % height);
            for (x, sums) in sums.chunks_exact_mut(length * channels).enumerate() {
                for (row, down) in patch.readers(y, height) {
                    for (column, across) in patch.readers(x, width) {
                        let first = ((item * rows + row) * columns + column) * length * taps;
                        let tap = down * patch.side + across;
                        for (picture, sums) in sums.chunks_exact_mut(channels).enumerate() {
                            let grad = &from[(first + picture * taps + tap) * channels..][..channels];
                            sums.iter_mut().zip(grad).for_each(|(sum, grad)| *sum += grad);
                        }
                    }
                }
            }
        });
        tensor(folded, vec![batch, height, width, length, channels])
    }
}
