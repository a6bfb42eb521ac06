//! Activation functions that are fused with the normalisation before them.

use serde::{Deserialize, Serialize};

/// An activation function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    None,
    Relu,
    /// The values clamped to 0 to 6 (Howard et al. 2017).
    Relu6,
    Tanh,
}
