//! The devices that are built in, and models on them.

#![allow(dead_code)] // Each test file uses its own share.

use burn::{module::Module, prelude::Device};
use ownvoice::weights::{Metadata, Storage, apply, collect, deserialize, serialize};

/// The CPU, and Vulkan, CUDA or what WebGPU computes on if built in; `VK_DRIVER_FILES` picks among Vulkan's drivers, software ones too.
pub fn devices() -> Vec<Device> {
    vec![
        Device::flex(),
        #[cfg(feature = "webgpu")]
        Device::wgpu(burn::tensor::DeviceKind::default()),
        #[cfg(feature = "vulkan")]
        Device::vulkan(burn::tensor::DeviceKind::default()),
        #[cfg(feature = "cuda")]
        Device::cuda(0),
    ]
}

/// A model of random weights on the CPU, and the same on a device.
pub fn twins<M: Module>(new: impl Fn(&Device) -> M, device: &Device) -> [M; 2] {
    let cpu = Device::flex();
    // A seed at which no gradient of a single value is the small difference of large ones: half precision would show there, and rightly so.
    cpu.seed(3);
    let model = new(&cpu);
    let bytes = pollster::block_on(serialize(collect(&model), Storage::Full, Metadata::new())).unwrap();
    let other = apply(new(device), deserialize(&bytes).unwrap().0).unwrap();
    [model, other]
}
