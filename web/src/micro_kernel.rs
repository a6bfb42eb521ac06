//! A faster matmul for browsers with a fused multiply-add (relaxed SIMD: Chromium from 114, Firefox from 146, not Safari).

use burn_fused::{MicroKernel, use_micro_kernel};
use js_sys::{Object, Reflect, Uint8Array, WebAssembly};
use wasm_bindgen::{JsCast, prelude::*};

/// The compiled `micro_kernel/micro_kernel.rs`, half a kilobyte.
static MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/micro_kernel.wasm"));

/// Reserves an entry of the function table, which `install` overwrites with the compiled micro-kernel.
extern "C" fn reserved_entry(
    _rows: usize,
    _columns: usize,
    _strip: *const f32,
    _panel: *const f32,
    _terms: usize,
    _out: *mut f32,
    _out_row: usize,
) {
    unreachable!("the entry is overwritten before it is called")
}

/// Installs the fused micro-kernel where the browser can run it. Returns whether it was installed. A call costs as much as one through any function pointer.
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
    // The black box keeps the compiler from assuming what the entry holds, which is about to change.
    let entry = std::hint::black_box(reserved_entry as *const ());
    wasm_bindgen::function_table().unchecked_into::<WebAssembly::Table>().set(entry as u32, &micro_kernel)?;
    // SAFETY: a function pointer is an index into the table, and that entry now holds a function of this type that computes what a micro-kernel must.
    unsafe { use_micro_kernel(std::mem::transmute::<*const (), MicroKernel>(entry)) };
    Ok(true)
}
