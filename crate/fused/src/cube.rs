//! Helpers shared by the GPU kernels.

use burn::backend::{DType, TensorMetadata};
use burn::tensor::Shape;
use burn_cubecl::{
    cubecl::{self, prelude::*},
    kernel::into_contiguous,
    ops::numeric::empty_device_contiguous_dtype,
    tensor::CubeTensor,
};

/// The threads of a workgroup: the number that every WebGPU device supports.
pub const THREADS: usize = 256;

/// A vector of four values.
pub type Four = Vector<f32, Const<4>>;

/// Returns an uninitialised tensor in f32 on the device of `like`.
pub fn empty(like: &CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    empty_of(like, shape, DType::F32)
}

/// Returns an uninitialised tensor of a type on the device of `like`.
pub fn empty_of(like: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), shape.into(), dtype)
}

/// Returns an uninitialised tensor in f32 with the shape and the device of `like`.
pub fn empty_like(like: &CubeTensor) -> CubeTensor {
    empty(like, like.shape())
}

/// Returns a tensor as a kernel's input, copied if it is not contiguous.
pub fn input(tensor: CubeTensor) -> BufferArg {
    into_contiguous(tensor).into_buffer_arg()
}

/// Returns a tensor of [`empty`] as a kernel's output.
pub fn output(tensor: &CubeTensor) -> BufferArg {
    tensor.clone().into_buffer_arg()
}

/// Returns the number of workgroups for `count` values. It is at most the 65,535 that WebGPU allows, so that kernels loop with a stride.
pub fn cubes(count: usize) -> CubeCount {
    CubeCount::Static(count.div_ceil(THREADS).clamp(1, 65_535) as u32, 1, 1)
}

/// Returns the size of a workgroup.
pub fn dim() -> CubeDim {
    CubeDim::new_1d(THREADS as u32)
}

/// Computes the logistic function. The argument is clamped, since `exp` returns NaN instead of infinity on some drivers; the result is never exactly zero.
#[cube]
pub fn sigmoid(x: f32) -> f32 {
    1.0f32 / (1.0f32 + (-clamp(x, -80.0f32, 80.0f32)).exp())
}

/// Computes the hyperbolic tangent, with a clamped argument as in [`sigmoid`].
#[cube]
pub fn tanh(x: f32) -> f32 {
    1.0f32 - 2.0f32 / ((2.0f32 * clamp(x, -15.0f32, 15.0f32)).exp() + 1.0f32)
}

/// The number of groups that [`reduce_cube`] reduces first. Two levels need two barriers, where a binary tree needs eight.
const GROUP: usize = 16;

/// Returns the sum of the values of all threads, in every thread.
#[cube]
pub fn sum_of_cube(value: f32) -> f32 {
    reduce_cube(value, false)
}

/// Returns the largest of the values of all threads, in every thread.
#[cube]
pub fn max_of_cube(value: f32) -> f32 {
    reduce_cube(value, true)
}

#[cube]
fn reduce_cube(value: f32, #[comptime] largest: bool) -> f32 {
    let place = UNIT_POS_X as usize;
    let mut values = Shared::<[f32]>::new_slice(THREADS);
    let mut groups = Shared::<[f32]>::new_slice(GROUP);
    values[place] = value;
    sync_cube();
    if place < GROUP {
        let mut group = values[place];
        #[unroll]
        for other in 1..comptime!(THREADS / GROUP) {
            group = joined(group, values[place + comptime!(other * GROUP)], largest);
        }
        groups[place] = group;
    }
    sync_cube();
    let mut all = groups[0];
    #[unroll]
    for group in 1..GROUP {
        all = joined(all, groups[group], largest);
    }
    all
}

#[cube]
fn joined(a: f32, b: f32, #[comptime] largest: bool) -> f32 {
    if comptime!(largest) { max(a, b) } else { a + b }
}
