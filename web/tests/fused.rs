//! Compares the fused operations on WebGPU with plain tensor code on the same adapter, in the same cases as natively.
#![cfg(all(target_arch = "wasm32", feature = "webgpu"))]

#[path = "../../crate/fused/tests/fused/cases.rs"]
mod cases;

use std::cell::OnceCell;

use burn::prelude::Device;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Returns the browser's adapter; without one the test fails. It is initialised once, because a worker has one WebGPU runtime.
async fn device() -> Device {
    thread_local! {
        static DEVICE: OnceCell<Device> = const { OnceCell::new() };
    }
    if let Some(device) = DEVICE.with(|device| device.get().cloned()) {
        return device;
    }
    let device = Device::wgpu_options().tasks_max(32).init_async().await.expect("a WebGPU adapter");
    DEVICE.with(|cell| cell.get_or_init(|| device).clone())
}

macro_rules! on_the_adapter {
    ($($case:ident)*) => {
        $(#[wasm_bindgen_test]
        async fn $case() {
            cases::$case(&device().await).await;
        })*
    };
}

cases::each!(on_the_adapter);

#[wasm_bindgen_test]
async fn half_precision() {
    if !cases::half_precision(&device().await).await {
        wasm_bindgen_test::console_log!("NOT RUN: this adapter has no shader-f16");
    }
}
