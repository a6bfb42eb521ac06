//! Static constructors, which burn registers itself in.

unsafe extern "C" {
    /// Runs them; wasm-ld makes it.
    fn __wasm_call_ctors();
}

/// To be called once, when the module is instantiated.
///
/// Where nothing calls `__wasm_call_ctors`, wasm-ld assumes a command rather than a library and wraps every export in a call of all constructors, at fifty
/// times the cost of a training step. `tests/js/module.test.mjs` guards this.
pub fn run() {
    // SAFETY: wasm-ld defines it without arguments or result, and this is its only call, before anything else runs.
    unsafe { __wasm_call_ctors() };
}
