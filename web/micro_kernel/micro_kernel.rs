//! The micro-kernel of the matmul with relaxed SIMD. It is a separate module over the main module's memory, because a browser without the fused multiply-add
//! refuses a module that contains it. `web/build.rs` compiles it, and `web/src/micro_kernel.rs` installs it.
#![no_std]

use core::arch::wasm32::{f32x4_add, f32x4_relaxed_madd, f32x4_splat, unreachable, v128, v128_load, v128_load32_splat, v128_store};
use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unreachable()
}

/// Implements `burn_fused::MicroKernel`: multiplies up to three rows, stored term by term, by a panel of twelve columns, or up to four rows by a panel of
/// eight, and adds the product to `out`.
///
/// # Safety
///
/// `strip` and `panel` must hold `terms` terms, and the rows must lie within `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn micro_kernel(rows: usize, columns: usize, strip: *const f32, panel: *const v128, terms: usize, out: *mut f32, out_row: usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        match (rows, columns) {
            (1, 12) => add::<1, 3>(strip, panel, terms, out, out_row),
            (2, 12) => add::<2, 3>(strip, panel, terms, out, out_row),
            (_, 12) => add::<3, 3>(strip, panel, terms, out, out_row),
            (1, _) => add::<1, 2>(strip, panel, terms, out, out_row),
            (2, _) => add::<2, 2>(strip, panel, terms, out, out_row),
            (3, _) => add::<3, 2>(strip, panel, terms, out, out_row),
            _ => add::<4, 2>(strip, panel, terms, out, out_row),
        }
    }
}

/// Multiplies `ROWS` rows by `FOURS` registers of four columns each.
#[inline(always)]
unsafe fn add<const ROWS: usize, const FOURS: usize>(mut strip: *const f32, mut panel: *const v128, terms: usize, out: *mut f32, out_row: usize) {
    // SAFETY: the caller guarantees it; each pointer is advanced once a term.
    unsafe {
        let mut sums = [[f32x4_splat(0.0); FOURS]; ROWS];
        for _ in 0..terms {
            let mut columns = [f32x4_splat(0.0); FOURS];
            for (four, columns) in columns.iter_mut().enumerate() {
                *columns = v128_load(panel.add(four));
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let value = v128_load32_splat(strip.add(row).cast());
                for (sums, columns) in sums.iter_mut().zip(columns) {
                    *sums = f32x4_relaxed_madd(value, columns, *sums);
                }
            }
            (strip, panel) = (strip.add(ROWS), panel.add(FOURS));
        }
        for (row, sums) in sums.iter().enumerate() {
            for (four, sums) in sums.iter().enumerate() {
                let at = out.add(row * out_row + 4 * four).cast();
                v128_store(at, f32x4_add(v128_load(at), *sums));
            }
        }
    }
}
