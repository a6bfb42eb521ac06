//! One step of location-sensitive attention (Chorowski et al. 2015, "Attention-Based Models for Speech Recognition", section 2.2; Shen et al. 2018,
//! "Tacotron 2") as one operation, forward and backward.
//!
//! For each symbol, the energy is `v . tanh(query + key + F * [weights, cumulative weights])`, where F is a convolution over the weights of the step before and
//! over their sum of all steps. The new weights are the softmax of the energies over the symbols under a mask, and the context is the mean of the values under
//! these weights. The weights feed back into the next step, so that the steps of a sequence run one after the other. A step of plain tensor operations takes
//! about thirty of them, and as many dispatches on a GPU.
//!
//! It is fused on the CPU (`flex`) and on GPUs (`cube`, up to 2048 symbols: one dispatch forward, three backward). [`AttentionMemory::attend_with_tensors`] is the
//! plain reference. [`attention_lstm`] fuses a whole sequence of steps and their LSTM on the CPU.

pub mod attention_lstm;
mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod ops;

use crate::{Compute, Operation, conv::unfold_with_tensors, is_fused};
use burn::{
    backend::{Backend, Dispatch, ExtensionType, tensor::FloatTensor},
    prelude::*,
    tensor::activation::{softmax, tanh},
};
use ops::AttentionOps;

/// The inputs of attention that are the same for all steps of a sequence.
#[derive(Debug, Clone)]
pub struct AttentionMemory {
    /// `[B, L, A]`
    pub keys: Tensor<3>,
    /// `[B, L, C]`
    pub values: Tensor<3>,
    /// `[B, L]`, 1 where there is a symbol and 0 elsewhere
    pub mask: Tensor<2>,
    /// `[A, 1]`
    pub energy: Tensor<2>,
    /// The convolution over the weights of the step before and over the sum of all weights, `[2 K, A]`, taps slowest
    pub location: Tensor<2>,
    /// The precision, the faults and the probe of the steps. All steps are recorded as one call, see [`AttentionMemory::scan`].
    pub compute: Compute,
}

/// The inputs of a step, or their gradients. Undocumented fields are as in [`AttentionMemory`].
#[derive(ExtensionType)]
pub struct AttendInputs<B: Backend> {
    /// `[B, A]`
    pub query: FloatTensor<B>,
    pub keys: FloatTensor<B>,
    pub energy: FloatTensor<B>,
    pub location: FloatTensor<B>,
    /// The output of the step before, `[B, 2 L + C]`
    pub before: FloatTensor<B>,
    pub values: FloatTensor<B>,
}

/// The most symbols whose energies fit the shared memory of a workgroup: half of the 16 KiB that WebGPU guarantees.
const MAX_SYMBOLS: usize = 2048;

impl AttentionMemory {
    /// Computes one step.
    ///
    /// * `query`:  `[B, A]`
    /// * `before`: `[B, 2 L + C]`, the output of the step before, or [`Self::initial_state`]
    ///
    /// Returns the weights, their sum over all steps, and the context, concatenated: `[B, 2 L + C]`.
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

    /// Computes [`Self::attend`] from plain tensor operations: the reference of the fused operation.
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

    /// Returns the state before the first step, zeros `[B, 2 L + C]`.
    pub fn initial_state(&self) -> Tensor<2> {
        let [batch, symbols, channels] = self.values.dims();
        Tensor::zeros([batch, 2 * symbols + channels], &self.values.device())
    }

    /// Returns the weights `[B, L]` of the output of a step.
    pub fn weights(&self, attended: &Tensor<2>) -> Tensor<2> {
        attended.clone().narrow(1, 0, self.symbols())
    }

    /// Returns the context `[B, C]` of the output of a step.
    pub fn context(&self, attended: &Tensor<2>) -> Tensor<2> {
        attended.clone().narrow(1, 2 * self.symbols(), self.values.dims()[2])
    }

    fn symbols(&self) -> usize {
        self.keys.dims()[1]
    }
}
