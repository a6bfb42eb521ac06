//! A training step of a net on a device, compared with one on the CPU from plain operations in single precision, as [`crate::check`] compares voices.

use burn::prelude::*;

use super::{
    LossKind, Net, NetConfig, NetWeights, PictureNet, Targets,
    weights::{half, public_weights},
};
use crate::{
    Error, Result,
    check::{
        compare_steps::{ComparedSteps, updates_of},
        step_dump::{dump_step, first_scale},
    },
};
use burn_fused::{
    ComputePlan, Mode, Precision, Scope,
    precision::{Dump, GoOn, Replayer, compare, dump::About},
    readback::read,
    trace::Probe,
    weights::HostWeights,
};

/// The step that both sides run, with random weights and pictures of noise.
#[derive(Debug, Clone)]
pub struct NetStepConfig {
    pub config: NetConfig,
    /// The number of pictures.
    pub batch: usize,
    /// Whether layers normalise by the statistics of the batch or by running ones.
    pub mode: Mode,
    pub seed: u64,
}

/// A side: a device with its name, and how it computes.
#[derive(Debug, Clone)]
pub struct NetSide<'a> {
    pub device: &'a Device,
    pub name: &'a str,
    pub plan: ComputePlan,
}

/// Returns the default plan of a net in a precision: in mixed precision, all layers but the classifier use half precision.
pub fn default_plan(config: &NetConfig, precision: Precision) -> Result<ComputePlan> {
    let net = PictureNet::new(config, 0, &Device::flex())?;
    Ok(ComputePlan { half: half(&net), ..ComputePlan::from_precision(precision) })
}

/// Runs a step on both sides, and each operation of the first side alone on the second, and compares them.
///
/// * `cosine`: the lowest cosine similarity that passes
///
/// Fails with `option-invalid`, with `device-lost`, or with `cancelled` where `go_on` returns false.
pub async fn compare_net(
    reference: &NetSide<'_>,
    found: &NetSide<'_>,
    step: &NetStepConfig,
    cosine: f64,
    go_on: &mut GoOn<'_>,
) -> Result<ComparedSteps> {
    // The same weights and pictures on both sides.
    let cpu = Device::flex();
    let mut weights = HostWeights::new();
    for (name, weight) in public_weights(&PictureNet::new(&step.config, step.seed, &cpu)?) {
        weights.insert(name, (weight.shape, read(weight.values).await?));
    }
    let NetConfig { side, channels, .. } = step.config;
    let shape = [step.batch, side, side, channels];
    let noise = Tensor::<4>::random(shape, burn::tensor::Distribution::Normal(0.0, 1.0), &cpu);
    let noise = read(noise.reshape([shape.iter().product::<usize>()])).await?;
    let net = |side: &NetSide<'_>| {
        let weights = NetWeights { tensors: weights.clone(), ..NetWeights::default() };
        let device = side.device.clone().inner().autodiff();
        PictureNet::with_weights(&step.config, weights, step.seed, &device)
    };
    let dumped = async |side: &NetSide<'_>| -> Result<Dump> {
        let scope = Scope::recorded(side.plan.clone(), &Probe::default());
        let device = side.device.clone().inner().autodiff();
        let pictures = Tensor::<4>::from_data(TensorData::new(noise.clone(), shape), &device);
        let targets = Targets::Classes((0..step.batch).map(|item| item % step.config.classes).collect());
        let about = About {
            device: side.name.to_string(),
            plan: side.plan.clone(),
            loss_scale: first_scale(&side.plan),
            clips: Vec::new(),
            bad_clips: Vec::new(),
            losses: Vec::new(),
        };
        let losses = |net: &PictureNet| {
            let logits = net.forward(pictures, step.mode);
            vec![(
                "cross-entropy",
                LossKind::CrossEntropy.compute(logits, &targets).expect("a class a picture"),
            )]
        };
        let dump = dump_step(net(side)?.computing(&scope), &scope, about, losses).await?;
        match scope.unplanted().next() {
            None => Ok(dump),
            Some(fault) => Err(Error::option_invalid(format!("{fault} takes no effect in this net"))),
        }
    };
    let dump = dumped(reference).await?;
    if !go_on(0, dump.calls.len()).await {
        return Err(Error::cancelled());
    }
    let found_dump = dumped(found).await?;
    let alone = updates_of(net(found)?, &found.plan, &dump.gradients).await?;
    let replayer = |side: &NetSide<'_>| Replayer {
        plan: side.plan.clone(),
        device: side.device.clone(),
        loss_scale: first_scale(&side.plan),
    };
    let comparison =
        compare(&dump, &found_dump, [&replayer(reference), &replayer(found)], &alone, cosine, go_on).await?;
    Ok(ComparedSteps { reference: dump, found: found_dump, comparison })
}
