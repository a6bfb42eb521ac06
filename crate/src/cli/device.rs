//! `--device` and `--precision`: where the tensors live, and how exact their products are.

use burn::prelude::Device;
use clap::{Args, ValueEnum};

use crate::{Error, Result, nn::Precision};

/// `--device`
#[derive(Debug, Clone, Copy, Args)]
pub struct DeviceArguments {
    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
}

impl DeviceArguments {
    pub fn open(self) -> Result<Device> {
        self.device.open()
    }
}

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
                let name = other.name();
                Err(Error::device_unavailable(&name, format!("build with `--features {name}`")))
            }
        }
    }

    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// `--precision`
#[derive(Debug, Clone, Copy, Args)]
pub struct PrecisionArguments {
    /// Mixed: products in half precision, where the device has it
    #[arg(long, value_enum, default_value = "f32")]
    precision: PrecisionName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PrecisionName {
    F32,
    Mixed,
}

impl PrecisionArguments {
    pub fn get(self) -> Precision {
        match self.precision {
            PrecisionName::F32 => Precision::F32,
            PrecisionName::Mixed => Precision::Mixed,
        }
    }
}
