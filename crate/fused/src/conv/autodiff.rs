//! Registers the parts of a convolution layer with autodiff, see [`ConvBackwardOps`].

use burn::backend::AutodiffBackend;

use super::{
    Activation,
    ops::{ConvBackwardOps, ConvOps},
};
use crate::backward_prelude::*;

#[derive(Debug)]
struct UnfoldBackward;

impl<B: ConvBackwardOps> Backward<B, 1> for UnfoldBackward {
    type State = usize;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        if let [Some(parent)] = ops.parents {
            grads.register::<B>(parent.id, B::fold_taps(grad, ops.state));
        }
    }
}

#[derive(Debug)]
struct ConvolveBackward;

impl<B: ConvBackwardOps> Backward<B, 2> for ConvolveBackward {
    /// The second result of [`ConvOps::convolve`], the weight, and the number of taps.
    type State = (B::FloatTensorPrimitive, B::FloatTensorPrimitive, usize);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [input, weight] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let (kept, weights, taps) = ops.state;
        if let Some(input) = input {
            grads.register::<B>(input.id, B::convolve_backward_input(grad.clone(), weights, taps));
        }
        if let Some(weight) = weight {
            grads.register::<B>(weight.id, B::convolve_backward_weight(grad, kept, taps));
        }
    }
}

#[derive(Debug)]
struct ActivateBackward;

impl<B: ConvBackwardOps> Backward<B, 1> for ActivateBackward {
    type State = (B::FloatTensorPrimitive, Activation);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (output, activation) = ops.state;
        if let [Some(parent)] = ops.parents {
            grads.register::<B>(parent.id, B::activate_backward(grad, output, activation));
        }
    }
}

#[derive(Debug)]
struct NormaliseBackward;

#[derive(Debug, Clone)]
struct Saved<T> {
    output: T,
    normalised: T,
    gamma: T,
    variance: T,
    epsilon: f32,
    activation: Activation,
}

impl<B: ConvBackwardOps> Backward<B, 3> for NormaliseBackward {
    type State = Saved<B::FloatTensorPrimitive>;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let parents = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let Saved { output, normalised, gamma, variance, epsilon, activation } = ops.state;
        let (input, gamma, beta) =
            B::normalise_backward(grad, output, normalised, gamma, variance, epsilon, activation);
        for (parent, grad) in parents.into_iter().zip([input, gamma, beta]) {
            if let Some(parent) = parent {
                grads.register::<B>(parent.id, grad);
            }
        }
    }
}

impl<B: ConvBackwardOps, C: CheckpointStrategy> ConvOps for Autodiff<B, C> {
    fn unfold_taps(input: FloatTensor<Self>, taps: usize) -> FloatTensor<Self> {
        let (input, node) = input.into_parts();
        let output = B::unfold_taps(input, taps);
        match UnfoldBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(taps, output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn convolve(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        taps: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (input, input_node) = input.into_parts();
        let (weight, weight_node) = weight.into_parts();
        let (output, kept) = B::convolve(input, weight.clone(), taps);
        let tracked =
            match ConvolveBackward.prepare::<C>([input_node, weight_node]).compute_bound().stateful() {
                OpsKind::Tracked(prep) => prep.finish((kept.clone(), weight, taps), output),
                OpsKind::UnTracked(prep) => prep.finish(output),
            };
        (tracked, <Self as AutodiffBackend>::from_inner(kept))
    }

    fn activate(input: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        let (input, node) = input.into_parts();
        let output = B::activate(input, activation);
        match ActivateBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((output.clone(), activation), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn normalise(
        input: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
        activation: Activation,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        assert!(!mean.is_tracked() && !variance.is_tracked(), "the statistics have no gradient");
        let (mean, variance) = (mean.into_primitive(), variance.into_primitive());
        let (input, input_node) = input.into_parts();
        let (gamma, gamma_node) = gamma.into_parts();
        let (beta, beta_node) = beta.into_parts();
        let (output, normalised) =
            B::normalise(input, gamma.clone(), beta, mean, variance.clone(), epsilon, activation);
        let tracked = match NormaliseBackward
            .prepare::<C>([input_node, gamma_node, beta_node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let saved = Saved {
                    output: output.clone(),
                    normalised: normalised.clone(),
                    gamma,
                    variance,
                    epsilon,
                    activation,
                };
                prep.finish(saved, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(output),
        };
        (tracked, <Self as AutodiffBackend>::from_inner(normalised))
    }
}
