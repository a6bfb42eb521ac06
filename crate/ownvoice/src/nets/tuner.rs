//! The tuning of a net: a thin task of [`crate::learn::tuner`].

use burn::{module::Module, prelude::*};

use super::{
    Net,
    config::NetConfig,
    examples::{Examples, PictureExamples, Pictures, split},
    loss::Targets,
    metrics::{AT_A_TIME, Metrics, largest},
    options::NetTuneOptions,
    picture_net::PictureNet,
    tuned::{NetFigures, TunedNet},
    weights::{Frozen, NetWeights, half, load},
};
use crate::{
    Error, Result,
    learn::tuner::{Task, TuneStop, Tuner, TunerStep},
};
use burn_fused::{
    ComputePlan, Mode, Scope,
    readback::read,
    weights::{flatten, freeze, visit},
};

/// The state of a tuning after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct NetStep {
    /// The number of iterations so far.
    pub iteration: usize,
    /// The most iterations.
    pub iterations: usize,
    /// The loss, which is read back every few iterations.
    pub loss: f32,
    /// The metrics of the held-out examples, if they were measured.
    pub held_out: Option<Metrics>,
    /// The reason for stopping, if this was the last iteration.
    pub stop: Option<TuneStop>,
}

/// A net, its examples, and how it learns from them.
struct NetTask<N: Net, E: Examples<Input = N::Input>> {
    examples: E,
    options: NetTuneOptions,
    frozen: Frozen,
    /// The features of all examples, `[examples, T, F]`, if the trunk is frozen: they stay the same.
    features: Option<Tensor<3>>,
    device: Device,
    net: std::marker::PhantomData<fn(N)>,
}

impl<N: Net, E: Examples<Input = N::Input>> NetTask<N, E> {
    /// Computes the logits of some examples on the device of `net`.
    ///
    /// * `random`: a seed by which the examples vary, or `None` for the examples as they are
    fn logits(
        &self,
        net: &N,
        examples: &[usize],
        mode: Mode,
        random: Option<u64>,
        device: &Device,
    ) -> Tensor<3> {
        let features = match &self.features {
            Some(all) => {
                let indices: Vec<i32> = examples.iter().map(|&example| example as i32).collect();
                let indices = Tensor::from_data(TensorData::new(indices, [examples.len()]), &all.device());
                let chosen = all.clone().select(0, indices);
                if device.is_autodiff() { Tensor::from_inner(chosen) } else { chosen }
            }
            None => net.features(self.examples.input(examples, random, device), mode),
        };
        net.classify(features)
    }
}

impl<N: Net, E: Examples<Input = N::Input>> Task for NetTask<N, E> {
    type Parts = N;
    type Metrics = Metrics;

    fn losses(&self, net: &N, batch: &[usize], iteration: usize) -> Result<Vec<Tensor<1>>> {
        let mode = if self.options.batch_statistics { Mode::Train } else { Mode::Eval };
        let random = self.options.seed.wrapping_add(iteration as u64);
        let logits = self.logits(net, batch, mode, Some(random), &self.device);
        Ok(vec![self.options.loss.compute(logits, &self.examples.targets(batch))?])
    }

    async fn measure(&self, net: &N, examples: &[usize]) -> Result<Metrics> {
        let (net, device) = (net.valid(), self.device.clone().inner());
        let (mut loss, mut right) = (0.0, None);
        for batch in examples.chunks(AT_A_TIME) {
            let (logits, targets) =
                (self.logits(&net, batch, Mode::Eval, None, &device), self.examples.targets(batch));
            let mean = self.options.loss.compute(logits.clone(), &targets)?;
            loss += read(mean).await?[0] * batch.len() as f32;
            if let Targets::Classes(classes) = targets {
                let outputs = logits.dims()[2];
                let logits = read(flatten(logits)).await?;
                let rows = logits.chunks_exact(outputs).zip(&classes);
                let found = rows.filter(|(row, class)| largest(row) == **class).count();
                let (before, all) = right.unwrap_or((0, 0));
                right = Some((before + found, all + classes.len()));
            }
        }
        Ok(Metrics {
            loss: loss / examples.len() as f32,
            accuracy: right.map(|(found, all)| found as f32 / all as f32),
        })
    }

    fn criterion(metrics: &Metrics) -> f32 {
        metrics.loss
    }

    fn rate(&self, _path: &str) -> f64 {
        self.options.rate
    }

    fn changes(&self, path: &str) -> bool {
        !self.frozen.contains(N::public_name(path))
    }
}

/// A tuning in progress: `start`, [`step`](Self::step) until it stops, `finish`.
pub struct NetTuner<N: Net = PictureNet, E: Examples<Input = N::Input> = PictureExamples> {
    tuner: Tuner<NetTask<N, E>>,
}

impl<N: Net, E: Examples<Input = N::Input>> NetTuner<N, E> {
    /// Starts a tuning of any net.
    ///
    /// * `go_on`: called with the number of examples whose features are computed, and with the number of all, if the trunk is frozen
    ///
    /// # Errors
    /// Fails with `option-invalid`, `precision-unsupported`, `example-invalid`, `device-lost`, or with `cancelled` where `go_on` returns false.
    pub async fn start_any(
        net: N,
        examples: E,
        options: NetTuneOptions,
        device: &Device,
        mut go_on: impl AsyncFnMut(usize, usize) -> bool,
    ) -> Result<Self> {
        options.check(device)?;
        if examples.count() == 0 {
            return Err(Error::example_invalid("there are no examples"));
        }
        let frozen = Frozen::new(&net, &options.frozen)?;
        let plan = ComputePlan { half: half(&net), ..ComputePlan::from_precision(options.precision) };
        let net = net.computing(&Scope::new(plan));
        let split = split(&examples, options.held_out_every);
        let device = device.clone().inner().autodiff();
        let mut task =
            NetTask { examples, options, frozen, features: None, device, net: std::marker::PhantomData };
        if task.frozen.trunk {
            let (valid, device) = (net.valid(), task.device.clone().inner());
            let all: Vec<usize> = (0..task.examples.count()).collect();
            let mut features = Vec::new();
            for batch in all.chunks(AT_A_TIME) {
                let found = valid.features(task.examples.input(batch, None, &device), Mode::Eval);
                // Waits for the device, so that the progress is that of the device.
                read(flatten(found.clone()).narrow(0, 0, 1)).await?;
                features.push(found);
                if !go_on(batch.last().expect("chunks hold examples") + 1, all.len()).await {
                    return Err(Error::cancelled());
                }
            }
            task.features = Some(Tensor::cat(features, 0));
        }
        let net = freeze(net.train(), |path| task.frozen.contains(N::public_name(path)));
        let (schedule, adam) = (task.options.schedule(), task.options.adam());
        Ok(Self { tuner: Tuner::start(task, net, split, schedule, adam).await? })
    }

    /// Performs one iteration.
    ///
    /// # Errors
    /// Fails with `training-diverged`, `example-invalid` or `device-lost`.
    pub async fn step(&mut self) -> Result<NetStep> {
        let TunerStep { iteration, loss, held_out, stop } = self.tuner.step().await?;
        let iterations = self.tuner.task.options.iterations;
        Ok(NetStep { iteration, iterations, loss, held_out, stop })
    }

    /// Returns the number of iterations so far.
    pub fn iteration(&self) -> usize {
        self.tuner.iteration()
    }

    /// Returns the metrics of the held-out examples before the first iteration.
    pub fn held_out_before(&self) -> Metrics {
        *self.tuner.before()
    }

    /// Encodes what [`Self::restore`] needs. It lacks the frozen layers.
    pub async fn checkpoint(&self) -> Result<Vec<u8>> {
        self.tuner.checkpoint(&self.identity()).await
    }

    /// Continues from a checkpoint, which is untrusted input. The tuning was started as that of the checkpoint was: the same net, examples and options.
    ///
    /// # Errors
    /// Fails with `checkpoint-corrupt`, or with `base-mismatch` if the checkpoint is of another tuning.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<()> {
        let (identity, device) = (self.identity(), self.tuner.task.device.clone());
        self.tuner.restore(&identity, checkpoint, &device)
    }

    fn identity(&self) -> String {
        let task = &self.tuner.task;
        let options = serde_json::to_string(&task.options).expect("plain data");
        format!("{options} {}", task.examples.fingerprint())
    }

    /// Returns the net with the lowest held-out loss, without autodiff, and its metrics. Fails with `device-lost`.
    pub async fn finish_any(self) -> Result<(N, Metrics)> {
        let (_, net, metrics) = self.tuner.finish().await?;
        Ok((net.valid(), metrics))
    }
}

impl NetTuner {
    /// Starts a tuning of a net for pictures. Its number of classes is that of the pictures.
    ///
    /// * `weights`: where the net starts; without them it is random
    /// * `go_on`:   called with the number of pictures whose features are computed, and with the number of all, if the trunk is frozen
    ///
    /// # Errors
    /// Fails with `option-invalid`, `precision-unsupported`, `classes-too-few`, `class-empty`, `weights-mismatch`, `device-lost`, or with `cancelled` where `go_on`
    /// returns false.
    pub async fn start(
        config: NetConfig,
        weights: Option<NetWeights>,
        pictures: Pictures,
        options: NetTuneOptions,
        device: &Device,
        go_on: impl AsyncFnMut(usize, usize) -> bool,
    ) -> Result<Self> {
        pictures.check()?;
        let config = NetConfig { classes: pictures.names.len(), ..config };
        let device = device.clone().inner().autodiff();
        let net = match weights {
            Some(weights) => PictureNet::with_weights(&config, weights, options.seed, &device)?,
            None => PictureNet::new(&config, options.seed, &device)?,
        };
        let examples = PictureExamples { pictures, config, translation: options.translation };
        Self::start_any(net, examples, options, &device, go_on).await
    }

    /// Returns the net of the current parameters.
    pub fn preview(&self) -> TunedNet {
        self.tuned(self.tuner.parts().valid(), self.held_out_before())
    }

    /// Returns the net with the lowest held-out loss. Fails with `device-lost`.
    pub async fn finish(self) -> Result<TunedNet> {
        let (iterations, before) = (self.iteration(), self.held_out_before());
        let (task, net, after) = self.tuner.finish().await?;
        let PictureExamples { pictures, config, .. } = task.examples;
        let figures = NetFigures { iterations, pictures: pictures.items.len(), held_out: [before, after] };
        Ok(TunedNet { net: net.valid(), config, names: pictures.names, figures, device: task.device.inner() })
    }

    fn tuned(&self, net: PictureNet, after: Metrics) -> TunedNet {
        let task = &self.tuner.task;
        let PictureExamples { pictures, config, .. } = &task.examples;
        TunedNet {
            net,
            config: config.clone(),
            names: pictures.names.clone(),
            figures: NetFigures {
                iterations: self.iteration(),
                pictures: pictures.items.len(),
                held_out: [self.held_out_before(), after],
            },
            device: task.device.clone().inner(),
        }
    }
}

impl PictureNet {
    /// Creates a net with random weights. Fails with `option-invalid`.
    pub fn new(config: &NetConfig, seed: u64, device: &Device) -> Result<Self> {
        config.check()?;
        let net = Self::random(config, device);
        initialise(&net, seed, device);
        Ok(net)
    }

    /// Creates a net with these weights. A classifier that they lack, or that has another number of classes, is random.
    ///
    /// Fails with `option-invalid`, or with `weights-mismatch` if the weights are of another net or lack some.
    pub fn with_weights(config: &NetConfig, weights: NetWeights, seed: u64, device: &Device) -> Result<Self> {
        config.check()?;
        let net = load(Self::random(config, device), weights.tensors)?;
        initialise(&net, seed, device);
        Ok(net)
    }
}

/// Draws all parameters that have no values yet, so that they depend on nothing but the seed and the device.
fn initialise(net: &PictureNet, seed: u64, device: &Device) {
    device.seed(seed);
    visit(net, |_, parameter| drop(parameter.values()));
}
