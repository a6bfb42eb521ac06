//! The sum of all ranks' gradients and losses, between the backward pass and the optimizer.

use burn::{
    module::{Module, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};

use crate::{Result, nn::sum_over_ranks, ranks::Ranks};

/// Replaces the gradients of a module's parameters by their sums over all ranks, in one exchange, and returns the sums of the losses. Each rank's loss is
/// its shard's part of the whole batch's, so these are the gradients and the losses of the whole batch.
///
/// * `losses`: `[K]`, on the device without gradients
pub fn sum_gradients<M: Module>(
    module: &M,
    gradients: &mut Gradients,
    losses: Tensor<1>,
    ranks: &Ranks,
) -> Result<Tensor<1>> {
    if ranks.is_alone() {
        return Ok(losses);
    }
    let count = losses.dims()[0];
    let mut gather = Gather { gradients, flat: vec![losses] };
    module.visit(&mut gather);
    let sums = sum_over_ranks(Tensor::cat(gather.flat, 0), ranks);
    ranks.check()?;
    let losses = sums.clone().narrow(0, 0, count);
    module.visit(&mut Scatter { gradients, sums, at: count });
    Ok(losses)
}

/// Lays all gradients one after the other. A parameter has one on all ranks or on none: they run the same model.
struct Gather<'a> {
    gradients: &'a Gradients,
    flat: Vec<Tensor<1>>,
}

impl ModuleVisitor for Gather<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            let count = gradient.shape().num_elements();
            self.flat.push(gradient.reshape([count]));
        }
    }
}

struct Scatter<'a> {
    gradients: &'a mut Gradients,
    sums: Tensor<1>,
    at: usize,
}

impl ModuleVisitor for Scatter<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        let Some(gradient) = value.grad(self.gradients) else { return };
        let shape = gradient.dims();
        let count = gradient.shape().num_elements();
        value.grad_replace(self.gradients, self.sums.clone().narrow(0, self.at, count).reshape(shape));
        self.at += count;
    }
}
