//! Makes each target of `crate/cli/tests/common/hostile.rs` a libFuzzer program in `src/bin`. `cargo xtask fuzz` runs them in `crate/cli`.

#[path = "../../cli/tests/common/hostile.rs"]
pub mod hostile;

#[macro_export]
macro_rules! fuzz {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|decisions: &[u8]| {
            const TARGET: $crate::hostile::Target = $crate::hostile::target($name);
            TARGET.check(decisions);
        });
    };
}
