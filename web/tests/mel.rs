//! Compares log-mels in the browser with librosa's values, in the same cases as natively.
#![cfg(target_arch = "wasm32")]

#[path = "../../crate/testing/src/librosa.rs"]
mod librosa;

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn speech_16k() {
    librosa::speech_16k();
}

#[wasm_bindgen_test]
fn nvidia_22k() {
    librosa::nvidia_22k();
}
