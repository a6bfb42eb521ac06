//! Patches on GPUs: one dispatch forward and one backward, in which a thread computes one value at a time.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use burn_cubecl::{
    CubeBackend,
    cubecl::{self, prelude::*},
    tensor::CubeTensor,
};

use super::{
    Patch,
    ops::{PatchBackwardOps, PatchOps},
};
use crate::cube::{THREADS, cubes, dim, empty, input, output};

/// Computes the values of the patches, or, if `fold`, those of the picture.
///
/// * `height`, `width`: the size of the picture
#[cube(launch_unchecked)]
fn patch_kernel(
    input: &[f32],
    output: &mut [f32],
    count: u32,
    height: u32,
    width: u32,
    length: u32,
    channels: u32,
    #[comptime] side: usize,
    #[comptime] stride: usize,
    #[comptime] fold: bool,
) {
    let (height, width, length, channels) =
        (height as usize, width as usize, length as usize, channels as usize);
    let (rows, columns) = ((height + stride - 1) / stride, (width + stride - 1) / stride);
    let mut at = ABSOLUTE_POS;
    while at < count as usize {
        let channel = at % channels;
        let mut value = 0.0f32;
        if comptime!(fold) {
            let place = at / channels;
            let (picture, place) = (place % length, place / length);
            let (x, place) = (place % width, place / width);
            let (y, item) = (place % height, place / height);
            #[unroll]
            for down in 0..side {
                #[unroll]
                for across in 0..side {
                    // The position of the patch's first tap plus half a patch; the tap may be outside the picture.
                    let (top, left) = (y + comptime!(side / 2), x + comptime!(side / 2));
                    if top >= down && left >= across {
                        let (top, left) = (top - down, left - across);
                        if top % stride == 0
                            && left % stride == 0
                            && top / stride < rows
                            && left / stride < columns
                        {
                            let from = (item * rows + top / stride) * columns + left / stride;
                            let tap =
                                (from * length + picture) * comptime!(side * side) + down * side + across;
                            value += input[tap * channels + channel];
                        }
                    }
                }
            }
        } else {
            let tap = (at / channels) % comptime!(side * side);
            let place = at / (channels * comptime!(side * side));
            let (picture, place) = (place % length, place / length);
            let (column, place) = (place % columns, place / columns);
            let (row, item) = (place % rows, place / rows);
            // The position, shifted by half a patch.
            let (y, x) = (row * stride + tap / side, column * stride + tap % side);
            if y >= comptime!(side / 2)
                && y < height + comptime!(side / 2)
                && x >= comptime!(side / 2)
                && x < width + comptime!(side / 2)
            {
                let from = (item * height + y - comptime!(side / 2)) * width + x - comptime!(side / 2);
                value = input[(from * length + picture) * channels + channel];
            }
        }
        output[at] = value;
        at += CUBE_COUNT_X as usize * THREADS;
    }
}

/// Launches the kernel.
///
/// * `shape`:   the shape of the result
/// * `picture`: the shape of the picture, `[B, H, W, L, C]`
fn launch(
    tensor: CubeTensor,
    shape: [usize; 5],
    picture: [usize; 5],
    patch: Patch,
    fold: bool,
) -> CubeTensor {
    let [_, height, width, length, channels] = picture;
    let (made, client) = (empty(&tensor, shape), tensor.client.clone());
    let count = shape.iter().product::<usize>();
    // SAFETY: indices end at the last value of the output and stay inside the picture of an item.
    unsafe {
        patch_kernel::launch_unchecked(
            &client,
            cubes(count),
            dim(),
            input(tensor),
            output(&made),
            count as u32,
            height as u32,
            width as u32,
            length as u32,
            channels as u32,
            patch.side,
            patch.stride,
            fold,
        );
    }
    made
}

impl PatchOps for CubeBackend {
    fn unfold_patches(tensor: FloatTensor<Self>, patch: Patch) -> FloatTensor<Self> {
        let picture @ [batch, height, width, length, channels] = tensor.shape().dims::<5>();
        let taps = patch.side * patch.side;
        let shape = [batch, patch.count(height), patch.count(width), length, taps * channels];
        launch(tensor, shape, picture, patch, false)
    }
}

impl PatchBackwardOps for CubeBackend {
    fn fold_patches(unfolded: FloatTensor<Self>, shape: [usize; 5], patch: Patch) -> FloatTensor<Self> {
        launch(unfolded, shape, shape, patch, true)
    }
}
