//! Compares matmuls by the micro-kernel with relaxed SIMD with plain tensor code, in the same cases as natively.
#![cfg(target_arch = "wasm32")]

#[allow(dead_code, unused_imports, unused_macros)] // Other tests use the rest.
#[path = "../../crate/fused/tests/fused/cases.rs"]
mod cases;

use burn::prelude::Device;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
async fn products_are_equal_with_any_micro_kernel() {
    assert!(
        ownvoice_web::micro_kernel::install().expect("it starts"),
        "this browser multiplies and adds in one instruction"
    );
    let device = Device::flex();
    cases::matmul(&device).await;
    cases::matmul_concat(&device).await;
    cases::recurrence(&device).await;
    cases::convolution(&device).await;
}
