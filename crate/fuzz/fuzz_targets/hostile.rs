//! One target of `crate/tests/common/hostile.rs`, which `OWNVOICE_FUZZ_TARGET` names. Run from `crate`.
#![no_main]

#[path = "../../tests/common/hostile.rs"]
mod hostile;

use std::{env, sync::LazyLock};

use hostile::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = env::var("OWNVOICE_FUZZ_TARGET").expect("OWNVOICE_FUZZ_TARGET names a target");
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("no target is called {name}"))
});

fuzz_target!(|decisions: &[u8]| {
    TARGET.check(decisions);
});
