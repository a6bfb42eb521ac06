//! Visits and maps the parameters of a module by path, with their rank erased.
//!
//! burn's visitors and mappers are generic over the rank, which a closure cannot be. Here every tensor is flattened, row-major.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};

/// Implements the tracking of `self.path`, a `Vec<String>`, in a `ModuleVisitor` or a `ModuleMapper`.
macro_rules! track_path {
    () => {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_string());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }
    };
}
pub(crate) use track_path;

/// Flattens a tensor, row-major.
pub fn flatten<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let count = tensor.shape().num_elements();
    tensor.reshape([count])
}

/// A float parameter or running statistic of a module, of any rank.
pub trait Parameter {
    /// Returns the shape. This does not initialise the parameter.
    fn shape(&self) -> Vec<usize>;

    /// Returns the flattened values without autodiff.
    fn values(&self) -> Tensor<1>;

    /// Returns the flattened values as part of the autodiff graph.
    fn tracked(&self) -> Tensor<1>;

    /// Returns the flattened gradient, if there is one.
    fn gradient(&self, gradients: &Gradients) -> Option<Tensor<1>>;

    /// Removes and returns the flattened gradient, if there is one.
    fn take_gradient(&self, gradients: &mut Gradients) -> Option<Tensor<1>>;

    /// Replaces the gradient by flattened values.
    fn replace_gradient(&self, gradients: &mut Gradients, gradient: Tensor<1>);
}

impl<const D: usize> Parameter for Param<Tensor<D>> {
    fn shape(&self) -> Vec<usize> {
        self.lazy_shape().to_vec()
    }

    fn values(&self) -> Tensor<1> {
        flatten(self.val().inner())
    }

    fn tracked(&self) -> Tensor<1> {
        flatten(self.val())
    }

    fn gradient(&self, gradients: &Gradients) -> Option<Tensor<1>> {
        self.val().grad(gradients).map(flatten)
    }

    fn take_gradient(&self, gradients: &mut Gradients) -> Option<Tensor<1>> {
        self.val().grad_remove(gradients).map(flatten)
    }

    fn replace_gradient(&self, gradients: &mut Gradients, gradient: Tensor<1>) {
        let value = self.val();
        let shape = value.dims();
        value.grad_replace(gradients, gradient.reshape(shape));
    }
}

/// Calls `each` with the path and the parameter of every float parameter and running statistic, in the module's order.
pub fn visit<M: Module>(module: &M, each: impl FnMut(&str, &dyn Parameter)) {
    struct Visitor<F> {
        path: Vec<String>,
        each: F,
    }
    impl<F: FnMut(&str, &dyn Parameter)> ModuleVisitor for Visitor<F> {
        track_path!();

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            (self.each)(&self.path.join("."), param);
        }
    }
    module.visit(&mut Visitor { path: Vec::new(), each });
}

/// Replaces the values of parameters.
///
/// `change` is given the path and the flattened values without autodiff, and returns new flattened values, or `None` to leave the parameter as it is. A new
/// parameter requires a gradient if its device computes gradients.
pub fn map<M: Module>(module: M, change: impl FnMut(&str, Tensor<1>) -> Option<Tensor<1>>) -> M {
    struct Mapper<F> {
        path: Vec<String>,
        change: F,
    }
    impl<F: FnMut(&str, Tensor<1>) -> Option<Tensor<1>>> ModuleMapper for Mapper<F> {
        track_path!();

        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let Some(changed) = (self.change)(&self.path.join("."), param.values()) else { return param };
            param.map(|old| {
                let changed = changed.reshape(old.dims());
                if old.is_autodiff() { Tensor::from_inner(changed).require_grad() } else { changed }
            })
        }
    }
    module.map(&mut Mapper { path: Vec::new(), change })
}

/// Freezes the parameters whose path `frozen` accepts: they have no gradient and no update.
pub fn freeze<M: Module>(module: M, frozen: impl Fn(&str) -> bool) -> M {
    struct Freezer<F> {
        path: Vec<String>,
        frozen: F,
    }
    impl<F: Fn(&str) -> bool> ModuleMapper for Freezer<F> {
        track_path!();

        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            if (self.frozen)(&self.path.join(".")) { param.set_require_grad(false) } else { param }
        }
    }
    module.map(&mut Freezer { path: Vec::new(), frozen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::LinearConfig;

    fn host(values: Tensor<1>) -> Vec<f32> {
        values.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn visit_reads_and_replaces_values_and_gradients_by_path() {
        let device = Device::flex().autodiff();
        let layer = LinearConfig::new(2, 3).init(&device);
        let mut gradients = layer.forward(Tensor::<2>::from_floats([[2.0, 5.0]], &device)).sum().backward();
        visit(&layer, |path, parameter| {
            let gradient = parameter.gradient(&gradients).unwrap();
            assert_eq!(gradient.dims(), parameter.values().dims());
            if path == "weight" {
                assert_eq!(parameter.shape(), [2, 3]);
                parameter.replace_gradient(&mut gradients, gradient.mul_scalar(2.0));
            }
        });
        let mut found = Vec::new();
        visit(&layer, |path, parameter| {
            found.push((path.to_string(), host(parameter.take_gradient(&mut gradients).unwrap())));
            assert!(parameter.gradient(&gradients).is_none());
        });
        assert_eq!(
            found,
            [("weight".into(), vec![4.0, 4.0, 4.0, 10.0, 10.0, 10.0]), ("bias".into(), vec![1.0; 3])]
        );
    }

    #[test]
    fn frozen_parameters_have_no_gradient() {
        let device = Device::flex().autodiff();
        let layer = freeze(LinearConfig::new(2, 3).init(&device), |path| path == "weight");
        let gradients = layer.forward(Tensor::<2>::from_floats([[2.0, 5.0]], &device)).sum().backward();
        visit(&layer, |path, parameter| assert_eq!(parameter.gradient(&gradients).is_some(), path == "bias"));
    }

    #[test]
    fn map_changes_the_parameters_it_returns_values_for() {
        for device in [Device::flex(), Device::flex().autodiff()] {
            let layer = LinearConfig::new(2, 3).init(&device);
            let bias = host(flatten(layer.bias.clone().unwrap().val().inner()));
            let mapped = map(layer, |path, values| (path == "weight").then(|| values.ones_like()));
            assert_eq!(host(mapped.weight.values()), [1.0; 6]);
            assert_eq!(host(mapped.bias.unwrap().values()), bias);
            assert_eq!(mapped.weight.val().is_require_grad(), device.is_autodiff());
        }
    }
}
