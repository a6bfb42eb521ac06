//! The callback between two parts of a long call.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// A callback that is awaited between two parts of a long call, so that the worker can take messages. Returns whether to continue.
    #[derive(Clone)]
    #[wasm_bindgen(extends = Function, typescript_type = "(done: number, of: number) => Promise<boolean>")]
    pub type OnProgress;
}

/// Calls `on_progress`. Returns whether to continue: false also where the callback throws.
pub async fn continues(on_progress: &OnProgress, done: usize, of: usize) -> bool {
    match on_progress.call2(&JsValue::NULL, &done.into(), &of.into()) {
        Ok(answer) => {
            JsFuture::from(answer.unchecked_into::<Promise>()).await.is_ok_and(|answer| answer.is_truthy())
        }
        Err(_) => false,
    }
}
