//! A faster matmul where the browser can multiply and add in one instruction (relaxed SIMD: Chromium from 114 on, Firefox from 146 on, not Safari).

use js_sys::{Object, Reflect, Uint8Array, WebAssembly};
use ownvoice::nn::{MicroKernel, use_micro_kernel};
use wasm_bindgen::{JsCast, prelude::*};

/// `micro_kernel/micro_kernel.rs`, compiled: half a kilobyte.
static MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/micro_kernel.wasm"));

/// Keeps a place in the table of functions, where the module's own is put.
extern "C" fn place(
    _rows: usize,
    _strip: *const f32,
    _panel: *const f32,
    _terms: usize,
    _out: *mut f32,
    _out_row: usize,
) {
    unreachable!("the tile's place")
}

/// Installs the fused micro-kernel where the browser can run it. Returns whether it could. A call costs as much as one through any function pointer.
pub fn install() -> Result<bool, JsValue> {
    let bytes = Uint8Array::from(MODULE);
    if !WebAssembly::validate(&bytes)? {
        return Ok(false);
    }
    let (environment, imports) = (Object::new(), Object::new());
    Reflect::set(&environment, &"memory".into(), &wasm_bindgen::memory())?;
    Reflect::set(&imports, &"env".into(), &environment)?;
    let instance = WebAssembly::Instance::new(&WebAssembly::Module::new(&bytes)?, &imports)?;
    let micro_kernel = Reflect::get(&instance.exports(), &"micro_kernel".into())?.dyn_into()?;
    // Hidden from the compiler, which may not assume the entry's content: it is about to change.
    let place = std::hint::black_box(place as *const ());
    wasm_bindgen::function_table().unchecked_into::<WebAssembly::Table>().set(place as u32, &micro_kernel)?;
    // SAFETY: a pointer to a function is its place in the table, where there is one of this type now, and it does what a micro-kernel does.
    unsafe { use_micro_kernel(std::mem::transmute::<*const (), MicroKernel>(place)) };
    Ok(true)
}
