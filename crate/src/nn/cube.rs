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

/// The sum of one value a thread, in all threads.
#[cube]
pub fn sum_of_cube(value: f32) -> f32 {
    let place = UNIT_POS_X as usize;
    let mut shared = Shared::<[f32]>::new_slice(THREADS);
    shared[place] = value;
    sync_cube();
    let mut half = comptime!(THREADS / 2).runtime();
    while half > 0 {
        if place < half {
            let other = shared[place + half];
            shared[place] += other;
        }
        half /= 2;
        sync_cube();
    }
    shared[0]
}

/// The largest of one value a thread, in all threads.
#[cube]
pub fn max_of_cube(value: f32) -> f32 {
    let place = UNIT_POS_X as usize;
    let mut shared = Shared::<[f32]>::new_slice(THREADS);
    shared[place] = value;
    sync_cube();
    let mut half = comptime!(THREADS / 2).runtime();
    while half > 0 {
        if place < half {
            let other = shared[place + half];
            shared[place] = max(shared[place], other);
        }
        half /= 2;
        sync_cube();
    }
    shared[0]
}
