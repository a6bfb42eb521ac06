//! Faults that are planted in operations, to test the tools that find faults.

use std::{
    fmt::{self, Display},
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{Error, Result, operation::Operation};

/// A fault in one fused operation of one module. The operation's plain reference is not affected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlantedFault {
    /// The path of the module; for the optimizer, that of the parameter.
    pub path: String,
    pub operation: Operation,
    pub kind: PlantedFaultKind,
}

impl Display for PlantedFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (path, operation) = (&self.path, self.operation.name());
        match &self.kind {
            PlantedFaultKind::Overflow(_) => write!(f, "overflow:{path}:{operation}"),
            PlantedFaultKind::GradientSign(input) => write!(f, "sign:{path}:{operation}:{input}"),
            PlantedFaultKind::GradientNan(input) => write!(f, "nan:{path}:{operation}:{input}"),
        }
    }
}

/// Parses `overflow:MODULE:OPERATION`, which acts on the first input, `sign:MODULE:OPERATION:INPUT` or `nan:MODULE:OPERATION:INPUT`. Fails with
/// `option-invalid`, also for an overflow of an operation that is not a product.
impl FromStr for PlantedFault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let found = match parts[..] {
            ["overflow", path, operation] => {
                Some((path, operation, PlantedFaultKind::Overflow("input".into())))
            }
            ["sign", path, operation, input] => {
                Some((path, operation, PlantedFaultKind::GradientSign(input.into())))
            }
            ["nan", path, operation, input] => {
                Some((path, operation, PlantedFaultKind::GradientNan(input.into())))
            }
            _ => None,
        };
        let fault = found.and_then(|(path, operation, kind)| {
            Some(Self { path: path.into(), operation: Operation::by_name(operation)?, kind })
        });
        let fault = fault.ok_or_else(|| {
            Error::OptionInvalid(format!(
                "{text:?} is not a fault: expected overflow:MODULE:OPERATION, sign:MODULE:OPERATION:INPUT or nan:MODULE:OPERATION:INPUT"
            ))
        })?;
        match &fault.kind {
            PlantedFaultKind::Overflow(_) if !fault.operation.is_matmul() => {
                let products = Operation::ALL.into_iter().filter(|operation| operation.is_matmul());
                let products = products.map(Operation::name).collect::<Vec<_>>().join(", ");
                Err(Error::OptionInvalid(format!(
                    "{text:?} is not possible: only products overflow ({products})"
                )))
            }
            _ => Ok(fault),
        }
    }
}

/// The effect of a planted fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlantedFaultKind {
    /// Reverses the sign of the named input's gradient.
    GradientSign(String),
    /// Makes the named input's gradient NaN.
    GradientNan(String),
    /// Multiplies the named input by [`OVERFLOW`] and divides the output by it, which changes nothing in f32 and overflows in f16. For products only.
    Overflow(String),
}

impl PlantedFaultKind {
    /// Returns the name of the input that the fault acts on.
    pub(super) fn input(&self) -> &str {
        let (Self::GradientSign(input) | Self::GradientNan(input) | Self::Overflow(input)) = self;
        input
    }
}

/// The factor of an overflow, a power of two: it changes only the exponent of an f32. An input above 0.001 times this factor is beyond f16.
pub const OVERFLOW: f32 = 67_108_864.0;

/// The faults that have taken effect in an operation. Clones share the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Planted(Arc<Mutex<Vec<PlantedFault>>>);

impl Planted {
    pub fn put(&self, fault: &PlantedFault) {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !met.contains(fault) {
            met.push(fault.clone());
        }
    }

    pub fn has(&self, fault: &PlantedFault) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_parsed_from_its_text_and_only_products_overflow() {
        for text in ["overflow:a.b:matmul-concat", "sign:a:lstm:w_hh", "nan:a.0:convolution:weight"] {
            assert_eq!(text.parse::<PlantedFault>().unwrap().to_string(), text);
        }
        for text in ["overflow:a:lstm", "overflow:a:loss", "overflow:a:activate", "overflow:a", "sign:a:lstm"]
        {
            assert!(matches!(text.parse::<PlantedFault>(), Err(Error::OptionInvalid(_))), "{text}");
        }
    }
}
