//! The fused operations by name, for plans, traces and dumps.

use serde::{Deserialize, Serialize};

/// A fused operation, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A matmul of two matrices.
    Matmul,
    /// A matmul with a concatenated left operand: one part changes at each step, the other is the same at all steps.
    MatmulConcat,
    /// The recurrence of an LSTM.
    Lstm,
    /// A convolution over time.
    Convolution,
    /// Normalisation by running statistics, with its activation.
    Normalise,
    /// An activation alone, after batch statistics.
    Activate,
    /// The neighbours in time of each step, concatenated.
    Unfold,
    /// The neighbours in a picture of each place, concatenated.
    UnfoldPatches,
    /// A convolution over space of each channel alone.
    Depthwise,
    /// A step of location-sensitive attention.
    Attention,
    /// All steps of attention and its LSTM.
    AttentionLstm,
    /// The spectrogram loss.
    Loss,
    /// An update of all parameters.
    Adam,
}

impl Operation {
    pub const ALL: [Self; 13] = [
        Self::Matmul,
        Self::MatmulConcat,
        Self::Lstm,
        Self::Convolution,
        Self::Normalise,
        Self::Activate,
        Self::Unfold,
        Self::UnfoldPatches,
        Self::Depthwise,
        Self::Attention,
        Self::AttentionLstm,
        Self::Loss,
        Self::Adam,
    ];

    /// Returns the name in kebab case, as in `matmul-concat`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Matmul => "matmul",
            Self::MatmulConcat => "matmul-concat",
            Self::Lstm => "lstm",
            Self::Convolution => "convolution",
            Self::Normalise => "normalise",
            Self::Activate => "activate",
            Self::Unfold => "unfold",
            Self::UnfoldPatches => "unfold-patches",
            Self::Depthwise => "depthwise",
            Self::Attention => "attention",
            Self::AttentionLstm => "attention-lstm",
            Self::Loss => "loss",
            Self::Adam => "adam",
        }
    }

    /// Returns the operation of a [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Returns whether the operation is a product that is computed in half precision under mixed precision. Only these overflow f16, and only these are linear
    /// in their input.
    pub(super) fn is_matmul(self) -> bool {
        matches!(self, Self::Matmul | Self::MatmulConcat | Self::Convolution)
    }
}
