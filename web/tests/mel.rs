//! Log-mels in the browser against librosa's values: the same cases as natively.
#![cfg(target_arch = "wasm32")]

#[path = "../../crate/tests/common/librosa.rs"]
mod librosa;

use ownvoice::audio::mel::{MelConfig, MelExtractor};
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
