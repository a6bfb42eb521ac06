//! Tests of the fused operations on the CPU, and on the GPU if the build supports one.

mod cases;

use burn::prelude::Device;

/// The CPU and the graphics devices that are built in.
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

macro_rules! on_all_devices {
    ($($case:ident)*) => {
        $(#[test]
        fn $case() {
            devices().iter().for_each(|device| pollster::block_on(cases::$case(device)));
        })*
    };
}

cases::each!(on_all_devices);

#[test]
fn attention_scan() {
    devices().iter().for_each(|device| pollster::block_on(cases::attention_scan(device)));
}

#[test]
fn half_precision() {
    for device in devices() {
        assert!(
            pollster::block_on(cases::half_precision(&device)),
            "{device:?} does not support half precision"
        );
    }
}
