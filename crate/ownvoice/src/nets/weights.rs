//! Weights under PyTorch's names and in its layout.
//!
//! | parameter | here | in PyTorch |
//! |---|---|---|
//! | convolution | `[K, K, Cin, Cout]` | `[Cout, Cin, K, K]` |
//! | fully connected layer | `[Cin, Cout]` | `[Cout, Cin]` |

use std::collections::{BTreeMap, HashMap};

use super::{Net, config::NetConfig, options::TRUNK};
use crate::{Error, Result};
use burn_fused::weights::{
    HostWeights, Metadata, Weight, Weights, apply, collect, deserialize_floats, visit,
};

/// The weights that a net starts from.
#[derive(Debug, Clone, Default)]
pub struct NetWeights {
    /// Shapes and values by PyTorch's names.
    pub tensors: HostWeights,
    /// The configuration and the names of the classes, if [`super::TunedNet::save`] wrote the file.
    pub config: Option<NetConfig>,
    pub classes: Vec<String>,
}

/// The keys of the metadata.
pub(super) const CONFIG: &str = "config";
pub(super) const CLASSES: &str = "classes";

impl NetWeights {
    /// Reads a safetensors file, which is untrusted input. Fails with `weights-mismatch`.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self> {
        Ok(Self::read(bytes)?.0)
    }

    /// Reads a safetensors file with its metadata.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, Metadata)> {
        let (tensors, metadata) = deserialize_floats(bytes).map_err(Error::weights_mismatch)?;
        let parsed = |error| Error::weights_mismatch(format!("the metadata cannot be parsed: {error}"));
        let config =
            metadata.get(CONFIG).map(|json| serde_json::from_str(json)).transpose().map_err(parsed)?;
        let classes =
            metadata.get(CLASSES).map(|json| serde_json::from_str(json)).transpose().map_err(parsed)?;
        Ok((Self { tensors, config, classes: classes.unwrap_or_default() }, metadata))
    }
}

/// Returns the shape that a parameter has in PyTorch.
fn public_shape(shape: &[usize]) -> Vec<usize> {
    match *shape {
        [height, width, inputs, outputs] => vec![outputs, inputs, height, width],
        [inputs, outputs] => vec![outputs, inputs],
        _ => shape.to_vec(),
    }
}

/// Permutes values from PyTorch's layout.
///
/// * `shape`: the shape here
fn from_public(shape: &[usize], values: &[f32]) -> Vec<f32> {
    match *shape {
        [height, width, inputs, outputs] => from_public(&[height * width, inputs, outputs], values),
        [inputs, outputs] => from_public(&[1, inputs, outputs], values),
        [taps, inputs, outputs] => {
            let value = |at: usize| {
                let (tap, input, output) = (at / (inputs * outputs), at / outputs % inputs, at % outputs);
                values[(output * inputs + input) * taps + tap]
            };
            (0..values.len()).map(value).collect()
        }
        _ => values.to_vec(),
    }
}

/// Loads weights into a net. A classifier that the weights lack, or that has another number of classes, stays as it is.
///
/// Fails with `weights-mismatch` if a weight is missing, has another shape or belongs to no layer.
pub(super) fn load<N: Net>(net: N, mut tensors: HostWeights) -> Result<N> {
    // Counters of batches, which no layer here has.
    tensors.retain(|name, _| !name.ends_with("num_batches_tracked"));
    let shapes = shapes(&net);
    let of_classifier = |name: &str| is_within(name, net.classifier());
    let has_classifier =
        shapes.iter().filter(|(path, _)| of_classifier(N::public_name(path))).all(|(path, shape)| {
            let (ours, found) = (public_shape(shape), tensors.get(N::public_name(path)));
            // All dimensions but the number of classes, which is the first.
            found.is_none_or(|(theirs, _)| *theirs == ours || theirs.get(1..) != ours.get(1..))
        }) && tensors.keys().any(|name| of_classifier(name));
    let (mut loaded, mut missing, mut misshapen) = (HashMap::new(), Vec::new(), None);
    for (path, shape) in &shapes {
        let name = N::public_name(path);
        let found = tensors.remove(name);
        if of_classifier(name) && !has_classifier {
            continue;
        }
        match found {
            Some((theirs, values)) if theirs == public_shape(shape) => {
                loaded.insert(path.clone(), (shape.clone(), from_public(shape, &values)));
            }
            Some((theirs, _)) => misshapen = Some((name, theirs, public_shape(shape))),
            None => missing.push(name),
        }
    }
    if let Some(name) = missing.first() {
        let all = format!("in all, {} of {} are", missing.len(), shapes.len());
        return Err(Error::weights_mismatch(format!("{name} is missing; {all}")));
    }
    if let Some((name, theirs, ours)) = misshapen {
        return Err(Error::weights_mismatch(format!("{name} has shape {theirs:?}, in the net {ours:?}")));
    }
    if let Some(name) = tensors.keys().min() {
        return Err(Error::weights_mismatch(format!("no layer is called {name}")));
    }
    apply(net, loaded).map_err(Error::weights_mismatch)
}

/// Permutes a weight, or a gradient of that shape, to PyTorch's layout.
pub fn public(Weight { shape, values }: Weight) -> Weight {
    let values = match *shape {
        [height, width, inputs, outputs] => {
            let taps = values.reshape([height * width, inputs, outputs]);
            taps.permute([2, 1, 0]).reshape([height * width * inputs * outputs])
        }
        [inputs, outputs] => values.reshape([inputs, outputs]).transpose().reshape([inputs * outputs]),
        _ => values,
    };
    Weight { shape: public_shape(&shape), values }
}

/// Returns the weights of a net under PyTorch's names and in its layout.
pub fn public_weights<N: Net>(net: &N) -> Weights {
    collect(net)
        .into_iter()
        .map(|(path, weight)| (N::public_name(&path).to_string(), public(weight)))
        .collect()
}

/// Returns the shapes of all parameters by path. This initialises none of them.
fn shapes<N: Net>(net: &N) -> BTreeMap<String, Vec<usize>> {
    let mut shapes = BTreeMap::new();
    visit(net, |path, parameter| {
        shapes.insert(path.to_string(), parameter.shape());
    });
    shapes
}

/// Returns whether a name is a layer's or that of something in it.
fn is_within(name: &str, layer: &str) -> bool {
    name.strip_prefix(layer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The layers that are not trained.
#[derive(Debug, Clone)]
pub(super) struct Frozen {
    layers: Vec<String>,
    classifier: &'static str,
    /// Whether everything but the classifier is frozen.
    pub trunk: bool,
}

impl Frozen {
    /// Fails with `option-invalid` if the net has no layer of a name, or if nothing is left to train.
    pub fn new<N: Net>(net: &N, layers: &[String]) -> Result<Self> {
        let mut frozen = Self { layers: layers.to_vec(), classifier: net.classifier(), trunk: false };
        let paths: Vec<String> = shapes(net).into_keys().collect();
        let names = || paths.iter().map(|path| N::public_name(path));
        if let Some(layer) =
            layers.iter().find(|layer| *layer != TRUNK && !names().any(|name| is_within(name, layer)))
        {
            let mut known: Vec<&str> = names().map(|name| name.split('.').next().unwrap_or(name)).collect();
            known.dedup();
            return Err(Error::option_invalid(format!(
                "the net has no layer {layer}, only {} and {TRUNK}",
                known.join(", ")
            )));
        }
        if names().all(|name| frozen.contains(name)) {
            return Err(Error::option_invalid("all layers are frozen, so that nothing is left to learn"));
        }
        frozen.trunk = names().all(|name| frozen.contains(name) || is_within(name, frozen.classifier));
        Ok(frozen)
    }

    /// Returns whether a parameter of this public name is frozen.
    pub fn contains(&self, name: &str) -> bool {
        self.layers.iter().any(|layer| match layer.as_str() {
            TRUNK => !is_within(name, self.classifier),
            layer => is_within(name, layer),
        })
    }
}

/// Returns the paths of the layers that use half precision under mixed precision: all but the classifier.
pub fn half<N: Net>(net: &N) -> Vec<String> {
    let paths = shapes(net).into_keys().filter(|path| !is_within(N::public_name(path), net.classifier()));
    let layer = |path: String| {
        let name = N::public_name(&path);
        let prefix = path.len() - name.len();
        path[..prefix + name.find('.').unwrap_or(name.len())].to_string()
    };
    let mut layers: Vec<String> = paths.map(layer).collect();
    layers.dedup();
    layers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{NetKind, PictureNet};
    use burn::prelude::Device;
    use burn_fused::{readback::read, weights::flatten};

    fn net(kind: NetKind, classes: usize, seed: u64) -> PictureNet {
        let config = NetConfig { width: 0.1, ..NetConfig::of(kind, classes) };
        PictureNet::new(&config, seed, &Device::flex()).unwrap()
    }

    fn on_host(net: &PictureNet) -> HostWeights {
        let weights = public_weights(net).into_iter();
        weights
            .map(|(name, weight)| (name, (weight.shape, pollster::block_on(read(weight.values)).unwrap())))
            .collect()
    }

    #[test]
    fn layouts_are_pytorchs() {
        let net = net(NetKind::LeNet, 2, 1);
        let weights = on_host(&net);
        let PictureNet::LeNet(lenet) = &net else { unreachable!("it is a LeNet") };
        let [side, _, inputs, outputs] = lenet.conv2.weight.dims();
        let ours = pollster::block_on(read(flatten(lenet.conv2.weight.val()))).unwrap();
        let (shape, theirs) = &weights["conv2.weight"];
        assert_eq!(*shape, [outputs, inputs, side, side]);
        let place = |[row, column, input, output]: [usize; 4]| {
            ((row * side + column) * inputs + input) * outputs + output
        };
        assert_eq!(theirs[side * (side * inputs) + side + 3], ours[place([1, 3, 0, 1])]);
        let (shape, theirs) = &weights["fc3.weight"];
        assert_eq!((shape[0], theirs.len()), (2, shape[1] * 2));
        let ours = pollster::block_on(read(flatten(lenet.fc3.weight.val()))).unwrap();
        assert_eq!(theirs[1], ours[2]);
    }

    #[test]
    fn weights_survive_a_round_trip_and_a_classifier_of_another_size_is_replaced() {
        for kind in NetKind::ALL {
            let from = on_host(&net(kind, 3, 1));
            assert_eq!(on_host(&load(net(kind, 3, 2), from.clone()).unwrap()), from);
            let classifier = format!("{}.weight", kind.classifier());
            let five = on_host(&load(net(kind, 5, 2), from.clone()).unwrap());
            assert_eq!((five[&classifier].0[0], from[&classifier].0[0]), (5, 3));
            assert_ne!(five[&classifier].1[..3], from[&classifier].1[..3]);
            assert!(
                five.iter().all(|(name, weight)| is_within(name, kind.classifier()) || from[name] == *weight)
            );
            let trunk: HostWeights =
                from.into_iter().filter(|(name, _)| !is_within(name, kind.classifier())).collect();
            assert!(load(net(kind, 3, 2), trunk).is_ok(), "a classifier may be missing");
        }
    }

    #[test]
    fn weights_that_do_not_fit_are_named() {
        let from = on_host(&net(NetKind::ResNet18, 3, 1));
        let message = |tensors: HostWeights| {
            let error = load(net(NetKind::ResNet18, 3, 2), tensors).unwrap_err();
            assert_eq!(error.code(), "weights-mismatch");
            error.to_string()
        };
        let mut missing = from.clone();
        missing.remove("layer2.0.downsample.1.running_var");
        let found = message(missing);
        assert!(found.contains("layer2.0.downsample.1.running_var is missing"), "{found}");
        let mut half = from.clone();
        half.remove("fc.bias");
        assert!(message(half).contains("fc.bias is missing"));
        let mut other = from.clone();
        other.insert("layer5.weight".into(), (vec![1], vec![0.0]));
        assert!(message(other).contains("no layer is called layer5.weight"));
        let mut shape = from.clone();
        shape.get_mut("bn1.weight").unwrap().0 = vec![2, 3];
        assert!(message(shape).contains("bn1.weight has shape [2, 3], in the net [6]"));
        assert!(message(on_host(&net(NetKind::MobileNetV1, 3, 1))).contains("is missing"));
        let mut counted = from;
        counted.insert("bn1.num_batches_tracked".into(), (vec![], vec![7.0]));
        assert!(load(net(NetKind::ResNet18, 3, 2), counted).is_ok());
    }

    #[test]
    fn layers_are_frozen_by_public_names() {
        let net = net(NetKind::ResNet18, 3, 1);
        let frozen =
            |layers: &[&str]| Frozen::new(&net, &layers.iter().map(ToString::to_string).collect::<Vec<_>>());
        let some = frozen(&["layer1", "conv1"]).unwrap();
        assert!(some.contains("layer1.0.bn1.weight") && some.contains("conv1.weight") && !some.trunk);
        assert!(!some.contains("layer2.0.conv1.weight") && !some.contains("fc.bias"));
        assert!(frozen(&["trunk"]).unwrap().trunk && !frozen(&[]).unwrap().trunk);
        let all = ["conv1", "bn1", "layer1", "layer2", "layer3", "layer4"];
        assert!(frozen(&all).unwrap().trunk);
        let error = frozen(&["layer9"]).unwrap_err();
        assert!(
            error.code() == "option-invalid" && error.to_string().contains("bn1, conv1, fc, layer1"),
            "{error}"
        );
        assert_eq!(frozen(&["trunk", "fc"]).unwrap_err().code(), "option-invalid");
        assert_eq!(
            half(&net),
            all.map(|layer| format!("ResNet18.{layer}")).iter().fold(Vec::new(), |mut sorted, layer| {
                sorted.push(layer.clone());
                sorted.sort();
                sorted
            })
        );
    }
}
