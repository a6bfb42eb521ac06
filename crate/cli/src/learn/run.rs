//! The training loop of all models that train for hours. It can be resumed, and writes checkpoints, reports and a loss curve.

use burn::{prelude::*, tensor::Gradients};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    data_loader::{Collate, DataLoader, LoadedBatch, with_loader},
    hyperparameters::{Hyperparameters, RunConfig},
    trainable_model::TrainableModel,
    watch::Watch,
};
use burn_fused::{
    Mode, Scope,
    adam::{Adam, AdamConfig},
    weights::{Metadata, Storage, Weights, apply, collect, deserialize, serialize},
};
use ownvoice::{
    Error, Result, files,
    learn::{
        all_reduce::sum_gradients,
        optimizer_state::{optimizer_weights, restore_optimizer},
        sampler::BatchKey,
    },
    report::{Progress, Report},
};

/// Splits the usable items of a corpus, by index, into training items and held-out items, which are one in fifty.
pub fn split(usable: impl Iterator<Item = usize>) -> Result<(Vec<usize>, Vec<usize>)> {
    const HELD_OUT_EVERY: usize = 50;
    let (held_out, train): (Vec<usize>, Vec<usize>) = usable.partition(|index| index % HELD_OUT_EVERY == 0);
    if train.is_empty() || held_out.is_empty() {
        return Err(Error::corpus_invalid(
            "there are too few recordings with durations that are long enough",
        ));
    }
    Ok((train, held_out))
}

const HELD_OUT_BATCHES: usize = 2;
/// The number of steps between two lines of the curve.
const REPORT_EVERY: usize = 20;

/// Returns the path of the loss curve of a run. It has a line every 20 steps: step, seconds, the losses, and the held-out loss if it was computed.
pub fn curve_path(directory: &Path) -> PathBuf {
    directory.join("curve.csv")
}

/// A training run.
pub struct Run<'a, M: TrainableModel> {
    pub model: M,
    adam: Adam,
    run_config: &'a RunConfig,
    watch: Watch<M>,
    /// The result of watching the latest step. The next all-reduce passes an error to the other ranks.
    watched: Result<()>,
}

impl<'a, M: TrainableModel> Run<'a, M> {
    /// Opens a run that starts from the checkpoint, or from `initial` if there is none.
    ///
    /// * `initial`: a newly initialised model on the run's device
    pub fn open(initial: M, run_config: &'a RunConfig) -> Result<Self> {
        fs::create_dir_all(&run_config.directory).map_err(Error::io(&run_config.directory))?;
        let watch = Watch::open(&initial, run_config, run_config.resume)?;
        let mut run = Self {
            model: initial,
            adam: Adam::new(AdamConfig::from_scope(&Scope::new(run_config.hyperparameters.compute.clone()))),
            run_config,
            watch,
            watched: Ok(()),
        };
        if run_config.resume && run.checkpoint_path().exists() {
            run.load_checkpoint()?;
        }
        let Hyperparameters { batch, seed, steps, .. } = run_config.hyperparameters;
        let own = [run.step(), batch, seed as usize, steps].map(|value| value as f32);
        let what = "step, batch, seed, steps or weights differ; all ranks need the same run folder";
        run_config.ranks.compare(what, &[&own[..], &[run.fingerprint()]].concat())?;
        if run_config.ranks.is_first() {
            run.begin_curve()?;
        }
        Ok(run)
    }

    /// Returns a checksum of the weights, to verify that all ranks start from the same model.
    fn fingerprint(&self) -> f32 {
        let weights = collect(&self.model).into_values();
        weights.map(|weight| weight.values.abs().mean().into_scalar::<f32>()).sum()
    }

    /// Keeps the lines of the curve up to the current step, because the steps after the checkpoint are trained again.
    fn begin_curve(&self) -> Result<()> {
        let path = curve_path(&self.run_config.directory);
        let mut curve = format!("step,seconds,{},held_out\n", M::LOSSES.join(","));
        if self.step() > 0 {
            let old = fs::read_to_string(&path).unwrap_or_default(); // A lost curve does not stop a training.
            let step = |line: &&str| line.split(',').next().and_then(|step| step.parse::<usize>().ok());
            let kept = old.lines().filter(|line| step(line).is_some_and(|step| step <= self.step()));
            curve.extend(kept.flat_map(|line| [line, "\n"]));
        }
        files::write(&path, curve)
    }

    /// Returns the number of completed steps.
    pub fn step(&self) -> usize {
        self.adam.updates
    }

    /// Trains to the last step. Returns the model and its held-out loss.
    pub fn finish<S: Collate<Batch = M::Batch>>(self, source: &S, report: &dyn Report) -> Result<(M, f32)> {
        let RunConfig { hyperparameters, device, loader, .. } = self.run_config;
        with_loader(source, *loader, self.step()..hyperparameters.steps, device, |loader| {
            self.train(loader, report)
        })
    }

    fn train<S: Collate<Batch = M::Batch>>(
        mut self,
        loader: &mut DataLoader<S>,
        report: &dyn Report,
    ) -> Result<(M, f32)> {
        let RunConfig { hyperparameters, device, ranks, .. } = self.run_config;
        let mut message = String::new();
        let begun = Instant::now();
        // Sums stay on the device, so that nothing is read back between two reports.
        let zeros = Tensor::<1>::zeros([M::LOSSES.len()], &device.clone().inner());
        let (mut sums, mut summed) = (zeros.clone(), 0);
        for step in self.step()..hyperparameters.steps {
            let losses;
            (self, losses) = self.one_step(step, loader, report)?;
            (sums, summed) = (sums + losses, summed + 1);
            report.progress(&Progress { done: step + 1, of: Some(hyperparameters.steps), message: &message });
            if (step + 1) % REPORT_EVERY == 0 {
                let means = std::mem::replace(&mut sums, zeros.clone()).div_scalar(summed as f32);
                summed = 0;
                let means = means.into_data().try_to_vec::<f32>().expect("losses are f32");
                if !means.iter().all(|mean| mean.is_finite()) {
                    self.finish_watch(report)?;
                    return Err(Error::training_diverged(step));
                }
                let mut held_out = String::new();
                if (step + 1) % hyperparameters.checkpoint_every == 0 || step + 1 == hyperparameters.steps {
                    let saved =
                        if ranks.is_first() { self.save_checkpoint(collect(&self.model)) } else { Ok(()) };
                    ranks.agree(saved)?;
                    held_out = format!("{:.4}", self.held_out_loss(loader)?);
                }
                if ranks.is_first() {
                    let seconds = begun.elapsed().as_secs_f32();
                    message = self.write_curve(step + 1, seconds, &means, &held_out, report)?;
                }
            }
        }
        self.finish_watch(report)?;
        let loss = self.held_out_loss(loader)?;
        Ok((self.model, loss))
    }

    /// Runs one update. Returns its losses. If another rank fails, the first rank saves the state before the update.
    fn one_step<S: Collate<Batch = M::Batch>>(
        mut self,
        step: usize,
        loader: &mut DataLoader<S>,
        report: &dyn Report,
    ) -> Result<(Self, Tensor<1>)> {
        let RunConfig { hyperparameters, ranks, .. } = self.run_config;
        // The forward pass of a failed step has already changed the running statistics.
        let before = (!ranks.is_alone()).then(|| collect(&self.model));
        match self.gradients(step, loader) {
            Ok((gradients, losses, non_finite, batch)) => {
                drop(before);
                let counted = self.watch.count(step, &self.model, &gradients);
                let (model, scaling) = (self.model.clone(), self.adam.scaling.clone());
                let rate = hyperparameters.rate(step);
                self.model = self.adam.step(self.model, &gradients, |_| rate);
                let scaling = [scaling, self.adam.scaling.clone()];
                let taken = Watch::taken(step, model, batch, [losses.clone(), non_finite], scaling);
                // All ranks observe, even after an error of one, because they run a step again together.
                let observed = self.watch.observe(taken, report);
                self.watched = counted.and(observed);
                Ok((self, losses))
            }
            Err(error) => {
                if let Some(before) = before.filter(|_| ranks.is_first()) {
                    self.save_checkpoint(before)?;
                }
                Err(error)
            }
        }
    }

    fn finish_watch(&mut self, report: &dyn Report) -> Result<()> {
        let finished = self.watch.finish(report);
        self.run_config.ranks.agree(std::mem::replace(&mut self.watched, Ok(())).and(finished))
    }

    /// Returns the gradients, the losses and the number of non-finite outputs of a step, summed over ranks, and this rank's shard of the batch.
    fn gradients<S: Collate<Batch = M::Batch>>(
        &mut self,
        step: usize,
        loader: &mut DataLoader<S>,
    ) -> Result<(Gradients, Tensor<1>, Tensor<1>, M::Batch)> {
        let RunConfig { hyperparameters, device, ranks, .. } = self.run_config;
        // The random numbers of the device depend only on step and rank, so that a resumed run equals an uninterrupted one.
        let seed = hyperparameters.seed.wrapping_mul(1_000_003).wrapping_add(step as u64);
        device.seed(seed.wrapping_add((ranks.shard().rank as u64) << 32));
        let watched = std::mem::replace(&mut self.watched, Ok(()));
        let LoadedBatch { batch, .. } = ranks.agree(watched.and_then(|()| loader.take()))?;
        let probe = self.watch.probe(step);
        if let Some(probe) = &probe {
            self.compute_under(&Scope::recorded(hyperparameters.compute.clone(), probe));
        }
        let losses = Tensor::cat(self.model.losses(&batch, Mode::Train), 0);
        let mut gradients = self.adam.scaled(losses.clone().sum()).backward();
        let mut non_finite = 0.0;
        if let Some(probe) = probe {
            self.compute_under(&Scope::new(hyperparameters.compute.clone()));
            non_finite = self.watch.count_outputs(&probe);
        }
        let losses = losses.inner();
        let sums = Tensor::cat(vec![losses.clone(), Tensor::full([1], non_finite, &losses.device())], 0);
        let sums = sum_gradients(&self.model, &mut gradients, sums, ranks)?;
        let count = M::LOSSES.len();
        Ok((gradients, sums.clone().narrow(0, 0, count), sums.narrow(0, count, 1), batch))
    }

    /// Sets how the model computes, and what records its operations.
    fn compute_under(&mut self, scope: &Scope) {
        self.model = self.model.clone().computing(scope);
    }

    /// Appends a line to the curve. Returns the losses as text.
    fn write_curve(
        &self,
        step: usize,
        seconds: f32,
        means: &[f32],
        held_out: &str,
        report: &dyn Report,
    ) -> Result<String> {
        let named: Vec<String> = means.iter().map(|mean| format!("{mean:.6}")).collect();
        let line = format!("{step},{seconds:.1},{},{held_out}", named.join(","));
        let curve = curve_path(&self.run_config.directory);
        let file = OpenOptions::new().append(true).open(&curve);
        file.and_then(|mut file| writeln!(file, "{line}")).map_err(Error::io(&curve))?;
        report.note(&line);
        let losses = M::LOSSES.iter().zip(means).map(|(name, mean)| format!("{name} {mean:.4}"));
        Ok(losses.collect::<Vec<_>>().join(", "))
    }

    fn held_out_loss<S: Collate<Batch = M::Batch>>(&self, loader: &DataLoader<S>) -> Result<f32> {
        let mut sum = 0.0;
        for number in 0..HELD_OUT_BATCHES {
            let batch = self.run_config.ranks.agree(loader.batch(BatchKey::HeldOut(number)))?;
            sum += self.model.losses(&batch, Mode::Eval).swap_remove(M::CRITERION).into_scalar::<f32>();
        }
        // Each rank has the losses of its shards.
        let mut sum = [sum];
        self.run_config.ranks.sum(&mut sum)?;
        Ok(sum[0] / HELD_OUT_BATCHES as f32)
    }

    fn checkpoint_path(&self) -> PathBuf {
        self.run_config.directory.join("checkpoint.safetensors")
    }

    /// * `weights`: the model's weights
    fn save_checkpoint(&self, mut weights: Weights) -> Result<()> {
        weights.extend(optimizer_weights(&self.adam));
        let metadata = Metadata::from([("updates".to_string(), self.adam.updates.to_string())]);
        let bytes = pollster::block_on(serialize(weights, Storage::Full, metadata))?;
        files::write(&self.checkpoint_path(), bytes)
    }

    fn load_checkpoint(&mut self) -> Result<()> {
        let path = self.checkpoint_path();
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        let (mut weights, metadata) = deserialize(&bytes).map_err(Error::checkpoint_corrupt)?;
        let updates = metadata.get("updates").and_then(|updates| updates.parse().ok());
        self.adam.updates =
            updates.ok_or_else(|| Error::checkpoint_corrupt("the number of updates is missing"))?;
        restore_optimizer(&mut self.adam, &collect(&self.model), &mut weights, &self.run_config.device)?;
        self.model = apply(self.model.clone(), weights).map_err(Error::checkpoint_corrupt)?;
        Ok(())
    }
}
