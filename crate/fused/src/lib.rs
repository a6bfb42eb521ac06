//! Fused neural-network operations for burn, forward and backward, and the layers built on them.
//!
//! Each operation replaces tens of tensor operations, and on a GPU as many dispatches, by one. One implementation serves the CPU (burn's Flex backend, on all
//! cores natively, with SIMD in WebAssembly), another in CubeCL serves every GPU that burn's CubeCL backends reach: WebGPU, Vulkan, Metal and CUDA.
//!
//! | Module | Computes | Fused on |
//! |---|---|---|
//! | [`mod@lstm`] | an LSTM over a whole sequence (Hochreiter & Schmidhuber 1997) | CPU, GPU up to 1024 units |
//! | [`attention`] | one step of location-sensitive attention (Chorowski et al. 2015) | CPU, GPU up to 2048 symbols |
//! | [`attention::attention_lstm`] | all steps of that attention with its LSTM | CPU |
//! | [`conv`] | convolution over time, batch normalisation, activation | CPU, GPU |
//! | [`mod@matmul`] | matrix products in f32 or mixed precision (Micikevicius et al. 2018) | CPU, GPU |
//! | [`patches`] | patches of pictures side by side, for convolutions over space | CPU, GPU |
//! | [`depthwise`] | convolution over space of each channel alone (Howard et al. 2017) | CPU |
//! | [`loss`] | L1 + L2 of two spectrograms under a mask | CPU, GPU |
//!
//! [`dropout`](dropout::dropout), [`norm`], [`init`] and [`upsample`] are layers of plain tensor operations, and [`sum_over_ranks`] is a sum over the processes
//! or devices of a data-parallel training, with its gradient.
//!
//! Every fused operation has a reference of plain tensor operations (`.._with_tensors`, `.._by_steps`) that computes the same values and gradients on any
//! device. [`Compute`] chooses between the two by configuration, and records inputs, outputs and gradients of each call for debugging.
//!
//! An operation is a folder: `mod.rs` has the layer and its shapes, `ops.rs` the operation as a backend trait, `autodiff.rs` its gradient, `flex.rs` the CPU,
//! `cube.rs` the GPU.
//!
//! Shapes are written with B for the batch, T for time steps, L for text symbols, C for channels, H for hidden units, K for the taps of a kernel.

pub mod adam;
mod all_reduce;
pub mod attention;
mod backward_prelude;
pub mod compute;
pub mod conv;
#[cfg(feature = "cube")]
pub(crate) mod cube;
pub mod depthwise;
pub mod dropout;
mod error;
pub(crate) mod flex;
pub mod init;
pub mod loss;
pub mod lstm;
pub mod matmul;
pub mod norm;
mod operation;
pub mod patches;
pub mod precision;
pub mod ranks;
pub mod readback;
pub mod trace;
pub mod upsample;
pub mod weights;

pub use all_reduce::sum_over_ranks;
pub use error::{Error, Result};

use burn::{backend::DispatchDevice, prelude::Device};

pub use compute::{Compute, ComputePlan, Scope};
#[cfg(target_arch = "wasm32")]
pub use flex::{MicroKernel, use_micro_kernel};
pub use matmul::Precision;
pub use operation::Operation;

/// Whether a forward pass trains or evaluates. It is an argument, so that no layer infers it from the autodiff setting of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Normalises by batch statistics, with dropout.
    Train,
    /// Normalises by running statistics, without dropout. Fine-tuning on little data uses this mode too, so that the statistics stay.
    Eval,
}

/// Returns whether a device has a fused implementation: the CPU always has; a GPU has if the feature `cube` is on and the sizes fit a workgroup (`fits`).
fn is_fused(device: &Device, fits: bool) -> bool {
    is_cpu(device) || (cfg!(feature = "cube") && fits)
}

/// Returns whether a device is the CPU, with autodiff or without.
pub fn is_cpu(device: &Device) -> bool {
    let device = match device.as_dispatch() {
        DispatchDevice::Autodiff(inner) => &**inner,
        device => device,
    };
    matches!(device, DispatchDevice::Flex(_))
}
