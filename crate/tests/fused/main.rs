//! The fused operations on the CPU, and on the GPU that is built in, if one is.

mod cases;
#[path = "../common/devices.rs"]
mod devices;

use devices::devices;

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
