//! Tests of the fused operations on the CPU, and on the GPU if the build supports one.

mod cases;
#[path = "../common/devices.rs"]
mod devices;

use devices::devices;

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
