//! A sum over all ranks of a data-parallel training as a differentiable operation, for layers whose output depends on the whole batch.

mod autodiff;
mod ops;

use crate::ranks::Ranks;
use burn::{backend::Dispatch, prelude::*};
use ops::AllReduceOps;

/// Returns the sum of `[N]` over all ranks. The gradient is the sum of the gradients of all ranks. If the all-reduce fails, the values are returned unchanged and
/// [`Ranks::check`] fails from then on.
pub fn sum_over_ranks(values: Tensor<1>, ranks: &Ranks) -> Tensor<1> {
    Tensor::from_dispatch(Dispatch::sum_over_ranks(values.into_dispatch(), ranks.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::threads::run;

    #[test]
    fn the_gradient_of_a_sum_is_the_sum_of_gradients() {
        let found = run(2, |ranks| {
            let rank = ranks.shard().rank as f32;
            let device = Device::flex().autodiff();
            let own = Tensor::<1>::from_floats([rank + 1.0, 10.0], &device).require_grad();
            let sum = sum_over_ranks(own.clone(), &ranks);
            // The loss of rank r is (r + 1) (s . s), so that the gradient of all losses is 2 s (1 + 2).
            let loss = (sum.clone() * sum.clone()).sum().mul_scalar(rank + 1.0);
            let gradient = own.grad(&loss.backward()).unwrap();
            [sum.inner(), gradient].map(|tensor| tensor.into_data().try_to_vec::<f32>().unwrap())
        });
        assert_eq!(found[0], [[3.0, 20.0], [18.0, 120.0]]);
        assert_eq!(found[0], found[1]);
    }
}
