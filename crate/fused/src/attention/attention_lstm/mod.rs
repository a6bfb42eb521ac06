//! A whole sequence of attention steps and their LSTM as one operation, for training with known inputs.
//!
//! At each step the LSTM reads the inputs and the context of the step before, its hidden state times `query` is the query of [`AttentionMemory::attend`], and the new
//! context feeds back: the attention RNN of Tacotron 2 (Shen et al. 2018, section 2.2).
//!
//! It is fused on the CPU, where weights are packed once for all steps and each weight gradient is one matmul over all steps. Other devices run
//! [`AttentionMemory::scan_by_steps`], which is also the reference.

mod autodiff;
mod flex;
mod ops;

use super::AttentionMemory;
use crate::{
    Operation, is_cpu,
    lstm::{Lstm, split_state},
    trace::Value,
};
use burn::{
    backend::{Backend, Dispatch, ExtensionType, tensor::FloatTensor},
    prelude::*,
};
use ops::AttentionLstmOps;

/// The inputs of the sequence, or their gradients. Undocumented fields are as in [`AttentionMemory`].
///
/// A row is the state after a step, `R = C + 2 H + 2 L` values: context, hidden state, cell state, weights, and the sum of the weights over all steps.
#[derive(ExtensionType)]
pub struct AttentionLstmInputs<B: Backend> {
    /// The LSTM's weights of context and hidden state, `[C + H, 4H]`
    pub weights: FloatTensor<B>,
    /// `[H, A]`
    pub query: FloatTensor<B>,
    pub keys: FloatTensor<B>,
    pub energy: FloatTensor<B>,
    pub location: FloatTensor<B>,
    pub values: FloatTensor<B>,
    /// The row before the first step, `[B, R]`
    pub initial: FloatTensor<B>,
}

/// The outputs of all steps.
pub struct AttentionLstmOutputs {
    /// `[N, B, C]`
    pub context: Tensor<3>,
    /// The hidden states of the LSTM, `[N, B, H]`
    pub hidden: Tensor<3>,
    /// `[N, B, L]`
    pub weights: Tensor<3>,
    /// The state of the LSTM after the last step, hidden then cell, `[B, 2H]`
    pub state: Tensor<2>,
    /// The output of [`AttentionMemory::attend`] at the last step, `[B, 2 L + C]`
    pub attended: Tensor<2>,
}

impl AttentionMemory {
    /// Computes all steps of a sequence whose inputs are known. They are recorded as one call, whose output is context, hidden state and weights,
    /// `[N, B, C + H + L]`.
    ///
    /// * `inputs`:   `[N, B, D]`, the inputs of the LSTM that precede the context; D may be 0
    /// * `lstm`:     has `D + C` inputs
    /// * `query`:    `[H, A]`
    /// * `state`:    `[B, 2H]`
    /// * `attended`: `[B, 2 L + C]`
    pub fn scan(
        &self,
        inputs: Tensor<3>,
        lstm: &Lstm,
        query: Tensor<2>,
        state: Tensor<2>,
        attended: Tensor<2>,
    ) -> AttentionLstmOutputs {
        let begun = self.compute.begin(|| {
            [
                ("prenet", Value::from_tensor(&inputs)),
                ("w_ih", Value::from_tensor(&lstm.w_ih.val())),
                ("w_hh", Value::from_tensor(&lstm.w_hh.val())),
                ("bias", Value::from_tensor(&lstm.bias.val())),
                ("query.weight", Value::from_tensor(&query)),
                ("keys", Value::from_tensor(&self.keys)),
                ("values", Value::from_tensor(&self.values)),
                ("mask", Value::from_tensor(&self.mask)),
                ("energy.weight", Value::from_tensor(&self.energy)),
                ("location", Value::from_tensor(&self.location)),
                ("state", Value::from_tensor(&state)),
                ("attended", Value::from_tensor(&attended)),
            ]
        });
        let found = if self.compute.is_plain(Operation::AttentionLstm) || !is_cpu(&self.keys.device()) {
            self.scan_by_steps(inputs, lstm, query, state, attended)
        } else {
            self.scan_fused(inputs, lstm, query, state, attended)
        };
        let Some(begun) = begun else { return found };
        let ([_, _, channels], [_, _, hidden]) = (found.context.dims(), found.hidden.dims());
        let joined = Tensor::cat(vec![found.context, found.hidden, found.weights], 2);
        let joined = self.compute.record_whole(Operation::AttentionLstm, begun, joined);
        AttentionLstmOutputs {
            context: joined.clone().narrow(2, 0, channels),
            hidden: joined.clone().narrow(2, channels, hidden),
            weights: joined.narrow(2, channels + hidden, self.symbols()),
            ..found
        }
    }

    fn scan_fused(
        &self,
        inputs: Tensor<3>,
        lstm: &Lstm,
        query: Tensor<2>,
        state: Tensor<2>,
        attended: Tensor<2>,
    ) -> AttentionLstmOutputs {
        const WHOLE: Operation = Operation::AttentionLstm;
        let compute = &self.compute;
        let [steps, batch, width] = inputs.dims();
        let ([_, symbols, channels], hidden) = (self.values.dims(), lstm.hidden_width());
        let w_ih = compute.input(WHOLE, "w_ih", lstm.w_ih.val());
        let of_context = w_ih.clone().narrow(0, width, channels);
        let bias = lstm.bias.val().unsqueeze::<2>();
        let projected = match width {
            0 => bias.expand([steps * batch, 4 * hidden]),
            _ => inputs.reshape([steps * batch, width]).matmul(w_ih.narrow(0, 0, width)) + bias,
        };
        let initial =
            Tensor::cat(vec![self.context(&attended), state, attended.narrow(1, 0, 2 * symbols)], 1);
        let with = AttentionLstmInputs {
            weights: Tensor::cat(vec![of_context, compute.input(WHOLE, "w_hh", lstm.w_hh.val())], 0)
                .into_dispatch(),
            query: compute.input(WHOLE, "query.weight", query).into_dispatch(),
            keys: compute.input(WHOLE, "keys", self.keys.clone()).into_dispatch(),
            energy: compute.input(WHOLE, "energy.weight", self.energy.clone()).into_dispatch(),
            location: compute.input(WHOLE, "location", self.location.clone()).into_dispatch(),
            values: compute.input(WHOLE, "values", self.values.clone()).into_dispatch(),
            initial: initial.into_dispatch(),
        };
        let projected = projected.reshape([steps, batch, 4 * hidden]);
        let (rows, _gates) =
            Dispatch::attention_lstm(projected.into_dispatch(), with, self.mask.clone().into_dispatch());
        let rows = Tensor::<3>::from_dispatch(rows);
        let last = rows.clone().narrow(0, steps - 1, 1).squeeze_dim::<2>(0);
        let after = channels + 2 * hidden;
        AttentionLstmOutputs {
            context: rows.clone().narrow(2, 0, channels),
            hidden: rows.clone().narrow(2, channels, hidden),
            weights: rows.narrow(2, after, symbols),
            state: last.clone().narrow(1, channels, 2 * hidden),
            attended: Tensor::cat(
                vec![last.clone().narrow(1, after, 2 * symbols), last.narrow(1, 0, channels)],
                1,
            ),
        }
    }

    /// Computes [`Self::scan`] step by step: for GPUs, and as the reference of the fused operation.
    pub fn scan_by_steps(
        &self,
        inputs: Tensor<3>,
        lstm: &Lstm,
        query: Tensor<2>,
        mut state: Tensor<2>,
        mut attended: Tensor<2>,
    ) -> AttentionLstmOutputs {
        let steps = inputs.dims()[0];
        let (mut contexts, mut states, mut weights) =
            (Vec::with_capacity(steps), Vec::with_capacity(steps), Vec::with_capacity(steps));
        for step in 0..steps {
            let inputs = inputs.clone().narrow(0, step, 1).squeeze_dim::<2>(0);
            (state, attended) = self.step(inputs, lstm, query.clone(), state, attended);
            contexts.push(self.context(&attended));
            states.push(state.clone());
            weights.push(self.weights(&attended));
        }
        let hidden = Tensor::stack::<3>(states, 0).narrow(2, 0, lstm.hidden_width());
        AttentionLstmOutputs {
            context: Tensor::stack(contexts, 0),
            hidden,
            weights: Tensor::stack(weights, 0),
            state,
            attended,
        }
    }

    /// Computes one step. `inputs` is `[B, D]`, the other arguments are as in [`Self::scan`]. Returns the next `state` and the next `attended`.
    pub fn step(
        &self,
        inputs: Tensor<2>,
        lstm: &Lstm,
        query: Tensor<2>,
        state: Tensor<2>,
        attended: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let state = lstm.step(Tensor::cat(vec![inputs, self.context(&attended)], 1), state);
        let [hidden, _] = split_state(state.clone());
        let attended = self.attend(hidden.matmul(query), attended);
        (state, attended)
    }
}
