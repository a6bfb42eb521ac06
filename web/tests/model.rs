//! Compares the model in the browser, on the CPU device and on WebGPU, with values that the same code computed natively.
#![cfg(target_arch = "wasm32")]

use burn::prelude::Device;
use ownvoice::check::self_test::{NATIVE, figures};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Relative tolerance: the order of sums differs between devices.
const TOLERANCE: f32 = 1e-4;

async fn agrees(device: Device) {
    for ((name, got), (expected_name, expected)) in figures(&device).await.unwrap().into_iter().zip(NATIVE) {
        assert_eq!(name, expected_name);
        assert!((got - expected).abs() <= TOLERANCE * expected.abs(), "{name}: {got}, natively {expected}");
    }
}

#[wasm_bindgen_test]
async fn on_the_cpu() {
    agrees(Device::flex()).await;
}

/// Runs on the browser's adapter; without one the test fails.
#[cfg(feature = "webgpu")]
#[wasm_bindgen_test]
async fn on_webgpu() {
    let device = Device::wgpu_options().tasks_max(32).init_async().await.expect("a WebGPU adapter");
    agrees(device).await;
}
