//! Products on the CPU by the browser's own tile, against plain tensor code: the same cases as natively.
#![cfg(target_arch = "wasm32")]

#[allow(dead_code)] // Others take the rest.
#[path = "../../crate/tests/fused/cases.rs"]
mod cases;

use burn::prelude::Device;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
async fn products_are_what_they_are_with_any_tile() {
    assert!(ownvoice_web::tile::install().expect("it starts"), "this browser multiplies and adds in one instruction");
    let device = Device::flex();
    cases::products(&device).await;
    cases::product_of_two(&device).await;
    cases::recurrence(&device).await;
    cases::convolution(&device).await;
}
