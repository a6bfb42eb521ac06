//! Tunings of nets of several kinds by the one loop: pictures, checkpoints, faults, and modules that are no nets for pictures.

use burn::{
    module::Module,
    nn::transformer::{TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput},
    prelude::*,
};
use pollster::block_on;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    Examples, LossKind, Net, NetConfig, NetKind, NetTuneOptions, NetTuner, NetWeights, Picture, Pictures,
    Targets, TunedNet, layers::Linear,
};
use crate::learn::tuner::TuneStop;
use burn_fused::{
    Mode, Precision, Scope,
    adam::Rule,
    lstm::BiLstm,
    weights::{HostWeights, deserialize},
};

/// Examples of `[T, F]` values.
#[derive(Clone)]
struct Sequences {
    values: Vec<Vec<f32>>,
    shape: [usize; 2],
    targets: Vec<Targets>,
}

impl Examples for Sequences {
    type Input = Tensor<3>;

    fn count(&self) -> usize {
        self.values.len()
    }

    fn input(&self, examples: &[usize], _random: Option<u64>, device: &Device) -> Tensor<3> {
        let values = examples.iter().flat_map(|&example| self.values[example].clone()).collect();
        let [steps, width] = self.shape;
        Tensor::from_data(TensorData::new::<f32, _>(values, [examples.len(), steps, width]), device)
    }

    fn targets(&self, examples: &[usize]) -> Targets {
        let mut all = examples.iter().map(|&example| self.targets[example].clone());
        let first = all.next().expect("a batch has examples");
        all.fold(first, |all, next| match (all, next) {
            (Targets::Classes(a), Targets::Classes(b)) => Targets::Classes([a, b].concat()),
            (Targets::Values(a), Targets::Values(b)) => Targets::Values([a, b].concat()),
            (Targets::Sequences(a), Targets::Sequences(b)) => Targets::Sequences([a, b].concat()),
            _ => unreachable!("targets of one kind"),
        })
    }

    fn fingerprint(&self) -> String {
        format!("{:?}", self.values)
    }
}

/// Two layers; the values of an item are its only step.
#[derive(Module, Debug)]
struct Perceptron {
    first: Linear,
    last: Linear,
}

impl Net for Perceptron {
    type Input = Tensor<3>;

    fn features(&self, input: Tensor<3>, _mode: Mode) -> Tensor<3> {
        self.first.forward(input).tanh()
    }

    fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        self.last.forward(features)
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { first: self.first.computing(&scope.at("first")), last: self.last.computing(&scope.at("last")) }
    }

    fn classifier(&self) -> &'static str {
        "last"
    }
}

/// A recurrent net with an output for each step.
#[derive(Module, Debug)]
struct Recurrent {
    lstm: BiLstm,
    last: Linear,
}

impl Net for Recurrent {
    type Input = Tensor<3>;

    fn features(&self, input: Tensor<3>, _mode: Mode) -> Tensor<3> {
        let [batch, steps, _] = input.dims();
        self.lstm.forward(input, &vec![steps; batch])
    }

    fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        self.last.forward(features)
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { lstm: self.lstm.computing(&scope.at("lstm")), last: self.last.computing(&scope.at("last")) }
    }

    fn classifier(&self) -> &'static str {
        "last"
    }
}

/// burn's Transformer encoder, whose mean over the steps is classified.
#[derive(Module, Debug)]
struct Attentive {
    first: Linear,
    encoder: TransformerEncoder,
    last: Linear,
}

impl Net for Attentive {
    type Input = Tensor<3>;

    fn features(&self, input: Tensor<3>, _mode: Mode) -> Tensor<3> {
        self.encoder.forward(TransformerEncoderInput::new(self.first.forward(input))).mean_dim(1)
    }

    fn classify(&self, features: Tensor<3>) -> Tensor<3> {
        self.last.forward(features)
    }

    fn computing(self, _scope: &Scope) -> Self {
        self
    }

    fn classifier(&self) -> &'static str {
        "last"
    }
}

/// Tunes a net to the end. Returns the held-out metrics before and after.
fn tuned<N: Net<Input = Tensor<3>>>(
    net: N,
    examples: Sequences,
    options: NetTuneOptions,
) -> [super::Metrics; 2] {
    let device = Device::flex();
    let start = NetTuner::start_any(net, examples, options, &device, async |_, _| true);
    let mut tuner = block_on(start).unwrap();
    let before = tuner.held_out_before();
    while block_on(tuner.step()).unwrap().stop.is_none() {}
    [before, block_on(tuner.finish_any()).unwrap().1]
}

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

#[test]
fn a_perceptron_learns_values_and_classes_with_each_optimizer() {
    let mut random = random(1);
    let values: Vec<Vec<f32>> =
        (0..60).map(|_| (0..2).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
    let product = |values: &Vec<f32>| values[0] * values[1];
    let of_values = values.iter().map(|values| Targets::Values(vec![product(values)])).collect();
    let of_classes =
        values.iter().map(|values| Targets::Classes(vec![usize::from(product(values) > 0.0)])).collect();
    let net = |outputs: usize| {
        let device = Device::flex().autodiff();
        device.seed(3);
        Perceptron { first: Linear::new(2, 24, &device), last: Linear::new(24, outputs, &device) }
    };
    let examples = |targets| Sequences { values: values.clone(), shape: [1, 2], targets };
    let options = NetTuneOptions { iterations: 400, rate: 2e-2, ..NetTuneOptions::default() };
    let squared = NetTuneOptions { loss: LossKind::MeanSquaredError, ..options.clone() };
    let [before, after] = tuned(net(1), examples(of_values), squared);
    assert!(after.loss < 0.3 * before.loss && after.accuracy.is_none(), "{before:?} {after:?}");
    let of_classes = examples(of_classes);
    for (optimizer, rate) in [(Rule::Sgd, 0.1), (Rule::Adam, 2e-2), (Rule::AdamW, 2e-2)] {
        let options = NetTuneOptions { optimizer, rate, weight_decay: 1e-4, ..options.clone() };
        let [before, after] = tuned(net(2), of_classes.clone(), options);
        assert!(after.loss < 0.6 * before.loss, "{optimizer:?}: {before:?} {after:?}");
        assert!(after.accuracy > Some(0.7), "{optimizer:?}: {after:?}");
    }
}

/// Each symbol is a peak at its place, followed by a rest.
#[test]
fn a_recurrent_net_learns_sequences_by_ctc() {
    const STEPS: usize = 8;
    let mut random = random(2);
    let (mut values, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let symbols: Vec<usize> = (0..3).map(|_| random.random_range(1..4)).collect();
        let mut steps = vec![0.0; STEPS * 3];
        symbols.iter().enumerate().for_each(|(at, symbol)| steps[(2 * at + 1) * 3 + symbol - 1] = 1.0);
        values.push(steps);
        targets.push(Targets::Sequences(vec![symbols]));
    }
    let device = Device::flex().autodiff();
    let net = Recurrent { lstm: BiLstm::new(3, 12, &device), last: Linear::new(24, 4, &device) };
    let options =
        NetTuneOptions { iterations: 150, rate: 2e-2, loss: LossKind::Ctc, ..NetTuneOptions::default() };
    let [before, after] = tuned(net, Sequences { values, shape: [STEPS, 3], targets }, options);
    assert!(after.loss < 0.2 * before.loss, "{before:?} {after:?}");
}

/// The class is whether the first and the last step agree.
#[test]
fn a_transformer_encoder_learns_classes() {
    let mut random = random(3);
    let (mut values, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let steps: Vec<f32> =
            (0..4).flat_map(|at| [random.random_range(-1.0f32..1.0).signum(), at as f32]).collect();
        targets.push(Targets::Classes(vec![usize::from(steps[0] == steps[6])]));
        values.push(steps);
    }
    let device = Device::flex().autodiff();
    device.seed(5);
    let encoder = TransformerEncoderConfig::new(16, 32, 2, 1).with_dropout(0.0).init(&device);
    let net = Attentive { first: Linear::new(2, 16, &device), encoder, last: Linear::new(16, 2, &device) };
    let options = NetTuneOptions { iterations: 300, rate: 3e-3, ..NetTuneOptions::default() };
    let [before, after] = tuned(net, Sequences { values, shape: [4, 2], targets }, options);
    assert!(after.loss < 0.5 * before.loss && after.accuracy > Some(0.8), "{before:?} {after:?}");
}

#[test]
fn values_that_are_not_finite_end_a_tuning() {
    let device = Device::flex().autodiff();
    let net = || Perceptron { first: Linear::new(2, 4, &device), last: Linear::new(4, 2, &device) };
    let start = |values: Vec<Vec<f32>>| {
        let targets = (0..values.len()).map(|example| Targets::Classes(vec![example % 2])).collect();
        let examples = Sequences { values, shape: [1, 2], targets };
        let options = NetTuneOptions { batch: 4, ..NetTuneOptions::default() };
        block_on(NetTuner::start_any(net(), examples, options, &device, async |_, _| true))
    };
    let mut values = vec![vec![0.5, 1.0]; 5];
    // The last of five is held out.
    values[4][0] = f32::NAN;
    assert_eq!(start(values.clone()).err().unwrap().code(), "training-diverged");
    values.rotate_left(1);
    let mut tuner = start(values).unwrap();
    assert_eq!(block_on(tuner.step()).unwrap_err().code(), "training-diverged");
}

/// Two classes of pictures, dark and bright at the left.
fn pictures(config: &NetConfig) -> Pictures {
    let mut random = random(4);
    let items = (0..20).map(|number| {
        let class = number % 2;
        let bytes = (0..config.side * config.side * config.channels).map(|place| {
            let left = place / config.channels % config.side < config.side / 2;
            random.random_range(0..100) + if left == (class == 1) { 150 } else { 0 }
        });
        (Picture::from_bytes(&bytes.collect::<Vec<u8>>(), config).unwrap(), class)
    });
    Pictures { names: vec!["dark".into(), "bright".into()], items: items.collect() }
}

fn small(kind: NetKind) -> NetConfig {
    NetConfig { side: 16, width: 0.1, ..NetConfig::of(kind, 2) }
}

fn start(config: &NetConfig, options: &NetTuneOptions) -> NetTuner {
    let (pictures, weights, device) = (pictures(config), weights(config.clone()), Device::flex());
    let go_on = async |_, _| true;
    let start = NetTuner::start(config.clone(), Some(weights), pictures, options.clone(), &device, go_on);
    block_on(start).unwrap()
}

/// The weights of a net whose values depend on nothing but its sizes.
fn weights(config: NetConfig) -> NetWeights {
    let net = super::PictureNet::new(&config, 1, &Device::flex()).unwrap();
    let mut random = random(6);
    let tensors: HostWeights = super::weights::public_weights(&net)
        .into_iter()
        .map(|(name, weight)| {
            let count = weight.shape.iter().product();
            let inputs = weight.shape[1..].iter().product::<usize>() as f32;
            let bound = (6.0 / inputs).sqrt().min(1.0);
            let positive = name.ends_with("var") || (weight.shape.len() == 1 && name.ends_with("weight"));
            let values = (0..count).map(|_| {
                if positive { random.random_range(0.5..1.5) } else { random.random_range(-bound..bound) }
            });
            (name, (weight.shape, values.collect()))
        })
        .collect();
    NetWeights { tensors, ..NetWeights::default() }
}

#[test]
fn a_resumed_tuning_ends_as_one_without_a_break() {
    let config = small(NetKind::MobileNetV1);
    let frozen = NetTuneOptions { iterations: 8, batch: 4, ..NetTuneOptions::quick() };
    let whole = NetTuneOptions {
        frozen: Vec::new(),
        batch_statistics: true,
        rate: 1e-3,
        decay: true,
        translation: 2,
        ..frozen.clone()
    };
    for options in [frozen, whole] {
        let mut tuner = start(&config, &options);
        let mut checkpoint = Vec::new();
        for iteration in 1..=8 {
            block_on(tuner.step()).unwrap();
            if iteration == 5 {
                checkpoint = block_on(tuner.checkpoint()).unwrap();
            }
        }
        let file = |tuner: NetTuner| block_on(block_on(tuner.finish()).unwrap().save()).unwrap();
        let expected = file(tuner);
        let mut resumed = start(&config, &options);
        resumed.restore(&checkpoint).unwrap();
        assert_eq!(resumed.iteration(), 5);
        while block_on(resumed.step()).unwrap().stop.is_none() {}
        assert_eq!(deserialize(&file(resumed)).unwrap(), deserialize(&expected).unwrap());
        let holds_trunk = deserialize(&checkpoint).unwrap().0.keys().any(|name| name.contains("conv_stem"));
        assert_eq!(holds_trunk, options.frozen.is_empty());

        let code = |tuner: &mut NetTuner, bytes: &[u8]| tuner.restore(bytes).unwrap_err().code();
        let other = NetTuneOptions { rate: 0.5, ..options.clone() };
        assert_eq!(code(&mut start(&config, &other), &checkpoint), "base-mismatch");
        let mut fresh = start(&config, &options);
        assert_eq!(code(&mut fresh, &checkpoint[..checkpoint.len() - 1]), "checkpoint-corrupt");
        assert_eq!(code(&mut fresh, b"a letter"), "checkpoint-corrupt");
        assert_eq!(fresh.iteration(), 0, "a checkpoint that is refused changes nothing");
    }
}

#[test]
fn learning_rates_decay() {
    let config = small(NetKind::LeNet);
    let constant = NetTuneOptions {
        iterations: 2,
        batch: 16,
        optimizer: Rule::Sgd,
        momentum: 0.0,
        ..NetTuneOptions::default()
    };
    let changes = |options: &NetTuneOptions| {
        let mut tuner = start(&config, options);
        let mut bias = || {
            block_on(tuner.step()).unwrap();
            deserialize(&block_on(tuner.preview().save()).unwrap()).unwrap().0["fc3.bias"].1.clone()
        };
        let (first, second) = (bias(), bias());
        (second[0] - first[0], first)
    };
    // Both batches hold all examples, so that the gradients of the second are the same too.
    let (constant_change, constant_first) = changes(&constant);
    let (decayed_change, decayed_first) = changes(&NetTuneOptions { decay: true, ..constant });
    assert_eq!(constant_first, decayed_first);
    assert!((decayed_change / constant_change - 0.5).abs() < 1e-3, "{decayed_change} {constant_change}");
}

#[test]
fn a_tuning_ends_when_patience_is_exhausted() {
    let options = NetTuneOptions { rate: 1e-20, patience: 2, ..NetTuneOptions::default() };
    let mut tuner = start(&small(NetKind::LeNet), &options);
    let stop = loop {
        if let Some(stop) = block_on(tuner.step()).unwrap().stop {
            break stop;
        }
    };
    assert_eq!((stop, tuner.iteration()), (TuneStop::HeldOut, 50));
}

#[test]
fn moved_pictures_need_a_trunk_that_learns_and_stay_within_reach() {
    let config = small(NetKind::LeNet);
    let (frozen, far) = (NetTuneOptions::quick(), NetTuneOptions::default());
    for (translation, options) in [(1, frozen), (usize::MAX, far)] {
        let (device, go_on) = (Device::flex(), async |_, _| true);
        let options = NetTuneOptions { translation, ..options };
        let start = NetTuner::start(config.clone(), None, pictures(&config), options, &device, go_on);
        assert_eq!(block_on(start).err().unwrap().code(), "option-invalid");
    }
}

#[test]
fn features_of_a_frozen_trunk_are_computed_once_and_change_nothing() {
    let config = small(NetKind::MobileNetV1);
    let quick = NetTuneOptions { iterations: 30, batch: 4, ..NetTuneOptions::quick() };
    let mut seen = Vec::new();
    let go_on = async |done, all| {
        seen.push((done, all));
        true
    };
    let device = Device::flex();
    let begun = NetTuner::start(
        config.clone(),
        Some(weights(config.clone())),
        pictures(&config),
        quick.clone(),
        &device,
        go_on,
    );
    let mut tuner = block_on(begun).unwrap();
    assert_eq!(seen, [(16, 20), (20, 20)]);
    while block_on(tuner.step()).unwrap().stop.is_none() {}
    let tuned = block_on(tuner.finish()).unwrap();
    let [before, after] = tuned.figures().held_out;
    assert!(after.loss < before.loss, "{before:?} {after:?}");
    // The held-out loss of cached features is that of the pictures themselves.
    let opened = TunedNet::open(&block_on(tuned.save()).unwrap(), &device).unwrap();
    assert_eq!((opened.names(), opened.figures()), (tuned.names(), tuned.figures()));
    let held_out: Vec<Picture> =
        pictures(&config).items[8..10].iter().map(|(picture, _)| picture.clone()).collect();
    let named = block_on(opened.name(&held_out)).unwrap();
    let loss = -(named[0].probabilities[0].ln() + named[1].probabilities[1].ln()) / 2.0;
    let also = pictures(&config).items[18..].iter().map(|(picture, _)| picture.clone()).collect::<Vec<_>>();
    let named = block_on(opened.name(&also)).unwrap();
    let other = -(named[0].probabilities[0].ln() + named[1].probabilities[1].ln()) / 2.0;
    assert!(((loss + other) / 2.0 - after.loss).abs() < 1e-4, "{loss} {other} {after:?}");
    let cancelled = NetTuner::start(
        config.clone(),
        Some(weights(config.clone())),
        pictures(&config),
        quick,
        &device,
        async |_, _| false,
    );
    assert_eq!(block_on(cancelled).err().unwrap().code(), "cancelled");
}

#[test]
fn mixed_precision_learns_too_and_files_are_checked() {
    let config = small(NetKind::MobileNetV1);
    let options =
        NetTuneOptions { iterations: 6, batch: 4, precision: Precision::Mixed, ..NetTuneOptions::default() };
    let mut mixed = start(&config, &options);
    let mut single = start(&config, &NetTuneOptions { precision: Precision::F32, ..options });
    let losses = [&mut mixed, &mut single]
        .map(|tuner| (0..6).map(|_| block_on(tuner.step()).unwrap().loss).collect::<Vec<_>>());
    assert!(
        losses[0].iter().zip(&losses[1]).all(|(mixed, single)| (mixed - single).abs() < 0.05),
        "{losses:?}"
    );
    assert_ne!(losses[0], losses[1]);

    let file = block_on(block_on(mixed.finish()).unwrap().save()).unwrap();
    let code = |bytes: &[u8]| TunedNet::open(bytes, &Device::flex()).unwrap_err().code();
    assert_eq!((code(&file[..file.len() - 1]), code(b"")), ("weights-mismatch", "weights-mismatch"));
    let text = String::from_utf8_lossy(&file).to_string();
    assert!(text.contains("mobilenetv1") && text.contains("bright"));
}
