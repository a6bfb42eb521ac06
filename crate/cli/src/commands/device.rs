//! `--device`, `--precision`, `--half` and `--plain`: the device, and how operations are computed.

use burn::prelude::Device;
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use std::collections::BTreeSet;

use burn_fused::{ComputePlan, Operation, Precision};
use ownvoice::{Error, Result};

/// The argument `--device`.
#[derive(Debug, Clone, Copy, Args)]
pub struct DeviceArguments {
    /// Device to compute on
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
}

impl DeviceArguments {
    /// Opens the device, see [`DeviceName::open`].
    pub fn open(self) -> Result<Device> {
        self.device.open()
    }

    /// Opens `count` devices that can sum tensors among each other. Fails with `option-invalid` if this device cannot.
    pub fn open_several(self, count: usize) -> Result<Vec<Device>> {
        match self.device {
            #[cfg(feature = "cuda")]
            DeviceName::Cuda => Ok((0..count).map(Device::cuda).collect()),
            _ => Err(Error::option_invalid(format!(
                "only CUDA supports {count} devices in one process; start ranks with mpirun instead"
            ))),
        }
    }
}

/// The name of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceName {
    Cpu,
    Vulkan,
    Cuda,
    /// Any graphics card, by WGSL shaders as in browsers
    Webgpu,
}

impl DeviceName {
    /// Opens the device. Fails with `device-unavailable` if the build does not support it; there is no silent fallback.
    pub fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::flex()),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => Ok(Device::vulkan(burn::tensor::DeviceKind::default())),
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(Device::cuda(0)),
            #[cfg(feature = "webgpu")]
            Self::Webgpu => Ok(Device::wgpu(burn::tensor::DeviceKind::default())),
            #[allow(unreachable_patterns)] // With all features, the pattern is unreachable.
            other => {
                let name = other.name();
                Err(Error::device_unavailable(&name, format!("build with `--features {name}`")))
            }
        }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The argument `--precision`.
#[derive(Debug, Clone, Copy, Args)]
pub struct PrecisionArguments {
    /// Precision of matmuls; mixed uses half precision and needs a device that supports it
    #[arg(long, default_value = "f32", value_parser = precision_parser())]
    pub precision: Precision,
}

/// Returns a parser of the names of precisions.
fn precision_parser() -> impl TypedValueParser<Value = Precision> {
    let names = [Precision::F32, Precision::Mixed].map(Precision::name);
    PossibleValuesParser::new(names).map(|name| Precision::by_name(&name).expect("a possible value"))
}

/// The arguments `--precision`, `--half` and `--plain`, which select how operations are computed.
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    pub precision: PrecisionArguments,
    /// Modules that use half precision with --precision mixed, by path [default: encoder,decoder,postnet; for a vocoder: blocks]
    #[arg(long, value_delimiter = ',', value_name = "PATHS")]
    half: Option<Vec<String>>,
    /// Operations that are computed by plain tensor operations instead of fused ones, by name, or "all"
    #[arg(long, value_delimiter = ',', value_name = "OPERATIONS")]
    plain: Vec<String>,
}

impl PlanArguments {
    /// Returns the compute plan. Fails with `option-invalid` if an operation is unknown.
    pub fn get(&self) -> Result<ComputePlan> {
        self.over(ComputePlan::from_precision)
    }

    /// Returns the compute plan of a model with these defaults. Fails with `option-invalid` if an operation is unknown.
    pub fn over(&self, defaults: impl Fn(Precision) -> ComputePlan) -> Result<ComputePlan> {
        let defaults = defaults(self.precision.precision);
        Ok(ComputePlan {
            half: self.half.clone().unwrap_or(defaults.half),
            plain: operations(&self.plain)?,
            ..defaults
        })
    }
}

/// Returns the operations with these names, or all operations for "all".
fn operations(names: &[String]) -> Result<BTreeSet<Operation>> {
    if names.iter().any(|name| name == "all") {
        return Ok(Operation::ALL.into());
    }
    let known = || Operation::ALL.map(Operation::name).join(", ");
    let one = |name: &String| {
        Operation::by_name(name).ok_or_else(|| {
            Error::option_invalid(format!("there is no operation {name:?}, only {} and all", known()))
        })
    };
    names.iter().map(one).collect()
}
