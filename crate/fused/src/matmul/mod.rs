//! Matrix products in single or mixed precision, forward and backward.
//!
//! In mixed precision (Micikevicius et al. 2018) the operands of a product, and with them the copies that the backward pass keeps, are f16. Sums are in f32 where
//! the device supports it; master weights, losses and all other arithmetic stay f32. Gradients are cast back to f32. The loss must be scaled so that small
//! gradients do not vanish in f16, as [`crate::adam`] does.
//!
//! The CPU (`flex`) uses the `gemm` library natively and own kernels in WebAssembly. GPUs (`cube`) use a tiled kernel, or burn's matmul where the device has
//! matrix units; burn's is a fifth of the WebAssembly and is left out there. The references are [`plain`] and [`matmul_concat_with_tensors`].

mod autodiff;
#[cfg(feature = "cube")]
pub mod cube;
mod flex;
pub mod ops;

use crate::{
    Compute, Operation,
    trace::{Attributes, Value},
};
use burn::{backend::Dispatch, nn::Linear, prelude::*, tensor::FloatDType};
use ops::MatmulOps;
use serde::{Deserialize, Serialize};

/// The precision of matrix products.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// All arithmetic is in f32.
    #[default]
    F32,
    /// The operands of products are f16, all other arithmetic is in f32.
    Mixed,
}

#[warn(missing_docs)]
impl Precision {
    /// Returns `f32` or `mixed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Mixed => "mixed",
        }
    }

    /// Returns the precision of a [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::F32, Self::Mixed].into_iter().find(|precision| precision.name() == name)
    }

    /// Returns whether a device supports this precision.
    pub fn runs_on(self, device: &Device) -> bool {
        self == Self::F32 || device.supports_dtype(FloatDType::F16)
    }
}

/// Casts an operand of a product: to f16 in mixed precision.
pub fn operand<const D: usize>(tensor: Tensor<D>, precision: Precision) -> Tensor<D> {
    match precision {
        Precision::F32 => tensor,
        Precision::Mixed => tensor.cast(FloatDType::F16),
    }
}

/// Casts the result of a product to f32.
pub fn result<const D: usize>(tensor: Tensor<D>, precision: Precision) -> Tensor<D> {
    match precision {
        Precision::F32 => tensor,
        Precision::Mixed => tensor.cast(FloatDType::F32),
    }
}

/// Multiplies `[N, K]` by `[K, M]`.
pub fn matmul(input: Tensor<2>, weight: Tensor<2>, precision: Precision) -> Tensor<2> {
    let made = Dispatch::matmul(
        operand(input, precision).into_dispatch(),
        operand(weight, precision).into_dispatch(),
    );
    result(Tensor::from_dispatch(made), precision)
}

/// Multiplies `[N, K]` by `[K, M]` with burn's matmul: the reference.
///
/// WebAssembly builds for GPUs leave out burn's matmul for its size and use ours here, so that code reachable from a page must not call `Tensor::matmul`.
pub fn plain(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    Tensor::from_dispatch(Dispatch::plain_matmul(a.into_dispatch(), b.into_dispatch()))
}

/// Multiplies `[B, N, K]` by `[B, K, M]`, unrecorded. WebAssembly builds multiply item by item, see [`plain`]; products of this kind are few there.
pub fn batched(a: Tensor<3>, b: Tensor<3>) -> Tensor<3> {
    #[cfg(not(target_family = "wasm"))]
    return a.matmul(b);
    #[cfg(target_family = "wasm")]
    {
        let item = |of: &Tensor<3>, index: usize| of.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
        let one = |index: usize| matmul(item(&a, index), item(&b, index), Precision::F32);
        Tensor::stack((0..a.dims()[0]).map(one).collect(), 0)
    }
}

/// Multiplies `[T, B, K]`, concatenated at each step with `constant: [B, J]`, by `[K + J, M]` to `[T, B, M]`. The concatenation is not materialised on the CPU. The
/// gradient of `a` is computed only if it is required.
pub fn matmul_concat(
    a: Tensor<3>,
    constant: Tensor<2>,
    weight: Tensor<2>,
    precision: Precision,
) -> Tensor<3> {
    let ([steps, batch, width], [_, columns]) = (a.dims(), weight.dims());
    let [a, constant, weight] = [a.reshape([steps * batch, width]), constant, weight]
        .map(|matrix| operand(matrix, precision).into_dispatch());
    result(Tensor::<2>::from_dispatch(Dispatch::matmul_concat(a, constant, weight)), precision)
        .reshape([steps, batch, columns])
}

/// Computes [`matmul_concat`] from plain tensor operations: the reference of the fused operation.
pub fn matmul_concat_with_tensors(
    a: Tensor<3>,
    constant: Tensor<2>,
    weight: Tensor<2>,
    precision: Precision,
) -> Tensor<3> {
    let [steps, batch, _] = a.dims();
    let width = constant.dims()[1];
    let repeated = constant.unsqueeze_dim::<3>(0).expand([steps, batch, width]);
    let inputs = operand(Tensor::cat(vec![a, repeated], 2), precision);
    let [rows, columns] = weight.dims();
    let made = plain(inputs.reshape([steps * batch, rows]), operand(weight, precision));
    result(made.reshape([steps, batch, columns]), precision)
}

impl Compute {
    /// Computes [`matmul`] and records the call.
    ///
    /// * `name`: the name of the weight in its module
    pub fn matmul(&self, input: Tensor<2>, weight: Tensor<2>, name: &'static str) -> Tensor<2> {
        const MATMUL: Operation = Operation::Matmul;
        let inputs =
            self.inputs(|| [("input", Value::from_tensor(&input)), (name, Value::from_tensor(&weight))]);
        let made = if self.is_plain(MATMUL) {
            let [input, weight] = [input, weight].map(|factor| operand(factor, self.precision));
            result(plain(input, weight), self.precision)
        } else {
            let input = self.input(MATMUL, "input", input);
            self.output(MATMUL, matmul(input, self.input(MATMUL, name, weight), self.precision))
        };
        self.record(MATMUL, Attributes::None, inputs, made)
    }

    /// Computes [`matmul_concat`] and records the call. The weight is the module's `w_ih`.
    pub fn matmul_concat(&self, input: Tensor<3>, constant: Tensor<2>, weight: Tensor<2>) -> Tensor<3> {
        const CONCAT: Operation = Operation::MatmulConcat;
        let inputs = self.inputs(|| {
            [
                ("input", Value::from_tensor(&input)),
                ("steady", Value::from_tensor(&constant)),
                ("w_ih", Value::from_tensor(&weight)),
            ]
        });
        let made = if self.is_plain(CONCAT) {
            matmul_concat_with_tensors(input, constant, weight, self.precision)
        } else {
            let (input, weight) = (self.input(CONCAT, "input", input), self.input(CONCAT, "w_ih", weight));
            // An overflow scales the output back as a whole, so that it has to act on both parts of the left operand.
            let constant = self.input(CONCAT, "input", constant);
            self.output(CONCAT, matmul_concat(input, constant, weight, self.precision))
        };
        self.record(CONCAT, Attributes::None, inputs, made)
    }

    /// Computes a linear layer, whose product is recorded: maps `[.., K]` to `[.., M]`.
    pub fn linear<const D: usize>(&self, layer: &Linear, input: Tensor<D>) -> Tensor<D> {
        let mut shape = input.dims();
        let rows: usize = shape[..D - 1].iter().product();
        let output = self.matmul(input.reshape([rows, shape[D - 1]]), layer.weight.val(), "weight");
        let output = match &layer.bias {
            Some(bias) => output + bias.val().unsqueeze(),
            None => output,
        };
        shape[D - 1] = output.dims()[1];
        output.reshape(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Distribution, Tolerance};

    #[test]
    fn a_product_in_half_precision_is_close_and_has_gradients_in_f32() {
        let device = Device::flex().autodiff();
        device.seed(3);
        let random = |shape: [usize; 2]| {
            Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), &device).require_grad()
        };
        let (a, b) = (random([5, 33]), random([33, 7]));
        let run = |precision| {
            let made = matmul(a.clone(), b.clone(), precision);
            let grads = made.clone().powi_scalar(2).sum().backward();
            [made.inner(), a.grad(&grads).unwrap(), b.grad(&grads).unwrap()].map(|tensor| tensor.into_data())
        };
        for (half, single) in run(Precision::Mixed).iter().zip(run(Precision::F32)) {
            assert_eq!(half.dtype(), single.dtype());
            half.assert_approx_eq::<f32>(&single, Tolerance::rel_abs(2e-2, 2e-1));
            assert_ne!(half, &single, "half precision rounds");
        }
    }

    #[test]
    fn a_concatenated_product_in_half_precision_is_close() {
        let device = Device::flex().autodiff();
        device.seed(4);
        let random = |shape: [usize; 2]| {
            Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), &device).require_grad()
        };
        let (inputs, constant, weight) = (random([12, 9]), random([3, 5]), random([14, 7]));
        let run = |precision| {
            let made =
                matmul_concat(inputs.clone().reshape([4, 3, 9]), constant.clone(), weight.clone(), precision);
            let grads = made.clone().powi_scalar(2).sum().backward();
            [
                made.inner().reshape([12, 7]),
                inputs.grad(&grads).unwrap(),
                constant.grad(&grads).unwrap(),
                weight.grad(&grads).unwrap(),
            ]
            .map(Tensor::into_data)
        };
        for (half, single) in run(Precision::Mixed).iter().zip(run(Precision::F32)) {
            half.assert_approx_eq::<f32>(&single, Tolerance::rel_abs(2e-2, 2e-1));
            assert_ne!(half, &single, "half precision rounds");
        }
    }
}
