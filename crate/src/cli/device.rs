//! `--device`: where the tensors live.

use burn::prelude::Device;
use clap::ValueEnum;

use crate::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    Cpu,
    Vulkan,
    Cuda,
    /// Whatever graphics card there is, in the shader language of browsers
    Webgpu,
}

impl DeviceName {
    /// Opens the device. Asking for one that is not built in is an error, never a silent fallback.
    pub fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::flex()),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => Ok(Device::vulkan(burn::tensor::DeviceKind::default())),
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(Device::cuda(0)),
            #[cfg(feature = "webgpu")]
            Self::Webgpu => Ok(Device::wgpu(burn::tensor::DeviceKind::default())),
            #[allow(unreachable_patterns)] // With every feature on, nothing is left.
            other => {
                let name = format!("{other:?}").to_lowercase();
                let hint = format!("build with `--features {name}`");
                Err(Error::device_unavailable(&name, hint))
            }
        }
    }
}
