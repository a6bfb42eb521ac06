//! The fused operations on the CPU, and on the GPU that is built in, if one is.

mod cases;

use burn::prelude::Device;

/// Vulkan, CUDA or what WebGPU computes on if built in; `VK_DRIVER_FILES` picks among Vulkan's drivers, software ones too.
fn devices() -> Vec<Device> {
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

#[test]
fn recurrence() {
    devices().iter().for_each(|device| pollster::block_on(cases::recurrence(device)));
}

#[test]
fn matmul() {
    devices().iter().for_each(|device| pollster::block_on(cases::matmul(device)));
}

#[test]
fn matmul_concat() {
    devices().iter().for_each(|device| pollster::block_on(cases::matmul_concat(device)));
}

#[test]
fn convolution() {
    devices().iter().for_each(|device| pollster::block_on(cases::convolution(device)));
}

#[test]
fn patches() {
    devices().iter().for_each(|device| pollster::block_on(cases::patches(device)));
}

#[test]
fn loss() {
    devices().iter().for_each(|device| pollster::block_on(cases::loss(device)));
}

#[test]
fn optimizer() {
    devices().iter().for_each(|device| pollster::block_on(cases::optimizer(device)));
}

#[test]
fn overflow() {
    devices().iter().for_each(|device| pollster::block_on(cases::overflow(device)));
}

#[test]
fn half_precision() {
    for device in devices() {
        assert!(pollster::block_on(cases::half_precision(&device)), "{device:?} has no half precision");
    }
}

#[test]
fn attention() {
    devices().iter().for_each(|device| pollster::block_on(cases::attention(device)));
}

#[test]
fn attention_scan() {
    devices().iter().for_each(|device| pollster::block_on(cases::attention_scan(device)));
}
