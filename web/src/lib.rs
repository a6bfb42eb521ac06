//! The boundary between `ownvoice` and JavaScript: convert, call the crate, convert back. It holds no maths.
//!
//! One module serves three times: in the worker as [`engine`], with [`voice`] and [`tuner`], in its helpers as [`helper`], on the page as [`capture`], which needs a window.

pub mod capture;
pub mod convert;
pub mod engine;
pub mod helper;
pub mod micro_kernel;
pub mod tuner;
pub mod values;
pub mod voice;

use wasm_bindgen::prelude::*;

unsafe extern "C" {
    /// Runs the static constructors; wasm-ld makes it.
    fn __wasm_call_ctors();
}

/// Runs once, when the module is instantiated.
///
/// burn registers itself in static constructors. Where nothing calls `__wasm_call_ctors`, wasm-ld assumes a command rather than a library and
/// wraps every export in a call of all constructors, at fifty times the cost of a training step. `tests/js/module.test.mjs` guards this.
#[wasm_bindgen(start)]
fn start() {
    // SAFETY: wasm-ld defines it without arguments or result, and this is its only call, before anything else runs.
    unsafe { __wasm_call_ctors() };
    console_error_panic_hook::set_once();
    // A browser without it computes the same with what it has.
    let _ = micro_kernel::install();
}
