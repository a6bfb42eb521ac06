//! The boundary between `ownvoice` and JavaScript: convert, call the crate, convert back. It holds no maths.
//!
//! One module serves three times: in the worker as [`engine`], with [`voice`] and [`tuner`], in its helpers as [`helper`], on the page as [`capture`], which needs a window.

pub mod capture;
mod constructors;
pub mod convert;
pub mod engine;
pub mod helper;
pub mod micro_kernel;
pub mod tuner;
pub mod values;
pub mod voice;

use wasm_bindgen::prelude::*;

/// Runs once, when the module is instantiated.
#[wasm_bindgen(start)]
fn start() {
    constructors::run();
    console_error_panic_hook::set_once();
    // A browser without it computes the same with what it has.
    let _ = micro_kernel::install();
}
