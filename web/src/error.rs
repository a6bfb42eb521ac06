//! Errors as JavaScript throws them: an `Error` with a stable `code`.

use js_sys::{Error as JsError, Reflect};
use wasm_bindgen::prelude::*;

/// Creates an `Error` with the stable code that programs match on.
pub fn js_error(code: &str, message: &str) -> JsValue {
    let error = JsError::new(message);
    set(&error, "code", &code.into());
    error.into()
}

/// Converts the crate's error. `clip` is the index of the clip at fault among several, `found` the value that was measured where a limit decides.
pub fn to_js_error(error: ownvoice::Error) -> JsValue {
    let thrown = js_error(error.code(), &error.to_string());
    if let Some(index) = error.clip_index() {
        set(&thrown, "clip", &(index as u32).into());
    }
    if let Some(measured) = error.measured() {
        set(&thrown, "found", &measured.value.into());
    }
    thrown
}

fn set(error: &JsValue, name: &str, value: &JsValue) {
    Reflect::set(error, &name.into(), value).expect("an error takes any property");
}
