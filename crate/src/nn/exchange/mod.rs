//! A sum over all ranks as an operation with a gradient: for layers whose output hangs on the whole batch.

mod autodiff;
mod ops;

use burn::{backend::Dispatch, prelude::*};
use ops::ExchangeOps;

use crate::ranks::Ranks;

/// The sum over all ranks, `[N]`; its gradient is the sum of all ranks' gradients. Where an exchange fails the values stay as they are, and
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
            // Loss r: (r + 1) (s . s), so the gradient of all losses is 2 s (1 + 2).
            let loss = (sum.clone() * sum.clone()).sum().mul_scalar(rank + 1.0);
            let gradient = own.grad(&loss.backward()).unwrap();
            [sum.inner(), gradient].map(|tensor| tensor.into_data().try_to_vec::<f32>().unwrap())
        });
        assert_eq!(found[0], [[3.0, 20.0], [18.0, 120.0]]);
        assert_eq!(found[0], found[1]);
    }
}
