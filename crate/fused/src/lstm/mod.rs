//! An LSTM (Hochreiter & Schmidhuber 1997; with the forget gate of Gers et al. 2000) over a whole sequence as one operation, forward and backward.
//!
//! If the inputs are known, only `h W_hh` is sequential: the input projection is one matmul before the recurrence, the weight gradient one after it. The
//! recurrence, [`scan`], is fused on the CPU (`flex`) and on GPUs (`cube`, up to 1024 units). [`scan_with_tensors`] is the plain reference.
//!
//! States are packed, hidden then cell, `[.., 2H]`. Gates are in PyTorch's order: input, forget, cell, output.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
pub mod flex;
mod ops;
pub mod options;

use crate::{
    Compute, Operation, Precision, Scope,
    init::Fill,
    is_fused,
    matmul::{operand, plain, result},
    trace::{Attributes, Value},
};
use burn::{
    backend::Dispatch,
    module::{Module, Param},
    prelude::*,
    tensor::activation::{sigmoid, tanh},
};
use ops::LstmOps;
pub use options::ScanOptions;

/// Runs the recurrence, fused where the device supports it.
///
/// * `projected`: `[T, B, 4H]`, inputs times `W_ih` plus bias
/// * `w_hh`:      `[H, 4H]`, in f32 or f16
/// * `initial`:   `[B, 2H]`
///
/// Returns the states `[T, B, 2H]`.
pub fn scan(projected: Tensor<3>, w_hh: Tensor<2>, initial: Tensor<2>, options: ScanOptions) -> Tensor<3> {
    if is_fused(&projected.device(), w_hh.dims()[0] <= MAX_GPU_HIDDEN) {
        let (states, _gates) = Dispatch::lstm_forward(
            projected.into_dispatch(),
            w_hh.into_dispatch(),
            initial.into_dispatch(),
            options,
        );
        Tensor::from_dispatch(states)
    } else {
        scan_with_tensors(projected, w_hh, initial, options)
    }
}

/// Computes [`scan`] from plain tensor operations: the reference of the fused operation.
pub fn scan_with_tensors(
    projected: Tensor<3>,
    w_hh: Tensor<2>,
    initial: Tensor<2>,
    options: ScanOptions,
) -> Tensor<3> {
    let [steps, batch, width] = projected.dims();
    let hidden_width = width / 4;
    let w_hh = result(w_hh, Precision::Mixed);
    let device = projected.device();
    let mut state = initial;
    let mut states = vec![None; steps];
    let order: Vec<usize> = if options.reverse { (0..steps).rev().collect() } else { (0..steps).collect() };
    for step in order {
        let [hidden, cell] = split_state(state.clone());
        let gates =
            projected.clone().slice([step..step + 1]).reshape([batch, width]) + plain(hidden, w_hh.clone());
        let gate = |index: usize| gates.clone().narrow(1, index * hidden_width, hidden_width);
        let next_cell = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * tanh(gate(2));
        let next_hidden = sigmoid(gate(3)) * tanh(next_cell.clone());
        let next = Tensor::cat(vec![next_hidden, next_cell], 1);
        state = match &options.lengths {
            None => next,
            Some(lengths) => {
                let ended: Vec<bool> = lengths.iter().map(|&length| step >= length).collect();
                let ended = Tensor::<1, Bool>::from_data(TensorData::from(ended.as_slice()), &device)
                    .unsqueeze_dim::<2>(1);
                next.mask_where(ended.expand([batch, 2 * hidden_width]), state)
            }
        };
        states[step] = Some(state.clone());
    }
    Tensor::stack(states.into_iter().map(|state| state.expect("every step ran")).collect(), 0)
}

impl Compute {
    /// Runs [`scan`] and records its inputs and outputs in the trace. All tensors are in f32; in mixed precision `w_hh` is rounded to f16.
    pub fn scan(
        &self,
        projected: Tensor<3>,
        w_hh: Tensor<2>,
        initial: Tensor<2>,
        options: ScanOptions,
    ) -> Tensor<3> {
        const LSTM: Operation = Operation::Lstm;
        let inputs = self.inputs(|| {
            [
                ("projected", Value::from_tensor(&projected)),
                ("w_hh", Value::from_tensor(&w_hh)),
                ("initial", Value::from_tensor(&initial)),
            ]
        });
        let attributes = Attributes::Scan(options.clone());
        let states = if self.is_plain(LSTM) {
            scan_with_tensors(projected, operand(w_hh, self.precision), initial, options)
        } else {
            let projected = self.input(LSTM, "projected", projected);
            let w_hh = operand(self.input(LSTM, "w_hh", w_hh), self.precision);
            scan(projected, w_hh, initial, options)
        };
        self.record(LSTM, attributes, inputs, states)
    }
}

/// Splits packed states `[B, 2H]` into hidden and cell, `[B, H]` each.
pub fn split_state(state: Tensor<2>) -> [Tensor<2>; 2] {
    let hidden_width = state.dims()[1] / 2;
    [state.clone().narrow(1, 0, hidden_width), state.narrow(1, hidden_width, hidden_width)]
}

/// The most hidden units whose states, for the four items of a workgroup, fit the 16 KiB of shared memory that WebGPU guarantees.
const MAX_GPU_HIDDEN: usize = 1024;

/// One direction of one LSTM layer. The weights are the transposes of PyTorch's, and the bias is the sum of its two biases.
#[derive(Module, Debug)]
pub struct Lstm {
    /// `[D, 4H]`
    pub w_ih: Param<Tensor<2>>,
    /// `[H, 4H]`
    pub w_hh: Param<Tensor<2>>,
    /// `[4H]`
    pub bias: Param<Tensor<1>>,
    /// The precision, the faults and the probe of the input projection and the recurrence.
    #[module(skip)]
    compute: Compute,
}

impl Lstm {
    /// Initialises the weights uniformly as PyTorch does, and the biases with 1 for the forget gate, so that the cell remembers at first, and 0 for the others.
    pub fn new(input_width: usize, hidden_width: usize, device: &Device) -> Self {
        let bound = 1.0 / (hidden_width as f64).sqrt();
        let uniform = Fill::Uniform(bound);
        let forget = Tensor::ones([hidden_width], device);
        let rest = |gates: usize| Tensor::zeros([gates * hidden_width], device);
        Self {
            w_ih: uniform.init([input_width, 4 * hidden_width], device),
            w_hh: uniform.init([hidden_width, 4 * hidden_width], device),
            bias: Param::from_tensor(Tensor::cat(vec![rest(1), forget, rest(2)], 0)),
            compute: Compute::default(),
        }
    }

    /// Returns a layer with the given weights, which may be part of an autodiff graph. It serves to compute recorded calls again.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn from_tensors(w_ih: Tensor<2>, w_hh: Tensor<2>, bias: Tensor<1>, compute: Compute) -> Self {
        use burn::module::ParamId;
        let [w_ih, w_hh] = [w_ih, w_hh].map(|matrix| Param::initialized(ParamId::new(), matrix));
        Self { w_ih, w_hh, bias: Param::initialized(ParamId::new(), bias), compute }
    }

    /// Sets how the layer computes.
    pub fn computing(self, scope: &Scope) -> Self {
        Self { compute: scope.compute(), ..self }
    }

    /// Returns the number of hidden units.
    pub fn hidden_width(&self) -> usize {
        self.w_hh.dims()[0]
    }

    /// Returns the initial state, zeros `[B, 2H]`.
    pub fn zero_state(&self, batch: usize, device: &Device) -> Tensor<2> {
        Tensor::zeros([batch, 2 * self.hidden_width()], device)
    }

    /// Runs the layer over a sequence.
    ///
    /// * `inputs`: `[T, B, D]`
    /// * `state`:  `[B, 2H]`
    ///
    /// Returns the hidden states `[T, B, H]` and the last state `[B, 2H]`.
    pub fn forward(
        &self,
        inputs: Tensor<3>,
        state: Tensor<2>,
        options: ScanOptions,
    ) -> (Tensor<3>, Tensor<2>) {
        let [steps, batch, input_width] = inputs.dims();
        let inputs = inputs.reshape([steps * batch, input_width]);
        let projected = self.compute.matmul(inputs, self.w_ih.val(), "w_ih");
        self.run(projected.reshape([steps, batch, 4 * self.hidden_width()]), state, options)
    }

    /// Runs the layer over a sequence in which some inputs are constant over all steps.
    ///
    /// * `inputs`:   `[T, B, D - J]`
    /// * `constant`: `[B, J]`
    pub fn forward_with_constant_inputs(
        &self,
        inputs: Tensor<3>,
        constant: Tensor<2>,
        state: Tensor<2>,
        options: ScanOptions,
    ) -> (Tensor<3>, Tensor<2>) {
        self.run(self.compute.matmul_concat(inputs, constant, self.w_ih.val()), state, options)
    }

    /// Runs the layer on projected inputs without bias, `[T, B, 4H]`.
    fn run(&self, projected: Tensor<3>, state: Tensor<2>, options: ScanOptions) -> (Tensor<3>, Tensor<2>) {
        let [steps, batch, _] = projected.dims();
        let hidden_width = self.hidden_width();
        let last = if options.reverse { 0 } else { steps - 1 };
        let projected = projected + self.bias.val().unsqueeze();
        let states = self.compute.scan(projected, self.w_hh.val(), state, options);
        let final_state = states.clone().slice([last..last + 1]).reshape([batch, 2 * hidden_width]);
        (states.narrow(2, 0, hidden_width), final_state)
    }

    /// Runs one step: maps an input `[B, D]` and a state `[B, 2H]` to the next state `[B, 2H]`.
    pub fn step(&self, input: Tensor<2>, state: Tensor<2>) -> Tensor<2> {
        self.forward(input.unsqueeze_dim(0), state, ScanOptions::default()).1
    }
}

/// A bidirectional LSTM layer (Schuster & Paliwal 1997): the outputs of both directions, concatenated.
#[derive(Module, Debug)]
pub struct BiLstm {
    pub forward: Lstm,
    pub backward: Lstm,
}

impl BiLstm {
    /// Sets how both directions compute.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            forward: self.forward.computing(&scope.at("forward")),
            backward: self.backward.computing(&scope.at("backward")),
        }
    }

    /// Initialises both directions with `hidden_width` units each.
    pub fn new(input_width: usize, hidden_width: usize, device: &Device) -> Self {
        Self {
            forward: Lstm::new(input_width, hidden_width, device),
            backward: Lstm::new(input_width, hidden_width, device),
        }
    }

    /// Runs both directions.
    ///
    /// * `inputs`:  `[B, L, D]`
    /// * `lengths`: the number of valid steps of each item
    ///
    /// Returns `[B, L, 2H]`. Values past the length of an item are finite and have no meaning.
    pub fn forward(&self, inputs: Tensor<3>, lengths: &[usize]) -> Tensor<3> {
        let [batch, _, _] = inputs.dims();
        let device = inputs.device();
        let time_major = inputs.swap_dims(0, 1);
        let run = |lstm: &Lstm, reverse| {
            let options = ScanOptions { reverse, lengths: Some(lengths.to_vec()) };
            lstm.forward(time_major.clone(), lstm.zero_state(batch, &device), options).0
        };
        Tensor::cat(vec![run(&self.forward, false), run(&self.backward, true)], 2).swap_dims(0, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Distribution, Tolerance};

    fn check(steps: usize, batch: usize, width: usize, options: ScanOptions) {
        let device = Device::flex().autodiff();
        device.seed(7);
        let random =
            |shape: [usize; 3]| Tensor::<3>::random(shape, Distribution::Uniform(-1.0, 1.0), &device);
        let projected = random([steps, batch, 4 * width]).require_grad();
        let w_hh = random([1, width, 4 * width]).squeeze_dim::<2>(0).detach().require_grad();
        let initial = random([1, batch, 2 * width]).squeeze_dim::<2>(0).detach().require_grad();
        let weights = random([steps, batch, 2 * width]);
        let run = |op: fn(Tensor<3>, Tensor<2>, Tensor<2>, ScanOptions) -> Tensor<3>| {
            let states = op(projected.clone(), w_hh.clone(), initial.clone(), options.clone());
            let grads = (states.clone() * weights.clone()).sum().backward();
            let of = |values: Option<Tensor<2>>| values.unwrap().into_data();
            (
                states.into_data(),
                projected.grad(&grads).unwrap().into_data(),
                of(w_hh.grad(&grads)),
                of(initial.grad(&grads)),
            )
        };
        let (fused, plain) = (run(scan), run(scan_with_tensors));
        let tolerance = Tolerance::<f32>::absolute(1e-4);
        fused.0.assert_approx_eq::<f32>(&plain.0, tolerance);
        fused.1.assert_approx_eq::<f32>(&plain.1, tolerance);
        fused.2.assert_approx_eq::<f32>(&plain.2, tolerance);
        fused.3.assert_approx_eq::<f32>(&plain.3, tolerance);
    }

    #[test]
    fn fused_scan_equals_plain_tensor_code() {
        check(7, 3, 5, ScanOptions::default());
        check(1, 1, 1, ScanOptions::default());
        check(9, 2, 33, ScanOptions { reverse: true, lengths: None });
        check(6, 3, 8, ScanOptions { reverse: false, lengths: Some(vec![6, 1, 4]) });
        check(6, 3, 8, ScanOptions { reverse: true, lengths: Some(vec![6, 1, 4]) });
    }

    #[test]
    fn one_step_follows_the_equations() {
        // H = 1: i = f = g = o = 0 before activation, so c = 0.5 c0 + 0.5 tanh(0), h = 0.5 tanh(c).
        let device = Device::flex();
        let states = scan(
            Tensor::zeros([1, 1, 4], &device),
            Tensor::zeros([1, 4], &device),
            Tensor::from_floats([[0.0, 1.0]], &device),
            ScanOptions::default(),
        );
        let expected = TensorData::from([[[0.5 * 0.5f32.tanh(), 0.5]]]);
        states.into_data().assert_approx_eq::<f32>(&expected, Tolerance::absolute(1e-6));
    }
}
