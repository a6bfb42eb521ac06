//! The parts of a model that cloning trains.

use burn::{
    module::{Module, Param},
    prelude::*,
};

use crate::model::{decoder::Decoder, postnet::Postnet};
use burn_fused::{
    ComputePlan, Precision, Scope,
    weights::{Weights, collect, map},
};

/// The parts that are adapted to a speaker. The encoder and the predictors are frozen.
#[derive(Module, Debug)]
pub struct Adapted {
    pub decoder: Decoder,
    pub postnet: Postnet,
    /// `[1, V]`
    pub speaker: Param<Tensor<2>>,
    /// How its operations and losses are computed.
    #[module(skip)]
    pub scope: Scope,
}

impl Adapted {
    /// Sets the precision of their matmuls.
    pub fn with_precision(self, precision: Precision) -> Self {
        self.computing(&Scope::new(ComputePlan::from_precision(precision)))
    }

    /// Sets how its operations are computed; `scope` is that of the whole model.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            decoder: self.decoder.computing(&scope.at("decoder")),
            postnet: self.postnet.computing(&scope.at("postnet")),
            speaker: self.speaker,
            scope: scope.clone(),
        }
    }
}

/// Returns the weights that cloning changes. Running statistics stay the base's: burn shares them between clones of a module, so that changing them in one voice
/// would change them in all others.
pub(crate) fn adaptable(parts: &Adapted) -> Weights {
    collect(parts).into_iter().filter(|(name, _)| !name.contains(".running_")).collect()
}

/// Adds `other` to the weights of the same names.
pub(super) fn add(module: Adapted, other: &Weights) -> Adapted {
    map(module, |path, values| Some(values + other.get(path)?.values.clone()))
}
