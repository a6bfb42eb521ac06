//! The update by plain tensor operations: the reference of [`super::ops::AdamOps`].

use burn::{module::Module, prelude::*, tensor::Gradients};

use super::{
    Moments, SCALING,
    ops::{GROW_AFTER, MAX_SCALE, Settings},
};
use crate::weights::visit;

/// Returns the squared norm of the gradients of all parameters together, `[1]`.
pub fn squared_norm<M: Module>(module: &M, gradients: &Gradients) -> Tensor<1> {
    let mut sums = Vec::new();
    visit(module, |_, parameter| {
        sums.extend(parameter.gradient(gradients).map(|gradient| gradient.powi_scalar(2).sum()));
    });
    Tensor::cat(sums, 0).sum()
}

/// Computes [`super::ops::AdamOps::clip`]. All cases are computed and selected by masks, so that no value is read back.
pub fn clip(
    squared_norm: Tensor<1>,
    scaling: Tensor<1>,
    clip_norm: f32,
    grows: bool,
) -> (Tensor<1>, Tensor<1>) {
    let value = |index: usize| scaling.clone().slice([index..index + 1]);
    let (scale, since, overflows) = (value(0), value(1), value(SCALING - 1));
    let norm = squared_norm.sqrt();
    let finite = norm.clone().is_finite();
    let growing =
        if grows { since.clone().greater_equal_elem(GROW_AFTER - 1.0) } else { norm.clone().is_nan() };
    let norm = norm.mask_fill(finite.clone().bool_not(), 0.0);
    let clipped =
        ((norm / scale.clone() + 1e-6).recip().mul_scalar(clip_norm)).clamp_max(1.0) / scale.clone();
    let factor = clipped.clone().zeros_like().mask_where(finite.clone(), clipped);

    let grown = scale.clone().mul_scalar(2.0).clamp_max(MAX_SCALE);
    let after = scale.clone().mask_where(growing.clone(), grown);
    let halved = if grows { scale.mul_scalar(0.5).clamp_min(1.0) } else { scale };
    let count = since.add_scalar(1.0).mask_fill(growing, 0.0).mask_fill(finite.clone().bool_not(), 0.0);
    let overflows = overflows.clone().add_scalar(1.0).mask_where(finite.clone(), overflows);
    (factor, Tensor::cat(vec![halved.mask_where(finite, after), count, overflows], 0))
}

/// Computes [`super::ops::AdamOps::update`]. If `factor` is zero the gradients are non-finite, and parameter and moments stay unchanged.
pub fn update<const D: usize>(
    parameter: Tensor<D>,
    gradient: Tensor<D>,
    moments: Moments,
    factor: Tensor<1>,
    settings: Settings,
) -> (Tensor<D>, Moments) {
    let Settings { rate, kept, beta_1, beta_2, epsilon } = settings;
    let (shape, count) = (parameter.dims(), parameter.shape().num_elements());
    let stays = factor.clone().equal_elem(0.0).expand([count]);
    let flat = parameter.reshape([count]);
    let gradient = gradient.reshape([count]) * factor.expand([count]);
    let mean = |before: &Tensor<1>, new: Tensor<1>, beta: f32| {
        before.clone().mul_scalar(beta) + new.mul_scalar(1.0 - beta)
    };
    let first = mean(&moments.first, gradient.clone(), beta_1);
    let second = mean(&moments.second, gradient.powi_scalar(2), beta_2);
    let moved = flat.clone().mul_scalar(kept)
        - first.clone().mul_scalar(rate) / second.clone().sqrt().add_scalar(epsilon);
    let chosen = |new: Tensor<1>, old: Tensor<1>| new.mask_where(stays.clone(), old);
    let moments = Moments { first: chosen(first, moments.first), second: chosen(second, moments.second) };
    (chosen(moved, flat).reshape(shape), moments)
}
