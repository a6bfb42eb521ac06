//! The sums of gradients and losses over all ranks, between the backward pass and the optimizer.

use burn::{module::Module, prelude::*, tensor::Gradients};

use crate::Result;
use burn_fused::{ranks::Ranks, sum_over_ranks, weights::visit};

/// Replaces the gradients of a module's parameters by their sums over all ranks, and returns the sums of the losses, in one all-reduce. The losses of all shards
/// add up to the loss of the whole batch, so that the sums are the gradients and losses of the whole batch.
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
    // A parameter has a gradient on all ranks or on none, because all ranks run the same model.
    let mut flat = vec![losses];
    visit(module, |_, parameter| flat.extend(parameter.gradient(gradients)));
    let sums = sum_over_ranks(Tensor::cat(flat, 0), ranks);
    ranks.check()?;
    let mut at = count;
    visit(module, |_, parameter| {
        let Some(gradient) = parameter.gradient(gradients) else { return };
        let count = gradient.dims()[0];
        parameter.replace_gradient(gradients, sums.clone().narrow(0, at, count));
        at += count;
    });
    Ok(sums.narrow(0, 0, count))
}
