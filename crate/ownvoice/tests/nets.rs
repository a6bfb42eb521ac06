//! Compares the nets for pictures with torchvision's `resnet18`, timm's `mobilenetv1_100` and a LeNet in PyTorch: outputs, gradients and ten updates. The
//! fixtures are made by `tests/parity/nets.py`.

use std::collections::HashMap;

use burn::prelude::*;
use burn_fused::{
    Mode,
    adam::{Adam, Rule},
    weights::{HostWeights, Weight, deserialize, visit},
};
use ownvoice::nets::{
    LossKind, Net, NetConfig, NetKind, NetTuneOptions, NetWeights, PictureNet, Targets,
    weights::{public, public_weights},
};
use serde_json::Value;

/// The largest absolute deviation that passes, and the largest relative to a tensor's norm, so that small gradients are compared as well.
const TOLERANCE: f32 = 1e-4;
const RELATIVE_TOLERANCE: f32 = 1e-2;
/// Rounding of values far above 1, relative to a tensor's norm.
const ROUNDING: f32 = 1e-5;

/// FNV-1a, 32 bits.
fn hashed(text: &str) -> u32 {
    text.bytes().fold(2_166_136_261, |value, byte| (value ^ u32::from(byte)).wrapping_mul(16_777_619))
}

/// Integers of 32 bits: the finaliser of MurmurHash3 on consecutive numbers.
fn mixed(seed: u32, count: usize) -> impl Iterator<Item = u32> {
    (0..count as u32).map(move |number| {
        let start = number.wrapping_mul(2_654_435_761).wrapping_add(seed);
        let steps = [(16, 2_246_822_507), (13, 3_266_489_909), (16, 1)];
        steps.into_iter().fold(start, |x, (shift, factor)| (x ^ (x >> shift)).wrapping_mul(factor))
    })
}

/// Values between two bounds.
fn filled(name: &str, count: usize, low: f64, high: f64) -> Vec<f32> {
    let unit = |number: u32| (f64::from(number) / 4_294_967_296.0) as f32;
    mixed(hashed(name), count).map(|number| low as f32 + (high - low) as f32 * unit(number)).collect()
}

fn bounds(name: &str, shape: &[usize]) -> (f64, f64) {
    match shape {
        _ if name.ends_with("running_mean") => (-0.3, 0.3),
        _ if name.ends_with("running_var") => (0.5, 1.5),
        [_] if name.ends_with("weight") => (0.5, 1.5),
        [_] => (-0.2, 0.2),
        _ => {
            let bound = (6.0 / shape[1..].iter().product::<usize>() as f64).sqrt();
            (-bound, bound)
        }
    }
}

/// Some values of a tensor in PyTorch's layout, and its norm.
fn sampled(name: &str, weight: Weight) -> Vec<f32> {
    const SAMPLES: usize = 8;
    let values = public(weight).values.into_data().try_to_vec::<f32>().unwrap();
    let norm = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
    let samples = mixed(hashed(name), SAMPLES).map(|number| values[number as usize % values.len()]);
    samples.chain([norm]).collect()
}

/// A file of reference tensors, and the comparisons so far.
struct Fixture {
    tensors: HashMap<String, (Vec<usize>, Vec<f32>)>,
    about: Value,
    worst: (f32, String),
    failures: Vec<String>,
}

impl Fixture {
    fn load(name: &str) -> Self {
        let bytes = std::fs::read(format!("../../tests/parity/{name}.safetensors")).unwrap();
        let (tensors, metadata) = deserialize(&bytes).unwrap();
        let about = serde_json::from_str(&metadata["about"]).unwrap();
        Self { tensors, about, worst: (0.0, String::new()), failures: Vec::new() }
    }

    fn number(&self, key: &str) -> f64 {
        self.about[key].as_f64().unwrap_or(0.0)
    }

    /// Compares values, whose last is the norm if they are samples.
    fn compare(&mut self, name: String, found: &[f32]) {
        let (_, expected) = self.tensors.remove(&name).unwrap_or_else(|| panic!("there is no {name}"));
        assert_eq!(found.len(), expected.len(), "{name}");
        let largest = expected.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let error = |(a, b): (&f32, &f32)| (a - b).abs();
        let worst = found.iter().zip(&expected).map(error).fold(0.0, f32::max);
        // By statistics of five pictures, gradients of MobileNetV1 have norms up to 90: in f32, PyTorch's deviate by up to 6e-3 from these, ours by 4e-2.
        // Adam's steps are as long for gradients that are mostly rounding as for others, so that its losses deviate by up to 5e-4.
        let rounding = match name.as_str() {
            "ten/losses" => 5e-4,
            name if name.starts_with("train/gradients/") => RELATIVE_TOLERANCE,
            _ => ROUNDING,
        };
        if !(worst < TOLERANCE.max(rounding * largest) && worst <= RELATIVE_TOLERANCE * largest) {
            self.failures.push(format!("{name}, off by {worst:.2e} of {largest:.2e}"));
        }
        if worst > self.worst.0 {
            self.worst = (worst, name);
        }
    }

    fn finish(self, name: &str) {
        println!("{name}: the worst is {:?}", self.worst);
        assert!(self.failures.is_empty(), "{name}: {:#?}", self.failures);
        assert!(self.tensors.is_empty(), "{name}: not compared: {:?}", self.tensors.keys());
    }
}

fn equals_pytorch(name: &str) {
    let mut fixture = Fixture::load(name);
    let device = Device::flex().autodiff();
    let kind = NetKind::by_name(fixture.about["kind"].as_str().unwrap()).unwrap();
    let size = |key: &str| fixture.about[key].as_u64().unwrap() as usize;
    let (classes, channels, side, batch) = (size("classes"), size("channels"), size("side"), size("batch"));
    let config = NetConfig { side, channels, ..NetConfig::of(kind, classes) };
    let random = PictureNet::new(&config, 1, &device).unwrap();
    let tensors: HostWeights = public_weights(&random)
        .into_iter()
        .map(|(name, Weight { shape, .. })| {
            let (low, high) = bounds(&name, &shape);
            let values = filled(&name, shape.iter().product(), low, high);
            (name, (shape, values))
        })
        .collect();
    let net = || {
        let weights = NetWeights { tensors: tensors.clone(), ..NetWeights::default() };
        PictureNet::with_weights(&config, weights, 1, &device).unwrap()
    };
    let pictures = filled("pictures", batch * channels * side * side, -1.0, 1.0);
    let pictures = Tensor::<4>::from_data(TensorData::new(pictures, [batch, channels, side, side]), &device);
    let pictures = pictures.permute([0, 2, 3, 1]);
    let targets = Targets::Classes((0..batch).map(|item| item % classes).collect());
    let loss = |logits| LossKind::CrossEntropy.compute(logits, &targets).unwrap();

    for (mode, run) in [(Mode::Eval, "steady"), (Mode::Train, "train")] {
        let net = net();
        let logits = net.forward(pictures.clone(), mode);
        let gradients = loss(logits.clone()).backward();
        fixture.compare(format!("{run}/logits"), &logits.into_data().try_to_vec::<f32>().unwrap());
        visit(&net, |path, parameter| {
            if let Some(values) = parameter.gradient(&gradients) {
                let name = PictureNet::public_name(path);
                let samples = sampled(name, Weight { shape: parameter.shape(), values });
                fixture.compare(format!("{run}/gradients/{name}"), &samples);
            }
        });
    }

    let options = NetTuneOptions {
        optimizer: serde_json::from_value::<Rule>(fixture.about["optimizer"].clone()).unwrap(),
        rate: fixture.number("lr"),
        momentum: fixture.number("momentum") as f32,
        weight_decay: fixture.number("weight_decay") as f32,
        ..NetTuneOptions::default()
    };
    let (mut net, mut adam, mut losses) = (net(), Adam::new(options.adam()), Vec::new());
    let mode = if fixture.about["by_batch"] == true { Mode::Train } else { Mode::Eval };
    for _ in 0..10 {
        let loss = loss(net.forward(pictures.clone(), mode));
        losses.push(loss.clone().into_scalar::<f32>());
        net = adam.step(net, &loss.backward(), |_| options.rate);
    }
    fixture.compare("ten/losses".into(), &losses);
    visit(&net, |path, parameter| {
        let name = PictureNet::public_name(path);
        let samples = sampled(name, Weight { shape: parameter.shape(), values: parameter.values() });
        fixture.compare(format!("ten/after/{name}"), &samples);
    });
    fixture.finish(name);
}

#[test]
fn lenet_equals_pytorchs() {
    equals_pytorch("lenet");
}

#[test]
fn resnet18_equals_torchvisions() {
    equals_pytorch("resnet18");
}

#[test]
fn mobilenetv1_equals_timms() {
    equals_pytorch("mobilenetv1_100");
}

/// The fixture is made by `tests/parity/mobilenetv1.py`, which converts the weights; what remains is their rounding to bytes.
#[test]
fn the_shipped_mobilenetv1_has_the_features_that_tensorflow_computes() {
    let device = Device::flex();
    let (fixture, _) =
        deserialize(&std::fs::read("../../tests/parity/mobilenetv1.safetensors").unwrap()).unwrap();
    let (shape, picture) = &fixture["picture"];
    let [channels, side] = [shape[0], shape[1]];
    let weights =
        NetWeights::from_safetensors(&std::fs::read("../../models/nets/mobilenetv1.safetensors").unwrap())
            .unwrap();
    let config = NetConfig { side, ..NetConfig::of(NetKind::MobileNetV1, 2) };
    let net = PictureNet::with_weights(&config, weights, 1, &device).unwrap();
    let values = picture.iter().map(|value| value / 127.5 - 1.0).collect();
    let picture = Tensor::<4>::from_data(TensorData::new(values, [1, channels, side, side]), &device);
    let found =
        net.features(picture.permute([0, 2, 3, 1]), Mode::Eval).into_data().try_to_vec::<f32>().unwrap();
    let dot = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(x, y)| x * y).sum::<f32>();
    let wanted = &fixture["features"].1;
    let cosine = dot(&found, wanted) / (dot(&found, &found) * dot(wanted, wanted)).sqrt();
    assert!(found.len() == 1024 && cosine > 0.99, "{cosine}");
}
