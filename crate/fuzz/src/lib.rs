//! The targets of `crate/tests/common/hostile.rs` as programs of libFuzzer, one each in `src/bin`. Run from `crate` by `cargo xtask fuzz`.

#[path = "../../tests/common/hostile.rs"]
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
