//! Compiles `micro_kernel/micro_kernel.rs` with relaxed SIMD, which the rest of the module does without.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=micro_kernel/micro_kernel.rs");
    let variable = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let target = variable("TARGET");
    if target != "wasm32-unknown-unknown" {
        return;
    }
    let status = Command::new(variable("RUSTC"))
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "--target",
            &target,
            "-O",
            "-Cpanic=abort",
            "-Cstrip=symbols",
        ])
        .args(["-Ctarget-feature=+simd128,+relaxed-simd", "-Clink-arg=--import-memory"])
        .args(["micro_kernel/micro_kernel.rs", "-o"])
        .arg(Path::new(&variable("OUT_DIR")).join("micro_kernel.wasm"))
        .status()
        .expect("rustc starts");
    assert!(status.success(), "micro_kernel/micro_kernel.rs does not compile");
}
