//! What our kernels for GPUs share.

use burn::backend::{DType, TensorMetadata};
use burn::tensor::Shape;
use burn_cubecl::{
    cubecl::{self, prelude::*},
    kernel::into_contiguous,
    ops::numeric::empty_device_contiguous_dtype,
    tensor::CubeTensor,
};

/// Threads of a workgroup: WebGPU's least.
pub const THREADS: usize = 256;

/// Four values that are read, added and multiplied as one.
pub type Four = Vector<f32, Const<4>>;

/// Not yet written, on the device of another, in f32.
pub fn empty(like: &CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    empty_of(like, shape, DType::F32)
}

/// The same in another type.
pub fn empty_of(like: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), shape.into(), dtype)
}

pub fn empty_like(like: &CubeTensor) -> CubeTensor {
    empty(like, like.shape())
}

/// A tensor as a kernel reads it: row by row, without gaps.
pub fn input(tensor: CubeTensor) -> BufferArg {
    into_contiguous(tensor).into_buffer_arg()
}

/// A tensor of [`empty`] as a kernel writes it.
pub fn output(tensor: &CubeTensor) -> BufferArg {
    tensor.clone().into_buffer_arg()
}

/// Workgroups of [`THREADS`] for `count` values. WebGPU allows 65,535: kernels stride.
pub fn cubes(count: usize) -> CubeCount {
    CubeCount::Static(count.div_ceil(THREADS).clamp(1, 65_535) as u32, 1, 1)
}

pub fn dim() -> CubeDim {
    CubeDim::new_1d(THREADS as u32)
}

/// Bounded, since some drivers' `exp` and `tanh` make NaNs of what overflows; never exactly zero.
#[cube]
pub fn sigmoid(x: f32) -> f32 {
    1.0f32 / (1.0f32 + (-clamp(x, -80.0f32, 80.0f32)).exp())
}

/// Bounded likewise.
#[cube]
pub fn tanh(x: f32) -> f32 {
    1.0f32 - 2.0f32 / ((2.0f32 * clamp(x, -15.0f32, 15.0f32)).exp() + 1.0f32)
}

/// Threads that [`of_cube`] adds up first, and how many such groups there are: two waits, where halving would take eight.
const GROUP: usize = 16;

/// The sum of one value a thread, in all threads.
#[cube]
pub fn sum_of_cube(value: f32) -> f32 {
    of_cube(value, false)
}

/// The largest of one value a thread, in all threads.
#[cube]
pub fn max_of_cube(value: f32) -> f32 {
    of_cube(value, true)
}

#[cube]
fn of_cube(value: f32, #[comptime] largest: bool) -> f32 {
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
