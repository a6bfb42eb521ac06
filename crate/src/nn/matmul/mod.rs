//! Matrix products in single or in half precision.
//!
//! Mixed precision (Micikevicius et al. 2018): the operands of products, and so what the backward pass keeps of them, are f16; products add
//! up in f32 where the device does, and master weights, losses and all other arithmetic stay f32. Gradients come back through the casts as
//! f32; [`crate::train::adam`] scales the loss so that small ones survive.

#[cfg(feature = "cube")]
pub(super) mod cube;
pub(super) mod ops;

use burn::{backend::Dispatch, nn::Linear, prelude::*, tensor::FloatDType};
use ops::MatmulOps;
use serde::{Deserialize, Serialize};

/// In what training computes its products.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Precision {
    #[default]
    F32,
    /// Products in f16, all else in f32.
    Mixed,
}

impl Precision {
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Mixed => "mixed",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        [Self::F32, Self::Mixed].into_iter().find(|precision| precision.name() == name)
    }

    /// Whether a device computes in it.
    pub fn runs_on(self, device: &Device) -> bool {
        self == Self::F32 || device.supports_dtype(FloatDType::F16)
    }
}

/// The operand of a product.
pub fn operand<const D: usize>(tensor: Tensor<D>, half: bool) -> Tensor<D> {
    if half { tensor.cast(FloatDType::F16) } else { tensor }
}

/// What comes of a product, for everything else.
pub fn result<const D: usize>(tensor: Tensor<D>, half: bool) -> Tensor<D> {
    if half { tensor.cast(FloatDType::F32) } else { tensor }
}

/// `[N, K]` times `[K, M]`.
pub fn matmul(input: Tensor<2>, weight: Tensor<2>, half: bool) -> Tensor<2> {
    let made = Dispatch::matmul(operand(input, half).into_dispatch(), operand(weight, half).into_dispatch());
    result(Tensor::from_dispatch(made), half)
}

/// `[T, B, K]` and, beside each of its steps, `steady: [B, J]`, times `[K + J, M]`, to `[T, B, M]`. Where `a` needs no gradient, none is computed.
pub fn matmul_concat(a: Tensor<3>, steady: Tensor<2>, weight: Tensor<2>, half: bool) -> Tensor<3> {
    let ([steps, batch, width], [_, columns]) = (a.dims(), weight.dims());
    let [a, steady, weight] = [a.reshape([steps * batch, width]), steady, weight].map(|matrix| operand(matrix, half).into_dispatch());
    result(Tensor::<2>::from_dispatch(Dispatch::matmul_concat(a, steady, weight)), half).reshape([steps, batch, columns])
}

/// `[A, B, K]` to `[A, B, M]`.
pub fn linear(layer: &Linear, input: Tensor<3>, half: bool) -> Tensor<3> {
    let [a, b, width] = input.dims();
    let output = matmul(input.reshape([a * b, width]), layer.weight.val(), half);
    let output = match &layer.bias {
        Some(bias) => output + bias.val().unsqueeze(),
        None => output,
    };
    output.reshape([a as i32, b as i32, -1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Distribution, Tolerance};

    #[test]
    fn a_half_product_is_near_and_its_gradients_are_single() {
        let device = Device::flex().autodiff();
        device.seed(3);
        let random = |shape: [usize; 2]| Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), &device).require_grad();
        let (a, b) = (random([5, 33]), random([33, 7]));
        let run = |half| {
            let made = matmul(a.clone(), b.clone(), half);
            let grads = made.clone().powi_scalar(2).sum().backward();
            [made.inner(), a.grad(&grads).unwrap(), b.grad(&grads).unwrap()].map(|tensor| tensor.into_data())
        };
        for (half, single) in run(true).iter().zip(run(false)) {
            assert_eq!(half.dtype(), single.dtype());
            half.assert_approx_eq::<f32>(&single, Tolerance::rel_abs(2e-2, 2e-1));
            assert_ne!(half, &single, "half precision rounds");
        }
    }

    #[test]
    fn half_products_beside_what_stays_the_same_are_near() {
        let device = Device::flex().autodiff();
        device.seed(4);
        let random = |shape: [usize; 2]| Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), &device).require_grad();
        let (inputs, steady, weight) = (random([12, 9]), random([3, 5]), random([14, 7]));
        let run = |half| {
            let made = matmul_concat(inputs.clone().reshape([4, 3, 9]), steady.clone(), weight.clone(), half);
            let grads = made.clone().powi_scalar(2).sum().backward();
            [made.inner().reshape([12, 7]), inputs.grad(&grads).unwrap(), steady.grad(&grads).unwrap(), weight.grad(&grads).unwrap()].map(Tensor::into_data)
        };
        for (half, single) in run(true).iter().zip(run(false)) {
            half.assert_approx_eq::<f32>(&single, Tolerance::rel_abs(2e-2, 2e-1));
            assert_ne!(half, &single, "half precision rounds");
        }
    }
}
