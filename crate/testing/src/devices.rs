//! The devices of the enabled features, and models on them.

#![allow(dead_code)] // Each test file uses a part.

use burn::{module::Module, prelude::Device};
use burn_fused::weights::{Metadata, Storage, apply, collect, deserialize, serialize};

/// Returns the CPU, and the Vulkan, CUDA and WebGPU devices whose features are enabled. `VK_DRIVER_FILES` selects a Vulkan driver, such as a software one.
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

/// Creates a model with random weights on the CPU, and the same model on a device.
pub fn twins<M: Module>(new: impl Fn(&Device) -> M, device: &Device) -> [M; 2] {
    let cpu = Device::flex();
    // With this seed no gradient of a single value is a small difference of large ones, where half precision would cause a large relative error.
    cpu.seed(3);
    let model = new(&cpu);
    let bytes = pollster::block_on(serialize(collect(&model), Storage::Full, Metadata::new())).unwrap();
    let other = apply(new(device), deserialize(&bytes).unwrap().0).unwrap();
    [model, other]
}
