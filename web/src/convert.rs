//! Conversion of structs to and from plain JavaScript objects, by serde. tsify declares their TypeScript types.

use serde::{Serialize, de::DeserializeOwned};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

use crate::error::js_error;

/// Converts an object for JavaScript.
pub fn to_js<T: Tsify + Serialize>(object: &T) -> Result<Ts<T>, JsValue> {
    Ts::from_rust(object).map_err(|error| js_error("internal", &error.to_string()))
}

/// Reads an object of JavaScript. Fails with `option-invalid` where a field is absent or of another type.
pub fn from_js<T>(object: &Ts<T>) -> Result<T, JsValue>
where
    T: Tsify + DeserializeOwned,
    T::JsType: Clone,
{
    T::from_js(object.js_value())
        .map_err(|error| js_error("option-invalid", &format!("an argument is invalid: {error}")))
}

/// `Vec<f32>` as a `Float32Array`.
pub mod float32_array {
    use js_sys::Float32Array;
    use serde::{Deserializer, Serializer};
    use tsify::serde_wasm_bindgen::preserve;

    pub fn serialize<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
        preserve::serialize(&Float32Array::from(values), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
        preserve::deserialize::<D, Float32Array>(deserializer).map(|array| array.to_vec())
    }
}

/// `Vec<u32>` as a `Uint32Array`.
pub mod uint32_array {
    use js_sys::Uint32Array;
    use serde::Serializer;
    use tsify::serde_wasm_bindgen::preserve;

    pub fn serialize<S: Serializer>(values: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        preserve::serialize(&Uint32Array::from(values), serializer)
    }
}
