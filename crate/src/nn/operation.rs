//! The fused operations by name: what plans, traces and dumps call them.

use serde::{Deserialize, Serialize};

/// A fused operation, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A matmul of two matrices.
    Matmul,
    /// A matmul whose input is two: one by step, and one that is the same at all steps.
    MatmulConcat,
    /// The recurrence of an LSTM.
    Lstm,
    /// A convolution over time.
    Convolution,
    /// Normalisation by running statistics, with its activation.
    Normalise,
    /// An activation alone, after batch statistics.
    Activate,
    /// Neighbours in time, side by side.
    Unfold,
    /// Neighbours in a picture, side by side.
    UnfoldPatches,
    /// A step of location-sensitive attention.
    Attention,
    /// All steps of attention and its LSTM.
    AttentionLstm,
    /// The error of a spectrogram.
    Loss,
    /// An update of all parameters.
    Adam,
}

impl Operation {
    pub const ALL: [Self; 12] = [
        Self::Matmul,
        Self::MatmulConcat,
        Self::Lstm,
        Self::Convolution,
        Self::Normalise,
        Self::Activate,
        Self::Unfold,
        Self::UnfoldPatches,
        Self::Attention,
        Self::AttentionLstm,
        Self::Loss,
        Self::Adam,
    ];

    /// A hyphenated name: `matmul-concat`.
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
            Self::Attention => "attention",
            Self::AttentionLstm => "attention-lstm",
            Self::Loss => "loss",
            Self::Adam => "adam",
        }
    }

    /// The operation of that [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Whether it multiplies, in half where its module does: only these overflow f16, and only these are as large as their input.
    pub(super) fn is_matmul(self) -> bool {
        matches!(self, Self::Matmul | Self::MatmulConcat | Self::Convolution)
    }
}
