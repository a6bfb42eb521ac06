//! Between JavaScript values and the crate's own.

use js_sys::{Error as JsError, Object, Reflect};
use wasm_bindgen::prelude::*;

/// An `Error` with the stable code that programs match on.
pub fn js_error(code: &str, message: &str) -> JsValue {
    let error = JsError::new(message);
    set(&error, "code", &code.into());
    error.into()
}

/// The crate's error, as JavaScript throws it: with the number of the clip that it is about, if of many, and what was found in it.
pub fn fail(error: ownvoice::Error) -> JsValue {
    let thrown = js_error(error.code(), &error.to_string());
    if let Some(index) = error.clip_index() {
        set(&thrown, "clip", &(index as u32).into());
    }
    if let Some(measured) = error.measured() {
        set(&thrown, "found", &measured.value.into());
    }
    thrown
}

/// A plain object.
pub fn object<const N: usize>(fields: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        set(&object, name, &value);
    }
    object.into()
}

fn set(target: &JsValue, name: &str, value: &JsValue) {
    Reflect::set(target, &name.into(), value).expect("a plain object takes any field");
}
