//! `--device` and `--precision`: where the tensors live, and the precision of their matmuls.

use burn::prelude::Device;
use clap::{Args, ValueEnum};

use std::collections::BTreeSet;

use burn_fused::{ComputePlan, Operation, Precision};
use ownvoice::{Error, Result};

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

    /// As many devices that sum tensors among themselves. Fails with `option-invalid` where they cannot.
    pub fn open_several(self, count: usize) -> Result<Vec<Device>> {
        match self.device {
            #[cfg(feature = "cuda")]
            DeviceName::Cuda => Ok((0..count).map(Device::cuda).collect()),
            _ => {
                let what = format!(
                    "{count} devices: only CUDA's sum among themselves; start ranks with mpirun for others"
                );
                Err(Error::option_invalid(what))
            }
        }
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
    /// Mixed: matmuls in half precision, where the device has it
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

/// `--precision`, `--half` and `--plain`: how operations are computed, by module and by name.
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    pub precision: PrecisionArguments,
    /// Paths of the modules that compute in half with --precision mixed [default: encoder,decoder,postnet; of a vocoder: blocks]
    #[arg(long, value_delimiter = ',', value_name = "PATHS")]
    half: Option<Vec<String>>,
    /// Operations that plain tensor operations compute and not the fused ones, by name, or "all"
    #[arg(long, value_delimiter = ',', value_name = "OPERATIONS")]
    plain: Vec<String>,
}

impl PlanArguments {
    /// Fails with `option-invalid` where an operation has no such name.
    pub fn get(&self) -> Result<ComputePlan> {
        self.over(ComputePlan::from_precision)
    }

    /// The same for a model whose usual plan is another.
    pub fn over(&self, usual: impl Fn(Precision) -> ComputePlan) -> Result<ComputePlan> {
        let usual = usual(self.precision.get());
        Ok(ComputePlan {
            half: self.half.clone().unwrap_or(usual.half),
            plain: operations(&self.plain)?,
            ..usual
        })
    }
}

/// The operations of these names, or all.
fn operations(names: &[String]) -> Result<BTreeSet<Operation>> {
    if names.iter().any(|name| name == "all") {
        return Ok(Operation::ALL.into());
    }
    let known = || Operation::ALL.map(Operation::name).join(", ");
    let one = |name: &String| {
        Operation::by_name(name)
            .ok_or_else(|| Error::option_invalid(format!("no operation {name:?}: {} or all", known())))
    };
    names.iter().map(one).collect()
}
