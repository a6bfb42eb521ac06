//! Weights of a module by parameter path: collecting them, loading them, and their safetensors files.

mod file;
mod parameters;

use burn::{
    module::{Module, ModuleMapper, Param},
    prelude::*,
};
use std::collections::{BTreeMap, HashMap};

use crate::Result;
pub use file::{Metadata, Storage, deserialize, deserialize_floats, serialize};
pub(crate) use parameters::track_path;
pub use parameters::{Parameter, flatten, freeze, map, visit};

/// The flattened values of a parameter, on their device.
#[derive(Debug, Clone)]
pub struct Weight {
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Tensor<1>,
}

impl Weight {
    /// Makes a weight of rank 1. [`Storage::Bytes`] keeps it in half precision, where a matrix would be rounded to bytes.
    pub fn vector(values: Vec<f32>, device: &Device) -> Self {
        let shape = vec![values.len()];
        Self { values: Tensor::from_data(TensorData::new(values, [shape[0]]), device), shape }
    }
}

/// Weights by parameter path, on their device.
pub type Weights = BTreeMap<String, Weight>;

/// Shapes and values by parameter path, on the host.
pub type HostWeights = HashMap<String, (Vec<usize>, Vec<f32>)>;

/// Returns all parameters and running statistics of a module, without autodiff.
pub fn collect<M: Module>(module: &M) -> Weights {
    let mut weights = Weights::new();
    visit(module, |path, parameter| {
        let values = parameter.values();
        weights.insert(path.to_string(), Weight { shape: parameter.shape(), values });
    });
    weights
}

/// Loads weights into a module; parameters that `weights` does not name stay. Returns a message if a name or a shape does not fit the module.
///
/// Names and shapes are compared before any parameter is initialised, so that a module whose sizes come from an untrusted file takes no more memory than the
/// values in the file. The values become the parameters without a copy.
pub fn apply<M: Module>(module: M, weights: HostWeights) -> Result<M, String> {
    check(&module, &weights)?;
    Ok(module.map(&mut Apply { path: Vec::new(), weights }))
}

/// Checks whether [`apply`] accepts these weights, and returns its message if it does not.
pub fn check<M: Module>(module: &M, weights: &HostWeights) -> Result<(), String> {
    check_shapes(&shapes(module), weights)
}

/// Loads weights as [`apply`] does, and requires a value for every parameter of the module.
pub fn apply_all<M: Module>(module: M, weights: HostWeights) -> Result<M, String> {
    match shapes(&module).into_keys().find(|name| !weights.contains_key(name)) {
        Some(name) => Err(format!("{name} is missing")),
        None => apply(module, weights),
    }
}

/// Returns the shapes of all parameters by path. This initialises none of them.
fn shapes<M: Module>(module: &M) -> BTreeMap<String, Vec<usize>> {
    let mut shapes = BTreeMap::new();
    visit(module, |path, parameter| {
        shapes.insert(path.to_string(), parameter.shape());
    });
    shapes
}

fn check_shapes(shapes: &BTreeMap<String, Vec<usize>>, weights: &HostWeights) -> Result<(), String> {
    let unknown = weights.keys().filter(|name| !shapes.contains_key(*name)).count();
    if unknown > 0 {
        return Err(format!("{unknown} of {} tensors are not parameters of the model", weights.len()));
    }
    match weights.iter().find(|(name, (shape, _))| *shape != shapes[*name]) {
        Some((name, (shape, _))) => {
            Err(format!("{name} has shape {shape:?}, in the model {:?}", shapes[name]))
        }
        None => Ok(()),
    }
}

/// Loads values without initialising the parameters first, which [`map`] would do.
struct Apply {
    path: Vec<String>,
    weights: HostWeights,
}

impl ModuleMapper for Apply {
    track_path!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some((shape, values)) = self.weights.remove(&self.path.join(".")) else { return param };
        let tensor = Tensor::from_data(TensorData::new(values, shape), &param.lazy_device());
        let id = param.id;
        param.transform_for_load(tensor, id)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::conv::ConvNorm;

    #[derive(Module, Debug)]
    pub(super) struct Net {
        convolutions: Vec<ConvNorm>,
    }

    impl Net {
        pub(super) fn new(device: &Device) -> Self {
            Self { convolutions: vec![ConvNorm::new(2, 3, 3, device), ConvNorm::new(3, 2, 5, device)] }
        }
    }

    #[test]
    fn a_model_survives_its_file() {
        let device = Device::flex();
        device.seed(3);
        let model = Net::new(&device);
        let bytes = pollster::block_on(serialize(
            collect(&model),
            Storage::Full,
            Metadata::from([("a".into(), "b".into())]),
        ))
        .unwrap();
        let (weights, metadata) = deserialize(&bytes).unwrap();
        assert_eq!(metadata["a"], "b");
        let other = apply(Net::new(&device), weights.clone()).unwrap();
        let weight = |net: &Net| net.convolutions[0].weight.val().into_data();
        assert_eq!(weight(&other), weight(&model));
        assert!(weights.contains_key("convolutions.0.norm.running_mean"), "{:?}", weights.keys());
    }

    #[test]
    fn names_and_shapes_that_do_not_fit_are_errors() {
        let layer = burn::nn::LinearConfig::new(2, 2).init(&Device::flex());
        let wrong = HashMap::from([("weight".to_string(), (vec![3, 2], vec![0.0; 6]))]);
        assert!(apply(layer.clone(), wrong).unwrap_err().contains("[3, 2]"));
        let half = HashMap::from([("weight".to_string(), (vec![2, 2], vec![0.0; 4]))]);
        assert_eq!(apply_all(layer, half).unwrap_err(), "bias is missing");
    }
}
