//! One step of location-sensitive attention (Chorowski et al. 2015, section 2.2) as one operation, forward and backward.
//!
//! What is attended feeds back, so the steps cannot be joined; from plain tensors each is some thirty operations, and on a GPU as many dispatches.

pub mod attention_lstm;
mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;

use burn::{
    backend::{Backend, Dispatch, ExtensionType, tensor::FloatTensor},
    prelude::*,
    tensor::activation::{softmax, tanh},
};
use ops::AttentionOps;

use super::{Compute, Operation, conv::unfold_with_tensors, is_fused};

/// What a step attends to; all but the query and the step before are the same for all steps.
///
/// Keys and values may be of any text; longer ones than 2048 symbols are not fused on GPUs.
#[derive(Debug, Clone)]
pub struct Attended {
    /// `[B, L, A]`
    pub keys: Tensor<3>,
    /// `[B, L, C]`
    pub values: Tensor<3>,
    /// `[B, L]`, one where there is a symbol
    pub mask: Tensor<2>,
    /// `[A, 1]`
    pub energy: Tensor<2>,
    /// Convolution over the weights of the step before and over those of all steps, `[2 K, A]`, taps slowest
    pub location: Tensor<2>,
    /// How its steps compute. They are recorded as one, see [`Attended::scan`].
    pub compute: Compute,
}

/// Inputs of a step, or their gradients; the rest is as in [`Attended`].
#[derive(ExtensionType)]
pub struct AttendInputs<B: Backend> {
    /// `[B, A]`
    pub query: FloatTensor<B>,
    pub keys: FloatTensor<B>,
    pub energy: FloatTensor<B>,
    pub location: FloatTensor<B>,
    /// What the step before returned, `[B, 2 L + C]`
    pub before: FloatTensor<B>,
    pub values: FloatTensor<B>,
}

/// Symbols whose energies a workgroup's memory holds.
const MAX_SYMBOLS: usize = 2048;

impl Attended {
    /// * `query`:  `[B, A]`
    /// * `before`: `[B, 2 L + C]`, what the step before returned
    ///
    /// Returns weights, their sum over all steps, and the weighted mean of the values, `[B, 2 L + C]`.
    pub fn attend(&self, query: Tensor<2>, before: Tensor<2>) -> Tensor<2> {
        let plain = self.compute.is_plain(Operation::Attention);
        if plain || !is_fused(&self.keys.device(), self.symbols() <= MAX_SYMBOLS) {
            return self.attend_with_tensors(query, before);
        }
        let matrix = |name, value| self.compute.input(Operation::Attention, name, value).into_dispatch();
        let sequence = |name, value: &Tensor<3>| {
            self.compute.input(Operation::Attention, name, value.clone()).into_dispatch()
        };
        let with = AttendInputs {
            query: matrix("query", query),
            keys: sequence("keys", &self.keys),
            energy: matrix("energy.weight", self.energy.clone()),
            location: matrix("location", self.location.clone()),
            before: before.into_dispatch(),
            values: sequence("values", &self.values),
        };
        Tensor::from_dispatch(Dispatch::attend(with, self.mask.clone().into_dispatch()))
    }

    /// The same from plain tensor operations: the reference for the fused one.
    pub fn attend_with_tensors(&self, query: Tensor<2>, before: Tensor<2>) -> Tensor<2> {
        let [batch, symbols, width] = self.keys.dims();
        let taps = self.location.dims()[0] / 2;
        let (weights, cumulative) =
            (before.clone().narrow(1, 0, symbols), before.narrow(1, symbols, symbols));
        let places = unfold_with_tensors(Tensor::stack(vec![weights, cumulative.clone()], 2), taps); // (B, L, 2 K)
        let located = places
            .reshape([batch * symbols, 2 * taps])
            .matmul(self.location.clone())
            .reshape([batch, symbols, width]);
        let hidden = tanh(query.unsqueeze_dim::<3>(1) + self.keys.clone() + located);
        let energies =
            hidden.reshape([batch * symbols, width]).matmul(self.energy.clone()).reshape([batch, symbols]);
        let weights = softmax(energies.mask_fill(self.mask.clone().equal_elem(0.0), -1e9), 1);
        let context = weights.clone().unsqueeze_dim::<3>(1).matmul(self.values.clone()).squeeze_dim::<2>(1); // (B, 1, L) x (B, L, C)
        Tensor::cat(vec![weights.clone(), cumulative + weights, context], 1)
    }

    /// What stands before the first step, `[B, 2 L + C]`.
    pub fn nothing(&self) -> Tensor<2> {
        let [batch, symbols, channels] = self.values.dims();
        Tensor::zeros([batch, 2 * symbols + channels], &self.values.device())
    }

    /// `[B, L]` of what a step returned.
    pub fn weights(&self, attended: &Tensor<2>) -> Tensor<2> {
        attended.clone().narrow(1, 0, self.symbols())
    }

    /// `[B, C]` of what a step returned.
    pub fn context(&self, attended: &Tensor<2>) -> Tensor<2> {
        attended.clone().narrow(1, 2 * self.symbols(), self.values.dims()[2])
    }

    fn symbols(&self) -> usize {
        self.keys.dims()[1]
    }
}
