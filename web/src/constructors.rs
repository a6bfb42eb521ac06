//! The static constructors of the module, in which burn's dependencies register themselves.

unsafe extern "C" {
    /// Runs all static constructors. wasm-ld defines it.
    fn __wasm_call_ctors();
}

/// Runs the static constructors. Call it once, when the module is instantiated.
///
/// Where nothing calls `__wasm_call_ctors`, wasm-ld takes the module for a command and wraps every export in a call of all constructors, which makes a training
/// step fifty times as slow. `tests/js/module.test.mjs` guards against it.
pub fn run() {
    // SAFETY: wasm-ld defines it without arguments or result, and this is its only call, before anything else runs.
    unsafe { __wasm_call_ctors() };
}
