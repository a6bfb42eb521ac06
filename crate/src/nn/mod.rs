//! Layers: recurrence, attention, convolution, matmul in two precisions, upsampling and always-on dropout.

pub mod attention;
mod backward_prelude;
pub mod compute;
pub mod conv;
#[cfg(feature = "cube")]
pub(crate) mod cube;
pub mod dropout;
mod exchange;
pub(crate) mod flex;
pub mod init;
pub mod loss;
pub mod lstm;
pub mod matmul;
pub mod norm;
mod operation;
pub mod patches;
pub mod readback;
pub mod trace;
pub mod upsample;

pub use exchange::sum_over_ranks;

use burn::{backend::DispatchDevice, prelude::Device};

pub use compute::{Compute, ComputePlan, Scope};
#[cfg(target_arch = "wasm32")]
pub use flex::{MicroKernel, use_micro_kernel};
pub use matmul::Precision;
pub use operation::Operation;

/// What a forward pass is for. Given explicitly, so that no layer guesses it from its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Batch statistics, dropout on.
    Train,
    /// Running statistics, dropout off: adapting a trained model to little speech, and synthesis.
    Eval,
}

/// Whether a fused operation runs on a device: always on the CPU, and on a GPU where our kernels are built in and it `fits` a workgroup.
fn is_fused(device: &Device, fits: bool) -> bool {
    is_cpu(device) || (cfg!(feature = "cube") && fits)
}

/// Whether a device is the CPU, with gradients or without.
pub(crate) fn is_cpu(device: &Device) -> bool {
    let device = match device.as_dispatch() {
        DispatchDevice::Autodiff(inner) => &**inner,
        device => device,
    };
    matches!(device, DispatchDevice::Flex(_))
}
