//! The boundary between `ownvoice` and JavaScript. Each function converts its arguments, calls the crate and converts the result; there is no maths here.
//!
//! The same module is instantiated in three places: in the worker ([`engine`], [`voice`] and [`tuner`]), in its helpers ([`helper`]) and on the page
//! ([`microphone`], which needs a window).

mod constructors;
pub mod convert;
pub mod engine;
pub mod error;
pub mod helper;
#[cfg(target_arch = "wasm32")]
pub mod micro_kernel;
pub mod microphone;
pub mod objects;
pub mod progress;
pub mod tuner;
pub mod voice;

use wasm_bindgen::prelude::*;

/// Runs once, when the module is instantiated.
#[wasm_bindgen(start)]
fn start() {
    constructors::run();
    console_error_panic_hook::set_once();
    // A browser without relaxed SIMD keeps the portable micro-kernel.
    #[cfg(target_arch = "wasm32")]
    let _ = micro_kernel::install();
}
